/* test_contract.c: the exact contract for scripts: arguments, members of results and errors, exit codes. */
#include <unistd.h>

#include "op/op.h"
#include "support/cli.h"

/* 8-4-4-4-12 hexadecimal digits, version 7. */
static void check_uid(struct str uid) {
  CHECK_INT(uid.n, 36);
  for (size_t i = 0; i < uid.n; i++) {
    bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    char c = uid.p[i];
    CHECK(dash ? c == '-' : (ascii_digit(c) || (c >= 'a' && c <= 'f')));
  }
  CHECK(uid.p[14] == '7');
}

static void check_write(yyjson_val *r, const char *action) {
  CHECK(jint(r, "id") > 0);
  check_uid(jstr(r, "uid"));
  CHECK_STR(jstr(r, "action"), action);
  CHECK(jint(r, "txn") > 0);
  CHECK(yyjson_is_arr(jget(r, "warnings")));
}

TEST(remember_with_every_option_of_the_contract) {
  const char *db = test_store_new("mine.db"), *other = test_store_new("test.db");
  cli_set("CAIRN_DB");
  yyjson_val *r =
      OK("--db", db, "remember", "--kind", "rule", "--type", "lesson", "--headline", "Water first", "--key", "water",
         "--project", "garden", "--tag", "plants", "--tag", "summer", "--ttl", "7d", "--weight", "0.5", "--severity",
         "blocker", "--delivery", "pinned", "--idempotency-key", "call-1", "Water the plants before the sun is up.");
  check_write(r, "stored");
  yyjson_val *m = OK("--db", db, "get", "water", "--project", "garden");
  CHECK_STR(jstr(m, "kind"), "rule");
  CHECK_STR(jstr(m, "type"), "lesson");
  CHECK_STR(jstr(m, "headline"), "Water first");
  CHECK_STR(jstr(m, "key"), "water");
  CHECK_STR(jstr(m, "project"), "garden");
  CHECK(jlen(m, "tags") == 2 && jhas_str(m, "tags", "plants") && jhas_str(m, "tags", "summer"));
  CHECK_STR(jstr(m, "expires_at"), cli_time(7));
  CHECK_NEAR(jnum(m, "weight"), 0.5, 1e-9);
  CHECK_STR(jstr(m, "severity"), "blocker");
  CHECK_STR(jstr(m, "delivery"), "pinned");
  CHECK_STR(jstr(m, "body"), "Water the plants before the sun is up.");
  check_write(OK("--db", db, "remember", "--project", "garden", "--supersedes", num(jint(r, "id")), "--reason",
                 "it rained", "Nothing has to be watered at all"),
              "superseded");
  CHECK(store_is_there(db) && !store_is_there(other));
}

TEST(the_three_actions) {
  check_write(OK("remember", "Parsley grows in pots"), "stored");
  check_write(OK("remember", "Parsley grows in pots"), "skipped");
  check_write(OK("remember", "--supersedes", "1", "--reason", "repotted", "Raised beds now"), "superseded");
  check_write(OK_FED(STR("Text from standard input\n"), "remember", "-"), "stored");
  CHECK_STR(jstr(OK("get", "3"), "body"), "Text from standard input");
}

TEST(a_refusal_has_code_step_message_and_fix) {
  static const char *const calls[][8] = {
      {"remember", "--kind", "rumour", "x"},
      {"remember", "--type", "rumour", "x"},
      {"remember", "--kind", "rule", "--severity", "deprecated", "Old ways"},
      {"remember", "--kind", "rule", "--severity", "mild", "Old ways"},
      {"remember", "--severity", "blocker", "A fact"},
      {"remember", "--headline", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 sixteen", "x"},
      {"remember", "--headline", "123", "x"},
      {"remember", ""},
      {"remember", "--weight", "2", "x"},
      {"remember", "--ttl", "soon", "x"},
      {"remember", "--delivery", "pigeon", "x"},
      {"remember", "--key", "7", "x"},
      {"remember", "--key", "taken", "Something else"},
      {"remember", "--kind", "rule", "Never deploy the payment service or the billing jobs on a Friday evening"},
      {"remember", "--supersedes", "1", "Without a reason"},
  };
  STORE("--key", "taken", "Parsley grows in pots");
  STORE("--kind", "rule", "Never deploy the payment service on a Friday");
  for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
    static struct arena a;
    LIST(const char *) args = {0};
    for (const char *const *c = calls[i]; *c; c++)
      list_push(&a, &args, *c);
    list_push(&a, &args, "--json");
    list_push(&a, &args, NULL);
    struct str before = snapshot();
    struct run r = cli_run(STR_NONE, args.v);
    test_note("call %zu: %s %s %.*s", i, calls[i][1], calls[i][2] ? calls[i][2] : "", STR_ARG(r.out));
    CHECK(r.exit_code > 0);
    struct json_lines l = lines_of(r.out);
    CHECK_INT(l.n, 1);
    static const char *const members[] = {"error.code", "error.step", "error.message", "error.fix"};
    for (size_t k = 0; k < ARRAY_LEN(members); k++)
      CHECK(jstr(l.v[0], members[k]).n > 0);
    CHECK_UNCHANGED(before);
  }
}

TEST(get_by_id_uid_and_key) {
  int64_t id = STORE("--key", "herb", "Parsley grows in pots");
  yyjson_val *m = OK("get", num(id));
  check_uid(jstr(m, "uid"));
  CHECK_INT(jint(OK("get", cstr(jstr(m, "uid"))), "id"), id);
  CHECK_INT(jint(OK("get", "herb"), "id"), id);
  static const char *const members[] = {"project", "kind",       "type",       "headline",   "body",   "delivery",
                                        "state",   "valid_from", "created_at", "updated_at", "source", "trust"};
  for (size_t i = 0; i < ARRAY_LEN(members); i++) {
    test_note("%s", members[i]);
    jstr(m, members[i]);
  }
  static const char *const numbers[] = {"access_count", "upvotes", "downvotes"};
  for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
    CHECK_INT(jint(m, numbers[i]), 0);
}

TEST(search_has_results_with_id_headline_score_and_state) {
  STORE("Parsley grows in pots");
  STORE("Parsley is stolen by rabbits");
  STORE("Quince jam needs an hour");
  yyjson_val *r = OK("search", "parsley", "--limit", "2");
  CHECK_INT(jlen(r, "results"), 2);
  double last = 2;
  for (size_t i = 0; i < 2; i++) {
    CHECK(jint(r, textf("results[%zu].id", i)) > 0);
    CHECK(jstr(r, textf("results[%zu].headline", i)).n > 0);
    CHECK_STR(jstr(r, textf("results[%zu].state", i)), "active");
    double score = jnum(r, textf("results[%zu].score", i));
    CHECK(score > 0 && score <= last);
    last = score;
  }
  CHECK_STR(jstr(r, "search_mode"), "hybrid");
  CHECK_INT(jlen(OK("search", "parsley", "--limit", "1"), "results"), 1);
}

TEST(an_empty_result_has_the_same_members) {
  CHECK_INT(jlen(OK("search", "anything"), "results"), 0);
  yyjson_val *r = OK("list");
  CHECK_INT(jlen(r, "memories"), 0);
  CHECK_INT(jint(r, "count"), 0);
  CHECK_INT(jint(r, "total"), 0);
  CHECK_INT(jlen(OK("task", "list"), "tasks"), 0);
  CHECK_INT(jlen(OK("task", "ready"), "tasks"), 0);
  CHECK_INT(jlen(OK("skill", "list"), "skills"), 0);
  CHECK_INT(jlen(OK("prune"), "would_prune"), 0);
  CHECK_STR(CAIRN("events", "--json", "--since", "100").out, "");
}

TEST(list_pages) {
  for (int i = 0; i < 7; i++)
    STORE(words(textf("page%d", i), 5));
  yyjson_val *r = OK("list", "--limit", "3");
  CHECK_INT(jint(r, "count"), 3);
  CHECK_INT(jint(r, "total"), 7);
  CHECK_INT(jint(r, "memories[0].id"), 7); /* newest first */
  r = OK("list", "--limit", "3", "--offset", "6");
  CHECK_INT(jint(r, "count"), 1);
  CHECK_INT(jint(r, "memories[0].id"), 1);
  CHECK_INT(jint(r, "offset"), 6);
}

TEST(doctor_and_stats) {
  STORE("--kind", "rule", "Parsley grows in pots");
  STORE("--project", "a", "Quince jam needs an hour");
  OK("forget", "1", "--reason", "eaten");
  yyjson_val *r = OK("doctor");
  CHECK(jbool(r, "ok"));
  CHECK(jlen(r, "checks") > 0);
  r = OK("stats");
  CHECK_INT(jint(r, "memories"), 2);
  CHECK_INT(jint(r, "by_kind.fact"), 1);
  CHECK_INT(jint(r, "by_state.active"), 1);
  CHECK_INT(jint(r, "by_state.forgotten"), 1);
  CHECK_INT(jint(r, "by_project.a"), 1);
  CHECK_INT(jint(r, "last_7_days"), 2);
  CHECK_STR(jstr(r, "db"), store_shown(cli_db()));
  CHECK(jint(r, "size_bytes") > 0);
  /* Damage is found and reported with a nonzero exit code. */
  sql_do(on_postgres() ? "DELETE FROM chunk_text WHERE chunk_id = 2" : "DELETE FROM chunk_fts WHERE rowid = 2");
  struct run bad = CAIRN("doctor", "--json");
  CHECK(bad.exit_code > 0);
  CHECK(!jbool(lines_of(bad.out).v[0], "ok"));
  OK("doctor", "--repair");
  CHECK_HEALTHY();
}

/* If the full-text index is overwritten, search falls back to vectors, and doctor repairs the index. */
TEST(an_overwritten_index_is_tolerated_and_repaired, .only = TEST_ON_SQLITE) {
  OK("remember", "The walrus sleeps on the ice");
  OK("remember", "The gecko sleeps in the sun");
  sql_do("UPDATE chunk_fts_data SET block = zeroblob(length(block)) WHERE id > 10;"
         "DELETE FROM chunk_fts_data WHERE id = 10");
  CHECK(jlen(OK("search", "walrus on the ice"), "results") > 0); /* by vectors */
  struct run bad = CAIRN("doctor", "--json");
  CHECK(bad.exit_code > 0);
  CHECK(!jbool(lines_of(bad.out).v[0], "ok"));
  OK("doctor", "--repair");
  CHECK_HEALTHY();
  yyjson_val *found = OK("search", "walrus");
  CHECK_INT(jint(found, "results[0].id"), 1);
  CHECK_STR(jstr(found, "results[0].source"), "hybrid"); /* by keywords too */
}

TEST(batch_from_a_file) {
  const char *file = path_join(NULL, "batch.jsonl");
  file_write(file, STR("{\"text\":\"Parsley grows in pots\",\"key\":\"herb\"}\n"
                       "{\"text\":\"Quince jam needs an hour\",\"kind\":\"rule\",\"severity\":\"blocker\"}\n"
                       "{\"text\":\"Parsley grows in pots\"}\n"));
  struct run r = CAIRN("remember", "--batch", file, "--json");
  CHECK_INT(r.exit_code, 0);
  struct json_lines l = lines_of(r.out);
  CHECK_INT(l.n, 3);
  check_write(l.v[0], "stored");
  check_write(l.v[1], "stored");
  check_write(l.v[2], "skipped");
  CHECK_INT(jint(OK("get", "herb"), "id"), jint(l.v[0], "id"));
}

TEST(export_and_import) {
  STORE("--key", "herb", "Parsley grows in pots");
  struct run r = CAIRN("export");
  CHECK_INT(r.exit_code, 0);
  CHECK(lines_of(r.out).n >= 2);
  const char *file = path_join(NULL, "export.jsonl");
  file_write(file, r.out);
  cli_set(textf("CAIRN_DB=%s", test_store("other.db")));
  CHECK_INT(jint(OK("import", file), "imported"), 1);
  CHECK_STR(jstr(OK("get", "herb"), "body"), "Parsley grows in pots");
}

/* ---- transactions ---- */

TEST(every_change_names_its_transaction) {
  int64_t a = STORE("Parsley grows in pots"), b = STORE("Quince jam needs an hour"), last = 0;
  int64_t t = ADD_TASK("Dig a hole"), u = ADD_TASK("Plant a tree");
  const char *const *const calls[] = {
      ARGS("remember", "Rosemary likes the sun"),
      ARGS("supersede", num(a), "--reason", "why", "Raised beds now"),
      ARGS("unsupersede", num(a)),
      ARGS("annotate", num(b), "note"),
      ARGS("annotate", num(b), "--clear"),
      ARGS("rate", num(b), "up"),
      ARGS("pin", num(b)),
      ARGS("unpin", num(b)),
      ARGS("promote", num(b)),
      ARGS("link", num(a), "cites", num(b)),
      ARGS("unlink", num(a), "cites", num(b)),
      ARGS("task", "add", "Fill the hole"),
      ARGS("task", "block", num(u), num(t)),
      ARGS("task", "unblock", num(u), num(t)),
      ARGS("task", "claim", num(t)),
      ARGS("task", "status", num(t), "done"),
      ARGS("config", "gate.mode", "assist"),
      ARGS("forget", num(b), "--reason", "why"),
      ARGS("purge", num(b), "--confirm"),
  };
  for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
    test_note("%s %s", calls[i][0], calls[i][1]);
    int64_t txn = jint(cli_ok(__FILE__, __LINE__, STR_NONE, calls[i]), "txn");
    CHECK(txn > last);
    last = txn;
  }
}

/* ---- help ---- */

static bool is_endless(struct str line) { return has(line, "--follow"); }

TEST(every_example_of_the_help_works, .seconds = 60, .slow = true) {
  const char *bin = path_join(NULL, "bin");
  CHECK_INT(proc_run(.argv = ARGS("sh", "-c", "mkdir bin && ln -s \"$0\" bin/cairn", CAIRN_BIN)).exit_code, 0);
  cli_set(textf("PATH=%s:%s", bin, getenv("PATH")));
  file_write(path_join(NULL, "notes.txt"), STR("The boat is painted green now.\n"));
  EACH_OP(op) {
    struct str rest = str_from(op->example), line;
    CHECK(rest.n > 0);
    while (str_line(&rest, &line)) {
      if (is_endless(line))
        continue;
      struct run r = proc_run(.argv = ARGS("sh", "-c", cstr(line)), .env = cli_env(),
                              .input = STR("Some notes that arrive on standard input.\n"));
      test_note("%.*s: %.*s", STR_ARG(line), STR_ARG(r.err));
      CHECK(r.signal == 0 && r.exit_code != 2 && r.exit_code != 127);
    }
  }
}

TEST(every_command_answers_in_json, .seconds = 60) {
  STORE("Parsley grows in pots");
  EACH_OP(op) {
    static struct arena a;
    LIST(const char *) argv = {0};
    struct str name = str_from(op->name), word;
    while (str_next(&name, ' ', &word))
      list_push(&a, &argv, cstr(word));
    list_push(&a, &argv, "--json");
    list_push(&a, &argv, "--limit=0"); /* invalid for most commands; the error is JSON too */
    list_push(&a, &argv, NULL);
    struct run r = cli_run(STR_NONE, argv.v);
    test_note("%s", op->name);
    CHECK_STR(r.err, "");
    lines_of(r.out); /* every line is JSON */
    if (r.exit_code != 0)
      CHECK(jget(lines_of(r.out).v[0], "error.code"));
  }
}

TEST(each_outcome_has_an_exit_code) {
  STORE("--key", "herb", "Parsley grows in pots");
  CHECK_INT(CAIRN("get", "1").exit_code, 0);
  CHECK_INT(CAIRN("get").exit_code, 2);
  CHECK_INT(CAIRN("get", "99").exit_code, 3);
  CHECK_INT(CAIRN("remember", "--headline", "12", "x").exit_code, 4);
  CHECK_INT(CAIRN("remember", "--key", "herb", "Something else entirely").exit_code, 5);
  CHECK_INT(CAIRN("purge", "1").exit_code, 6);
}

/* ---- the location of the store ---- */

TEST(the_store_is_db_then_the_variable_then_the_data_folder) {
  const char *given = test_store_new("given.db"), *variable = test_store_new("test.db");
  CAIRN("--db", given, "remember", "Parsley grows in pots");
  CHECK(store_is_there(given) && !store_is_there(variable));
  CAIRN("remember", "Parsley grows in pots");
  CHECK(store_is_there(variable));
  cli_set("CAIRN_DB");
  CHECK_INT(CAIRN("remember", "Parsley grows in pots").exit_code, 0);
  CHECK(access(path_join(NULL, ".local/share/cairn/cairn.db"), F_OK) == 0);
  cli_set(textf("XDG_DATA_HOME=%s", path_join(NULL, "xdg")));
  CHECK_INT(CAIRN("remember", "Parsley grows in pots").exit_code, 0);
  CHECK(access(path_join(NULL, "xdg/cairn/cairn.db"), F_OK) == 0);
}

TEST(uids_are_ordered_in_time) {
  STORE("Parsley grows in pots");
  cli_day(1);
  STORE("Quince jam needs an hour");
  struct str uids = sql_string("SELECT group_concat(uid) FROM (SELECT uid FROM memory ORDER BY uid) x");
  CHECK_STR(uids, cstr(sql_string("SELECT group_concat(uid) FROM (SELECT uid FROM memory ORDER BY id) x")));
}
