/* test_advice.c: translation of command lines in messages for other interfaces. */
#include "op/run/advice.h"

#include <dirent.h>

#include "base/os/fs.h"
#include "support/harness.h"

static struct arena a;

static struct str as_name(const struct advice_interface *to, const struct op *op, yyjson_mut_val *args) {
  return arena_printf(to->arena, "<%s %s>", op->name, json_write(to->arena, args, false).p);
}

static struct str words(const char *text) {
  struct advice_interface to = {
      .arena = &a, .doc = json_new(&a), .call = as_name, .session = "SESSION", .elsewhere = "elsewhere"};
  return advice_translate(&to, str_from(text));
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

/* A value in shell quotes is copied, whatever it looks like. */
TEST(quoted_values_stay_as_they_are) {
  CHECK_STR(
      words("to replace it: cairn supersede 1 --reason 'what changed' 'never run cairn forget 1 --reason x'; or so"),
      "to replace it: <supersede {\"id\":1,\"reason\":\"what changed\",\"text\":\"never run cairn forget 1 --reason "
      "x\"}>; or so");
  CHECK_STR(words("cairn supersede 1 'it'\\''s cairn forget 2; --force'\\'''"),
            "<supersede {\"id\":1,\"text\":\"it's cairn forget 2; --force'\"}>");
  CHECK_STR(words("for example --headline 'cairn forget 1 --reason x'"),
            "for example headline 'cairn forget 1 --reason x'");
  CHECK_STR(words("'cairn vault grant' or cairn purge 'a; cairn list' --confirm; then cairn list"),
            "<vault grant {}> or `cairn purge 'a; cairn list' --confirm` (elsewhere); then <list {}>");
}

/* What a shell would take as one word is one value. */
TEST(a_text_quoted_for_a_shell_is_one_value) {
  static const char *const texts[] = {"plain", "it's", "'", "''a'", "a'b'c", "x'; cairn purge 1; '", "\\'"};
  for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
    struct str quoted = arena_shell_quote(&a, str_from(texts[i]));
    struct str said = words(arena_printf(&a, "cairn remember %.*s", STR_ARG(quoted)).p);
    yyjson_mut_doc *doc = json_new(&a);
    yyjson_mut_val *want = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, want, "text", texts[i]);
    CHECK_STR(said, arena_printf(&a, "<remember %s>", json_write(&a, want, false).p).p);
  }
}

static bool takes_reason(const struct advice_interface *to UNUSED, struct str option) {
  return str_is(option, "reason");
}

TEST(options_that_a_call_does_not_take_are_marked) {
  struct advice_interface to = {.arena = &a,
                                .doc = json_new(&a),
                                .call = as_name,
                                .takes = takes_reason,
                                .session = "SESSION",
                                .user_option = "for the user",
                                .elsewhere = "elsewhere"};
  CHECK_STR(advice_translate(&to, STR("say --reason WHY, or name another file with --path; rsync --delete-excluded")),
            "say reason WHY, or name another file with --path (for the user); rsync --delete-excluded");
  CHECK_STR(advice_translate(&to, STR("cairn search X, or with --limit 3")), /* of the command before it */
            "<search {\"query\":\"X\"}>, or with limit 3");
  CHECK_STR(advice_translate(&to, STR("cairn search X; or repeat the call with --limit 3")),
            "<search {\"query\":\"X\"}>; or repeat the call with --limit 3 (for the user)");
}

/* ---- results ---- */

static struct str marked(void *arg UNUSED, struct str text) { return arena_printf(&a, "<%.*s>", STR_ARG(text)); }

static struct str rewritten(const char *op, const char *json) {
  struct error err;
  yyjson_val *read;
  CHECK_OK(json_read(&a, str_from(json), &read, &err), &err);
  yyjson_mut_val *result = yyjson_val_mut_copy(json_new(&a), read);
  advice_rewrite_result(&a, op_find(str_from(op)), result, marked, NULL);
  return json_write(&a, result, false);
}

TEST(advice_of_a_result_is_rewritten) {
  static const struct {
    const char *op, *before, *after;
  } rows[] = {
      {"remember", "{\"warnings\":[{\"message\":\"close to rule 1: cairn list\",\"fix\":\"y\"}]}",
       "{\"warnings\":[{\"message\":\"close to rule 1: cairn list\",\"fix\":\"<y>\"}]}"},
      {"health", "{\"problems\":[\"x\",\"y\"]}", "{\"problems\":[\"<x>\",\"<y>\"]}"},
      {"transcript flush", "{\"question\":\"x\",\"answer_with\":\"y\"}",
       "{\"question\":\"x\",\"answer_with\":\"<y>\"}"},
      {"transcript compact", "{\"reason\":\"x\"}", "{\"reason\":\"<x>\"}"},
      {"capture", "{\"memories\":[{\"error\":{\"message\":\"x\",\"fix\":\"y\"}}]}",
       "{\"memories\":[{\"error\":{\"message\":\"x\",\"fix\":\"<y>\"}}]}"},
  };
  for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
    test_note("%s", rows[i].op);
    CHECK_STR(rewritten(rows[i].op, rows[i].before), rows[i].after);
  }
}

/* Members with the same names that callers have stored. */
TEST(stored_text_of_a_result_is_unchanged) {
  static const struct {
    const char *op, *json;
  } rows[] = {
      {"action list", "{\"items\":[{\"text\":\"x\",\"reason\":\"y\"}]}"},
      {"transcript read", "{\"messages\":[{\"input\":{\"fix\":\"x\",\"note\":\"y\"}}]}"},
      {"agent list", "{\"agents\":[{\"note\":\"x\"}]}"},
      {"agent message", "{\"message\":{\"payload\":{\"action\":\"x\"}}}"},
      {"boot", "{\"working_context\":{\"note\":\"x\"},\"handoff\":{\"text\":\"x\"}}"},
      {"errors", "{\"errors\":[{\"message\":\"x\"}]}"},
      {"file view", "{\"text\":\"*Left out: x\"}"},
      {"list", "{\"memories\":[{\"body\":\"x\",\"fix\":\"y\"}]}"},
      {"scratch get", "{\"value\":\"x\"}"},
  };
  for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
    test_note("%s", rows[i].op);
    CHECK_STR(rewritten(rows[i].op, rows[i].json), rows[i].json);
  }
}

/* Lines that boot and the page wrote, and none that looks similar. */
TEST(lines_that_name_commands_are_rewritten) {
  CHECK_STR(rewritten("boot",
                      "{\"text\":\"# M\\n- 3 more: cairn list\\n- 9 more: cairn list\\n- 3 more: cairn purge\\n\","
                      "\"dropped\":[{\"section\":\"s\",\"count\":3,\"fetch\":\"cairn list\"}]}"),
            "{\"text\":\"# M\\n<- 3 more: cairn list>\\n- 9 more: cairn list\\n- 3 more: cairn purge\\n\","
            "\"dropped\":[{\"section\":\"s\",\"count\":3,\"fetch\":\"<cairn list>\"}]}");
  CHECK_STR(rewritten("page", "{\"text\":\"# M\\n- *Left out: 1*\\n*Left out: 1 'cairn list'*\\n\"}"),
            "{\"text\":\"# M\\n- *Left out: 1*\\n<*Left out: 1 'cairn list'*>\\n\"}");
  CHECK_STR(rewritten("page", "{\"text\":\"\"}"), "{\"text\":\"\"}");
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
