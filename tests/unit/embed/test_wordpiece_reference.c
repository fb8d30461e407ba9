/* test_wordpiece_reference.c: the tokeniser against a Python reference: 100,000 lines, and every code point. */
#include "embed/encoder/wordpiece.h"

#include <unistd.h>

#include "base/json.h"
#include "base/utf8.h"
#include "support/harness.h"
#include "support/proc.h"

#define MODEL CAIRN_SOURCE_DIR "/../shared/model"
#define SCRIPT CAIRN_SOURCE_DIR "/tests/support/reference_ids.py"

enum { LIMIT = 0x110000, IDS_MAX = 1 << 16 };

/* The reference is not part of the repository; tests that need it are skipped with a note if it is missing. */
static bool have_model(void) {
  bool there = access(MODEL "/reference.py", R_OK) == 0 && access(MODEL "/vocab.txt", R_OK) == 0;
  if (!there)
    printf("skipped: no reference in ../shared/model\n");
  return there;
}

static struct wordpiece open_vocabulary(struct arena *a, struct str text) {
  struct error err = {0};
  struct buf blob = BUF(a);
  struct wordpiece w;
  CHECK_OK(wordpiece_build(a, text, &blob, &err), &err);
  CHECK_OK(wordpiece_init(&w, buf_str(&blob), &err), &err);
  return w;
}

/* CRC-32 as in zlib. */
static uint32_t crc32_of(const unsigned char *p, size_t n) {
  uint32_t crc = 0xffffffffU;
  for (size_t i = 0; i < n; i++) {
    crc ^= p[i];
    for (int k = 0; k < 8; k++)
      crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0);
  }
  return ~crc;
}

static uint32_t crc32_of_ids(const int32_t *ids, size_t n) {
  static unsigned char bytes[4 * IDS_MAX];
  CHECK(n <= IDS_MAX);
  for (size_t i = 0; i < 4 * n; i++)
    bytes[i] = (unsigned char)((uint32_t)ids[i / 4] >> 8 * (i % 4));
  return crc32_of(bytes, 4 * n);
}

static uint32_t take32(struct str *rest) {
  CHECK(rest->n >= 4);
  uint32_t v = 0;
  for (size_t i = 0; i < 4; i++)
    v |= (uint32_t)(unsigned char)rest->p[i] << 8 * i;
  *rest = str_slice(*rest, 4, rest->n);
  return v;
}

static void check_record(const struct wordpiece *w, struct str *rest) {
  static int32_t ids[IDS_MAX];
  size_t length = take32(rest), most = take32(rest), want_n = take32(rest), n;
  uint32_t want = take32(rest);
  CHECK(length <= rest->n);
  /* A copy, so a sanitizer detects reads after the end. */
  struct arena a;
  arena_init(&a);
  char *copy = arena_alloc(&a, length);
  memcpy(copy, rest->p, length);
  wordpiece_ids(w, &a, (struct str){copy, length}, most < IDS_MAX ? (int)most : IDS_MAX, ids, &n);
  if (n != want_n || crc32_of_ids(ids, n) != want) {
    for (size_t i = 0; i < n; i++)
      fprintf(stderr, "%d ", ids[i]);
    fprintf(stderr, "\n");
    for (size_t i = 0; i < length; i++)
      fprintf(stderr, "%02x", (unsigned char)rest->p[i]);
    FAIL("the reference has other ids (%zu of them, not %zu) for these bytes", want_n, n);
  }
  *rest = str_slice(*rest, length, rest->n);
  arena_release(&a);
}

/* Runs the script and compares its records. */
static void compare(const char *what, int number, const struct wordpiece *w, size_t at_least) {
  const char *path = path_join(NULL, "records");
  char text[16];
  snprintf(text, sizeof(text), "%d", number);
  struct run r =
      proc_run(.argv = ARGS("python3", SCRIPT, MODEL, what, text, path), .timeout_ms = 300 * 1000, .merge = true);
  if (r.exit_code == 127 || str_starts(r.out, STR("skipped"))) {
    printf("skipped: %s\n", r.exit_code == 127 ? "no python3" : r.out.p);
    return;
  }
  if (r.exit_code != 0)
    FAIL("the reference failed: %s", r.out.p);
  struct str rest = file_read(path);
  size_t records = 0;
  for (; rest.n; records++) {
    test_note("record %zu", records);
    check_record(w, &rest);
  }
  CHECK(records >= at_least);
}

TEST(a_hundred_thousand_lines_have_the_ids_of_the_reference, .seconds = 300, .slow = true) {
  if (!have_model())
    return;
  struct arena a;
  arena_init(&a);
  struct wordpiece w = open_vocabulary(&a, file_read(MODEL "/vocab.txt"));
  int lines = 100000 / test_slowness();
  compare("lines", lines, &w, (size_t)lines);
  arena_release(&a);
}

/* Each code point is an entry, as a first and as an inner piece, so the ids show the normalised text. */
static struct str all_code_points(struct arena *a) {
  struct buf b = BUF(a);
  buf_adds(&b, "[PAD]\n[UNK]\n[CLS]\n[SEP]\n");
  for (uint32_t i = 0; i < 2 * LIMIT; i++) {
    uint32_t cp = i % LIMIT;
    char bytes[4];
    if (cp != '\n' && cp != '\r' && !(cp >= 0xd800 && cp <= 0xdfff)) {
      buf_adds(&b, i < LIMIT ? "" : "##");
      buf_add(&b, (struct str){bytes, utf8_put(cp, bytes)});
    }
    buf_addc(&b, '\n');
  }
  return buf_str(&b);
}

TEST(every_code_point_in_every_context_is_as_in_the_reference, .seconds = 300, .slow = true) {
  if (!have_model())
    return;
  struct arena a;
  arena_init(&a);
  struct wordpiece w = open_vocabulary(&a, all_code_points(&a));
  CHECK_INT(w.count, 4 + 2 * LIMIT);
  compare("points", test_slowness() == 1 ? 1 : 17, &w, test_slowness() == 1 ? 17000 : 10000);
  arena_release(&a);
}

TEST(the_tables_match_their_generator, .seconds = 60, .slow = true) {
  struct run r = proc_run(.argv = ARGS("python3", "-c", "import unicodedata; print(unicodedata.unidata_version)"));
  if (r.exit_code != 0 || !str_is(str_trim(r.out), "14.0.0")) {
    printf("skipped: no Python with Unicode 14.0.0\n");
    return;
  }
  r = proc_run(.argv = ARGS("python3", CAIRN_SOURCE_DIR "/model/unicode_tables.py", "--check"), .timeout_ms = 50 * 1000,
               .merge = true);
  CHECK_STR(r.out, "");
  CHECK_INT(r.exit_code, 0);
}

TEST(golden_ids) {
  if (!have_model())
    return;
  struct arena a;
  struct error err = {0};
  yyjson_val *root, *entry;
  size_t i, max, n;
  int32_t ids[128];
  arena_init(&a);
  struct wordpiece w = open_vocabulary(&a, file_read(MODEL "/vocab.txt"));
  CHECK_OK(json_read(&a, file_read(MODEL "/golden.json"), &root, &err), &err);
  CHECK(yyjson_arr_size(root) >= 15);
  yyjson_arr_foreach(root, i, max, entry) {
    yyjson_val *want = yyjson_obj_get(entry, "ids"), *id;
    size_t k, many;
    wordpiece_ids(&w, &a, json_str(entry, "text"), 128, ids, &n);
    CHECK_INT(n, yyjson_arr_size(want));
    yyjson_arr_foreach(want, k, many, id) {
      CHECK_INT(ids[k], yyjson_get_int(id));
    }
  }
  arena_release(&a);
}
