/* test_model.c: model convert and model show: converting a folder with a tiny model to a file, and all errors. */
#include <sys/stat.h>
#include <unistd.h>

#include "support/cli.h"
#include "support/tiny_model.h"

static struct arena a;

static void put(const char *folder, const char *name, struct str text) {
  char path[512];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  file_write(path, text);
}

/* Creates a model folder in the test's directory. */
static const char *model_folder(const char *name, const struct tiny_spec *spec) {
  const char *folder = path_join(NULL, name);
  CHECK_INT(mkdir(folder, 0700), 0);
  CHECK_INT(mkdir(path_join(folder, "1_Pooling"), 0700), 0);
  put(folder, "model.safetensors", tiny_weights(&a, spec));
  put(folder, "vocab.txt", str_from(tiny_vocab));
  put(folder, "config.json", str_from(tiny_config));
  put(folder, "1_Pooling/config.json", STR("{\"pooling_mode_cls_token\": false, \"pooling_mode_mean_tokens\": true}"));
  return folder;
}

static bool exists(const char *path) { return access(path, F_OK) == 0; }

static void check_tiny(yyjson_val *r, const char *name) {
  CHECK_STR(jstr(r, "name"), name);
  CHECK_INT(jint(r, "dims"), TINY_HIDDEN);
  CHECK_INT(jint(r, "hidden"), TINY_HIDDEN);
  CHECK_INT(jint(r, "layers"), TINY_LAYERS);
  CHECK_INT(jint(r, "heads"), TINY_HEADS);
  CHECK_INT(jint(r, "feed_forward"), TINY_FFN);
  CHECK_INT(jint(r, "vocabulary"), TINY_WORDS);
  CHECK_INT(jint(r, "positions"), TINY_POSITIONS);
  CHECK_STR(jstr(r, "pooling"), "mean");
  CHECK_STR(jstr(r, "activation"), "gelu");
  CHECK(!jbool(r, "projection"));
}

TEST(a_converted_model_can_be_shown) {
  test_store_new("test.db");
  const char *folder = model_folder("tiny-v1", &(struct tiny_spec){.prefix = "bert.", .type = "F16"});
  const char *file = path_join(NULL, "tiny.cairn");
  yyjson_val *r = OK("model", "convert", folder, file);
  check_tiny(r, "tiny-v1");
  CHECK_STR(jstr(r, "file"), file);
  CHECK_INT(jint(r, "max_tokens"), TINY_POSITIONS);
  struct stat st;
  CHECK_INT(stat(file, &st), 0);
  CHECK_INT(jint(r, "bytes"), st.st_size);
  CHECK_INT(st.st_mode & 0777, 0644);
  check_tiny(OK("model", "show", file), "tiny-v1");
  struct run text = CAIRN("model", "show", file);
  CHECK_INT(text.exit_code, 0);
  CHECK(has(text.out, "name: tiny-v1") && has(text.out, "pooling: mean"));
  /* Neither command needs or creates a store. */
  CHECK(!store_is_there(cli_db()));
}

TEST(options_are_stored) {
  const char *folder = model_folder("tiny", &(struct tiny_spec){0}), *file = path_join(NULL, "tiny.cairn");
  OK("model", "convert", folder, file, "--name", "My_model.2", "--pooling", "cls", "--max-tokens", "9",
     "--query-prefix", "query: ", "--text-prefix", "passage: ");
  yyjson_val *r = OK("model", "show", file);
  CHECK_STR(jstr(r, "name"), "My_model.2");
  CHECK_STR(jstr(r, "pooling"), "cls");
  CHECK_INT(jint(r, "max_tokens"), 9);
  CHECK_STR(jstr(r, "query_prefix"), "query: ");
  CHECK_STR(jstr(r, "text_prefix"), "passage: ");
}

TEST(a_calibration_can_be_supplied) {
  const char *folder = model_folder("tiny", &(struct tiny_spec){0}), *file = path_join(NULL, "tiny.cairn");
  OK("model", "convert", folder, file, "--calibration", "-0.5:0, 0.25:0.5,0.75:0.92,1:1");
  yyjson_val *r = OK("model", "show", file);
  CHECK_INT(jlen(r, "calibration.raw"), 4);
  CHECK_NEAR(jnum(r, "calibration.raw[0]"), -0.5, 0);
  CHECK_NEAR(jnum(r, "calibration.raw[2]"), 0.75, 0);
  CHECK_NEAR(jnum(r, "calibration.scaled[2]"), 0.92, 0);
  static const char *const bad[] = {"",
                                    "0:0",
                                    "0:0,0:1",
                                    "0.5:0,0.4:1",
                                    "0:0,2:1",
                                    "0:0,1:2",
                                    "0:0,one:1",
                                    "0:0;1:1",
                                    "0:0,.1:.1,.2:.2,.3:.3,.4:.4,.5:.5,.6:.6,.7:.7,1:1"};
  const char *other = path_join(NULL, "other.cairn");
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    test_note("%s", bad[i]);
    REFUSED("usage", "model", "convert", folder, other, "--calibration", bad[i]);
    CHECK(!exists(other));
  }
}

/* Its weights are noise, so its similarities mean nothing. */
TEST(a_model_of_noise_never_reports_duplicates) {
  const char *folder = model_folder("tiny", &(struct tiny_spec){0}), *file = path_join(NULL, "tiny.cairn");
  yyjson_val *r = OK("model", "convert", folder, file);
  size_t n = jlen(r, "calibration.scaled");
  CHECK(jnum(r, textf("calibration.scaled[%zu]", n - 1)) < 0.75);
  cli_set(textf("CAIRN_EMBEDDER_FILE=%s", file));
  cli_set("CAIRN_EMBEDDER=file");
  STORE("The harbour master counts seagulls at noon");
  r = OK("remember", "Quince jam needs an hour on the stove");
  CHECK_STR(jstr(r, "action"), "stored");
  CHECK(jbool(r, "embedded"));
  CHECK(!warning(r, "contradiction") && !warning(r, "near"));
}

TEST(the_weights_file_can_be_given_instead_of_the_folder) {
  const char *folder = model_folder("a model, odd", &(struct tiny_spec){0}), *file = path_join(NULL, "tiny.cairn");
  CHECK_INT(rename(path_join(folder, "model.safetensors"), path_join(folder, "weights.safetensors")), 0);
  yyjson_val *r = OK("model", "convert", path_join(folder, "weights.safetensors"), file);
  check_tiny(r, "a-model--odd");
}

TEST(overwriting_needs_force) {
  const char *folder = model_folder("tiny", &(struct tiny_spec){0}), *file = path_join(NULL, "tiny.cairn");
  OK("model", "convert", folder, file);
  struct str before = file_read(file);
  REFUSED("conflict", "model", "convert", folder, file, "--name", "second");
  CHECK(str_eq(file_read(file), before));
  OK("model", "convert", folder, file, "--name", "second", "--force");
  CHECK_STR(jstr(OK("model", "show", file), "name"), "second");
  /* A file that is not a model is never replaced, even with --force. */
  const char *notes = path_join(NULL, "notes.txt");
  file_write(notes, STR("important"));
  REFUSED("conflict", "model", "convert", folder, notes, "--force");
  CHECK_STR(file_read(notes), "important");
  REFUSED("conflict", "model", "convert", folder, folder, "--force");
}

TEST(a_failed_conversion_leaves_nothing_behind) {
  const char *folder = model_folder("tiny", &(struct tiny_spec){.without = "encoder.layer.1.output.dense.bias"});
  const char *out = path_join(NULL, "out");
  CHECK_INT(mkdir(out, 0700), 0);
  yyjson_val *r = REFUSED("usage", "model", "convert", folder, path_join(out, "tiny.cairn"));
  CHECK(has(jstr(r, "message"), "encoder.layer.1.output.dense.bias"));
  CHECK_INT(rmdir(out), 0); /* empty: no temporary file is left */
  REFUSED("not_found", "model", "convert", model_folder("good", &(struct tiny_spec){0}), path_join(out, "tiny.cairn"));
}

TEST(folders_without_a_model_are_refused) {
  const char *file = path_join(NULL, "x.cairn"), *folder = path_join(NULL, "empty");
  REFUSED("not_found", "model", "convert", path_join(NULL, "nowhere"), file);
  CHECK_INT(mkdir(folder, 0700), 0);
  yyjson_val *r = REFUSED("not_found", "model", "convert", folder, file);
  CHECK(has(jstr(r, "message"), "model.safetensors"));
  put(folder, "pytorch_model.bin", STR("PK"));
  CHECK(has(jstr(REFUSED("not_found", "model", "convert", folder, file), "fix"), "pickled"));
  put(folder, "model.safetensors", STR("PK\3\4 not what its name says"));
  CHECK(has(jstr(REFUSED("not_found", "model", "convert", folder, file), "message"), "vocab.txt"));
  put(folder, "vocab.txt", str_from(tiny_vocab));
  put(folder, "config.json", STR("{\"model_type\": \"mpnet\", \"num_attention_heads\": 2}"));
  r = REFUSED("usage", "model", "convert", folder, file, "--pooling", "cls");
  CHECK(has(jstr(r, "message"), "mpnet"));
  put(folder, "config.json", str_from(tiny_config));
  r = REFUSED("usage", "model", "convert", folder, file, "--pooling", "cls");
  CHECK(has(jstr(r, "message"), "safetensors"));
  CHECK(!exists(file));
}

TEST(names_and_numbers_are_checked) {
  const char *folder = model_folder("tiny", &(struct tiny_spec){0}), *file = path_join(NULL, "x.cairn");
  REFUSED("usage", "model", "convert", folder, file, "--name", "a b");
  REFUSED("usage", "model", "convert", folder, file, "--name", "");
  REFUSED("usage", "model", "convert", folder, file, "--name", "hash-v1");
  REFUSED("usage", "model", "convert", folder, file, "--name",
          "a-name-that-is-longer-than-sixty-three-bytes-and-so-does-not-fit-0");
  REFUSED("usage", "model", "convert", folder, file, "--pooling", "max");
  REFUSED("usage", "model", "convert", folder, file, "--max-tokens", "2");
  REFUSED("usage", "model", "convert", folder, file, "--max-tokens", "513");
  REFUSED("usage", "model", "convert", folder, file, "--heads", "0");
  REFUSED("usage", "model", "convert", folder);
  CHECK(!exists(file));
}

TEST(a_damaged_model_is_refused) {
  const char *folder = model_folder("tiny", &(struct tiny_spec){0}), *file = path_join(NULL, "x.cairn");
  OK("model", "convert", folder, file);
  struct str good = file_read(file);
  char *bytes = arena_cstr(&a, good);
  for (size_t at = 3; at < good.n; at += good.n / 20) {
    bytes[at] = (char)(bytes[at] ^ 16);
    file_write(file, (struct str){bytes, good.n});
    REFUSED("corrupt", "model", "show", file);
    bytes[at] = (char)(bytes[at] ^ 16);
  }
  file_write(file, str_slice(good, 0, good.n - 1));
  REFUSED("corrupt", "model", "show", file);
  file_write(file, STR(""));
  REFUSED("corrupt", "model", "show", file);
  REFUSED("not_found", "model", "show", path_join(NULL, "nowhere.cairn"));
}
