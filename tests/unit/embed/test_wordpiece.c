/* test_wordpiece.c: the tokeniser on hand-checked texts, and damaged vocabularies. */
#include "embed/encoder/wordpiece.h"

#include "base/json.h"
#include "support/harness.h"
#include "support/proc.h"

#define SPECIALS "[PAD]\n[UNK]\n[CLS]\n[SEP]\n"

/* Vocabulary of the tests. The ids do not matter, because results are compared as text. */
static const char small[] =
    SPECIALS "un\n##aff\n##able\nunaff\na\n##a\n##b\nb\ncafe\n,\n.\n[\n]\n#\n*\n日\n本\n語\nσ\n##σ\n"
             "##ς\nς\ni\n##i\nss\nß\nı\n한\n\xe1\x84\x92\n##\xe1\x85\xa1\n##\xe1\x86\xab\nfi\nﬁ\n";

struct fixture {
  struct arena a;
  struct str blob;
  struct wordpiece w;
};
static struct fixture f; /* each test runs in its own process */

static void open_text(struct str vocabulary) {
  struct error err = {0};
  struct buf blob;
  arena_init(&f.a);
  blob = BUF(&f.a);
  CHECK_OK(wordpiece_build(&f.a, vocabulary, &blob, &err), &err);
  f.blob = buf_str(&blob);
  CHECK_OK(wordpiece_init(&f.w, f.blob, &err), &err);
}

/* The pieces separated by blanks, without [CLS] and [SEP]. */
static struct str pieces(struct str text) {
  static int32_t ids[4096];
  struct buf b = BUF(&f.a);
  size_t n;
  wordpiece_ids(&f.w, &f.a, text, ARRAY_LEN(ids), ids, &n);
  CHECK(n >= 2 && ids[0] == f.w.cls && ids[n - 1] == f.w.sep);
  for (size_t i = 1; i + 1 < n; i++)
    buf_addf(&b, "%s%.*s", i > 1 ? " " : "", STR_ARG(wordpiece_entry(&f.w, ids[i])));
  return buf_str(&b);
}

#define PIECES(text, want) CHECK_STR(pieces(STR(text)), want)

TEST(the_longest_piece_wins_from_the_left) {
  open_text(str_from(small));
  PIECES("", "");
  PIECES(" \t\r\n ", "");
  PIECES("un", "un");
  /* "unaff" is longer than "un", although "un ##aff ##able" would work, too. */
  PIECES("unaffable", "unaff ##able");
  PIECES("UNAFFABLE unb", "unaff ##able un ##b");
  /* One missing piece makes the whole word unknown. */
  PIECES("unaffx b", "[UNK] b");
  PIECES("xun", "[UNK]");
}

TEST(punctuation_and_cjk_are_separate_words) {
  open_text(str_from(small));
  PIECES("a,b.", "a , b .");
  PIECES("[CLS]", "[ [UNK] ]");
  PIECES("[a]", "[ a ]");
  PIECES("##a", "# # a");
  PIECES("日本語", "日 本 語");
  PIECES("a日b", "a 日 b");
  PIECES("a—b", "a [UNK] b");
  /* The Greek question mark becomes a semicolon, which the vocabulary lacks; U+FF0C is separate punctuation. */
  PIECES("a;b", "a [UNK] b");
  PIECES("a，b", "a [UNK] b");
}

TEST(accents_controls_and_bad_bytes_are_dropped) {
  open_text(str_from(small));
  PIECES("Café CAFÉ cafe\xcc\x81 c\xc2\xad"
         "afe",
         "cafe cafe cafe cafe");
  PIECES("a\x01"
         "b a\0b",
         "a ##b a ##b");
  /* Vertical tab and form feed are controls here, not spaces. */
  PIECES("a\vb a\fb a\nb", "a ##b a ##b a b");
  PIECES("a\xff"
         "b a\xe2\x82"
         "b \xc3",
         "a ##b a ##b");
  PIECES("a\xef\xbf\xbd"
         "b",
         "a ##b");
  /* A surrogate is not valid UTF-8. */
  PIECES("a\xed\xa0\x80"
         "b",
         "a ##b");
  PIECES("a\xe2\x80\x8b"
         "b a\xe2\x80\x83"
         "b a\xc2\xa0"
         "b",
         "a ##b a b a b");
  PIECES("\xcc\x81\xcc\x81", "");
}

TEST(lower_case_follows_unicode) {
  open_text(str_from(small));
  /* Final or not, with an accent in between, before an apostrophe, alone, and twice. */
  PIECES("ΣΣ", "σ ##ς");
  PIECES("ΣΣΣ", "σ ##σ ##ς");
  PIECES("Σ", "σ");
  PIECES("aΣ", "a ##ς");
  PIECES("aΣb", "a ##σ ##b");
  PIECES("a\xcc\x81Σ", "a ##ς");
  PIECES("aΣ\xcc\x81"
         "b",
         "a ##σ ##b");
  PIECES("aΣ b", "a ##ς b");
  /* A full stop is case-ignorable, so the letter after it counts. */
  PIECES("aΣ.b", "a ##σ . b");
  PIECES("a.Σ", "a . ς");
  /* An invalid byte separates. */
  PIECES("aΣ\xff"
         "b",
         "a ##ς ##b");
  /* Capital I with a dot becomes i and a dot, which is dropped; dotless i stays. */
  PIECES("İ ı", "i ı");
  PIECES("ß ẞ", "ß ß");
  /* Canonical decomposition does not split ligatures. */
  PIECES("ﬁ", "ﬁ");
  /* The Kelvin sign becomes k, the Angstrom sign a with a ring. */
  PIECES("Å", "a");
}

TEST(hangul_is_decomposed) {
  open_text(str_from(small));
  /* The vocabulary has the syllable, too, but no decomposed text contains it. */
  PIECES("한", "\xe1\x84\x92 ##\xe1\x85\xa1 ##\xe1\x86\xab");
  PIECES("하", "\xe1\x84\x92 ##\xe1\x85\xa1");
}

TEST(kept_marks_are_sorted) {
  /* U+16FF0 has combining class 6, U+1D165 has 216; neither is dropped. */
  open_text(STR(SPECIALS "a\U00016ff0\U0001d165b\na\U0001d165\nx\n##\U00016ff0b\n"));
  PIECES("a\U00016ff0\U0001d165"
         "b",
         "a\U00016ff0\U0001d165b");
  PIECES("a\U0001d165\U00016ff0"
         "b",
         "a\U00016ff0\U0001d165b");
  /* Both an accent and a joiner (class 0) are dropped, but only the joiner separates the marks. */
  PIECES("a\U0001d165\xcc\x81\U00016ff0"
         "b",
         "a\U00016ff0\U0001d165b");
  PIECES("a\U0001d165\xe2\x80\x8d\U00016ff0"
         "b",
         "a\U0001d165 ##\U00016ff0b");
}

TEST(a_word_has_at_most_a_hundred_code_points) {
  char word[256];
  open_text(str_from(small));
  memset(word, 'a', sizeof(word));
  struct str most = pieces((struct str){word, 100});
  CHECK_INT(most.n, 1 + 99 * strlen(" ##a"));
  CHECK_STR(pieces((struct str){word, 101}), "[UNK]");
  CHECK_STR(pieces((struct str){word, sizeof(word)}), "[UNK]");
  /* Dropped characters do not count. */
  word[50] = '\x01';
  CHECK_INT(pieces((struct str){word, 101}).n, most.n);
  /* A letter with an accent counts once. */
  struct buf b = BUF(&f.a);
  for (int i = 0; i < 100; i++)
    buf_adds(&b, "á");
  CHECK_INT(pieces(buf_str(&b)).n, most.n);
  buf_adds(&b, "á");
  CHECK_STR(pieces(buf_str(&b)), "[UNK]");
}

TEST(tokens_are_truncated_at_the_limit) {
  int32_t ids[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
  size_t n;
  open_text(str_from(small));
  wordpiece_ids(&f.w, &f.a, STR("a b a b"), 2, ids, &n);
  CHECK_INT(n, 2);
  CHECK(ids[0] == 2 && ids[1] == 3 && ids[2] == -1);
  wordpiece_ids(&f.w, &f.a, STR("unaffable b"), 3, ids, &n);
  CHECK_INT(n, 3);
  CHECK_STR(wordpiece_entry(&f.w, ids[1]), "unaff");
  CHECK(ids[2] == 3 && ids[3] == -1);
  wordpiece_ids(&f.w, &f.a, STR("a b"), 8, ids, &n);
  CHECK_INT(n, 4);
}

TEST(incremental_reads_give_the_whole_text) {
  open_text(str_from(small));
  struct str text = STR("unaffable ΣΣ, café 日本 aab unknown ΑΣ. b");
  int32_t whole[64], part[64];
  size_t n;
  wordpiece_ids(&f.w, &f.a, text, 64, whole, &n);
  for (size_t step = 1; step < 10; step++) {
    struct wordpiece_reader r;
    size_t done = 0, got;
    wordpiece_start(&r, &f.w, text);
    while ((got = wordpiece_next(&r, part, step)) > 0) {
      CHECK(memcmp(part, whole + 1 + done, got * sizeof(*part)) == 0);
      done += got;
    }
    CHECK_INT(done, n - 2);
  }
}

/* ---- vocabularies ---- */

TEST(all_line_ends_work_and_the_later_duplicate_wins) {
  int32_t ids[8];
  size_t n;
  open_text(STR("[PAD]\r\n[UNK]\r[CLS]\n[SEP]\na\n\nb\na"));
  CHECK_INT(f.w.count, 8);
  CHECK_INT(f.w.pad, 0);
  CHECK_INT(f.w.unk, 1);
  wordpiece_ids(&f.w, &f.a, STR("a b c"), 8, ids, &n);
  CHECK_INT(n, 5);
  CHECK(ids[0] == 2 && ids[1] == 7 && ids[2] == 6 && ids[3] == 1 && ids[4] == 3);
  CHECK_STR(wordpiece_entry(&f.w, 5), "");
  CHECK(wordpiece_entry(&f.w, 8).p == NULL && wordpiece_entry(&f.w, -1).p == NULL);
}

TEST(special_tokens_are_found_by_name) {
  open_text(STR("x\n[MASK]\n[SEP]\n[UNK]\ny\n[CLS]\n[PAD]\n"));
  CHECK(f.w.sep == 2 && f.w.unk == 3 && f.w.cls == 5 && f.w.pad == 6);
}

static void refused(struct str vocabulary, const char *message) {
  struct arena a;
  struct error err = {0};
  arena_init(&a);
  struct buf blob = BUF(&a);
  CHECK_STATUS(wordpiece_build(&a, vocabulary, &blob, &err), STATUS_USAGE);
  if (!strstr(err.message, message) || !err.fix[0])
    FAIL("'%s' (fix '%s') does not say '%s'", err.message, err.fix, message);
  CHECK_INT(blob.n, 0);
  arena_release(&a);
}

TEST(invalid_vocabularies_are_rejected) {
  refused(STR(""), "empty");
  refused(STR("[PAD]\n[UNK]\n[CLS]\n"), "[SEP]");
  refused(STR("[PAD]\n[UNK]\n[SEP]\n"), "[CLS]");
  refused(STR("[PAD]\n[CLS]\n[SEP]\n"), "[UNK]");
  refused(STR("[CLS]\n[UNK]\n[SEP]\n"), "[PAD]");
  /* The special tokens of RoBERTa. */
  refused(STR("<s>\n<pad>\n</s>\n<unk>\n"), "[CLS]");
  refused(STR(SPECIALS "a\n\xff\n"), "line 6");
}

TEST(long_entries_and_an_empty_inner_piece_are_harmless) {
  static struct arena a;
  struct buf b = BUF(&a);
  buf_adds(&b, SPECIALS "##\n");
  for (int i = 0; i < 5000; i++)
    buf_addc(&b, 'a');
  buf_adds(&b, "\na\n##a\n");
  open_text(buf_str(&b));
  PIECES("aa", "a ##a");
}

static void corrupt(struct str blob, const char *message) {
  struct wordpiece w;
  struct error err = {0};
  CHECK_STATUS(wordpiece_init(&w, blob, &err), STATUS_CORRUPT);
  if (!strstr(err.message, message))
    FAIL("'%s' does not say '%s'", err.message, message);
}

TEST(a_damaged_header_or_length_is_rejected) {
  open_text(str_from(small));
  for (size_t n = 0; n < f.blob.n; n++)
    corrupt(str_slice(f.blob, 0, n), n < 48 ? "no valid header" : "length");
  char *copy = arena_alloc(&f.a, f.blob.n + 1);
  memcpy(copy, f.blob.p, f.blob.n);
  corrupt((struct str){copy, f.blob.n + 1}, "length");
  copy[8] = 2;
  corrupt((struct str){copy, f.blob.n}, "version 2");
  copy[8] = 1;
  /* Set all bits of each header field after the version: values out of range are rejected. */
  for (size_t at = 12; at < 48; at += 4) {
    memset(copy + at, 0xff, 4);
    corrupt((struct str){copy, f.blob.n}, at >= 32 ? "special token" : "out of range");
    memcpy(copy + at, f.blob.p + at, 4);
  }
}

TEST(damage_after_the_header_gives_ids_within_the_vocabulary) {
  open_text(str_from(small));
  uint32_t seed = 1;
  char *copy = arena_alloc(&f.a, f.blob.n);
  for (int round = 0; round < 2000; round++) {
    memcpy(copy, f.blob.p, f.blob.n);
    for (int k = 0; k < 20; k++) {
      seed = seed * 1664525 + 1013904223;
      copy[48 + (seed >> 8) % (f.blob.n - 48)] = (char)(seed >> 3);
    }
    struct wordpiece w;
    struct error err = {0};
    CHECK_OK(wordpiece_init(&w, (struct str){copy, f.blob.n}, &err), &err);
    int32_t ids[64];
    size_t n;
    wordpiece_ids(&w, &f.a, STR("unaffable a, b 日本 ΣΣ café aaaa bbbb"), 64, ids, &n);
    for (size_t i = 0; i < n; i++)
      CHECK(ids[i] >= 0 && ids[i] < w.count);
  }
}

/* Quadratic time would exceed the time limit of the test. */
TEST(hostile_texts_of_a_megabyte) {
  static const char *const units[] = {"a",
                                      "\xcc\x81",
                                      "日",
                                      "\U0001d165\U00016ff0",
                                      "Σ",
                                      "Σ\xcc\x81",
                                      "aΣ.",
                                      "\x01",
                                      "\xe2\x80\x8d",
                                      "\U0001d165\xcc\x81",
                                      "한",
                                      "[",
                                      " ",
                                      "\xff",
                                      "a b ",
                                      "İ"};
  open_text(str_from(small));
  for (size_t i = 0; i < ARRAY_LEN(units); i++) {
    test_note("unit %zu", i);
    struct buf b = BUF(&f.a);
    while (b.n < (size_t)1 << 20)
      buf_adds(&b, units[i]);
    struct wordpiece_reader r;
    int32_t ids[64];
    wordpiece_start(&r, &f.w, buf_str(&b));
    while (wordpiece_next(&r, ids, ARRAY_LEN(ids)) > 0)
      continue;
  }
}
