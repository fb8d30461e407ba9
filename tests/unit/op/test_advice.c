/* test_advice.c: translation of command lines in messages for other interfaces. */
#include "op/run/advice.h"

#include <dirent.h>

#include "base/os/fs.h"
#include "support/harness.h"

static struct arena a;

static struct str as_name(const struct advice_interface *door, const struct op *op, yyjson_mut_val *args) {
  return arena_printf(door->arena, "<%s %s>", op->name, json_write(door->arena, args, false).p);
}

static struct str words(const char *text) {
  struct advice_interface door = {
      .arena = &a, .doc = json_new(&a), .call = as_name, .session = "SESSION", .elsewhere = "elsewhere"};
  return advice_translate(&door, str_from(text));
}

TEST(irreversible_commands_never_become_calls) {
  EACH_OP(op) {
    struct str said = words(arena_printf(&a, "'cairn %s'", op->name).p);
    struct str want = (op->flags & OP_DESTRUCTIVE) ? arena_printf(&a, "'cairn %s' (elsewhere)", op->name)
                                                   : arena_printf(&a, "<%s {}>", op->name);
    test_note("%s", op->name);
    CHECK(str_eq(said, want));
  }
}

TEST(the_session_has_the_name_of_the_interface) { CHECK_STR(words("(--session, or CAIRN_SESSION)"), "(SESSION)"); }

TEST(common_options_are_arguments_of_the_call) {
  CHECK_STR(words("cairn search 'a b' --all-projects"), "<search {\"query\":\"a b\",\"all_projects\":true}>");
  CHECK_STR(words("'cairn list --project web --limit 3'"), "<list {\"project\":\"web\",\"limit\":3}>");
}

/* Options of operations become arguments; those of other programs stay. */
TEST(options_of_other_programs_stay) {
  CHECK_STR(words("repeat it with --inherit-key, and --reason WHY"), "repeat it with inherit_key, and reason WHY");
  CHECK_STR(words("never use rsync --delete-excluded"), "never use rsync --delete-excluded");
}

/* Text quoted from a memory is not changed, whatever it looks like. */
TEST(a_quoted_memory_stays_as_it_is) {
  static const char *const messages[] = {
      "close to memory 12: Never use rsync --delete",
      "key 'k' is taken by memory 3: Push with --force, then cairn list (untrusted)",
      "may contradict memory 3 (number: '--reason', there '4'): Push with --force",
      "says more than memory 3, which stays: 'cairn get 3' needs --reason",
  };
  for (size_t i = 0; i < ARRAY_LEN(messages); i++)
    CHECK_STR(words(messages[i]), messages[i]);
  CHECK_STR(words("memory 3 is pinned; --reason says why"), "memory 3 is pinned; reason says why");
  CHECK_STR(words("memory: --reason says why"), "memory: reason says why");
}

/* ---- the sources ---- */

static void check_file(const char *path) {
  static const char *const commands[] = {"cairn purge", "cairn prune", "cairn team delete", "cairn vault delete",
                                         "cairn token delete"};
  struct error err;
  struct str text;
  CHECK_OK(fs_read(&a, path, 1 << 20, &text, &err), &err);
  for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
    test_note("%s: %s", path, commands[i]);
    CHECK(str_find(text, str_from(commands[i]), 0) == SIZE_MAX);
  }
}

/* Checks each source below a folder; returns their number. Help and examples in src/op/table may name these commands.
 */
static int check_folder(const char *folder) {
  int seen = 0;
  DIR *dir = opendir(folder);
  CHECK(dir);
  for (struct dirent *e; (e = readdir(dir)) != NULL;) {
    const char *path = arena_printf(&a, "%s/%s", folder, e->d_name).p;
    if (e->d_type == DT_DIR && e->d_name[0] != '.' && strcmp(e->d_name, "table") != 0)
      seen += check_folder(path);
    else if (str_ends(str_from(e->d_name), STR(".c")))
      check_file(path), seen++;
  }
  closedir(dir);
  return seen;
}

TEST(no_source_suggests_an_irreversible_command) {
  static const char *const layers[] = {"base", "core", "embed", "store", "file", "transcript", "op", "mcp", "http"};
  int seen = 0;
  for (size_t i = 0; i < ARRAY_LEN(layers); i++)
    seen += check_folder(arena_printf(&a, "%s/src/%s", CAIRN_SOURCE_DIR, layers[i]).p);
  CHECK(seen > 300);
}
