/* test_chunk.c: chunks cover the body, in order, within their size, overlapping. */
#include "core/chunk.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "core/tokens.h"
#include "support/harness.h"

static struct str chunk_text(struct str body, struct chunk c) { return str_slice(body, c.start, c.start + c.len); }

/* What holds for every body. */
static void check_chunks(struct str body, const struct chunks *chunks) {
  size_t covered = 0, start = 0;
  for (size_t i = 0; i < chunks->n; i++) {
    struct chunk c = chunks->v[i];
    struct str text = chunk_text(body, c);
    CHECK(c.len > 0 && c.start + c.len <= body.n);
    CHECK(i == 0 || (c.start > start && c.start + c.len > covered));
    if (c.start > covered)
      CHECK_INT(str_trim(str_slice(body, covered, c.start)).n, 0);
    CHECK_INT(str_trim(text).n, text.n);
    CHECK_INT(utf8_check(text), text.n);
    CHECK(tokens_estimate(text) <= CHUNK_MAX);
    covered = c.start + c.len;
    start = c.start;
  }
  CHECK_INT(str_trim(str_slice(body, covered, body.n)).n, 0);
}

static void split(struct arena *a, struct str body, struct chunks *ret) {
  chunk_split(a, body, ret);
  check_chunks(body, ret);
}

static size_t overlap(const struct chunks *chunks, size_t i) {
  size_t end = chunks->v[i - 1].start + chunks->v[i - 1].len;
  return end > chunks->v[i].start ? end - chunks->v[i].start : 0;
}

TEST(blank_bodies_have_no_chunk) {
  struct arena a;
  arena_init(&a);
  struct chunks chunks;
  split(&a, STR(""), &chunks);
  CHECK_INT(chunks.n, 0);
  split(&a, STR(" \r\n\t\n "), &chunks);
  CHECK_INT(chunks.n, 0);
  arena_release(&a);
}

TEST(a_short_body_is_one_chunk) {
  struct arena a;
  arena_init(&a);
  struct chunks chunks;
  struct str body = STR("\n First paragraph.\n\nSecond paragraph, with more.\n");
  split(&a, body, &chunks);
  CHECK_INT(chunks.n, 1);
  CHECK_STR(chunk_text(body, chunks.v[0]), "First paragraph.\n\nSecond paragraph, with more.");
  arena_release(&a);
}

/* Paragraphs of 75 words (100 tokens) each: four to a chunk, less the overlap. */
static struct str paragraphs(struct arena *a, int n) {
  struct buf out = BUF(a);
  for (int p = 0; p < n; p++) {
    for (int s = 0; s < 5; s++)
      for (int w = 0; w < 15; w++)
        buf_addf(&out, w == 14 ? "w%d. " : "ab ", p);
    buf_adds(&out, "\n\n");
  }
  return buf_str(&out);
}

TEST(chunks_end_with_paragraphs_and_repeat_a_little) {
  struct arena a;
  arena_init(&a);
  struct chunks chunks;
  struct str body = paragraphs(&a, 40);
  split(&a, body, &chunks);
  CHECK(chunks.n >= 10 && chunks.n <= 20);
  for (size_t i = 0; i < chunks.n; i++) {
    struct chunk c = chunks.v[i];
    struct str rest = str_slice(body, c.start + c.len, body.n);
    CHECK(str_starts(rest, STR(" \n\n")));
    size_t tokens = tokens_estimate(chunk_text(body, c));
    CHECK(i + 1 == chunks.n || (tokens >= 200 && tokens <= 400));
    if (i > 0) {
      size_t shared = tokens_estimate(str_slice(body, c.start, c.start + overlap(&chunks, i)));
      CHECK(shared >= 40 && shared <= 80);
    }
  }
  arena_release(&a);
}

TEST(a_long_paragraph_is_split_between_sentences) {
  struct arena a;
  arena_init(&a);
  struct buf body = BUF(&a);
  for (int i = 0; i < 200; i++)
    buf_addf(&body, "Sentence number %d has a few words in it. ", i);
  struct chunks chunks;
  split(&a, buf_str(&body), &chunks);
  CHECK(chunks.n > 3);
  for (size_t i = 0; i < chunks.n; i++) {
    struct str text = chunk_text(buf_str(&body), chunks.v[i]);
    CHECK(str_starts(text, STR("Sentence number ")));
    CHECK(str_ends(text, STR("it.")));
    CHECK(i == 0 || overlap(&chunks, i) > 0);
  }
  arena_release(&a);
}

TEST(a_long_sentence_is_split_between_words) {
  struct arena a;
  arena_init(&a);
  struct buf body = BUF(&a);
  for (int i = 0; i < 5000; i++)
    buf_adds(&body, "abcdefg ");
  struct chunks chunks;
  split(&a, buf_str(&body), &chunks);
  for (size_t i = 0; i < chunks.n; i++)
    CHECK_INT((chunks.v[i].len + 1) % 8, 0);
  arena_release(&a);
}

TEST(text_without_any_boundary_is_split_between_characters) {
  struct arena a;
  arena_init(&a);
  struct chunks chunks;
  struct buf body = BUF(&a);
  for (int i = 0; i < 3000; i++)
    buf_adds(&body, "\xe4\xb8\x96");
  split(&a, buf_str(&body), &chunks);
  CHECK(chunks.n >= 3000 / 400 && chunks.n <= 3000 / 300 + 1);
  body = BUF(&a);
  for (int i = 0; i < 20000; i++)
    buf_adds(&body, "x\xc3\xa4");
  split(&a, buf_str(&body), &chunks);
  CHECK(chunks.n > 10);
  arena_release(&a);
}

TEST(wide_gaps_do_not_make_wide_chunks) {
  struct arena a;
  arena_init(&a);
  struct buf body = BUF(&a);
  for (int i = 0; i < 10; i++) {
    buf_adds(&body, "word. ");
    for (int k = 0; k < 20000; k++)
      buf_addc(&body, k % 50 ? ' ' : '\n');
  }
  struct chunks chunks;
  split(&a, buf_str(&body), &chunks);
  CHECK_INT(chunks.n, 10);
  arena_release(&a);
}

TEST(crlf_and_code_are_covered) {
  struct arena a;
  arena_init(&a);
  struct buf body = BUF(&a);
  for (int i = 0; i < 300; i++)
    buf_addf(&body, "\tif (x[%d] != NULL) {\r\n\t\treturn f(%d);\r\n\t}\r\n%s", i, i, i % 10 ? "" : "\r\n");
  struct chunks chunks;
  split(&a, buf_str(&body), &chunks);
  CHECK(chunks.n > 10);
  arena_release(&a);
}

TEST(a_megabyte_of_anything_is_quick) {
  static const char *const units[] = {"x",     "\n", "a ", "A\n", ". ", "a.", "\xe4\xb8\x96", "\xf0\x9f\x8e\x89 ",
                                      "- a\n", "\t"};
  for (size_t i = 0; i < ARRAY_LEN(units); i++) {
    struct arena a;
    arena_init(&a);
    struct buf body = BUF(&a);
    while (body.n < 1 << 20)
      buf_adds(&body, units[i]);
    struct chunks chunks;
    split(&a, buf_str(&body), &chunks);
    arena_release(&a);
  }
}
