/* test_transfer.c: export and import: nothing is lost, and nothing invalid gets in. */
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory/types.h"
#include "support/cli.h"
#include "support/schema.h"

#define HEADER "{\"cairn\":\"export\",\"version\":1,\"schema\":" SCHEMA_TEXT "}\n"
#define UID(n) "0190a0a0-0000-7000-8000-0000000000" n
#define AT "\"2026-01-02T03:04:05.006Z\""
#define TIMES "\"valid_from\":" AT ",\"created_at\":" AT ",\"updated_at\":" AT ","
#define COUNTS "\"access_count\":0,\"upvotes\":0,\"downvotes\":0,"
/* An active fact. `more` follows the headline, and `last` comes last. */
#define FACT_WITH(n, headline, more, body, last)                                                                       \
  "{\"memory\":{\"uid\":\"" UID(                                                                                       \
      n) "\",\"project\":\"\",\"kind\":\"fact\",\"type\":\"fact\"," more "\"headline\":\"" headline                    \
         "\",\"delivery\":\"on_demand\",\"weight\":1.0,\"trust\":\"user\",\"state\":\"active\"," TIMES COUNTS          \
         "\"source\":\"test\",\"body\":\"" body "\"" last "}}\n"
#define FACT(n, headline, body) FACT_WITH(n, headline, "", body, "")
#define LINK(a, rel, b) "{\"link\":{\"src\":\"" UID(a) "\",\"rel\":\"" rel "\",\"dst\":\"" UID(b) "\",\"at\":" AT "}}\n"

static struct arena scratch;

static const char *put_file(const char *name, const char *text) {
  const char *path = path_join(NULL, name);
  file_write(path, str_from(text));
  return path;
}

static struct str exported(const char *db, bool events) {
  const char *path = path_join(NULL, "exported.jsonl");
  if (events)
    OK("--db", db, "export", path, "--force", "--events");
  else
    OK("--db", db, "export", path, "--force");
  return file_read(path);
}

static void check_text(struct str got, struct str want) {
  for (size_t i = 0, line = 1; i < got.n && i < want.n; i++) {
    if (got.p[i] != want.p[i])
      FAIL("line %zu differs at byte %zu:\n%.*s\n%.*s", line, i, (int)(got.n - i < 200 ? got.n - i : 200), got.p + i,
           (int)(want.n - i < 200 ? want.n - i : 200), want.p + i);
    line += got.p[i] == '\n';
  }
  CHECK_INT(got.n, want.n);
}

/* An import that finds bad rows and rolls everything back. */
static yyjson_val *import_fails(const char *path) {
  struct str before = snapshot();
  struct run r = CAIRN("import", path, "--json");
  CHECK_INT(r.exit_code, 11);
  struct json_lines lines = lines_of(r.out);
  CHECK_INT(lines.n, 1);
  CHECK(!jbool(lines.v[0], "ok"));
  CHECK_INT(jint(lines.v[0], "imported"), 0);
  CHECK(has(jstr(lines.v[0], "fix"), "--skip-bad"));
  if (before.n)
    CHECK_UNCHANGED(before);
  return lines.v[0];
}

/* ---- round trips ---- */

static void fill_types(void) {
  for (size_t i = 0; i < types_count(); i++) {
    const char *stem = textf("%s%c", types_at(i)->name, (char)('a' + (int)i));
    OK("remember", "--type", types_at(i)->name, words(stem, 14));
    OK("remember", "--type", types_at(i)->name, "--project", i % 2 ? "web" : "api",
       words(textf("q%c%s", (char)('z' - (int)i), stem), 14));
  }
}

static void fill_fields(void) {
  STORE("--key", "db-port", "--weight", "0.35", "--tag", "db", "--tag", "ops team", "--person", "Ann",
        "The staging database listens on port 5433");
  STORE("--confidence", "medium", "--domain", "a.example", "--domain", "b.example", "--verified", "2026-02-01",
        "--valid-from", "2025-12-24T18:00:00Z", "Quantum cats prefer boxes #physics @schroedinger");
  STORE("--type", "incident", "--root-cause", "disk full", "--resolution", "bigger disk", "Mail stood still for hours");
  STORE("--skill-name", "release", "--skill-keyword", "ship it", "--skill-project", "web", "--skill-always-on",
        "Tag, build, sign and upload the release archive");
  STORE("--delivery", "boot", "--type", "rule", "Speak German with customers from Vienna");
  STORE("--ttl", "3d", "The lift is broken until Thursday");
  STORE("Zażółć gęślą jaźń — 日本語のテキスト 🙂 e\u0301 \u2028 عربى");
  STORE("Tabs\tand \"quotes\" and \\ backslashes\r\nsecond line\x01 end");
  struct buf b = BUF(&scratch);
  for (int i = 0; b.n < 300000; i++)
    buf_addf(&b, "chapter%d tells of number%d. ", i, i * 7);
  OK_FED(buf_str(&b), "remember", "--headline", "A very long text", "-");
}

static void fill_corrections(void) {
  int64_t a = STORE("--key", "proxy", "The proxy runs on host alder");
  OK("supersede", num(a), "The proxy runs on host birch", "--reason", "moved", "--inherit-key");
  OK("supersede", "proxy", "The proxy runs on host cedar, rack 4", "--soft", "--inherit-key");
  int64_t global = STORE("--type", "rule", "Indent every source file with tabs");
  OK("supersede", num(global), "--project", "web", "Indent web sources with two blanks", "--reason", "house style");
  int64_t rule = STORE("--type", "guardrail", "Never deploy on a Friday afternoon");
  OK("supersede", num(rule), "--type", "guardrail", "Never deploy after three o'clock", "--reason", "learned");
  int64_t back = STORE("The canteen opens at eleven sharp");
  OK("supersede", num(back), "The canteen opens at noon", "--reason", "rumour");
  OK("unsupersede", num(back));
  OK("forget", num(STORE("Somebody's birthday is in June")), "--reason", "private");
  int64_t gone = STORE("This text will be purged completely");
  OK("get", num(gone));
  OK("purge", num(gone), "--confirm");
  int64_t undone = jint(OK("remember", "Bananas are blue today"), "txn");
  OK("undo", num(undone));
}

static void fill_links_and_tasks(void) {
  int64_t a = STORE("Whales sleep upright in the deep"), b = STORE("Dolphins nap with half a brain");
  static const char *const rels[] = {"relates", "contradicts", "derived_from", "cites"};
  for (size_t i = 0; i < ARRAY_LEN(rels); i++)
    OK("link", num(a), rels[i], num(b));
  OK("annotate", num(a), "First note");
  OK("annotate", num(a), "Second note: ümlaut");
  OK("rate", num(a), "up");
  OK("rate", num(b), "down");
  OK("pin", num(b));
  OK("search", "whales sleep");
  OK("get", num(a));
  int64_t design = ADD_TASK("Design the engine room", "--priority", "high", "--milestone", "1.0", "--due", "in May",
                            "--accept", "it turns", "--accept", "it stops");
  int64_t build = ADD_TASK("Build the boiler", "--blocked-by", num(design));
  int64_t paint = ADD_TASK("Paint the funnel red");
  OK("task", "block", num(paint), num(build));
  OK("task", "block", num(paint), num(design));
  OK("task", "claim", num(design), "--by", "ann");
  OK("task", "status", num(ADD_TASK("Order rivets by mail")), "done");
  OK("config", "gate.mode", "strict");
  OK("config", "gate.mode", "assist");
}

/* One of everything that a store can hold. */
static void fill_store(void) {
  cli_set("CAIRN_SESSION=s-1");
  fill_types();
  fill_fields();
  cli_day(1);
  cli_set("CAIRN_SESSION");
  fill_corrections();
  fill_links_and_tasks();
  int64_t old = STORE("--project", "attic", "An old chair stands in the attic");
  OK("link", num(old), "relates", "1");
  STORE_AS_AGENT("--type", "fact", "Deck chairs are stored below");
  STORE_AS_AGENT("--kind", "incident", "A lamp fell from the mast");
  cli_day(45);
  OK("prune", "--days", "30", "--apply", "--project", "attic");
  OK("maintain");
  cli_day(120);
  OK("maintain");
  CHECK_INT(sql_number("SELECT count(DISTINCT state) FROM memory"), 6);
  CHECK_INT(sql_number("SELECT count(DISTINCT kind) FROM memory"), 4);
  CHECK_INT(sql_number("SELECT count(DISTINCT type) FROM memory"), sql_number("SELECT count(*) FROM memory_type"));
  CHECK_INT(sql_number("SELECT count(DISTINCT rel) FROM link"), 7);
  CHECK_INT(sql_number("SELECT count(DISTINCT change) FROM event"), 8);
}

TEST(a_round_trip_gives_the_same_bytes, .seconds = 60, .slow = true) {
  const char *second = test_store("second.db"), *third = test_store("third.db");
  fill_store();
  struct str before = snapshot();
  struct str plain = exported(cli_db(), false), full = exported(cli_db(), true);
  CHECK_UNCHANGED(before);
  CHECK(plain.n > 300000 && full.n > plain.n);
  const char *path = path_join(NULL, "full.jsonl");
  file_write(path, full);
  yyjson_val *r = OK("--db", second, "import", path, "--keep-trust");
  CHECK_INT(jint(r, "imported"), sql_number("SELECT count(*) FROM memory"));
  CHECK_INT(jint(r, "links"), sql_number("SELECT count(*) FROM link"));
  CHECK_INT(jint(r, "events"), sql_number("SELECT count(*) FROM event"));
  CHECK_INT(jint(r, "refused_count"), 0);
  CHECK_INT(jlen(r, "warnings"), 0);
  check_text(exported(second, false), plain);
  check_text(exported(second, true), full);
  /* And a third trip. Embedding imported memories does not change the export. */
  OK("--db", second, "maintain");
  check_text(exported(second, true), full);
  file_write(path, exported(second, false));
  OK("--db", third, "import", path, "--keep-trust");
  check_text(exported(third, false), plain);
  cli_set(textf("CAIRN_DB=%s", second));
  CHECK_HEALTHY();
}

TEST(importing_twice_changes_nothing, .seconds = 60, .slow = true) {
  const char *second = test_store("second.db");
  fill_store();
  const char *path = path_join(NULL, "full.jsonl");
  file_write(path, exported(cli_db(), true));
  int64_t memories = sql_number("SELECT count(*) FROM memory");
  OK("--db", second, "import", path);
  struct str once = store_dump(second);
  yyjson_val *r = OK("--db", second, "import", path);
  CHECK_INT(jint(r, "imported"), 0);
  CHECK_INT(jint(r, "already"), memories);
  CHECK_INT(jint(r, "links"), 0);
  CHECK(!jget(r, "txn") && !jget(r, "events"));
  CHECK_INT(jlen(r, "warnings"), 0);
  check_text(store_dump(second), once);
  /* Importing into the original store: everything is known. */
  struct str before = snapshot();
  r = OK("import", path);
  CHECK_INT(jint(r, "already"), memories);
  CHECK_UNCHANGED(before);
}

TEST(a_hand_written_file_round_trips) {
  const char *text = HEADER FACT_WITH(
      "01", "Ελληνικά και 日本語", "\"key\":\"the key\",", "tab\\t quote\\\" slash/ back\\\\ \\r\\n\\u0001\x7f 🙂",
      ",\"tags\":[\"z\",\"a\",\"z\"],\"annotations\":[{\"at\":" AT
      ",\"by\":\"\",\"text\":\" \"}]") "{\"memory\":{\"uid\":\"" UID("02") "\",\"project\":\"p "
                                                                           "q\",\"kind\":\"task\",\"type\":\"task\","
                                                                           "\"headline\":\"T\","
                                                                           "\"delivery\":\"pinned\",\"weight\":0.1,"
                                                                           "\"trust\":\"extraction\",\"auto_captured\":"
                                                                           "true,\"state\":\"expired\","
                                                                           "\"state_reason\":\"\",\"state_by\":\"\","
                                                                           "\"state_at\":\"0001-01-01T00:00:00.000Z\","
                                                                           "\"valid_from\":\"9999-12-31T23:59:59."
                                                                           "999Z\",\"created_at\":\"1970-01-01T00:00:"
                                                                           "00.000Z\","
                                                                           "\"updated_at\":\"1969-12-31T23:59:59."
                                                                           "999Z\",\"expires_at\":\"1970-01-01T00:00:"
                                                                           "00.001Z\","
                                                                           "\"access_count\":9223372036854775807,"
                                                                           "\"last_accessed\":" AT
                                                                           ",\"upvotes\":7,\"downvotes\":8,"
                                                                           "\"status\":\"stale\",\"priority\":\"low\","
                                                                           "\"milestone\":\"\",\"due\":\"x\",\"claimed_"
                                                                           "by\":\"me\",\"claimed_at\":" AT
                                                                           ",\"source\":\"\",\"session\":\"s\","
                                                                           "\"body\":\" b \",\"acceptance\":[\"c\"]}}\n"
                                                                           "{\"memory\":{\"uid\":\"" UID(
                                                                               "03") "\",\"project\":\"\",\"kind\":"
                                                                                     "\"rule\",\"type\":\"lesson\","
                                                                                     "\"severity\":\"deprecated\","
                                                                                     "\"headline\":\"L\",\"delivery\":"
                                                                                     "\"skill\",\"skill_name\":\"n\","
                                                                                     "\"skill_always_on\":true,"
                                                                                     "\"weight\":0.7,\"confidence\":"
                                                                                     "\"low\",\"corroborated\":2,"
                                                                                     "\"verified_at\":" AT
                                                                                     ",\"trust\":\"tool\",\"state\":"
                                                                                     "\"forgotten\",\"state_reason\":"
                                                                                     "\"r\",\"state_at\":" AT
                                                                                     "," TIMES COUNTS
                                                                                     "\"source\":\"s\",\"body\":\"b\","
                                                                                     "\"domains\":[\"d\"],\"skill_"
                                                                                     "keywords\":[\"k\"],\"skill_"
                                                                                     "projects\":[\"p\"]}}\n" LINK(
                                                                                         "01", "cites", "03")
                                                                                         LINK("02", "contradicts", "01")
                                                                                             LINK("02", "relates", "01") "{\"link\":{\"src\":\"" UID("02") "\",\"rel\":\"supersedes\",\"dst\":\"" UID(
                                                                                                 "03") "\",\"at\":" AT
                                                                                                       ",\"reason\":"
                                                                                                       "\"\",\"prior\":"
                                                                                                       "{\"state\":"
                                                                                                       "\"active\","
                                                                                                       "\"weight\":0."
                                                                                                       "25}}}\n"
                                                                                                       "{\"tombstone\":"
                                                                                                       "{\"uid\":"
                                                                                                       "\"" UID(
                                                                                                           "0f") "\","
                                                                                                                 "\"at"
                                                                                                                 "\""
                                                                                                                 ":" AT
                                                                                                                 ",\"by"
                                                                                                                 "\":"
                                                                                                                 "\"x\""
                                                                                                                 "}}\n";
  OK("import", "--keep-trust", put_file("hand.jsonl", text));
  check_text(exported(cli_db(), false), str_from(text));
}

TEST(the_order_of_the_lines_does_not_matter) {
  const char *sorted = HEADER FACT("01", "One", "First.") FACT("02", "Two", "Second.")
      LINK("01", "relates", "02") "{\"tombstone\":{\"uid\":\"" UID("03") "\",\"at\":" AT ",\"by\":\"x\"}}\n";
  const char *mixed = HEADER "\n" LINK("01", "relates", "02") FACT("03", "Purged", "Never again.")
      HEADER FACT("02", "Two", "Second.") "{\"tombstone\":{\"uid\":\"" UID("03") "\",\"at\":" AT ",\"by\":\"x\"}}\n"
                                                                                 "  \r\n" FACT("01", "One", "First.");
  yyjson_val *r = OK("import", "--keep-trust", put_file("mixed.jsonl", mixed));
  CHECK_INT(jint(r, "imported"), 2);
  CHECK_INT(jint(r, "tombstoned"), 1);
  check_text(exported(cli_db(), false), str_from(sorted));
}

/* ---- export ---- */

TEST(export_goes_to_standard_output_line_by_line) {
  STORE("Snow is white");
  struct run r = CAIRN("export");
  CHECK_INT(r.exit_code, 0);
  struct json_lines lines = lines_of(r.out);
  CHECK_INT(lines.n, 2);
  CHECK_STR(jstr(lines.v[0], "cairn"), "export");
  CHECK_INT(jint(lines.v[0], "version"), 1);
  CHECK_STR(jstr(lines.v[1], "memory.body"), "Snow is white");
  CHECK(!jget(lines.v[1], "memory.id") && !jget(lines.v[1], "memory.team"));
  check_text(CAIRN("export", "--json").out, r.out);
  check_text(CAIRN("export", "-").out, r.out);
  check_text(exported(cli_db(), false), r.out);
}

TEST(an_export_file_is_private_and_replaced_atomically) {
  STORE("Snow is white");
  const char *path = put_file("out.jsonl", "something else\n"), *link = path_join(NULL, "link.jsonl");
  CHECK_INT(chmod(path, 0644), 0);
  CHECK_INT(symlink("out.jsonl", link), 0);
  REFUSED("conflict", "export", path);
  REFUSED("conflict", "export", link);
  CHECK_STR(file_read(path), "something else\n");
  yyjson_val *r = OK("export", link, "--force");
  CHECK_INT(jint(r, "memories"), 1);
  CHECK_STR(jstr(r, "file"), link);
  struct stat st;
  CHECK(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
  CHECK(stat(path, &st) == 0);
  CHECK_INT(st.st_mode & 07777, 0600);
  CHECK(str_starts(file_read(path), STR(HEADER)));
}

TEST(an_export_that_cannot_be_written_says_so_and_leaves_nothing) {
  STORE("Snow is white");
  REFUSED("not_found", "export", path_join(NULL, "no/such/folder/out.jsonl"));
  REFUSED("usage", "export", test_dir());
  REFUSED("usage", "export", "");
  REFUSED("no_space", "export", "/dev/full");
  /* Not over the store itself, under any of its names. */
  REFUSED("usage", "export", cli_db());
  const char *alias = path_join(NULL, "alias");
  CHECK_INT(symlink(cli_db(), alias), 0);
  if (!on_postgres())
    REFUSED("usage", "export", alias);
  CHECK_HEALTHY();
  struct run r = CAIRN("--db", test_store_new("mistyped.db"), "export");
  CHECK_INT(r.exit_code, 3);
  r = proc_run(.argv = ARGS("sh", "-c", "ls | grep -c jsonl"));
  CHECK_STR(r.out, "0\n");
}

TEST(exporting_one_project) {
  STORE("--project", "web", "The web server is nginx");
  STORE("--project", "web", "The web client is written in Elm");
  STORE("--project", "api", "The interface speaks gRPC");
  STORE("Everybody uses git here");
  OK("link", "1", "relates", "2");
  OK("link", "1", "relates", "3");
  OK("link", "1", "cites", "4");
  yyjson_val *r = OK("export", path_join(NULL, "web.jsonl"), "--project", "web", "--events");
  CHECK_INT(jint(r, "memories"), 2);
  CHECK_INT(jint(r, "links"), 1);
  struct str text = file_read(path_join(NULL, "web.jsonl"));
  CHECK(has(text, "nginx") && has(text, "Elm") && !has(text, "gRPC") && !has(text, "git here"));
  CHECK_INT(jint(OK("export", path_join(NULL, "all.jsonl")), "memories"), 4);
  r = OK("export", path_join(NULL, "global.jsonl"), "--project", "");
  CHECK_INT(jint(r, "memories"), 1);
  OK("--db", test_store("other.db"), "import", "--keep-trust", path_join(NULL, "web.jsonl"));
}

TEST(exporting_one_team) {
  STORE("Ours is the north tower");
  cli_set("CAIRN_TEAM=others");
  STORE("Theirs is the south tower");
  struct str theirs = exported(cli_db(), true);
  CHECK(has(theirs, "south") && !has(theirs, "north"));
  /* Two teams of one store may have the same uids. */
  const char *path = path_join(NULL, "theirs.jsonl");
  OK("export", path);
  cli_set("CAIRN_TEAM=third");
  CHECK_INT(jint(OK("import", "--keep-trust", path), "imported"), 1);
  check_text(exported(cli_db(), false), file_read(path));
}

/* ---- bad rows ---- */

TEST(each_bad_row_is_reported_with_its_line) {
  const char *text = HEADER FACT("01", "Good", "A good row.") "{\"memory\":\n" FACT_WITH(
      "02", "Odd", "\"colour\":\"red\",", "x", "") "\n" FACT("03", "", "No headline.") LINK("01", "likes", "02")
      LINK("01", "relates", "0e") FACT("04", "Fourth", "Fine too.");
  yyjson_val *r = import_fails(put_file("bad.jsonl", text));
  CHECK_INT(jint(r, "refused_count"), 5);
  static const struct {
    int line;
    const char *error;
  } want[] = {{3, "not valid JSON"},
              {4, "unknown member 'colour'"},
              {6, "headline"},
              {7, "'likes' is not a kind of link"},
              {8, "neither in the store nor imported"}};
  CHECK_INT(jlen(r, "refused"), ARRAY_LEN(want));
  for (size_t i = 0; i < ARRAY_LEN(want); i++) {
    CHECK_INT(jint(r, textf("refused[%zu].line", i)), want[i].line);
    CHECK(has(jstr(r, textf("refused[%zu].error", i)), want[i].error));
    CHECK(jstr(r, textf("refused[%zu].fix", i)).n > 0);
  }
  /* With --skip-bad the good rows are imported. */
  r = OK("import", path_join(NULL, "bad.jsonl"), "--skip-bad");
  CHECK_INT(jint(r, "imported"), 2);
  CHECK_INT(jint(r, "refused_count"), 5);
  CHECK_INT(sql_number("SELECT count(*) FROM memory"), 2);
  CHECK_HEALTHY();
}

TEST(many_bad_rows_are_counted) {
  struct buf b = BUF(&scratch);
  buf_adds(&b, HEADER);
  for (int i = 0; i < 250; i++)
    buf_adds(&b, "{\"memory\":{}}\n");
  yyjson_val *r = import_fails(put_file("bad.jsonl", buf_str(&b).p));
  CHECK_INT(jlen(r, "refused"), 100);
  CHECK_INT(jint(r, "refused_count"), 250);
}

TEST(a_file_that_is_not_an_export_is_refused) {
  STORE("Something");
  REFUSED("not_found", "import", path_join(NULL, "missing.jsonl"));
  REFUSED("usage", "import", "");
  REFUSED("usage", "import", put_file("empty.jsonl", ""));
  REFUSED("usage", "import", put_file("blank.jsonl", "\n \n"));
  REFUSED("usage", "import", put_file("text.txt", "Just some text\n"));
  REFUSED("usage", "import", put_file("array.json", "[1,2,3]\n"));
  REFUSED("usage", "import", put_file("headless.jsonl", FACT("01", "A", "B.")), "--format", "cairn");
  REFUSED("usage", "import", test_dir(), "--format", "cairn");
  REFUSED(on_postgres() ? "secret" : "usage", "import", cli_db()); /* an address with a password is not a path */
  yyjson_val *r = REFUSED("schema", "import",
                          put_file("new.jsonl", "{\"cairn\":\"export\",\"version\":2,\"schema\":7}\n{\"new\":1}\n"));
  CHECK(has(jstr(r, "message"), "format version 2"));
  CHECK(has(jstr(r, "fix"), "update Cairn"));
}

TEST(a_line_that_is_too_long_is_one_bad_row) {
  size_t n = (17 << 20);
  char *text = arena_alloc(&scratch, n + 2000);
  memset(text, 'x', n);
  const char *head = HEADER, *tail = "\n" FACT("01", "Good", "A good row.");
  memcpy(text, head, strlen(head));
  memcpy(text + n, tail, strlen(tail));
  file_write(path_join(NULL, "long.jsonl"), (struct str){text, n + strlen(tail)});
  yyjson_val *r = import_fails(path_join(NULL, "long.jsonl"));
  CHECK_INT(jint(r, "refused_count"), 1);
  CHECK_INT(jint(r, "refused[0].line"), 2);
  CHECK_INT(jint(OK("import", path_join(NULL, "long.jsonl"), "--skip-bad"), "imported"), 1);
}

TEST(a_dry_run_reports_and_changes_nothing) {
  STORE("--key", "k", "Something");
  const char *path = put_file("dry.jsonl", HEADER FACT("01", "One", "First.") FACT("02", "Two", "Second.")
                                               LINK("01", "relates", "02"));
  struct str before = snapshot();
  yyjson_val *r = OK("import", path, "--dry-run");
  CHECK(jbool(r, "dry_run"));
  CHECK_INT(jint(r, "imported"), 2);
  CHECK_INT(jint(r, "links"), 1);
  CHECK(!jget(r, "txn"));
  CHECK_UNCHANGED(before);
  struct run bad = CAIRN(
      "import", put_file("bad.jsonl", HEADER FACT_WITH("03", "Three", "\"key\":\"k\",", "Third.", "")), "--dry-run");
  CHECK_INT(bad.exit_code, 11);
  CHECK_UNCHANGED(before);
}

/* ---- conflicts with the store ---- */

TEST(names_that_are_taken_are_bad_rows) {
  STORE("--key", "auth", "Logins use passkeys");
  STORE("--skill-name", "release", "How to release");
#define SKILL(n)                                                                                                       \
  "{\"memory\":{\"uid\":\"" UID(n) "\",\"project\":\"\",\"kind\":\"fact\",\"type\":\"fact\",\"headline\":\"S\","       \
                                   "\"delivery\":\"skill\",\"skill_name\":\"release\",\"weight\":1.0,\"trust\":"       \
                                   "\"user\",\"state\":\"active\"," TIMES COUNTS "\"source\":\"s\",\"body\":\"b " n    \
                                   "\"}}\n"
  const char *text = HEADER FACT_WITH("01", "One", "\"key\":\"auth\",", "First.", "") SKILL("02")
      FACT_WITH("03", "Three", "\"key\":\"twice\",", "Third.", "")
          FACT_WITH("04", "Four", "\"key\":\"twice\",", "Fourth.", "");
  yyjson_val *r = import_fails(put_file("taken.jsonl", text));
  CHECK_INT(jlen(r, "refused"), 3);
  CHECK_INT(jint(r, "refused[0].line"), 2);
  CHECK(has(jstr(r, "refused[0].error"), "key 'auth' is taken by memory 1"));
  CHECK(has(jstr(r, "refused[1].error"), "skill name 'release' is taken by memory 2"));
  CHECK_INT(jint(r, "refused[2].line"), 5);
  CHECK(has(jstr(r, "refused[2].error"), "key 'twice' is taken"));
}

TEST(the_local_version_wins_over_the_file) {
  OK("import", put_file("a.jsonl", HEADER FACT("01", "One", "First.")));
  yyjson_val *r = OK("import", put_file("b.jsonl", HEADER FACT_WITH("01", "One", "", "Changed.", ",\"tags\":[\"t\"]")));
  CHECK_INT(jint(r, "already"), 1);
  CHECK_INT(jint(r, "imported"), 0);
  CHECK(has(jstr(r, "warnings[0].message"),
            "line 2: memory 1 already exists and differs in body, tags; keeping the local version"));
  CHECK_STR(sql_string("SELECT text FROM body"), "First.");
}

TEST(purged_memories_are_not_imported_again) {
  int64_t id = STORE("A secret garden lies behind the wall");
  OK("annotate", num(id), "Mind the gardener");
  int64_t other = STORE("The wall is two metres high");
  OK("link", num(other), "relates", num(id));
  OK("search", "garden wall");
  const char *path = path_join(NULL, "before.jsonl");
  OK("export", path, "--events");
  OK("purge", num(id), "--confirm");
  yyjson_val *r = OK("import", path);
  CHECK_INT(jint(r, "imported"), 0);
  CHECK_INT(jint(r, "tombstoned"), 1);
  CHECK_INT(jint(r, "already"), 1);
  CHECK_INT(jint(r, "links"), 0);
  CHECK_INT(jint(r, "refused_count"), 0);
  /* Nor through the log, in a store that has only the tombstone. */
  const char *stone = path_join(NULL, "stone.jsonl"), *fresh = test_store("fresh.db");
  OK("export", stone);
  OK("--db", fresh, "import", stone);
  r = OK("--db", fresh, "import", path);
  CHECK_INT(jint(r, "tombstoned"), 1);
  CHECK(jint(r, "events") > 3);
  struct str after = exported(fresh, true);
  CHECK(!has(after, "secret garden") && !has(after, "gardener") && !has(after, "garden wall"));
  CHECK(has(after, "two metres"));
}

TEST(an_imported_tombstone_does_not_remove_a_local_memory) {
  OK("import", put_file("a.jsonl", HEADER FACT("01", "One", "First.")));
  struct str before = snapshot();
  yyjson_val *r = OK(
      "import", put_file("b.jsonl", HEADER "{\"tombstone\":{\"uid\":\"" UID("01") "\",\"at\":" AT ",\"by\":\"x\"}}\n"));
  CHECK(warning(r, "purged_elsewhere") != NULL);
  CHECK_UNCHANGED(before);
}

TEST(an_imported_correction_does_not_supersede_a_local_memory) {
#define RETIRED(n)                                                                                                     \
  "{\"memory\":{\"uid\":\"" UID(n) "\",\"project\":\"\",\"kind\":\"fact\",\"type\":\"fact\",\"headline\":\"One\","     \
                                   "\"delivery\":\"on_demand\",\"weight\":0.1,\"trust\":\"user\",\"state\":"           \
                                   "\"superseded\",\"state_reason\":\"r\","                                            \
                                   "\"state_at\":" AT "," TIMES COUNTS "\"source\":\"test\",\"body\":\"First.\"}}\n"
  OK("import", put_file("a.jsonl", HEADER FACT("01", "One", "First.")));
  yyjson_val *r = OK(
      "import", put_file("b.jsonl", HEADER RETIRED("01") FACT("02", "Two", "Second.") LINK("02", "supersedes", "01")));
  CHECK_INT(jint(r, "imported"), 1);
  CHECK_INT(jint(r, "links"), 0);
  CHECK(warning(r, "differs") && warning(r, "not_superseded"));
  CHECK_STR(sql_string("SELECT state FROM memory WHERE id = 1"), "active");
  CHECK_HEALTHY();
  /* Within one file, a memory that is both active and superseded is an error. */
  r = import_fails(put_file("c.jsonl", HEADER FACT("03", "Three", "Third.") FACT("04", "Four", "Fourth.")
                                           LINK("04", "supersedes", "03")));
  CHECK_INT(jint(r, "refused[0].line"), 4);
}

TEST(links_that_the_schema_forbids_are_bad_rows) {
#define TASK(n)                                                                                                        \
  "{\"memory\":{\"uid\":\"" UID(                                                                                       \
      n) "\",\"project\":\"\",\"kind\":\"task\",\"type\":\"task\",\"headline\":\"Task " n                              \
         "\",\"delivery\":\"on_demand\",\"weight\":1.0,\"trust\":\"user\",\"state\":\"active\"," TIMES COUNTS          \
         "\"status\":\"open\",\"priority\":\"low\",\"source\":\"s\",\"body\":\"do x" n "\"}}\n"
  const char *text = HEADER TASK("01") TASK("02") TASK("03") FACT("04", "Four", "Fourth.")
      LINK("01", "blocked_by", "02") LINK("02", "blocked_by", "03") LINK("03", "blocked_by", "01")
          LINK("01", "blocked_by", "04") LINK("01", "shadows", "04");
  yyjson_val *r = import_fails(put_file("links.jsonl", text));
  CHECK_INT(jlen(r, "refused"), 3);
  CHECK_INT(jint(r, "refused[0].line"), 8);
  CHECK(has(jstr(r, "refused[0].error"), "cycle"));
  CHECK(has(jstr(r, "refused[1].error"), "only a task can block a task"));
  CHECK(has(jstr(r, "refused[2].error"), "only a memory of a project can shadow"));
  r = OK("import", path_join(NULL, "links.jsonl"), "--skip-bad");
  CHECK_INT(jint(r, "links"), 2);
  CHECK_HEALTHY();
}

/* ---- secrets, undo, input ---- */

#define TOKEN                                                                                                          \
  "ghp_"                                                                                                               \
  "16C7e42F292c6912E7710c838347Ae178B4a"

TEST(secrets_are_not_imported) {
  const char *path =
      put_file("secret.jsonl", HEADER FACT("01", "One", "First.") FACT("02", "Two", "The token is " TOKEN " today."));
  yyjson_val *r = import_fails(path);
  CHECK_STR(jstr(r, "refused[0].code"), "secret");
  CHECK(!has(jstr(r, "refused[0].error"), TOKEN));
  CHECK(!store_holds(TOKEN));
  OK("config", "secrets.mode", "redact");
  r = OK("import", path);
  CHECK_INT(jint(r, "imported"), 2);
  CHECK_INT(jint(r, "redacted"), 1);
  CHECK(!store_holds(TOKEN));
  CHECK(has(sql_string("SELECT text FROM body WHERE memory_id = (SELECT max(id) FROM memory)"), "[REDACTED:"));
}

TEST(an_import_is_one_transaction_that_can_be_undone) {
  const char *path =
      put_file("a.jsonl", HEADER FACT("01", "One", "First.") FACT("02", "Two", "Second.") LINK("01", "relates", "02"));
  yyjson_val *r = OK("import", path);
  CHECK_INT(sql_number("SELECT count(*) FROM txn"), 1);
  CHECK_INT(sql_number("SELECT count(*) FROM event WHERE change = 'insert'"), 2);
  OK("undo", num(jint(r, "txn")));
  CHECK_INT(jint(OK("list"), "total"), 0);
  CHECK_INT(sql_number("SELECT count(*) FROM link"), 0);
}

TEST(imported_memories_are_searchable_at_once_and_embedded_on_request) {
  OK("import", "--defer-embedding",
     put_file("a.jsonl", HEADER FACT("01", "Harbour", "The harbour master counts seagulls.")));
  CHECK_INT(jint(OK("search", "seagulls"), "results[0].id"), 1);
  CHECK_INT(sql_number("SELECT count(*) FROM vec_slot"), 0);
  OK("maintain");
  CHECK_INT(sql_number("SELECT count(*) FROM vec_slot"), 1);
  yyjson_val *r = OK("import", put_file("b.jsonl", HEADER FACT("02", "Pier", "The pier was painted in May.")));
  CHECK_INT(jint(r, "embedded"), 1);
  CHECK_INT(sql_number("SELECT count(*) FROM vec_slot"), 2);
}

TEST(import_reads_standard_input) {
  struct str text = STR("\xef\xbb\xbf" HEADER FACT("01", "One", "First."));
  CHECK_INT(jint(OK_FED(text, "import", "-"), "imported"), 1);
  CHECK_INT(jint(OK_FED(text, "import", "/dev/stdin"), "already"), 1);
  REFUSED_FED("usage", STR("hello\n"), "import", "-");
  CHECK_INT(jint(OK_FED(STR("# Title\n\nSome note.\n"), "import", "-", "--format", "markdown"), "imported"), 1);
}

/* ---- the official memory server's graph ---- */

#define ALICE                                                                                                          \
  "{\"type\":\"entity\",\"name\":\"Alice Smith\",\"entityType\":\"Team Member\",\"observations\":["                    \
  "\"Speaks fluent Spanish\",\"Started at Acme in 2021\"]}\n"
#define ACME "{\"type\":\"entity\",\"name\":\"Acme\",\"entityType\":\"company\",\"observations\":[]}\n"
#define WORKS "{\"type\":\"relation\",\"from\":\"Alice Smith\",\"to\":\"Acme\",\"relationType\":\"works_at\"}\n"

TEST(a_graph_becomes_memories_and_links) {
  const char *path = put_file("memory.json", WORKS ALICE ACME);
  yyjson_val *r = OK("import", path);
  CHECK_STR(jstr(r, "format"), "graph");
  CHECK_INT(jint(r, "imported"), 3);
  CHECK_INT(jint(r, "links"), 1);
  yyjson_val *m = OK("get", "1");
  CHECK_STR(jstr(m, "headline"), "Alice Smith: Speaks fluent Spanish");
  CHECK_STR(jstr(m, "body"), "Alice Smith: Speaks fluent Spanish");
  CHECK_STR(jstr(m, "type"), "fact");
  CHECK_STR(jstr(m, "trust"), "import");
  CHECK(jhas_str(m, "topics", "Alice Smith"));
  CHECK(jhas_str(m, "tags", "team-member"));
  CHECK_STR(jstr(m, "links[0].rel"), "relates");
  CHECK_STR(jstr(m, "links[0].reason"), "works_at");
  m = OK("get", "3");
  CHECK_STR(jstr(m, "type"), "note");
  CHECK_STR(jstr(m, "body"), "Acme: company");
  /* Untrusted text is not injected. */
  CHECK(!has(jstr(OK("boot"), "text"), "Spanish"));
  struct str before = snapshot();
  r = OK("import", path);
  CHECK_INT(jint(r, "already"), 3);
  CHECK_INT(jint(r, "links"), 0);
  CHECK_UNCHANGED(before);
}

TEST(a_purged_observation_is_not_imported_again) {
  const char *path = put_file("memory.jsonl", ALICE ACME WORKS);
  OK("import", path);
  OK("purge", "1", "--confirm");
  yyjson_val *r = OK("import", path);
  CHECK_INT(jint(r, "tombstoned"), 1);
  CHECK_INT(jint(r, "already"), 2);
  CHECK_INT(jint(r, "imported"), 0);
  CHECK(!store_holds("fluent Spanish"));
}

TEST(bad_lines_of_a_graph_are_reported) {
  const char *text = ALICE "{\"type\":\"entity\",\"name\":\"B\"}\nnonsense\n" ACME
                           "{\"type\":\"relation\",\"from\":\"Acme\",\"to\":\"Nobody\",\"relationType\":\"x\"}\n"
                           "{\"type\":\"entity\",\"name\":\"C\",\"entityType\":\"t\",\"observations\":["
                           "\"Fine thing\",\"Key " TOKEN "\",\"Other thing\"]}\n";
  yyjson_val *r = import_fails(put_file("graph.jsonl", text));
  CHECK_INT(jlen(r, "refused"), 3);
  CHECK_INT(jint(r, "refused[0].line"), 2);
  CHECK_INT(jint(r, "refused[1].line"), 3);
  CHECK_STR(jstr(r, "refused[2].code"), "secret");
  r = OK("import", path_join(NULL, "graph.jsonl"), "--skip-bad");
  CHECK_INT(jint(r, "imported"), 5);
  CHECK(has(jstr(warning(r, "relation_left_out"), "message"), "'Nobody'"));
  CHECK(!store_holds(TOKEN));
}

/* ---- Markdown ---- */

static const char *note(const char *path, const char *text) {
  const char *full = path_join(test_dir(), textf("notes/%s", path));
  struct run r = proc_run(.argv = ARGS("mkdir", "-p",
                                       cstr(str_slice(str_from(full), 0, strlen(full) - strlen(strrchr(full, '/'))))));
  CHECK_INT(r.exit_code, 0);
  file_write(full, str_from(text));
  return path_join(NULL, "notes");
}

TEST(a_folder_of_notes_becomes_memories) {
  note("b/ops.md", "---\ntitle: Ops\ntags: [ops, night]\ntype: reference\n---\n# Deploy\n\nRun make.\n\n# Restore\n\n"
                   "Use the newest backup.\n");
  note("a.markdown", "No heading, one sentence.\n");
  note(".hidden/x.md", "Hidden text.\n");
  note(".git/y.md", "Git text.\n");
  note("readme.txt", "Not a note.\n");
  const char *folder = note("empty.md", "\n");
  CHECK_INT(symlink("/etc/passwd", path_join(NULL, "notes/link.md")), 0);
  CHECK_INT(symlink("..", path_join(NULL, "notes/loop")), 0);
  yyjson_val *r = OK("import", folder);
  CHECK_STR(jstr(r, "format"), "markdown");
  CHECK_INT(jint(r, "imported"), 3);
  yyjson_val *m = OK("get", "1");
  CHECK_STR(jstr(m, "headline"), "No heading, one sentence");
  CHECK_STR(jstr(m, "type"), "note");
  m = OK("get", "2");
  CHECK_STR(jstr(m, "headline"), "Ops: Deploy");
  CHECK_STR(jstr(m, "body"), "# Deploy\n\nRun make.");
  CHECK_STR(jstr(m, "type"), "reference");
  CHECK_STR(jstr(m, "trust"), "import");
  CHECK(jhas_str(m, "tags", "ops") && jhas_str(m, "tags", "night") && jhas_str(m, "topics", "Ops"));
  r = OK("import", textf("%s/", folder));
  CHECK_INT(jint(r, "already"), 3);
  CHECK(!jget(r, "txn"));
}

TEST(duplicate_notes_are_stored_once) {
  STORE("--type", "note", "The moon is made of rock.");
  note("a.md", "The moon is made of rock.\n");
  yyjson_val *r = OK("import", note("b.md", "the moon is made of rock\n"));
  CHECK_INT(jint(r, "imported"), 0);
  CHECK_INT(jint(r, "duplicates"), 2);
  CHECK_INT(sql_number("SELECT count(*) FROM memory"), 1);
}

TEST(binary_and_oversized_files_are_bad_rows) {
  note("good.md", "A good note.\n");
  note("latin.md", "caf\xe9\n");
  note("secret.md", "# Keys\n\nAll fine.\n\n## Github\n\n" TOKEN "\n");
  file_write(path_join(NULL, "notes/binary.md"), STR("a\0b"));
  struct buf b = BUF(&scratch);
  while (b.n <= 1000000)
    buf_adds(&b, "More and more text. ");
  yyjson_val *r = import_fails(note("huge.md", buf_str(&b).p));
  CHECK_INT(jlen(r, "refused"), 4);
  CHECK_STR(jstr(r, "refused[0].line"), "binary.md");
  CHECK_STR(jstr(r, "refused[1].line"), "huge.md");
  CHECK_STR(jstr(r, "refused[2].line"), "latin.md");
  CHECK_STR(jstr(r, "refused[3].line"), "secret.md:5");
  r = OK("import", path_join(NULL, "notes"), "--skip-bad");
  CHECK_INT(jint(r, "imported"), 2);
  CHECK(!store_holds(TOKEN));
}

TEST(front_matter_names_the_project_unless_the_caller_does) {
  const char *folder = note("a.md", "---\nproject: web\n---\nThe button is green.\n");
  OK("import", folder);
  CHECK_STR(jstr(OK("get", "1"), "project"), "web");
  OK("import", textf("%s/a.md", folder), "--project", "api");
  REFUSED("not_found", "import", path_join(NULL, "missing.md"));
  const char *bare = path_join(NULL, "bare");
  CHECK_INT(mkdir(bare, 0700), 0);
  REFUSED("not_found", "import", bare);
}
