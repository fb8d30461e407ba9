/* test_cli_basics.c: the program's basics: help, usage errors, input, output, environment. */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/os/fs.h"
#include "cli/args.h"
#include "cli/commands.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

static struct arena a;
static struct error err;

/* Isolates the program from the user's environment: its home and its store are in the test's folder. */
static const char *const *clean_env(void) {
  LIST(const char *) env = {0};
  list_push(&a, &env, arena_printf(&a, "HOME=%s", test_dir()).p);
  list_push(&a, &env, arena_printf(&a, "CAIRN_DB=%s", test_store_new("test.db")).p);
  const char *const unset[] = {"XDG_DATA_HOME", "CAIRN_PROJECT", "CAIRN_TEAM", "CAIRN_SOURCE",     "CAIRN_SESSION",
                               "CAIRN_NOW",     "CAIRN_BUSY_MS", "NO_COLOR",   "CAIRN_NO_MAINTAIN"};
  for (size_t i = 0; i < ARRAY_LEN(unset); i++)
    list_push(&a, &env, unset[i]);
  list_push(&a, &env, NULL);
  return env.v;
}

static struct run run_args(const char *const *args, struct str input) {
  LIST(const char *) argv = {0};
  list_push(&a, &argv, CAIRN_BIN);
  for (; *args; args++)
    list_push(&a, &argv, *args);
  list_push(&a, &argv, NULL);
  return proc_run(.argv = argv.v, .env = clean_env(), .input = input);
}
#define CAIRN(...) run_args(ARGS(__VA_ARGS__), STR_NONE)
#define CAIRN_FED(input, ...) run_args(ARGS(__VA_ARGS__), (input))

/* Runs a shell command in which $CAIRN is the program. */
static struct run shell(const char *command) {
  LIST(const char *) env = {0};
  for (const char *const *v = clean_env(); *v; v++)
    list_push(&a, &env, *v);
  list_push(&a, &env, "CAIRN=" CAIRN_BIN);
  list_push(&a, &env, NULL);
  return proc_run(.argv = ARGS("sh", "-c", command), .env = env.v);
}

static bool has(struct str text, const char *part) { return str_find(text, str_from(part), 0) != SIZE_MAX; }

static bool exists(const char *name) { return access(path_join(NULL, name), F_OK) == 0; }

static yyjson_val *parsed(struct str text) {
  yyjson_val *root = NULL;
  CHECK_OK(json_read(&a, text, &root, &err), &err);
  return root;
}

static size_t lines(struct str text) {
  size_t n = 0;
  for (size_t i = 0; i < text.n; i++)
    n += text.p[i] == '\n';
  return n;
}

/* Output is one JSON object on one line, and stderr is empty. */
static yyjson_val *json_of(struct run r) {
  CHECK_STR(r.err, "");
  CHECK_INT(lines(r.out), 1);
  return parsed(r.out);
}

static int64_t count(void) { return json_int(parsed(CAIRN("list", "--json", "--all-projects").out), "count", -1); }

/* ---- help ---- */

/* True if the help has a row for this command. */
static bool lists(struct str help, const struct op *op) {
  return has(help, arena_printf(&a, "\n  %s ", op->name).p) && has(help, op->summary);
}

static void check_width(struct str text) {
  struct str line;
  while (str_line(&text, &line))
    if (line.n > 80)
      test_fail(__FILE__, __LINE__, "too long: %.*s", STR_ARG(line));
}

TEST(help_lists_everyday_commands) {
  struct run r = CAIRN("help"), alone = run_args(ARGS(NULL), STR_NONE), flag = CAIRN("--help");
  CHECK_INT(r.exit_code, 0);
  CHECK_STR(r.err, "");
  CHECK(str_eq(r.out, alone.out) && alone.exit_code == 0);
  CHECK(str_eq(r.out, flag.out) && flag.exit_code == 0);
  size_t n = 0;
  EACH_OP(op) {
    test_note("%s", op->name);
    CHECK(lists(r.out, op) == ((op->flags & OP_EVERYDAY) != 0));
    n += lists(r.out, op);
  }
  for (const struct command *d = commands; d->op.name; d++) {
    CHECK(lists(r.out, &d->op) == ((d->op.flags & OP_EVERYDAY) != 0));
    n += lists(r.out, &d->op);
  }
  CHECK(n >= 8 && n <= 14);
  CHECK(has(r.out, "cairn help COMMAND") && has(r.out, "cairn help --all"));
  check_width(r.out);
  CHECK(!store_is_there(test_store("test.db")));
}

TEST(help_all_lists_every_command) {
  struct run r = CAIRN("help", "--all");
  CHECK_INT(r.exit_code, 0);
  CHECK_STR(r.err, "");
  EACH_OP(op) {
    test_note("%s", op->name);
    CHECK(lists(r.out, op));
  }
  for (const struct command *d = commands; d->op.name; d++)
    CHECK(lists(r.out, &d->op));
  for (const struct builtin *b = builtins; b->name; b++)
    CHECK(has(r.out, arena_printf(&a, "\n  %s ", b->name).p));
  CHECK(has(r.out, "\n  --db STORE"));
  CHECK(str_eq(CAIRN("--help", "--all").out, r.out));
  check_width(r.out);
  CHECK(!store_is_there(test_store("test.db")));
}

TEST(commands_page_lists_every_command) {
  struct str page;
  CHECK_OK(fs_read(&a, CAIRN_SOURCE_DIR "/docs/commands.md", 1 << 20, &page, &err), &err);
  EACH_OP(op) {
    test_note("%s", op->name);
    CHECK(has(page, arena_printf(&a, "`%s`", op->name).p) && has(page, arena_printf(&a, "cairn %s", op->name).p));
  }
  for (const struct command *d = commands; d->op.name; d++) {
    test_note("%s", d->op.name);
    CHECK(has(page, arena_printf(&a, "`%s`", d->op.name).p));
  }
  for (const struct builtin *b = builtins; b->name; b++) {
    test_note("%s", b->name);
    CHECK(has(page, arena_printf(&a, "`%s`", b->name).p));
  }
}

static const char *const *words_of(const char *first, const char *name, const char *last) {
  LIST(const char *) argv = {0};
  struct str rest = str_from(name), word;
  if (first)
    list_push(&a, &argv, first);
  while (str_next(&rest, ' ', &word))
    list_push(&a, &argv, arena_cstr(&a, word));
  if (last)
    list_push(&a, &argv, last);
  list_push(&a, &argv, NULL);
  return argv.v;
}

TEST(help_of_every_command_mentions_every_parameter, .seconds = 60, .slow = true) {
  EACH_OP(op) {
    struct run r = run_args(words_of("help", op->name, NULL), STR_NONE);
    CHECK_INT(r.exit_code, 0);
    CHECK(has(r.out, arena_printf(&a, "Usage: cairn %s", op->name).p));
    struct run flag = run_args(words_of(NULL, op->name, "--help"), STR_NONE);
    CHECK(str_eq(r.out, flag.out) && flag.exit_code == 0);
    for (const struct param *p = op->params; p->name; p++) {
      bool by_place = p->flags & PARAM_POSITIONAL;
      const char *shown = by_place ? args_placeholder(&a, p).p : arena_printf(&a, "--%s", args_spelling(&a, p).p).p;
      if (!has(r.out, arena_printf(&a, "\n  %s", shown).p))
        test_fail(__FILE__, __LINE__, "help of '%s' does not mention %s", op->name, shown);
    }
    struct str examples = str_from(op->example), line;
    CHECK(examples.n > 0);
    while (str_line(&examples, &line))
      CHECK(has(r.out, arena_cstr(&a, line)));
  }
  CHECK(!store_is_there(test_store("test.db")));
}

TEST(help_fits_80_columns) {
  struct run r = CAIRN("help", "remember");
  struct str line;
  bool examples = false;
  while (str_line(&r.out, &line)) {
    examples |= str_is(line, "Examples");
    if (!examples && line.n > 80)
      test_fail(__FILE__, __LINE__, "too long: %.*s", STR_ARG(line));
  }
  CHECK(examples);
}

TEST(version) {
  CHECK_STR(CAIRN("version").out, "cairn " CAIRN_VERSION "\n");
  CHECK_STR(CAIRN("--version").out, "cairn " CAIRN_VERSION "\n");
  CHECK_STR(json_str(json_of(CAIRN("version", "--json")), "version"), CAIRN_VERSION);
}

TEST(manual_page) {
  struct run r = CAIRN("man");
  CHECK_INT(r.exit_code, 0);
  CHECK(str_starts(r.out, STR(".TH CAIRN 1 ")));
  CHECK(has(r.out, "cairn task claim"));
  if (proc_run(.argv = ARGS("sh", "-c", "command -v groff")).exit_code != 0)
    return; /* whether it is valid roff is checked only if groff is installed */
  struct run check = proc_run(.argv = ARGS("groff", "-ww", "-man", "-Tascii", "-z"), .input = r.out, .merge = true);
  CHECK_STR(check.out, "");
  CHECK_INT(check.exit_code, 0);
}

TEST(completion_scripts) {
  struct run r = CAIRN("completion", "bash");
  CHECK_INT(r.exit_code, 0);
  struct run check = proc_run(.argv = ARGS("bash", "-n"), .input = r.out, .merge = true);
  CHECK_STR(check.out, "");
  CHECK(str_starts(CAIRN("completion", "zsh").out, STR("#compdef cairn\n")));
  CHECK(has(CAIRN("completion", "fish").out, "complete -c cairn"));
  struct run bad = CAIRN("completion", "tcsh");
  CHECK_INT(bad.exit_code, 2);
  CHECK(has(bad.err, "bash, zsh, fish"));
}

TEST(bash_completes_by_asking_the_program) {
  struct run r = CAIRN("completion", "bash");
  const char *script = path_join(NULL, "cairn.bash");
  file_write(script, r.out);
  const char *command = "source \"$0\"; COMP_WORDS=(\"$1\" remember --severity b); COMP_CWORD=3; _cairn; "
                        "echo \"${COMPREPLY[*]}\"";
  struct run got = proc_run(.argv = ARGS("bash", "-c", command, script, CAIRN_BIN));
  CHECK_STR(got.out, "blocker\n");
}

/* ---- usage errors ---- */

static void check_usage(const char *file, int line, struct run r, const char *part) {
  test_check_int(file, line, "exit code", r.exit_code, 2);
  test_check_str(file, line, "standard output", r.out, "");
  if (!str_starts(r.err, STR("cairn: ")) || !has(r.err, part))
    test_fail(file, line, "'%s' is not in '%.*s'", part, STR_ARG(r.err));
  CHECK(!store_is_there(test_store("test.db")));
}
#define CHECK_USAGE(part, ...) check_usage(__FILE__, __LINE__, CAIRN(__VA_ARGS__), part)

TEST(usage_errors_exit_with_2_and_a_suggestion) {
  CHECK_USAGE("did you mean 'search'?", "serach", "x");
  CHECK_USAGE("did you mean '--headline'?", "remember", "--headlin", "x");
  CHECK_USAGE("unknown option '-z'", "-z");
  CHECK_USAGE("--limit needs a whole number", "list", "--limit", "ten");
  CHECK_USAGE("--kind cannot be 'thing'", "list", "--kind", "thing");
  CHECK_USAGE("'cairn get' needs ID", "get");
  CHECK_USAGE("'cairn forget' needs --reason", "forget", "1");
  CHECK_USAGE("another argument", "remember", "two", "words");
  CHECK_USAGE("TEXT is not valid UTF-8", "remember", "caf\xe9");
  CHECK_USAGE("--headline is not valid UTF-8", "remember", "--headline", "\xff", "x");
}

TEST(errors_as_json) {
  static const char *const calls[][4] = {{"--json", "serach"}, {"get", "--json"}, {"list", "--bogus", "--json"}};
  for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
    struct run r = run_args(calls[i], STR_NONE);
    yyjson_val *e = yyjson_obj_get(json_of(r), "error");
    CHECK_INT(r.exit_code, 2);
    CHECK_STR(json_str(e, "code"), "usage");
    CHECK(json_str(e, "message").n > 0);
    CHECK(json_str(e, "fix").n > 0);
  }
  struct run r = CAIRN("get", "12345", "--json");
  CHECK_INT(r.exit_code, 3);
  CHECK_STR(json_str(yyjson_obj_get(json_of(r), "error"), "code"), "not_found");
}

TEST(an_error_message_is_one_line_without_control_characters) {
  struct run r = CAIRN("\x1b[31mx\ny");
  CHECK_INT(r.exit_code, 2);
  CHECK(!memchr(r.err.p, 0x1b, r.err.n));
  struct str line;
  CHECK(str_line(&r.err, &line) && has(line, "^[[31mx y"));
}

TEST(bad_environment_variables_are_named) {
  static const char *const cases[][2] = {{"CAIRN_TEAM=Not A Slug", "CAIRN_TEAM"},
                                         {"CAIRN_NOW=yesterday", "CAIRN_NOW"},
                                         {"CAIRN_BUSY_MS=-1", "CAIRN_BUSY_MS"},
                                         {"CAIRN_SOURCE=\xff", "CAIRN_SOURCE"}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    LIST(const char *) env = {0};
    for (const char *const *v = clean_env(); *v; v++)
      list_push(&a, &env, *v);
    list_push(&a, &env, cases[i][0]);
    list_push(&a, &env, NULL);
    struct run r = proc_run(.argv = ARGS(CAIRN_BIN, "list"), .env = env.v);
    CHECK_INT(r.exit_code, 2);
    CHECK(has(r.err, cases[i][1]));
  }
  CHECK(!store_is_there(test_store("test.db")));
}

/* ---- standard input ---- */

static struct str body_of(const char *id) { return json_str(parsed(CAIRN("get", id, "--json").out), "body"); }

TEST(text_from_standard_input) {
  struct run r = CAIRN_FED(STR("Staging listens on port 5433.\nIt moved in May.\n"), "remember", "--json", "-");
  CHECK_INT(r.exit_code, 0);
  CHECK_INT(json_int(parsed(r.out), "id", 0), 1);
  CHECK_STR(body_of("1"), "Staging listens on port 5433.\nIt moved in May.");
  /* Also without "-" if there is no argument. */
  CHECK_INT(CAIRN_FED(STR("The mail server is called Hermes."), "remember").exit_code, 0);
  CHECK_STR(body_of("2"), "The mail server is called Hermes.");
  /* An argument takes precedence, and standard input is not read. */
  CHECK_INT(CAIRN_FED(STR("ignored"), "remember", "The build machine has 64 cores.").exit_code, 0);
  CHECK_STR(body_of("3"), "The build machine has 64 cores.");
}

TEST(missing_text_is_an_error_and_does_not_block) {
  struct run r = CAIRN("remember");
  CHECK(r.exit_code > 0 && !r.timed_out);
  CHECK(str_starts(r.err, STR("cairn: ")));
  struct run null = shell("\"$CAIRN\" remember </dev/null");
  CHECK(null.exit_code > 0 && !null.timed_out);
  CHECK(CAIRN("remember", "-").exit_code > 0);
  CHECK(CAIRN("remember", "--batch", "/does/not/exist").exit_code > 0);
  CHECK_INT(count(), 0);
}

TEST(standard_input_with_invalid_utf8_or_nul) {
  struct run r = CAIRN_FED(STR("a\0b"), "remember", "-");
  CHECK_INT(r.exit_code, 2);
  CHECK(has(r.err, "NUL"));
  r = CAIRN_FED(STR("ab\xff"), "remember", "--json", "-");
  CHECK_INT(r.exit_code, 2);
  CHECK(has(json_str(yyjson_obj_get(json_of(r), "error"), "message"), "UTF-8"));
  CHECK(!store_is_there(test_store("test.db")));
}

TEST(standard_input_has_a_limit) {
  struct run r = shell("head -c 17000000 /dev/zero | tr '\\0' x | \"$CAIRN\" remember --json -");
  CHECK_INT(r.exit_code, 2);
  CHECK_STR(json_str(yyjson_obj_get(parsed(r.out), "error"), "code"), "too_large");
  CHECK(!store_is_there(test_store("test.db")));
  /* Reading stops there, even if the input is endless. */
  r = shell("\"$CAIRN\" remember - </dev/zero");
  CHECK_INT(r.exit_code, 2);
}

/* ---- standard output ---- */

TEST(failed_output_is_an_error) {
  struct run full = shell("\"$CAIRN\" help >/dev/full");
  CHECK(full.exit_code > 0);
  CHECK(has(full.err, "cannot write to standard output"));
  struct run closed = shell("\"$CAIRN\" list --json >&-");
  CHECK(closed.exit_code > 0);
  CHECK(has(closed.err, "cannot write to standard output"));
  CHECK(shell("\"$CAIRN\" events --json >/dev/full").exit_code >= 0);
  struct run stored = shell("\"$CAIRN\" remember 'The build machine has 64 cores.' >/dev/full");
  CHECK(stored.exit_code > 0);
  CHECK_INT(count(), 1); /* the memory was stored */
}

TEST(a_closed_pipe_ends_the_command_silently) {
  struct run r = shell("{ sleep 0.3; \"$CAIRN\" man; echo \"code $?\" >&2; } | true");
  CHECK_STR(r.err, "code 141\n");
  /* If SIGPIPE is ignored, it is an ordinary write error. */
  r = shell("trap '' PIPE; { sleep 0.3; \"$CAIRN\" man; echo \"code $?\" >&2; } | true");
  CHECK(has(r.err, "cannot write to standard output"));
  CHECK(has(r.err, "code 8\n"));
}

TEST(stores_never_reuse_a_closed_standard_descriptor) {
  struct run r = shell("\"$CAIRN\" remember 'The build machine has 64 cores.' <&- >&- 2>&-; \"$CAIRN\" doctor --json");
  CHECK_INT(r.exit_code, 0);
  CHECK(json_bool(parsed(r.out), "ok", false));
}

TEST(quiet_prints_only_the_id) {
  struct run r = CAIRN("--quiet", "remember", "The build machine has 64 cores.");
  CHECK_STR(r.out, "1\n");
  CHECK_STR(r.err, "");
}

/* `script` gives the program a terminal. The output is everything written to it. */
static struct run on_terminal(const char *command) {
  return shell(arena_printf(&a, "TERM=xterm script -qec '%s' /dev/null </dev/null", command).p);
}

TEST(colour_and_escaping_only_on_a_terminal) {
  if (proc_run(.argv = ARGS("sh", "-c", "command -v script")).exit_code != 0)
    test_unable("script, to run on a terminal");
  const char *evil = "The prompt must stay \xe2\x80\xae reversed";
  CHECK_INT(CAIRN("remember", "--headline", "Prompt direction", evil).exit_code, 0);
  struct run plain = CAIRN("get", "1"), shown = on_terminal("\"$CAIRN\" get 1");
  CHECK(has(plain.out, evil));
  CHECK(!memchr(plain.out.p, 0x1b, plain.out.n));
  CHECK(has(shown.out, "stay <U+202E> reversed"));
  CHECK(!has(shown.out, "\xe2\x80\xae"));
  CHECK(has(shown.out, "\x1b[1mPrompt direction\x1b[0m"));
  CHECK(!has(on_terminal("NO_COLOR=1 \"$CAIRN\" get 1").out, "\x1b["));
  CHECK(!has(on_terminal("\"$CAIRN\" --no-color get 1").out, "\x1b["));
  CHECK(has(on_terminal("\"$CAIRN\" get 1 --json").out, "stay \\u202E reversed"));
}

/* ---- streams ---- */

TEST(a_batch_prints_one_line_for_each_and_ends_with_the_first_failure) {
  file_write(path_join(NULL, "batch"), STR("{\"text\":\"The build machine has 64 cores.\"}\n"
                                           "{\"text\":\"x\",\"weight\":7}\n"
                                           "{\"text\":\"The mail server is called Hermes.\"}\n"));
  struct run r = CAIRN("remember", "--batch", path_join(NULL, "batch"), "--json");
  CHECK_INT(lines(r.out), 3);
  struct str line;
  CHECK(str_line(&r.out, &line));
  CHECK_STR(json_str(parsed(line), "action"), "stored");
  CHECK(str_line(&r.out, &line));
  struct str code = json_str(yyjson_obj_get(parsed(line), "error"), "code");
  CHECK(str_is(code, "usage") ? r.exit_code == 2 : r.exit_code > 0);
  CHECK(str_line(&r.out, &line));
  CHECK_STR(json_str(parsed(line), "action"), "stored");
  CHECK_INT(count(), 2);
}

TEST(an_export_is_the_same_in_every_form) {
  CHECK_INT(CAIRN("remember", "The build machine has 64 cores.").exit_code, 0);
  struct run text = CAIRN("export"), json = CAIRN("export", "--json");
  CHECK(text.out.n > 0 && str_eq(text.out, json.out));
  CHECK_STR(text.err, "");
  const char *path = path_join(NULL, "out.jsonl");
  yyjson_val *result = json_of(CAIRN("export", path, "--json"));
  CHECK_INT(json_int(result, "memories", 0), 1);
  CHECK(str_eq(file_read(path), text.out));
}

TEST(an_interrupt_ends_following_events_cleanly) {
  CHECK_INT(CAIRN("remember", "The build machine has 64 cores.").exit_code, 0);
  struct proc *p = proc_start(.argv = ARGS(CAIRN_BIN, "events", "--follow", "--json"), .env = clean_env());
  struct str line;
  CHECK(proc_line(p, 5000, &line)); /* printed at once, not when a buffer is full */
  CHECK(json_int(parsed(line), "seq", 0) > 0);
  proc_kill(p, SIGINT);
  struct run r = proc_wait(p);
  CHECK_INT(r.exit_code, 0);
  CHECK_STR(r.err, "");
}

/* ---- environment ---- */

TEST(the_location_of_the_store) {
  const char *given = test_store_new("given.db");
  CHECK_INT(CAIRN("--db", given, "remember", "The build machine has 64 cores.").exit_code, 0);
  CHECK(store_is_there(given) && !store_is_there(test_store("test.db")));
  CHECK_INT(CAIRN("list").exit_code, 0);
  CHECK(store_is_there(test_store("test.db")));
  CHECK_INT(shell("env -u CAIRN_DB XDG_DATA_HOME=\"$HOME/data\" \"$CAIRN\" list").exit_code, 0);
  CHECK(exists("data/cairn/cairn.db"));
  CHECK_INT(shell("env -u CAIRN_DB \"$CAIRN\" list").exit_code, 0);
  CHECK(exists(".local/share/cairn/cairn.db"));
  struct stat st;
  CHECK(stat(path_join(NULL, "data/cairn"), &st) == 0);
  CHECK_INT(st.st_mode & 0777, 0700);
  /* A missing parent folder of --db is not created. */
  CHECK(CAIRN("--db", path_join(NULL, "no/such/x.db"), "list").exit_code > 0);
  CHECK(!exists("no"));
}

TEST(a_mistyped_store_is_not_created) {
  static const char *const names[] = {"export", "doctor", "backup"};
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    struct run r = CAIRN("--db", test_store_new("typo.db"), names[i]);
    CHECK(r.exit_code > 0);
    CHECK(has(r.err, on_postgres() ? "typo_db" : "typo.db"));
    CHECK(!store_is_there(test_store("typo.db")));
  }
}

static struct str project_of(struct run r) {
  CHECK_INT(r.exit_code, 0);
  return json_str(parsed(r.out), "project");
}

TEST(the_origin_of_the_project) {
  struct run made = shell("mkdir -p repo/.git/objects repo/.git/refs repo/src && echo x >repo/.git/HEAD");
  CHECK_INT(made.exit_code, 0);
  CHECK_STR(project_of(shell("cd repo/src && \"$CAIRN\" remember --json 'The build machine has 64 cores.'")), "repo");
  CHECK_STR(project_of(shell("cd repo && CAIRN_PROJECT=env \"$CAIRN\" remember --json 'The mail server is Hermes.'")),
            "env");
  CHECK_STR(project_of(shell("cd repo && CAIRN_PROJECT=env \"$CAIRN\" --project opt remember --json 'Tests use uv.'")),
            "opt");
  CHECK_STR(project_of(shell("cd repo && \"$CAIRN\" --project '' remember --json 'Deploys happen on Monday.'")), "");
}

TEST(the_source_session_and_time_of_a_write) {
  struct run r = shell("CAIRN_NOW=2026-03-04T05:06:07Z CAIRN_SESSION=s-1 \"$CAIRN\" --source tests remember "
                       "'The build machine has 64 cores.'");
  CHECK_INT(r.exit_code, 0);
  yyjson_val *m = parsed(CAIRN("get", "1", "--json").out);
  CHECK_STR(json_str(m, "created_at"), "2026-03-04T05:06:07.000Z");
  CHECK_STR(json_str(m, "source"), "tests");
  CHECK_STR(json_str(m, "session"), "s-1");
  CHECK_STR(json_str(m, "trust"), "user");
}

TEST(teams_do_not_see_each_other) {
  CHECK_INT(shell("CAIRN_TEAM=red \"$CAIRN\" remember 'The build machine has 64 cores.'").exit_code, 0);
  CHECK_INT(count(), 0);
  CHECK(has(shell("CAIRN_TEAM=red \"$CAIRN\" list").out, "64 cores"));
}
