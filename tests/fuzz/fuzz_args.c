/* fuzz_args.c: any command line; arguments are separated by NUL bytes, as in /proc/self/cmdline. */
#include "base/utf8.h"
#include "cli/args.h"
#include "cli/help.h"
#include "support/fuzz.h"

enum { WORDS_MAX = 64 };

static void check_objects(struct arena *a, const struct cli_args *args) {
  struct error err;
  yyjson_val *root;
  /* The parser's output is valid JSON that the operation can validate. */
  FUZZ_CHECK(json_read(a, json_write(a, args->args, false), &root, &err) == STATUS_OK);
  FUZZ_CHECK(yyjson_is_obj(root));
  size_t i, n;
  yyjson_val *key, *value;
  yyjson_obj_foreach(root, i, n, key, value) {
    struct str name = json_val_str(key);
    FUZZ_CHECK(!args->op || op_param(args->op, name));
  }
  if (args->command == CLI_OPERATION) {
    FUZZ_CHECK(args->op);
    if (args_check(a, args, &err) == STATUS_OK && !args->input)
      FUZZ_CHECK(op_check_args(args->op, root, &err) == STATUS_OK);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena a;
  arena_init(&a);
  const char *argv[WORDS_MAX + 2] = {"cairn"};
  int argc = 1;
  struct str rest = arena_dup(&a, (struct str){(const char *)data, size}), word;
  while (argc <= WORDS_MAX && str_next(&rest, 0, &word))
    argv[argc++] = arena_cstr(&a, word);
  struct cli_args args = {0};
  struct error err = {0};
  if (args_parse(&a, argc, argv, &args, &err) == STATUS_OK) {
    check_objects(&a, &args);
  } else {
    struct str message = str_from(err.message);
    FUZZ_CHECK(message.n > 0 && utf8_check(message) == message.n);
    FUZZ_CHECK(!args.doc); /* untouched on failure */
  }
  struct buf b = BUF(&a);
  completion_words(&b, argc - 1, argv + 1);
  arena_release(&a);
  return 0;
}
