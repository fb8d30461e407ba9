/* test_bad_input.c: invalid calls and environments. Each gives a one-line error, advice and a nonzero exit code, and
 * leaves the store unchanged and healthy. */
#include <sys/stat.h>
#include <unistd.h>

#include "support/cli.h"

static void begin(void) { STORE("The kettle in the office kitchen whistles"); }

/* ---- arguments ---- */

TEST(unknown_names) {
  begin();
  REFUSED_AT("type", "refused", "remember", "--kind", "rumour", "Somebody said something");
  REFUSED_AT("type", "refused", "remember", "--type", "rumour", "Somebody said something");
  REFUSED("usage", "list", "--state", "asleep");
  REFUSED("usage", "remember", "--colour", "red", "Somebody said something");
  REFUSED("usage", "rumour", "Somebody said something");
  REFUSED("usage", "list", "--delivery", "pigeon");
  REFUSED("usage", "rate", "1", "sideways");
  REFUSED("usage", "link", "1", "loves", "1");
  REFUSED("usage", "config", "gate.colour");
  REFUSED("usage", "config", "gate.mode", "lenient");
  REFUSED("usage", "config", "fact.half_life_days", "-3");
  REFUSED("usage", "list", "--scope", "galaxy");
  CHECK_HEALTHY();
}

TEST(unknown_memories) {
  static const char *const calls[][6] = {
      {"get", "99"},
      {"get", "no-such-key"},
      {"get", "01a1df3b-c8c8-799d-a893-3813ffa7c4d4"},
      {"history", "99"},
      {"annotate", "99", "note"},
      {"rate", "99", "up"},
      {"pin", "99"},
      {"unpin", "99"},
      {"forget", "99", "--reason", "x"},
      {"unsupersede", "99"},
      {"promote", "99"},
      {"purge", "99", "--confirm"},
      {"task", "claim", "99"},
      {"skill", "load", "none"},
      {"supersede", "99", "--reason", "x", "A text"},
      {"undo", "99"},
      {"get", "0"},
      {"get", "99999999999999999999"},
  };
  begin();
  for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
    test_note("%s %s", calls[i][0], calls[i][1]);
    cli_refused(__FILE__, __LINE__, "not_found", STR_NONE, calls[i]);
  }
  CHECK_HEALTHY();
}

TEST(a_project_scoped_write_without_a_project) {
  begin();
  yyjson_val *e = REFUSED("usage", "remember", "--scope", "project", "It belongs somewhere");
  CHECK(has(jstr(e, "fix"), "--project"));
  REFUSED("usage", "remember", "--scope", "global", "--project", "a", "It cannot be both");
  CHECK_STR(jstr(OK("remember", "--scope", "project", "--project", "a", "It belongs there"), "project"), "a");
  CHECK_STR(jstr(OK("remember", "--scope", "global", "It belongs to everybody"), "project"), "");
  REFUSED("usage", "remember", "--project", textf("%0201d", 0), "A name of 201 bytes");
  REFUSED("usage", "remember", "--project", "two\nlines", "A name of two lines");
}

TEST(the_values_of_the_issue) {
  begin();
  REFUSED_AT("fields", "refused", "remember", "--weight", "0", "Weightless");
  REFUSED_AT("fields", "refused", "remember", "--weight", "2", "Too heavy");
  REFUSED("usage", "remember", "--weight", "heavy", "No number");
  REFUSED("usage", "remember", "--weight", "nan", "Not a number either");
  REFUSED_AT("fields", "refused", "remember", "--ttl", "soon", "Fleeting");
  REFUSED_AT("headline", "refused", "remember", "--headline", words("h", 16), "A long headline");
  REFUSED_AT("atomic", "refused", "remember", "--kind", "rule", "--headline", "Long", words("w", 401));
  CHECK_HEALTHY();
}

TEST(names_that_are_empty_or_too_long) {
  const char *n100 = textf("s%099d", 0), *n101 = textf("s%0100d", 0), *n200 = textf("k%0199d", 0),
             *n201 = textf("k%0200d", 0), *n801 = textf("t%0800d", 0);
  begin();
  REFUSED_AT("fields", "refused", "remember", "--idempotency-key", n201, "Something else entirely");
  REFUSED_AT("fields", "refused", "remember", "--idempotency-key", "", "Something else entirely");
  REFUSED_AT("fields", "refused", "remember", "--skill-name", n101, "Something else entirely");
  REFUSED_AT("fields", "refused", "remember", "--skill-name", "", "Something else entirely");
  REFUSED_AT("fields", "refused", "remember", "--skill-name", "two\nlines", "Something else entirely");
  REFUSED_AT("key", "refused", "remember", "--key", "", "Something else entirely");
  REFUSED_AT("fields", "refused", "remember", "--tag", "", "Something else entirely");
  REFUSED_AT("fields", "refused", "remember", "--tag", n801, "Something else entirely");
  REFUSED_AT("fields", "refused", "remember", "--person", "", "Something else entirely");
  STORE("--idempotency-key", n200, "--skill-name", n100, "--key", n200, "Names as long as they may be");
  CHECK_HEALTHY();
}

TEST(limits) {
  static const char *const calls[][4] = {
      {"list", "--limit", "0"},    {"list", "--limit", "1001"},    {"list", "--limit", "-1"},
      {"list", "--offset", "-1"},  {"search", "x", "--limit=0"},   {"search", "x", "--limit=101"},
      {"events", "--since", "-1"}, {"list", "--limit", "many"},    {"list", "--since", "long ago"},
      {"prune", "--days", "29"},   {"list", "--as-of", "someday"}, {"boot", "--budget", "1"},
  };
  begin();
  for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
    test_note("%s %s", calls[i][0], calls[i][1]);
    cli_refused(__FILE__, __LINE__, "usage", STR_NONE, calls[i]);
  }
}

/* ---- bytes ---- */

TEST(invalid_utf8_and_nul) {
  begin();
  REFUSED("usage", "remember", "caf\xe9");
  REFUSED("usage", "remember", "--tag", "\xff\xfe", "A tag of noise");
  REFUSED_FED("usage", STR("over\xc0\xaflong"), "remember", "-");
  REFUSED_FED("usage", STR("surrogate \xed\xa0\x80"), "remember", "-");
  REFUSED_FED("usage", STR("nul \0 inside"), "remember", "-");
  REFUSED_FED("usage", STR("\0"), "remember", "-");
  CHECK_HEALTHY();
}

TEST(a_batch_of_invalid_lines) {
  begin();
  struct run r = CAIRN_FED(STR("{\"text\":\"nul \\u0000 inside\"}\n"
                               "{\"text\":\"half a pair \\ud800\"}\n"
                               "{\"text\":\"caf\xe9\"}\n"
                               "[\"a list\"]\n"
                               "{\"text\":7}\n"
                               "{\"text\":\"unfinished\n"
                               "{\"text\":\"x\",\"tags\":\"no list\"}\n"
                               "{\"text\":\"x\",\"weight\":\"heavy\"}\n"),
                           "remember", "--batch", "-", "--json");
  CHECK(r.exit_code > 0);
  struct json_lines l = lines_of(r.out);
  CHECK_INT(l.n, 8);
  for (size_t i = 0; i < l.n; i++) {
    test_note("line %zu", i + 1);
    CHECK_INT(jint(l.v[i], "line"), (int64_t)i + 1);
    CHECK(jstr(l.v[i], "error.message").n > 0);
    CHECK(jstr(l.v[i], "error.fix").n > 0);
  }
  CHECK_INT(sql_number("SELECT count(*) FROM memory"), 1);
  CHECK_INT(sql_number("SELECT count(*) FROM event"), 1);
  CHECK_HEALTHY();
}

static struct str megabytes(int n) {
  static struct arena a;
  size_t size = (size_t)n * 1000000;
  char *p = arena_alloc(&a, size);
  for (size_t i = 0; i < size; i++)
    p[i] = i % 7 == 6 ? ' ' : (char)('a' + i % 23);
  return (struct str){p, size};
}

TEST(a_body_of_50_megabytes, .seconds = 40) {
  begin();
  REFUSED_FED("too_large", megabytes(50), "remember", "--headline", "Huge", "-");
  REFUSED_FED("too_large", megabytes(2), "remember", "--headline", "Large", "-");
  static struct arena a;
  struct buf b = BUF(&a);
  buf_adds(&b, "{\"headline\":\"Huge\",\"text\":\"");
  buf_add(&b, megabytes(50));
  buf_adds(&b, "\"}\n{\"text\":\"A small one behind it\"}\n");
  struct run r = CAIRN_FED(buf_str(&b), "remember", "--batch", "-", "--json");
  CHECK(r.exit_code > 0);
  struct json_lines l = lines_of(r.out);
  CHECK_INT(l.n, 2);
  CHECK_STR(jstr(l.v[0], "error.code"), "too_large");
  CHECK_STR(jstr(l.v[1], "action"), "stored");
  CHECK_INT(sql_number("SELECT count(*) FROM memory"), 2);
  CHECK_HEALTHY();
}

/* Any text is a valid query. */
TEST(queries_are_never_a_syntax_error) {
  static const char *const queries[] = {"'",
                                        "\"",
                                        "?",
                                        "a AND",
                                        "NOT",
                                        "NEAR(a b)",
                                        "*",
                                        "a*",
                                        "(",
                                        ")",
                                        "^x",
                                        "col:x",
                                        "-x",
                                        "a+b",
                                        "/",
                                        "@",
                                        ",",
                                        ".",
                                        "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e",
                                        "\xf0\x9f\x8e\x89",
                                        " ",
                                        "kettle OR 1=1; DROP TABLE memory",
                                        "\\",
                                        "{}",
                                        "%",
                                        "_",
                                        "\xe2\x80\x8b"};
  begin();
  for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
    test_note("%s", queries[i]);
    yyjson_val *r = OK("search", "--", queries[i]);
    CHECK(jget(r, "results") && jget(r, "search_mode"));
  }
  CHECK_INT(jint(OK("search", "(kettle \"whistles"), "results[0].id"), 1);
  CHECK_HEALTHY();
}

/* ---- text output ---- */

TEST(text_errors_are_short_too) {
  begin();
  static const char *const calls[][6] = {
      {"remember", "--weight", "0", "Weightless"},
      {"get", "99"},
      {"remember", "--kind", "rumour", "x"},
      {"remember", "--headline", "12", "x"},
      {"list", "--state", "asleep"},
      {"undo", "99"},
  };
  for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
    struct run r = cli_run(STR_NONE, calls[i]);
    test_note("%s", calls[i][0]);
    CHECK(r.exit_code > 0);
    CHECK_STR(r.out, "");
    CHECK(str_starts(r.err, STR("cairn: ")));
    struct str rest = r.err, line;
    int n = 0;
    while (str_line(&rest, &line))
      n++;
    CHECK(n <= 2); /* the error and the advice */
  }
}

TEST(no_error_suggests_something_destructive) {
  begin();
  static const char *const calls[][6] = {{"remember", "--key", "12", "x"},
                                         {"get", "99"},
                                         {"unsupersede", "1"},
                                         {"undo", "99"},
                                         {"prune", "--days", "1"},
                                         {"restore", "/does/not/exist"},
                                         {"import", "/does/not/exist"}};
  static const char *const words_of_harm[] = {"purge", "rm ", "delete", "--apply", "reset", "drop"};
  for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
    struct run r = cli_run(STR_NONE, calls[i]);
    CHECK(r.exit_code > 0);
    for (size_t k = 0; k < ARRAY_LEN(words_of_harm); k++)
      if (has(r.err, words_of_harm[k]))
        FAIL("'%s' in %.*s", words_of_harm[k], STR_ARG(r.err));
  }
}

/* ---- the store's file ---- */

/* The call fails with this code and exit code. The store's file is unchanged byte by byte, and so are the rows of a
 * database. */
static yyjson_val *refused_untouched(const char *code, int exit_code, const char *const *args) {
  struct str before = on_postgres() ? snapshot() : file_read(cli_db());
  static struct arena a;
  LIST(const char *) argv = {0};
  list_push(&a, &argv, "--json");
  for (; *args; args++)
    list_push(&a, &argv, *args);
  list_push(&a, &argv, NULL);
  struct run r = cli_run(STR_NONE, argv.v);
  CHECK_INT(r.exit_code, exit_code);
  CHECK_STR(r.err, "");
  CHECK(str_eq(before, on_postgres() ? snapshot() : file_read(cli_db())));
  yyjson_val *e = lines_of(r.out).v[0];
  CHECK_STR(jstr(e, "error.code"), code);
  CHECK(jstr(e, "error.message").n > 0 && jstr(e, "error.fix").n > 0);
  CHECK(!has(jstr(e, "error.message"), "\n"));
  struct stat st;
  CHECK(stat(textf("%s-wal", cli_db()), &st) != 0 || st.st_size == 0);
  CHECK(access(textf("%s-journal", cli_db()), F_OK) != 0);
  return e;
}

static const char *const *const some_calls[] = {ARGS("remember", "Something"), ARGS("list"), ARGS("search", "x"),
                                                ARGS("maintain"), ARGS("doctor")};

TEST(a_store_that_is_not_sqlite, .only = TEST_ON_SQLITE) {
  file_write(cli_db(), STR("Dear diary,\ntoday I wrote a plain text file that is longer than any header of SQLite,"
                           " which has one hundred bytes, so that it cannot be taken for an empty one.\n"));
  for (size_t i = 0; i < ARRAY_LEN(some_calls); i++) {
    yyjson_val *e = refused_untouched("corrupt", 9, some_calls[i]);
    CHECK(has(jstr(e, "error.message"), "not a Cairn store"));
    CHECK(has(jstr(e, "error.fix"), "--db"));
  }
}

TEST(a_short_file_that_is_not_sqlite, .only = TEST_ON_SQLITE) {
  file_write(cli_db(), STR("hello\n"));
  for (size_t i = 0; i < ARRAY_LEN(some_calls); i++)
    refused_untouched("corrupt", 9, some_calls[i]);
}

/* On a database server, other programs have schemas of their own beside Cairn's. */
TEST(a_database_of_another_program, .only = TEST_ON_SQLITE) {
  CHECK_INT(proc_run(.argv = ARGS("sqlite3", cli_db(), "CREATE TABLE songs (name TEXT)")).exit_code, 0);
  for (size_t i = 0; i < ARRAY_LEN(some_calls); i++) {
    yyjson_val *e = refused_untouched("corrupt", 9, some_calls[i]);
    CHECK(has(jstr(e, "error.message"), "another program"));
  }
}

TEST(a_future_schema) {
  begin();
  if (!on_postgres())
    sql_do("PRAGMA wal_checkpoint(TRUNCATE)");
  sql_do(on_postgres() ? "UPDATE schema_version SET version = 999" : "PRAGMA user_version = 999");
  for (size_t i = 0; i < ARRAY_LEN(some_calls); i++) {
    yyjson_val *e = refused_untouched("schema", 9, some_calls[i]);
    CHECK(has(jstr(e, "error.message"), "999"));
    CHECK(has(jstr(e, "error.fix"), "upgrade"));
  }
  CHECK_STR(proc_run(.argv = ARGS("sh", "-c", "ls | grep backup")).out, "");
}

TEST(a_truncated_store, .only = TEST_ON_SQLITE) {
  for (int i = 0; i < 20; i++)
    STORE(words(textf("cut%d", i), 8));
  sql_do("PRAGMA wal_checkpoint(TRUNCATE)");
  CHECK_INT(truncate(cli_db(), 40960), 0);
  struct run r = CAIRN("remember", "--json", "Something else entirely");
  CHECK(r.exit_code > 0 && r.signal == 0);
  r = CAIRN("doctor", "--json");
  CHECK(r.exit_code > 0 && r.signal == 0);
}

TEST(a_store_at_an_impossible_path, .only = TEST_ON_SQLITE) {
  cli_set(textf("CAIRN_DB=%s/no/such/folder/a.db", test_dir()));
  struct run r = CAIRN("remember", "--json", "Something");
  CHECK_INT(r.exit_code, 3);
  CHECK(jstr(lines_of(r.out).v[0], "error.fix").n > 0);
  cli_set(textf("CAIRN_DB=%s", test_dir())); /* a folder */
  r = CAIRN("remember", "--json", "Something");
  CHECK(r.exit_code > 0);
  CHECK(jstr(lines_of(r.out).v[0], "error.fix").n > 0);
  cli_set("CAIRN_DB=/dev/null");
  r = CAIRN("remember", "--json", "Something");
  CHECK(r.exit_code > 0 && r.signal == 0);
}

/* ---- permissions ---- */

/* Root can write everywhere, so drop that capability. */
static struct run run_unprivileged(const char *const *args) {
  static struct arena a;
  LIST(const char *) argv = {0};
  if (geteuid() == 0) {
    list_push(&a, &argv, "setpriv");
    list_push(&a, &argv, "--bounding-set=-dac_override,-dac_read_search");
  }
  list_push(&a, &argv, CAIRN_BIN);
  list_push(&a, &argv, "--json");
  for (; *args; args++)
    list_push(&a, &argv, *args);
  list_push(&a, &argv, NULL);
  return proc_run(.argv = argv.v, .env = cli_env());
}
static bool can_drop_privileges(void) {
  return geteuid() != 0 ||
         proc_run(.argv = ARGS("setpriv", "--bounding-set=-dac_override,-dac_read_search", "true")).exit_code == 0;
}
#define UNPRIVILEGED(...) run_unprivileged(ARGS(__VA_ARGS__))

TEST(a_read_only_folder, .only = TEST_ON_SQLITE) {
  const char *dir = path_join(NULL, "ro"), *db = path_join(dir, "a.db"), *fresh = path_join(dir, "new.db");
  if (!can_drop_privileges())
    return; /* root without a way to drop the capability can write anything */
  CHECK_INT(mkdir(dir, 0755), 0);
  cli_set(textf("CAIRN_DB=%s", db));
  STORE("The kettle in the office kitchen whistles");
  CHECK(chmod(db, 0400) == 0 && chmod(dir, 0555) == 0);
  struct str before = file_read(db);
  struct run r = UNPRIVILEGED("remember", "Something else entirely");
  CHECK_INT(r.exit_code, 8);
  CHECK_STR(jstr(lines_of(r.out).v[0], "error.code"), "readonly");
  CHECK(has(jstr(lines_of(r.out).v[0], "error.fix"), "permissions"));
  CHECK_INT(UNPRIVILEGED("maintain").exit_code, 8);
  CHECK_INT(UNPRIVILEGED("forget", "1", "--reason", "x").exit_code, 8);
  /* Reads still work. */
  r = UNPRIVILEGED("get", "1");
  CHECK_INT(r.exit_code, 0);
  CHECK_STR(jstr(lines_of(r.out).v[0], "body"), "The kettle in the office kitchen whistles");
  r = UNPRIVILEGED("search", "kettle");
  CHECK_INT(jint(lines_of(r.out).v[0], "results[0].id"), 1);
  CHECK_INT(UNPRIVILEGED("list").exit_code, 0);
  CHECK(str_eq(before, file_read(db)));
  cli_set(textf("CAIRN_DB=%s", fresh));
  r = UNPRIVILEGED("remember", "Something else entirely");
  CHECK_INT(r.exit_code, 8);
  CHECK(access(fresh, F_OK) != 0);
  CHECK(chmod(dir, 0755) == 0 && chmod(db, 0600) == 0);
  cli_set(textf("CAIRN_DB=%s", db));
  CHECK_HEALTHY();
}

/* ---- no space ---- */

/* A script that writes until it fails on the full disk or at the limit that `prologue` sets up. Then it runs `epilogue`
 * to free space, and counts. */
static const char *until_full(const char *prologue, const char *epilogue) {
  CHECK_INT(mkdir(path_join(NULL, "disk"), 0755), 0);
  return textf(
      "cd \"$1\" || exit 90; %s\n"
      "export CAIRN_DB=$PWD/a.db\n"
      "\"$0\" remember 'The kettle in the office kitchen whistles' >/dev/null || exit 92\n"
      "n=1; i=0\n"
      "fill; while [ $i -lt 200 ]; do i=$((i + 1))\n"
      "  if out=$(\"$0\" remember --json --headline \"Number $i\" \"$(seq -s ' ' $((i * 1000)) $((i * 1000 + 350)))\");"
      " then n=$((n + 1)); else code=$?; break; fi\n"
      "done\n"
      "%s\n"
      "printf '%%s\\n%%s\\n%%s\\n' \"$n\" \"${code:-0}\" \"$out\"\n"
      "\"$0\" list --limit 1 --json; \"$0\" doctor --json\n"
      "\"$0\" remember --json 'There is room again'\n",
      prologue, epilogue);
}

static void check_full(struct run r, const char *code) {
  struct str rest = r.out, line;
  int64_t acknowledged, exit_code;
  CHECK_STR(r.err, "");
  CHECK(str_line(&rest, &line) && str_int64(line, &acknowledged));
  CHECK(str_line(&rest, &line) && str_int64(line, &exit_code));
  CHECK_INT(exit_code, 8);
  CHECK(str_line(&rest, &line));
  yyjson_val *e = lines_of(line).v[0];
  CHECK_STR(jstr(e, "error.code"), code);
  CHECK(jstr(e, "error.fix").n > 0);
  CHECK(str_line(&rest, &line));
  CHECK_INT(jint(lines_of(line).v[0], "total"), acknowledged); /* all acknowledged writes, and nothing else */
  CHECK(str_line(&rest, &line));
  CHECK(jbool(lines_of(line).v[0], "ok"));
  CHECK(str_line(&rest, &line));
  CHECK_STR(jstr(lines_of(line).v[0], "action"), "stored");
}

TEST(a_full_disk, .seconds = 40, .only = true) {
  const char *mount = "mount -t tmpfs -o size=1400k none .";
  if (proc_run(.argv = ARGS("unshare", "-rm", "sh", "-c", mount)).exit_code != 0)
    return; /* a tmpfs cannot be mounted here */
  const char *script = until_full(
      textf("%s && cd \"$PWD\" || exit 91\nfill() { head -c 400000 /dev/zero >ballast; }", mount), "rm ballast");
  check_full(proc_run(.argv = ARGS("unshare", "-rm", "bash", "-c", script, CAIRN_BIN, path_join(NULL, "disk")),
                      .env = cli_env(), .timeout_ms = 15000),
             "no_space");
}

TEST(a_limit_on_the_size_of_files, .seconds = 40, .only = true) {
  const char *script = until_full("fill() { ulimit -S -f 600; }", "ulimit -S -f unlimited");
  check_full(proc_run(.argv = ARGS("bash", "-c", script, CAIRN_BIN, path_join(NULL, "disk")), .env = cli_env(),
                      .timeout_ms = 15000),
             "no_space");
}

/* Reading or writing the store as a plain file would overwrite it or drop its locks. */
TEST(the_store_cannot_be_used_as_input_or_output, .only = TEST_ON_SQLITE) {
  STORE("The ledger is closed on the last working day of a month");
  const char *link = path_join(NULL, "another-name");
  CHECK_INT(symlink(cli_db(), link), 0);
  const char *const names[] = {cli_db(), link};
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    REFUSED("usage", "export", names[i]);
    REFUSED("usage", "import", names[i]);
    REFUSED("usage", "remember", "--batch", names[i]);
  }
  CHECK_INT(jint(OK("list", "--all-projects"), "total"), 1);
}
