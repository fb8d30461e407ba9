/* test_args.c: command line parsing. */
#include "cli/args.h"

#include "support/harness.h"

/* Lives as long as the test. */
static struct arena a;
static struct error err;
static struct cli_args got;

#define PARSE(...) parse((const char *const[]){"cairn", __VA_ARGS__, NULL})

static enum status parse(const char *const *argv) {
  int argc = 0;
  while (argv[argc])
    argc++;
  return args_parse(&a, argc, argv, &got, &err);
}

/* The arguments of the operation, as JSON. */
static struct str values(void) { return json_write(&a, got.args, false); }
static struct str globals(void) { return json_write(&a, got.globals, false); }

static void check_ok(const char *file, int line, enum status s, const char *op, const char *json) {
  test_check_status(file, line, op, s, STATUS_OK, &err);
  test_check_int(file, line, "command", got.command, CLI_OPERATION);
  test_check_str(file, line, "operation", str_from(got.op->name), op);
  test_check_str(file, line, "arguments", values(), json);
}
#define CHECK_ARGS(op, json, ...) check_ok(__FILE__, __LINE__, PARSE(__VA_ARGS__), op, json)

static void check_refused(const char *file, int line, enum status s, const char *part) {
  test_check_status(file, line, part, s, STATUS_USAGE, NULL);
  if (str_find(str_from(err.message), str_from(part), 0) == SIZE_MAX)
    test_fail(file, line, "'%s' is not in '%s'", part, err.message);
}
#define CHECK_REFUSED(part, ...) check_refused(__FILE__, __LINE__, PARSE(__VA_ARGS__), part)

TEST(options_become_json_members) {
  CHECK_ARGS("remember",
             "{\"headline\":\"h i\",\"key\":\"k=v\",\"tags\":[\"a\",\"b\"],\"weight\":0.5,\"skill_always_on\":true,"
             "\"text\":\"the text\"}",
             "remember", "--headline", "h i", "--key=k=v", "--tag", "a", "--tag=b", "--weight", "0.5",
             "--skill-always-on", "the text");
  CHECK_ARGS("list", "{\"limit\":-3,\"all_projects\":false}", "list", "--limit", "-3", "--all-projects",
             "--no-all-projects");
}

TEST(the_last_option_wins_and_lists_grow) {
  CHECK_ARGS("list", "{\"limit\":2,\"tags\":[\"x\",\"y\"]}", "list", "--limit", "1", "--tag", "x", "--limit", "2",
             "--tag", "y");
}

TEST(other_spellings) {
  CHECK_ARGS("list", "{\"tags\":[\"x\"],\"as_of\":\"2026-01-01\"}", "list", "--tags", "x", "--as_of", "2026-01-01");
  CHECK_ARGS("get", "{\"id\":\"12\"}", "get", "--id", "12");
}

TEST(positional_values) {
  CHECK_ARGS("supersede", "{\"id\":\"12\",\"reason\":\"r\",\"text\":\"new\"}", "supersede", "12", "--reason", "r",
             "new");
  CHECK_ARGS("forget", "{\"ids\":[\"1\",\"2\",\"3\"],\"reason\":\"r\"}", "forget", "1", "2", "--reason=r", "3");
  CHECK_ARGS("undo", "{\"txn\":7}", "undo", "7");
  CHECK_ARGS("supersede", "{\"id\":\"12\",\"text\":\"new\"}", "supersede", "--id", "12", "new");
}

TEST(commands_of_two_words) {
  CHECK_ARGS("task add", "{\"text\":\"do it\"}", "task", "add", "do it");
  CHECK_ARGS("task status", "{\"id\":\"4\",\"status\":\"done\"}", "--quiet", "task", "--json", "status", "4", "done");
  CHECK_STR(globals(), "{\"quiet\":true,\"json\":true}");
}

TEST(global_options_may_be_anywhere) {
  CHECK_ARGS("get", "{\"project\":\"p\",\"id\":\"1\"}", "--db", "x.db", "--project", "p", "get", "--json", "1",
             "--source=s");
  CHECK_STR(globals(), "{\"db\":\"x.db\",\"json\":true,\"source\":\"s\"}");
  CHECK_STR(args_text(got.globals, "db"), "x.db");
  CHECK(!args_text(got.globals, "session").p);
  CHECK(args_flag(got.globals, "json"));
  CHECK(!args_flag(got.globals, "quiet"));
}

TEST(text_may_start_with_a_dash) {
  CHECK_ARGS("remember", "{\"text\":\"--json\"}", "remember", "--", "--json");
  CHECK_ARGS("remember", "{\"text\":\"- a point\"}", "remember", "- a point");
  CHECK_ARGS("remember", "{\"text\":\"-5 degrees\"}", "remember", "-5 degrees");
  CHECK_ARGS("remember", "{\"headline\":\"-x\",\"text\":\"t\"}", "remember", "--headline", "-x", "t");
  CHECK_ARGS("remember", "{\"headline\":\"--json\",\"text\":\"t\"}", "remember", "--headline=--json", "t");
  CHECK_ARGS("remember", "{\"text\":\"\"}", "remember", "");
}

TEST(standard_input_fills_the_text) {
  CHECK_OK(PARSE("remember"), &err);
  CHECK_STR(str_from(got.input->name), "text");
  CHECK(!got.input_asked);
  CHECK_OK(PARSE("remember", "-"), &err);
  CHECK(got.input && got.input_asked);
  CHECK_OK(args_set_input(&got, STR("from outside"), &err), &err);
  CHECK_STR(values(), "{\"text\":\"from outside\"}");
  CHECK_OK(PARSE("remember", "given"), &err);
  CHECK(!got.input);
  CHECK_OK(PARSE("supersede", "12"), &err);
  CHECK_STR(str_from(got.input->name), "text");
  CHECK_OK(PARSE("get", "-"), &err);
  CHECK(!got.input);
}

TEST(a_file_can_replace_standard_input) {
  CHECK_OK(PARSE("remember", "--batch", "lines"), &err);
  CHECK(!got.input);
  CHECK_OK(PARSE("remember", "--batch", "-"), &err);
  CHECK(!got.input);
}

TEST(standard_input_must_be_text) {
  CHECK_OK(PARSE("remember", "-"), &err);
  CHECK_STATUS(args_set_input(&got, STR("a\0b"), &err), STATUS_USAGE);
  CHECK_STR(str_from(err.message), "standard input holds a NUL byte");
  CHECK_STATUS(args_set_input(&got, STR("ab\xff"), &err), STATUS_USAGE);
  CHECK_STR(str_from(err.message), "standard input is not valid UTF-8 (byte 3)");
}

TEST(errors_suggest_the_nearest_name) {
  CHECK_REFUSED("unknown command 'serach'; did you mean 'search'?", "serach", "x");
  CHECK_REFUSED("unknown command 'task ad'; did you mean 'task add'?", "task", "ad");
  CHECK_REFUSED("unknown command 'xyzzy'", "xyzzy");
  CHECK(!strstr(err.message, "did you mean"));
  CHECK_REFUSED("unknown option '--headlin'; did you mean '--headline'?", "remember", "--headlin", "x");
  CHECK_REFUSED("unknown option '--jsn'; did you mean '--json'?", "--jsn", "list");
  CHECK_REFUSED("unknown option '-x'", "list", "-x");
  CHECK_REFUSED("option '--limit' must come after the command", "--limit", "3", "list");
  CHECK_REFUSED("needs one of: add, list,", "task");
  CHECK_REFUSED("no command given", "--json");
}

TEST(invalid_values_are_named) {
  CHECK_REFUSED("--limit needs a whole number, not 'many'", "list", "--limit", "many");
  CHECK_REFUSED("--limit needs a whole number, not '99999999999999999999'", "list", "--limit=99999999999999999999");
  CHECK_REFUSED("--weight needs a number, not '1,5'", "remember", "--weight", "1,5", "x");
  CHECK_REFUSED("TXN needs a whole number", "undo", "last");
  CHECK_REFUSED("--kind cannot be 'fcat'", "list", "--kind", "fcat");
  CHECK_STR(str_from(err.fix), "--kind fact");
  CHECK_REFUSED("DIRECTION cannot be 'sideways': it is one of up, down", "rate", "3", "sideways");
  CHECK_REFUSED("option '--json' takes no value", "list", "--json=yes");
  CHECK_REFUSED("'cairn remember' does not take another argument: 'b'", "remember", "a", "b");
}

TEST(a_missing_value) {
  CHECK_REFUSED("option '--limit' needs a value", "list", "--limit");
  CHECK_REFUSED("option '--reason' needs a value", "forget", "3", "--reason", "--json");
  CHECK_STR(str_from(err.fix), "--reason=--json   (if that is the value)");
}

TEST(arguments_must_be_utf8) {
  CHECK_REFUSED("TEXT is not valid UTF-8 (byte 4)", "remember", "caf\xe9");
  CHECK_REFUSED("--headline is not valid UTF-8", "remember", "--headline=\xff", "x");
  CHECK_REFUSED("--tag is not valid UTF-8", "remember", "--tag", "\xc3", "x");
  CHECK_REFUSED("argument 1 is not valid UTF-8", "\xf0\x9f");
  CHECK_REFUSED("argument 2 is not valid UTF-8", "list", "--\xfe");
  CHECK_REFUSED("--db is not valid UTF-8", "--db", "\xed\xa0\x80", "list");
}

TEST(missing_arguments_are_named) {
  CHECK_OK(PARSE("get"), &err);
  CHECK_STATUS(args_check(&a, &got, &err), STATUS_USAGE);
  CHECK_STR(str_from(err.message), "'cairn get' needs ID");
  CHECK_OK(PARSE("forget", "3"), &err);
  CHECK_STATUS(args_check(&a, &got, &err), STATUS_USAGE);
  CHECK_STR(str_from(err.message), "'cairn forget' needs --reason TEXT");
  CHECK_OK(PARSE("forget", "3", "--reason", "r"), &err);
  CHECK_OK(args_check(&a, &got, &err), &err);
  /* Text may still come from standard input; without it, it is missing. */
  CHECK_OK(PARSE("capture"), &err);
  CHECK_OK(args_check(&a, &got, &err), &err);
  got.input = NULL;
  CHECK_STATUS(args_check(&a, &got, &err), STATUS_USAGE);
}

TEST(builtin_commands) {
  const char *const alone[] = {"cairn", NULL};
  CHECK_OK(parse(alone), &err);
  CHECK_INT(got.command, CLI_HELP);
  CHECK(!args_flag(got.args, "all"));
  CHECK_OK(PARSE("--help", "--all"), &err);
  CHECK(got.command == CLI_HELP && !got.topic && args_flag(got.args, "all"));
  CHECK_REFUSED("must come after the command", "--all");
  CHECK_OK(PARSE("help", "--all"), &err);
  CHECK_INT(got.command, CLI_HELP);
  CHECK(!got.op && !got.words.p && args_flag(got.args, "all"));
  CHECK_REFUSED("unknown option '--al'", "help", "--al");
  CHECK_OK(PARSE("help", "task", "add"), &err);
  CHECK_INT(got.command, CLI_HELP);
  CHECK_STR(str_from(got.op->name), "task add");
  CHECK_OK(PARSE("help", "task"), &err);
  CHECK(!got.op);
  CHECK_STR(got.words, "task");
  CHECK_OK(PARSE("task", "-h"), &err);
  CHECK_INT(got.command, CLI_HELP);
  CHECK_STR(got.words, "task");
  CHECK_OK(PARSE("help", "man"), &err);
  CHECK_STR(str_from(got.topic->name), "man");
  CHECK_OK(PARSE("completion", "--help"), &err);
  CHECK_INT(got.command, CLI_HELP);
  CHECK_STR(str_from(got.topic->name), "completion");
  CHECK_OK(PARSE("get", "--help"), &err);
  CHECK_INT(got.command, CLI_HELP);
  CHECK_STR(str_from(got.op->name), "get");
  CHECK_OK(PARSE("--version"), &err);
  CHECK_INT(got.command, CLI_VERSION);
  CHECK_OK(PARSE("completion", "zsh"), &err);
  CHECK_INT(got.command, CLI_COMPLETION);
  CHECK_STR(got.words, "zsh");
  CHECK_REFUSED("needs the name of a shell", "completion");
  CHECK_REFUSED("'cairn version' does not take another argument", "version", "2");
  CHECK_REFUSED("did you mean 'search'?", "help", "serch");
}

TEST(json_is_known_before_parsing) {
  const char *const yes[] = {"cairn", "--bogus", "--json", NULL}, *const text[] = {"cairn", "x", "--", "--json", NULL};
  CHECK(args_want_json(3, yes));
  CHECK(!args_want_json(4, text));
}

/* Every parameter in the table can be given, under the name that help shows. */
TEST(every_parameter_of_every_operation_is_understood) {
  EACH_OP(op)
    for (const struct param *p = op->params; p->name; p++) {
      LIST(const char *) argv = {0};
      struct str name = str_from(op->name), word;
      list_push(&a, &argv, "cairn");
      while (str_next(&name, ' ', &word))
        list_push(&a, &argv, arena_cstr(&a, word));
      const char *value = p->form == PARAM_INT ? "3" : p->form == PARAM_NUMBER ? "0.5" : "text";
      list_push(&a, &argv, arena_printf(&a, "--%s", args_spelling(&a, p).p).p);
      if (p->form != PARAM_BOOL)
        list_push(&a, &argv, p->choices ? p->choices[0] : value);
      list_push(&a, &argv, NULL);
      CHECK_OK(parse(argv.v), &err);
      CHECK(yyjson_mut_obj_get(got.args, p->name));
    }
}
