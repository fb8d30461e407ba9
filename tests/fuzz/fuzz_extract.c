/* fuzz_extract.c: words, sentences, headlines and metadata of any input. */
#include "base/utf8.h"
#include "core/memory/extract.h"
#include "core/memory/headline.h"
#include "core/memory/types.h"
#include "core/text/text.h"
#include "support/fuzz.h"

static void check_list(const struct strs *list, size_t max, bool valid) {
  FUZZ_CHECK(list->n <= max);
  for (size_t i = 0; i < list->n; i++) {
    FUZZ_CHECK(list->v[i].n > 0 && text_has_letter(list->v[i]));
    FUZZ_CHECK(!valid || utf8_check(list->v[i]) == list->v[i].n);
    for (size_t k = 0; k < i; k++)
      FUZZ_CHECK(!str_ieq(list->v[i], list->v[k]));
  }
}

/* Sentences and words are in order, with nothing skipped that belongs to one. */
static void check_walks(struct str s) {
  struct str part;
  size_t end = 0;
  for (size_t pos = 0; text_next_sentence(s, &pos, &part);) {
    size_t start = (size_t)(part.p - s.p);
    FUZZ_CHECK(part.n > 0 && start >= end && start + part.n <= pos && pos <= s.n);
    for (size_t i = end; i < start; i++)
      FUZZ_CHECK(ascii_space(s.p[i]));
    end = start + part.n;
  }
  for (size_t i = end; i < s.n; i++)
    FUZZ_CHECK(ascii_space(s.p[i]));
  end = 0;
  for (size_t pos = 0; text_next_word(s, &pos, &part);) {
    size_t start = (size_t)(part.p - s.p);
    FUZZ_CHECK(part.n > 0 && start >= end && start + part.n == pos);
    end = pos;
  }
}

static void check_headline(struct arena *a, struct str body) {
  struct str headline = headline_derive(a, body);
  FUZZ_CHECK(text_has_letter(body) == (headline.n > 0));
  FUZZ_CHECK(headline.n == 0 || text_has_letter(headline));
  FUZZ_CHECK(headline.n <= HEADLINE_BYTES && text_count_words(headline) <= HEADLINE_WORDS);
  FUZZ_CHECK(utf8_check(headline) == headline.n);
  FUZZ_CHECK(headline.n == 0 || !memchr(headline.p, '\n', headline.n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct str s = {(const char *)data, size};
  struct arena a;
  arena_init(&a);
  bool valid = utf8_check(s) == size;
  check_walks(s);
  check_headline(&a, s);
  struct str normal = text_normal(&a, s), cut = text_cut(s, 5, 40);
  FUZZ_CHECK(utf8_check(text_collapse(&a, s)) == text_collapse(&a, s).n);
  FUZZ_CHECK(utf8_check(normal) == normal.n);
  FUZZ_CHECK(cut.n <= 40 && text_count_words(cut) <= 5);
  struct extracted e;
  struct str headline = utf8_cut(s, size / 4);
  extract_metadata(&a, headline, str_slice(s, headline.n, size), &e);
  check_list(&e.tags, EXTRACT_TAGS, valid);
  check_list(&e.people, EXTRACT_PEOPLE, valid);
  check_list(&e.topics, EXTRACT_TOPICS, valid);
  check_list(&e.action_items, EXTRACT_ACTIONS, valid);
  for (size_t i = 0; i < e.action_items.n; i++)
    FUZZ_CHECK(e.action_items.v[i].n <= EXTRACT_ACTION_BYTES);
  const char *hint = extract_type_hint(s);
  FUZZ_CHECK(!hint || type_find(str_from(hint)));
  arena_release(&a);
  return 0;
}
