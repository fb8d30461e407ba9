/* test_output.c: results for people: search hits, tables at every width, labels, the hint to undo a change. */
#include <sys/stat.h>

#include "support/cli.h"

/* Runs the program on a terminal of this width; the output is everything written to it. */
static struct str on_terminal(int columns, const char *command) {
  const char *line = textf("stty cols %d; %s %s", columns, CAIRN_BIN, command);
  return proc_run(.argv = ARGS("sh", "-c", "TERM=xterm script -qec \"$0\" /dev/null </dev/null | tr -d '\\r'", line),
                  .env = cli_env())
      .out;
}

static void need_terminal(void) {
  if (proc_run(.argv = ARGS("sh", "-c", "command -v script && command -v stty")).exit_code != 0)
    test_unable("script and stty, to run on a terminal");
}

/* Columns of a line of ASCII and narrow characters, without escape sequences. */
static int columns_of(struct str line) {
  int columns = 0;
  for (size_t i = 0; i < line.n; i++) {
    if (line.p[i] == 0x1b)
      while (i < line.n && line.p[i] != 'm')
        i++;
    else
      columns += ((unsigned char)line.p[i] & 0xc0) != 0x80;
  }
  return columns;
}

static size_t count_of(struct str text, const char *part) {
  size_t n = 0;
  for (size_t at = 0; (at = str_find(text, str_from(part), at)) != SIZE_MAX; at++)
    n++;
  return n;
}

/* ---- search ---- */

static void store_hits(void) {
  cli_set("CAIRN_PROJECT=shop");
  STORE("--type", "decision",
        "Sessions live in Postgres: Redis lost them when the machine restarted, so that everyone had to log in again. "
        "We moved them in one evening.");
  STORE("The staging database is on port 5433");
  STORE("--project", "web", "The web session cookie is called sid");
}

TEST(a_hit_is_a_line_of_metadata_and_its_text) {
  store_hits();
  struct str out = CAIRN("search", "sessions in postgres", "--limit", "1").out, line;
  CHECK(str_line(&out, &line));
  CHECK(str_starts(line, STR("#1  decision · now  0.")));
  CHECK(str_line(&out, &line)); /* the whole text, once, on one line */
  CHECK(str_starts(line, STR("  Sessions live in Postgres: Redis lost")) && str_ends(line, STR("evening.")));
  CHECK(!str_line(&out, &line));
  /* Scores are aligned, and only other projects are named. */
  out = CAIRN("search", "sessions", "--all-projects", "--mode", "keyword").out;
  struct str first, second;
  CHECK(str_line(&out, &first) && str_line(&out, &line) && str_line(&out, &second));
  CHECK_INT(columns_of(first), columns_of(second));
  CHECK(has(CAIRN("search", "cookie", "--all-projects").out, "fact · now · project web"));
  CHECK(!has(CAIRN("search", "staging").out, "project shop"));
}

TEST(a_hit_has_its_headline_if_the_text_does_not_start_with_it) {
  STORE("--headline", "Port of staging", "The staging database listens on 5433");
  struct str out = CAIRN("search", "staging").out;
  CHECK(has(out, "\n  Port of staging\n  The staging database listens on 5433\n"));
}

TEST(query_words_are_highlighted_and_the_text_is_wrapped) {
  need_terminal();
  store_hits();
  struct str out = on_terminal(40, "search \"session of postgres\""), line;
  CHECK(has(out, "\x1b[1;36mSessions\x1b[0m") && has(out, "\x1b[1;36mPostgres\x1b[0m"));
  CHECK(has(out, "evening.")); /* wrapped, not cut */
  while (str_line(&out, &line))
    CHECK(columns_of(line) <= 40);
  CHECK(!has(on_terminal(40, "--no-color search sessions"), "\x1b"));
  CHECK(!has(CAIRN("search", "sessions").out, "\x1b"));
}

TEST(an_explanation_is_wrapped) {
  need_terminal();
  store_hits();
  struct str out = on_terminal(60, "search sessions --explain --limit 1"), line;
  CHECK(has(out, "trust 1") && !has(out, "…")); /* the last part */
  while (str_line(&out, &line))
    CHECK(columns_of(line) <= 60);
}

TEST(a_snippet_ends_with_a_word) {
  need_terminal();
  STORE("--headline", "Certificates of the shop", words("certificates", 60));
  struct str out = on_terminal(80, "--no-color search certificates1"), snippet, word, last = STR_NONE;
  size_t end = str_find(out, STR("…"), 0);
  CHECK(end != SIZE_MAX);
  CHECK_INT(count_of(out, "…"), 1);
  snippet = jstr(OK("search", "certificates1"), "results[0].snippet"); /* ends inside "certificates28" */
  CHECK(str_ends(snippet, STR(" cert")));
  for (struct str rest = snippet; str_next(&rest, ' ', &word) && rest.n;)
    last = word;
  CHECK(str_ends(str_slice(out, 0, end), last));
  /* A text that has this size is whole. */
  STORE("--headline", "The port of staging", textf("%.396s.", words("staging", 60)));
  CHECK(!has(on_terminal(80, "--no-color search staging1 --limit 1"), "…"));
}

TEST(kinds_have_colours) {
  need_terminal();
  STORE("--type", "guardrail", "Never force-push to main");
  ADD_TASK("Renew the certificate of the mail server");
  struct str out = on_terminal(80, "list");
  CHECK(has(out, "\x1b[31mblocker\x1b[0m") && has(out, "\x1b[33mtask\x1b[0m"));
  out = on_terminal(80, "search \"certificate main\"");
  CHECK(has(out, "\x1b[31mblocker\x1b[0m") && has(out, "\x1b[33mtask\x1b[0m"));
}

TEST(a_search_names_hits_of_other_projects) {
  STORE("--project", "web", "The session cookie is called sid");
  yyjson_val *r = OK("search", "session cookie");
  CHECK_INT(jlen(r, "results"), 0);
  CHECK_INT(jint(r, "elsewhere"), 1);
  CHECK_STR(jstr(r, "fetch"), "cairn search 'session cookie' --all-projects");
  CHECK(has(CAIRN("search", "session cookie").out, "nothing found\nin other projects: 1; --all-projects shows them\n"));
  /* Not if the caller chose where to search, or found something. */
  CHECK(!jget(OK("search", "session cookie", "--project", "shop"), "elsewhere"));
  CHECK(!jget(OK("search", "session cookie", "--scope", "global"), "elsewhere"));
  STORE("The session cookie of the test site is called tid");
  CHECK(!jget(OK("search", "session cookie"), "elsewhere"));
}

TEST(a_weak_hit_hides_no_hits_of_other_projects) {
  cli_set("CAIRN_EMBEDDER"); /* the built-in model: it finds every text a little similar */
  STORE("The moon is bright");
  STORE("--project", "web", "The checkout test is flaky on Mondays");
  yyjson_val *r = OK("search", "flaky checkout test");
  CHECK_INT(jint(r, "results[0].id"), 1);
  CHECK_INT(jint(r, "elsewhere"), 1);
}

/* ---- tables ---- */

TEST(tables_fit_every_width) {
  need_terminal();
  store_hits();
  OK("search", "sessions");
  static const int widths[] = {40, 80, 200};
  static const char *const commands[] = {"config", "metrics", "stats", "list", "config gate.mode", "events"};
  for (size_t w = 0; w < ARRAY_LEN(widths); w++)
    for (size_t c = 0; c < ARRAY_LEN(commands); c++) {
      struct str out = on_terminal(widths[w], commands[c]), line;
      test_note("%s at %d", commands[c], widths[w]);
      CHECK(out.n > 0);
      while (str_line(&out, &line))
        CHECK(columns_of(line) <= widths[w] || memchr(line.p, '/', line.n)); /* a path is not broken */
    }
  /* Wrapped, not cut. */
  CHECK(!has(on_terminal(40, "config"), "…") && !has(on_terminal(80, "config"), "…"));
  CHECK(has(on_terminal(40, "metrics"), "errors 0"));
  cli_set("COLUMNS=200");
  CHECK(
      has(on_terminal(40, "config"), "accepts long facts and merged statements with a warning; strict refuses them\n"));
  CHECK(has(CAIRN("config").out, "accepts long facts and merged statements with a warning; strict refuses them\n"));
}

TEST(versions_can_be_told_apart) {
  need_terminal();
  STORE("The production database of the billing service runs on the machine called anvil");
  OK("supersede", "1", "--reason", "moved",
     "The production database of the billing service runs on the machine called hammer");
  struct str out = on_terminal(40, "--no-color history 1"), line;
  CHECK(has(out, "anvil\n      2026-03-01 12:00, superseded\n"));
  CHECK(has(out, "hammer\n      2026-03-01 12:00, current\n      because: moved\n"));
  while (str_line(&out, &line))
    CHECK(columns_of(line) <= 40);
  CHECK(has(CAIRN("history", "1").out, "anvil  2026-03-01 12:00, superseded\n  └ 2  The production"));
}

TEST(a_memory_is_shown_once) {
  need_terminal();
  STORE("The staging database is on port 5433.");
  STORE("--headline", "Deploy script", "Deploy script\n\nRun make deploy.\n\n    make deploy\n");
  STORE("--headline", "Port of Redis", "The cache listens on 6379");
  struct str out = on_terminal(80, "get 1");
  CHECK(has(out, "\x1b[1mThe staging database is on port 5433\x1b[0m.\n  fact · active\n"));
  CHECK_INT(count_of(out, "5433"), 1);
  out = on_terminal(80, "--no-color get 2"); /* paragraphs stay as they are, below */
  CHECK(has(out, "2  fact · active\n") && has(out, "\n\nDeploy script\n\nRun make deploy.\n\n    make deploy\n"));
  CHECK_INT(count_of(out, "Deploy script"), 1);
  out = on_terminal(80, "--no-color get 3");
  CHECK(has(out, "3  Port of Redis\n") && has(out, "\n\nThe cache listens on 6379\n"));
  CHECK_INT(count_of(CAIRN("get", "1").out, "5433"), 2); /* scripts find the body at the end */
}

TEST(a_warning_does_not_repeat_a_text) {
  need_terminal();
  struct str out;
  STORE("The staging database is on port 5433");
  out = on_terminal(200, "--no-color remember 'The staging database is on port 5434'");
  CHECK(has(out, "may contradict memory 1"));
  CHECK_INT(count_of(out, "The staging database is on port 5433"), 1);
  out = on_terminal(200, "--no-color remember 'The staging database is on port 5433.'");
  CHECK(has(out, "warning: memory 1 says the same\n"));
  CHECK_INT(count_of(out, "The staging database"), 1);
  CHECK(has(CAIRN("remember", "The staging database is on port 5433.").err,
            "memory 1 says the same: The staging database is on port 5433\n"));
}

/* No line of a text is broken within a word. */
TEST(texts_are_wrapped_between_words) {
  need_terminal();
  cli_set("CAIRN_PROJECT=shop");
  STORE("--type", "decision",
        "Sessions live in Postgres, because Redis lost them when the machine restarted, so that everyone had to log in "
        "again.");
  OK("supersede", "1", "--reason", "the contract with the hosting company ended in the spring of this year",
     "Sessions live in Valkey, because the contract for Postgres has ended.");
  OK("annotate", "2", "The contract of the hosting company is in the cupboard next to the door of the office.");
  STORE("--type", "rule", "--severity", "blocker", "Never restart the machine that keeps the sessions before noon.");
  static const char *const commands[] = {
      "get 2",
      "boot",
      "history 2",
      "doctor",
      "get 99",
      "checkpoint restart",
      "remember 'Sessions live in Valkey, because the contract for Redis has ended.'"};
  for (size_t c = 0; c < ARRAY_LEN(commands); c++) {
    struct str out = on_terminal(40, commands[c]), line;
    test_note("%s", commands[c]);
    CHECK(out.n > 0);
    while (str_line(&out, &line)) {
      test_note("%.*s", STR_ARG(line));
      CHECK(columns_of(line) <= 40 || memchr(line.p, '/', line.n) || has(line, "UID"));
    }
  }
  /* A pipe gets the text as it is. */
  CHECK(has(CAIRN("get", "2").out, "\n\nSessions live in Valkey, because the contract for Postgres has ended.\n"));
  CHECK(has(CAIRN("get", "99").err, "\n  try: name an id, uid or key; 'cairn list' and 'cairn search' show them\n"));
}

/* ---- labels ---- */

/* Members have names for people, not those of the JSON. */
TEST(results_have_labels) {
  STORE("--skill-name", "deploy", "--skill-keyword", "ship it", "Run the deploy script");
  OK("maintain");
  static const char *const commands[][3] = {
      {"get", "1"}, {"maintain"}, {"reembed", "--status"}, {"stats"}, {"health"}, {"config", "gate.mode"}, {"metrics"}};
  for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
    yyjson_val *r = cli_ok(__FILE__, __LINE__, STR_NONE, commands[i]), *key, *value;
    struct str out = cli_run(STR_NONE, commands[i]).out;
    size_t k, n;
    CHECK(out.n > 0);
    yyjson_obj_foreach(r, k, n, key, value) {
      struct str name = json_val_str(key);
      test_note("%s: %.*s in %.*s", commands[i][0], STR_ARG(name), STR_ARG(out));
      CHECK(!memchr(name.p, '_', name.n) || str_find(out, name, 0) == SIZE_MAX);
    }
  }
  CHECK(has(CAIRN("get", "1").out, "  skill: deploy\n") && has(CAIRN("get", "1").out, "  created: "));
}

TEST(a_terminal_shows_words_and_short_times) {
  need_terminal();
  STORE("The staging database is on port 5433");
  OK("pin", "1");
  CHECK(has(on_terminal(80, "unpin 1"), ": delivery on demand\n"));
  CHECK(has(CAIRN("unpin", "1").out, "1: delivery on_demand\n"));
  OK("action", "add", "Renew the certificate");
  OK("action", "ack", "1", "already_done", "--reason", "yesterday");
  CHECK(has(on_terminal(80, "action list --all"), "already done"));
  CHECK(has(on_terminal(80, "team list"), "2026-03-01 12:00  1 memory\n"));
  CHECK(has(on_terminal(80, "graph read"), "no entities or relations\n"));
  CHECK_STR(CAIRN("graph", "read").out, "");
  STORE("The mail server is called Hermes");
  CHECK(has(on_terminal(80, "--no-color list --limit 1"), "\n1 of 2\n"));
  CHECK(has(on_terminal(80, "--no-color capture 'We decided to keep sessions in Postgres.'"), "\n1 stored\n"));
  OK("forget", "1", "--reason", "old");
  CHECK(has(on_terminal(80, "--no-color get 1"), "forgotten since 2026-03-01 12:00: old.\n"));
  CAIRN_FED(STR("{\"role\":\"user\",\"content\":\"Hello there\"}\n"), "transcript", "append", "s-1", "-");
  CHECK(has(on_terminal(80, "transcript list"), "  1 message  "));
}

/* ---- undo ---- */

TEST(a_change_says_how_to_undo_it) {
  struct run r = CAIRN("remember", "The staging database is on port 5433");
  CHECK_STR(r.out, "stored 1  The staging database is on port 5433\n  fact · global\nundo: cairn undo 1\n");
  CHECK(!has(CAIRN("remember", "The staging database is on port 5433.").out, "undo")); /* a duplicate: no change */
  CHECK(has(CAIRN("pin", "1").out, "1: delivery pinned\nundo: cairn undo 3\n"));
  CHECK(has(CAIRN("config", "gate.mode", "strict").out, "undo: cairn undo 4\n"));
  CHECK(has(CAIRN("undo", "4").out, "undo: cairn undo 5\n")); /* does it again */
  CHECK(!has(CAIRN("vault", "set", "color", "blue").out, "undo"));
  CHECK(!has(CAIRN("extract", test_dir()).out, "undo"));
  CHECK(!has(CAIRN("token", "add", "ci").out, "undo"));
  CHECK(!has(CAIRN("--quiet", "unpin", "1").out, "undo"));
}

/* The change has no transaction. */
TEST(a_change_names_its_opposite_command) {
  const char *folder = path_join(NULL, "it's here");
  CHECK(mkdir(folder, 0700) == 0);
  file_write(path_join(folder, "a.md"), STR("The staging database is on port 5433\n"));
  CHECK(has(CAIRN("agent", "add", "web", "--role", "admin").out, "\nundo: cairn agent remove web\n"));
  struct run r = CAIRN("source", "add", folder);
  CHECK(has(r.out, "\nundo: cairn source remove '/") && has(r.out, "/it'\\''s here'\n"));
  CHECK(!has(CAIRN("source", "add", folder).out, "undo")); /* was a source before */
  CHECK(has(CAIRN("source", "remove", folder).out, "\nundo: cairn source add '/"));
  CHECK(has(CAIRN("help", "undo").out, "does not reverse a purge"));
}

TEST(what_changed_nothing_is_not_undone) {
  STORE("The staging database is on port 5433");
  CHECK(has(CAIRN("forget", "1", "--reason", "old").out, "undo: cairn undo 2"));
  CHECK(!has(CAIRN("forget", "1", "--reason", "old").out, "undo"));
  CHECK(!has(CAIRN("prune", "--apply").out, "undo"));
  CHECK(has(CAIRN("capture", "We use Rust for the new parser.").out, "undo: "));
  CHECK(!has(CAIRN("capture", "We use Rust for the new parser.").out, "undo"));
  struct run r = CAIRN("undo", "3"); /* of the second 'forget' */
  CHECK(has(r.out, "0 changes") && !has(r.out, "undo:"));
}

/* "global" is a place, too: it is said where the project is left out. */
TEST(a_change_says_where_it_went) {
  CHECK(has(CAIRN("remember", "The staging database is on port 5433").out, "\n  fact · global\n"));
  CHECK(has(CAIRN("task", "add", "Write the release notes").out, "\n  task · global\n"));
  CHECK(has(CAIRN("action", "add", "Renew the certificate").out, "pending · global  Renew the certificate\n"));
  cli_set("CAIRN_PROJECT=shop");
  CHECK(has(CAIRN("remember", "--scope", "global", "Parsley grows in pots").out, "\n  fact · global\n"));
  CHECK(has(CAIRN("remember", "Basil stands on the sill").out, "\n  fact\n"));
}

TEST(an_event_says_what_was_read) {
  STORE("The staging database is on port 5433");
  OK("list");
  CHECK(has(CAIRN("events").out, "memory:read               list"));
}

/* ---- messages ---- */

TEST(a_mistyped_setting_gets_a_suggestion) {
  OK("list");
  CHECK(has(jstr(REFUSED("usage", "config", "gate.mod"), "fix"), "did you mean 'gate.mode'?"));
  CHECK(has(jstr(REFUSED("usage", "config", "colour"), "fix"), "'cairn config' lists the settings"));
}

TEST(help_lists_an_option_once) {
  CHECK_INT(count_of(CAIRN("help", "token", "add").out, "\n  --project NAME"), 1);
  CHECK_INT(count_of(CAIRN("help", "search").out, "\n  --project NAME"), 1);
  CHECK(has(CAIRN("help", "task", "block").out, "also --by"));
}

TEST(pending_work_is_not_ok) {
  STORE("The staging database is on port 5433");
  sql_do("DELETE FROM setting WHERE name = 'suspect.judged'");
  CHECK(has(CAIRN("doctor").out, "• todo judging: 1 memory has not been checked"));
}

TEST(a_hint_names_no_placeholder_for_a_transaction) {
  STORE("The staging database is on port 5433");
  struct run r = CAIRN("remember", "The staging database is on port 5434");
  CHECK(has(r.err, "contradict") && !has(r.err, "TXN"));
}
