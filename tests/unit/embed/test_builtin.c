/* test_builtin.c: the built-in embedder against golden vectors, and embedders from files. */
#include "embed/builtin.h"

#include <unistd.h>

#include "base/json.h"
#include "base/os/fs.h"
#include "embed/encoder/encoder.h"
#include "embed/encoder/wordpiece.h"
#include "embed/vec.h"
#include "made_model.h"
#include "support/harness.h"
#include "support/proc.h"

#define MODEL_PATH CAIRN_SOURCE_DIR "/model/cairn-embed-v2.cairn"

/* NULL, with a note, in a build without the model. */
static const struct embedder *builtin(void) {
  const struct embedder *e = NULL;
  struct error err = {0};
  if (embedder_builtin(&e, &err) == STATUS_NOT_FOUND) {
    printf("skipped: no built-in model\n");
    return NULL;
  }
  CHECK(e);
  return e;
}

static void check_golden(const struct embedder *e, const char *path) {
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  struct str text;
  CHECK_OK(fs_read(&a, path, 1 << 20, &text, &err), &err);
  yyjson_val *root, *golden;
  CHECK_OK(json_read(&a, text, &root, &err), &err);
  size_t i, max;
  CHECK(yyjson_arr_size(root) >= 5);
  yyjson_arr_foreach(root, i, max, golden) {
    struct str sentence = json_str(golden, "text");
    test_note("\"%.*s\"", STR_ARG(sentence));
    float want[256];
    yyjson_val *vector = yyjson_obj_get(golden, "vector"), *v;
    size_t d, dims;
    CHECK_INT(yyjson_arr_size(vector), e->dims);
    yyjson_arr_foreach(vector, d, dims, v) {
      want[d] = (float)yyjson_get_num(v);
    }
    int8_t expected[256], got[256];
    vec_quantise(want, e->dims, expected);
    CHECK_OK(e->embed(e, &a, EMBED_TEXT, &sentence, 1, got, &err), &err);
    CHECK(vec_cosine(got, expected, e->dims) > 0.995);
  }
  arena_release(&a);
}

/* Computed by the numpy reference from the weights before quantisation. */
TEST(builtin_golden_vectors) {
  const struct embedder *e = builtin();
  if (e)
    check_golden(e, CAIRN_SOURCE_DIR "/tests/data/embed_golden.json");
}

/* The first version of the weights, exported and converted by the program, against the golden vectors of its export. */
TEST(first_weights_golden_vectors, .seconds = 120) {
  const char *shared = CAIRN_SOURCE_DIR "/../shared/model", *folder = path_join(NULL, "first");
  const char *weights = path_join(shared, "cairn-embed-v1.npz"), *file = path_join(NULL, "first.cairn");
  struct run numpy = proc_run(.argv = ARGS("/usr/bin/python3", "-c", "import numpy"), .merge = true);
  if (access(weights, R_OK) != 0 || numpy.exit_code != 0) {
    printf("skipped: %s\n", numpy.exit_code ? "no numpy" : "../shared/model is not there");
    return;
  }
  struct run r = proc_run(.argv = ARGS("/usr/bin/python3", CAIRN_SOURCE_DIR "/model/export.py", weights,
                                       path_join(shared, "vocab.txt"), folder),
                          .timeout_ms = 60000, .merge = true);
  CHECK_INT(r.exit_code, 0);
  r = proc_run(.argv = ARGS(CAIRN_BIN, "model", "convert", folder, file, "--name", "first"), .timeout_ms = 60000,
               .merge = true);
  CHECK_INT(r.exit_code, 0);
  struct embedder *e;
  struct error err = {0};
  CHECK_OK(embedder_file_open(file, &e, &err), &err);
  check_golden(e, path_join(shared, "golden.json"));
  e->close(e);
}

TEST(builtin_compares_meaning) {
  const struct embedder *e = builtin();
  if (!e)
    return;
  CHECK_STR(str_from(e->model), "cairn-embed-v2");
  CHECK_INT(e->dims, 256);
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  const struct str texts[] = {STR("Which package manager may I use?"), STR("pnpm only, no npm or yarn"),
                              STR("Caroline went to a support group yesterday")};
  int8_t v[3][256], again[256];
  CHECK_OK(e->embed(e, &a, EMBED_TEXT, texts, 3, v[0], &err), &err);
  CHECK(vec_cosine(v[0], v[1], 256) > vec_cosine(v[0], v[2], 256) + 0.1);
  CHECK_OK(e->embed(e, &a, EMBED_TEXT, &texts[1], 1, again, &err), &err);
  CHECK(memcmp(v[1], again, sizeof(again)) == 0);
  arena_release(&a);
}

/* Random words of the vocabulary, up to the longest text: every kernel gives the same bits. */
TEST(builtin_same_bits_on_every_kernel, .seconds = 60) {
  if (!builtin())
    return;
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  struct str bytes;
  CHECK_OK(fs_read(&a, MODEL_PATH, 100 << 20, &bytes, &err), &err);
  char *p = arena_alloc(&a, bytes.n + MODEL_ALIGN);
  p += MODEL_ALIGN - (uintptr_t)p % MODEL_ALIGN;
  memcpy(p, bytes.p, bytes.n);
  struct model m;
  CHECK_OK(model_file_open((struct str){p, bytes.n}, &m, &err), &err);
  static const size_t lengths[] = {2, 3, 12, 17, 50, 128, 200};
  int32_t ids[200];
  uint32_t seed = 1;
  for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
    for (size_t t = 0; t < lengths[i]; t++)
      ids[t] = (int32_t)((made_random(&seed) + 1) * 0.4999F * (float)m.shape.vocab);
    struct encoder_text text = {.ids = ids, .n = lengths[i]};
    float want[256], got[256];
    CHECK_OK(encoder_run(&m, &a,
                         &(struct encoder_input){.texts = &text, .n = 1, .kernel = &kernel_scalar, .threads = 1}, want,
                         &err),
             &err);
    for (size_t k = 1; kernel_at(k); k++)
      if (kernel_at(k)->usable()) {
        test_note("%s, %zu tokens", kernel_at(k)->name, lengths[i]);
        CHECK_OK(encoder_run(&m, &a,
                             &(struct encoder_input){.texts = &text, .n = 1, .kernel = kernel_at(k), .threads = 1}, got,
                             &err),
                 &err);
        CHECK(memcmp(got, want, sizeof(got)) == 0);
      }
  }
  arena_release(&a);
}

TEST(file_gives_the_same_vectors_as_the_builtin) {
  const struct embedder *inside = builtin();
  if (!inside)
    return;
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  struct embedder *e;
  CHECK_OK(embedder_file_open(MODEL_PATH, &e, &err), &err);
  struct str text = STR("Never deploy on Fridays");
  int8_t got[256], want[256];
  CHECK_OK(e->embed(e, &a, EMBED_TEXT, &text, 1, got, &err), &err);
  CHECK_OK(inside->embed(inside, &a, EMBED_TEXT, &text, 1, want, &err), &err);
  CHECK(memcmp(got, want, sizeof(got)) == 0);
  CHECK_STR(str_from(e->model), inside->model);
  e->close(e);
  arena_release(&a);
}

static const char *write_tiny(struct arena *a, struct model_source *source) {
  struct error err = {0};
  struct buf blob = BUF(a);
  CHECK_OK(wordpiece_build(a, STR("[PAD]\n[UNK]\n[CLS]\n[SEP]\nquery\n:\nred\ngreen\nblue\n##s\n"), &blob, &err), &err);
  source->vocabulary = buf_str(&blob);
  const char *path = arena_printf(a, "%s/tiny.cairn", test_dir()).p;
  CHECK_OK(fs_write(path, made_file(a, source), 0600, &err), &err);
  return path;
}

TEST(file_adds_the_prefix_to_queries) {
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  struct model_source source = made_source(&a, &made_shape, 1);
  source.query_prefix = STR("query: ");
  struct embedder *e;
  CHECK_OK(embedder_file_open(write_tiny(&a, &source), &e, &err), &err);
  CHECK_STR(str_from(e->model), "tiny-v1");
  const struct str plain = STR("red blues"), marked = STR("query: red blues");
  int8_t question[32], text[32], by_hand[32];
  CHECK_OK(e->embed(e, &a, EMBED_QUERY, &plain, 1, question, &err), &err);
  CHECK_OK(e->embed(e, &a, EMBED_TEXT, &plain, 1, text, &err), &err);
  CHECK_OK(e->embed(e, &a, EMBED_TEXT, &marked, 1, by_hand, &err), &err);
  CHECK(memcmp(question, by_hand, sizeof(question)) == 0);
  CHECK(memcmp(question, text, sizeof(question)) != 0);
  e->close(e);
  arena_release(&a);
}

TEST(file_truncates_long_texts) {
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  struct model_source source = made_source(&a, &made_shape, 1);
  struct embedder *e;
  CHECK_OK(embedder_file_open(write_tiny(&a, &source), &e, &err), &err);
  struct buf longer = BUF(&a);
  for (int i = 0; i < 22; i++) /* [CLS], 22 words, [SEP] fill the 24 positions */
    buf_adds(&longer, "red ");
  struct str fits = arena_dup(&a, buf_str(&longer));
  for (int i = 0; i < 5000; i++)
    buf_adds(&longer, "green ");
  int8_t v[2][32];
  struct str both[] = {fits, buf_str(&longer)};
  CHECK_OK(e->embed(e, &a, EMBED_TEXT, both, 2, v[0], &err), &err);
  CHECK(memcmp(v[0], v[1], sizeof(v[0])) == 0);
  e->close(e);
  arena_release(&a);
}

TEST(file_rejects_other_files) {
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  struct embedder *e = NULL;
  CHECK_STATUS(embedder_file_open("/nonexistent/model", &e, &err), STATUS_NOT_FOUND);
  CHECK_STATUS(embedder_file_open(test_dir(), &e, &err), STATUS_CORRUPT);
  const char *path = arena_printf(&a, "%s/empty", test_dir()).p;
  CHECK_OK(fs_write(path, STR(""), 0600, &err), &err);
  CHECK_STATUS(embedder_file_open(path, &e, &err), STATUS_CORRUPT);
  /* A vocabulary with more entries than the word table. */
  struct model_shape shape = made_shape;
  shape.vocab = 9;
  struct model_source source = made_source(&a, &shape, 1);
  CHECK_STATUS(embedder_file_open(write_tiny(&a, &source), &e, &err), STATUS_CORRUPT);
  /* No vocabulary at all. */
  source.vocabulary = STR("");
  path = arena_printf(&a, "%s/bare", test_dir()).p;
  CHECK_OK(fs_write(path, made_file(&a, &source), 0600, &err), &err);
  CHECK_STATUS(embedder_file_open(path, &e, &err), STATUS_CORRUPT);
  CHECK(e == NULL);
  arena_release(&a);
}
