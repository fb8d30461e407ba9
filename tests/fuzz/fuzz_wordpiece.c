/* fuzz_wordpiece.c: any text through the tokeniser, any text as a vocabulary, any bytes as a stored vocabulary. */
#include "embed/encoder/wordpiece.h"

#include "support/fuzz.h"

enum { MOST = 64 };

static void check_text(const struct wordpiece *w, struct arena *a, struct str text) {
  int32_t ids[MOST], parts[MOST];
  size_t n, done = 0, got;
  wordpiece_ids(w, a, text, MOST, ids, &n);
  FUZZ_CHECK(n >= 2 && n <= MOST && ids[0] == w->cls && ids[n - 1] == w->sep);
  for (size_t i = 0; i < n; i++)
    FUZZ_CHECK(ids[i] >= 0 && ids[i] < w->count);
  /* Reading in small steps gives the same result. */
  struct wordpiece_reader *r = arena_alloc(a, sizeof(*r));
  wordpiece_start(r, w, text);
  while (done < n - 2 && (got = wordpiece_next(r, parts, n - 2 - done < 3 ? n - 2 - done : 3)) > 0) {
    FUZZ_CHECK(memcmp(parts, ids + 1 + done, got * sizeof(*ids)) == 0);
    done += got;
  }
  FUZZ_CHECK(done == n - 2);
}

static void check_blob(struct arena *a, struct str blob, struct str text) {
  struct wordpiece w;
  struct error err;
  if (wordpiece_init(&w, blob, &err) == STATUS_OK)
    check_text(&w, a, text);
}

/* The first byte selects the test; a NUL separates the two parts of the rest. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char usual[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\n##a\n##b\n##ab\n,\n.\n日\nσ\n##ς\ne\n##e\ni\n##i\n";
  if (size == 0)
    return 0;
  struct str rest = {(const char *)data + 1, size - 1}, second = STR("aab, ab. ΣΣ 日é");
  struct arena a;
  struct error err;
  arena_init(&a);
  struct buf blob = BUF(&a);
  size_t cut = str_find(rest, (struct str){"", 1}, 0);
  if (data[0] % 4 == 0) {
    FUZZ_CHECK(wordpiece_build(&a, str_from(usual), &blob, &err) == STATUS_OK);
    check_blob(&a, buf_str(&blob), rest);
  } else if (data[0] % 4 == 1) {
    if (cut != SIZE_MAX) {
      second = str_slice(rest, cut + 1, rest.n);
      rest = str_slice(rest, 0, cut);
    }
    if (wordpiece_build(&a, rest, &blob, &err) == STATUS_OK)
      check_blob(&a, buf_str(&blob), second);
  } else if (data[0] % 4 == 2) {
    check_blob(&a, rest, second);
  } else {
    /* A valid vocabulary with some bytes changed: pairs of offset and value. */
    FUZZ_CHECK(wordpiece_build(&a, str_from(usual), &blob, &err) == STATUS_OK);
    for (size_t i = 0; i + 3 <= rest.n; i += 3)
      blob.p[((size_t)(uint8_t)rest.p[i] << 8 | (uint8_t)rest.p[i + 1]) % blob.n] ^= rest.p[i + 2];
    check_blob(&a, buf_str(&blob), second);
  }
  arena_release(&a);
  return 0;
}
