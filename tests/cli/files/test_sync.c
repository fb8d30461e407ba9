/* test_sync.c: cairn sync: MEMORY.md is written, edited, refused, adopted and watched. */
#include <sys/stat.h>
#include <unistd.h>

#include "support/serve.h"

static const char *page(void) { return path_join(NULL, "MEMORY.md"); }

#define SYNC(...) OK("sync", "--project", "web", "--path", page(), ##__VA_ARGS__)

static struct str text(void) { return file_read(page()); }

static void put(struct str s) { file_write(page(), s); }

/* Replaces the first `from` in the page. */
static void edit(const char *from, const char *to) {
  struct str s = text();
  size_t at = str_find(s, str_from(from), 0);
  if (at == SIZE_MAX)
    FAIL("'%s' is not in\n%s", from, cstr(s));
  put(str_from(textf("%.*s%s%.*s", STR_ARG(str_slice(s, 0, at)), to, STR_ARG(str_slice(s, at + strlen(from), s.n)))));
}

/* Deletes the line of the page that contains `part`. */
static void cut(const char *part) {
  struct str s = text();
  size_t at = str_find(s, str_from(part), 0);
  CHECK(at != SIZE_MAX);
  size_t from = at, to = str_find(s, STR("\n"), at);
  while (from > 0 && s.p[from - 1] != '\n')
    from--;
  put(str_from(textf("%.*s%.*s", STR_ARG(str_slice(s, 0, from)), STR_ARG(str_slice(s, to + 1, s.n)))));
}

static int64_t web(const char *type, const char *what) { return STORE("--project", "web", "--type", type, what); }

TEST(the_page_has_sections) {
  web("decision", "Sessions live in Redis.");
  web("feedback", "Short answers are preferred.");
  web("context", "The release is in May.");
  STORE("--project", "other", "Not of this project.");
  yyjson_val *r = SYNC();
  CHECK(jbool(r, "created") && jbool(r, "written"));
  CHECK_INT(jint(r, "shown"), 3);
  struct str s = text();
  size_t a = str_find(s, STR("\n## Key Decisions\n\n- Sessions live in Redis. <!--#"), 0);
  size_t b = str_find(s, STR("\n## User Preferences\n\n- Short answers are preferred. <!--#"), 0);
  size_t c = str_find(s, STR("\n## Project Context\n\n- The release is in May. <!--#"), 0);
  CHECK(a < b && b < c && c != SIZE_MAX);
  CHECK(!has(s, "Not of this project"));
  struct stat st;
  CHECK(stat(page(), &st) == 0 && (st.st_mode & 077) == 0);
  struct str before = snapshot();
  CHECK(!jbool(SYNC(), "written"));
  CHECK_UNCHANGED(before);
}

TEST(writes_of_the_page_are_events) {
  web("fact", "Sessions live in Redis.");
  SYNC();
  int64_t size = (int64_t)text().n;
  web("fact", "The release is in May.");
  SYNC();
  SYNC(); /* no change: no event */
  struct json_lines writes = lines_of(CAIRN("events", "--json", "--limit", "1000", "--action", "memory:write").out);
  int64_t sum = 0, n = 0;
  for (size_t i = 0; i < writes.n; i++) {
    yyjson_val *detail = yyjson_obj_get(writes.v[i], "detail");
    if (!str_eq(json_str(detail, "type"), STR("long-term")))
      continue;
    CHECK_STR(json_str(detail, "path"), page());
    sum += json_int(detail, "delta", 0);
    n++;
  }
  CHECK_INT(n, 2);
  CHECK_INT(sum, text().n);
  struct json_lines reads = lines_of(CAIRN("events", "--json", "--limit", "1000", "--action", "memory:read").out);
  CHECK_INT(reads.n, 1);
  CHECK_INT(json_int(yyjson_obj_get(reads.v[0], "detail"), "size", 0), size);
}

TEST(edits_become_writes) {
  int64_t port = web("fact", "The staging port is 5433."), old = web("fact", "The printer is on the second floor.");
  int64_t redis = web("fact", "Sessions live in Redis."), task = ADD_TASK("--project", "web", "Write the guide");
  SYNC();
  edit("5433", "5434");
  cut("printer");
  edit("[ ] Write", "[x] Write");
  struct str s = text();
  size_t at = str_find(s, STR("- Sessions live"), 0), end = str_find(s, STR("\n"), at);
  const char *line = cstr(str_slice(s, at, end));
  cut("- Sessions live");
  edit("## Facts\n", textf("## Key Decisions\n\n%s\n- We deploy with containers.\n\n## Facts\n", line));
  yyjson_val *r = SYNC();
  CHECK_INT(jlen(r, "added"), 1);
  CHECK_INT(jlen(r, "changed"), 2);
  CHECK_INT(jlen(r, "refused"), 0);
  CHECK_INT(jint(r, "removed[0].id"), old);
  CHECK_INT(jint(r, "finished[0].id"), task);
  yyjson_val *m = OK("get", num(jint(r, "added[0].id")), "--project", "web");
  CHECK_STR(jstr(m, "type"), "decision");
  CHECK_STR(jstr(m, "body"), "We deploy with containers.");
  CHECK_STR(jstr(OK("get", num(port)), "state"), "superseded");
  CHECK_STR(jstr(OK("get", num(old)), "state"), "forgotten");
  CHECK_STR(jstr(OK("get", num(old)), "state_reason"), "removed from MEMORY.md");
  CHECK_STR(jstr(OK("get", num(redis)), "state"), "superseded");
  CHECK_STR(jstr(OK("get", num(task)), "status"), "done");
  CHECK(has(text(), "- The staging port is 5434. <!--#") && !has(text(), "guide"));
  /* The whole sync is one transaction and can be undone. */
  OK("undo", num(jint(r, "txn")));
  CHECK_STR(jstr(OK("get", num(old)), "state"), "active");
  CHECK_STR(jstr(OK("get", num(port)), "state"), "active");
  SYNC();
  CHECK(has(text(), "5433") && has(text(), "printer") && !has(text(), "port is 5434") && !has(text(), "containers"));
}

TEST(refused_lines_stay_with_the_reason) {
  web("fact", "The staging port is 5433.");
  SYNC();
  edit("- The staging", "- The key is AKIAIOSFODNN7EXAMPLQ of course\n- The staging");
  yyjson_val *r = SYNC();
  CHECK_INT(jlen(r, "added"), 0);
  CHECK_STR(jstr(r, "refused[0].code"), "secret");
  CHECK(has(text(), "- The key is AKIAIOSFODNN7EXAMPLQ of course\n  <!-- cairn:refused "));
  CHECK(!store_holds("AKIAIOSFODNN7EXAMPLQ"));
  struct str once = text();
  CHECK_INT(jlen(SYNC(), "refused"), 0);
  CHECK(str_eq(once, text()));
  edit("is AKIAIOSFODNN7EXAMPLQ of course", "is in the safe");
  r = SYNC();
  CHECK_INT(jlen(r, "added"), 1);
  CHECK(!has(text(), "refused"));
}

TEST(conflicting_edits_are_both_kept) {
  int64_t port = web("fact", "The staging port is 5433.");
  SYNC();
  edit("5433", "6000");
  int64_t theirs =
      jint(OK("supersede", num(port), "--project", "web", "--reason", "moved", "The staging port is 7000."), "id");
  yyjson_val *r = SYNC();
  CHECK_INT(jint(r, "conflicts[0].id"), theirs);
  CHECK_STR(jstr(r, "conflicts[0].text"), "The staging port is 6000.");
  CHECK(has(text(), "- The staging port is 6000. <") && has(text(), "- The staging port is 7000. <"));
  CHECK(has(text(), "<!-- cairn:conflict "));
  CHECK_INT(jlen(SYNC(), "conflicts"), 0);
  cut("- The staging port is 7000. <");
  r = SYNC();
  CHECK_INT(jlen(r, "changed"), 1);
  CHECK_STR(jstr(OK("get", num(theirs)), "state"), "superseded");
  CHECK(has(text(), "- The staging port is 6000. <") && !has(text(), "conflict"));
}

TEST(restatements_stay_in_the_page_and_are_not_stored) {
  web("fact", "The staging database listens on port 5433.");
  SYNC();
  edit("## Facts\n\n",
       "## Facts\n\n- the staging database listens on port 5433\n- The staging database listens on port 5433.\n");
  yyjson_val *r = SYNC();
  CHECK_INT(jlen(r, "added"), 0);
  CHECK_STR(jstr(r, "refused[0].code"), "duplicate");
  CHECK(has(text(), "- the staging database listens on port 5433\n  <!-- cairn:same "));
  CHECK_INT(jint(OK("list", "--project", "web"), "total"), 1);
  struct str s = text();
  size_t first = str_find(s, STR("- The staging database"), 0);
  CHECK(str_find(s, STR("- The staging database"), first + 1) == SIZE_MAX);
}

TEST(a_hand_written_file_is_adopted) {
  OK("stats");
  put(STR("# Guide\n\nWe are three people.\n\n## Conventions\n\n1. Never push to main.\n2. Tabs are four wide.\n\n"
          "```\n- not this\n```\n\n## Decisions\n\n* We use PostgreSQL.\n"));
  struct str before = text();
  REFUSED("conflict", "sync", "--project", "web", "--path", page());
  CHECK(str_eq(before, text()));
  yyjson_val *r = SYNC("--adopt", "--dry-run");
  CHECK_INT(jlen(r, "added"), 3);
  CHECK(str_eq(before, text()));
  CHECK_INT(jint(OK("list", "--project", "web"), "total"), 0);
  r = SYNC("--adopt");
  CHECK_INT(jlen(r, "added"), 3);
  CHECK_STR(jstr(OK("get", num(jint(r, "added[0].id")), "--project", "web"), "type"), "rule");
  CHECK_STR(jstr(OK("get", num(jint(r, "added[2].id")), "--project", "web"), "type"), "decision");
  CHECK(has(text(), "# Guide\n\nWe are three people.\n\n## Conventions\n\n1. Never push to main. <!--#"));
  CHECK(has(text(), "\n```\n- not this\n```\n\n## Decisions\n\n* We use PostgreSQL. <!--#"));
  /* Later syncs need neither --adopt nor --path. */
  CHECK(!jbool(OK("sync", "--project", "web"), "written"));
}

TEST(the_page_of_another_project_is_refused) {
  web("fact", "One.");
  SYNC();
  struct str before = text();
  REFUSED("conflict", "sync", "--project", "shop", "--path", page());
  REFUSED("usage", "sync", "--project", "web", "--path", path_join(NULL, "notes.txt"));
  REFUSED("usage", "sync", "--all-projects");
  put(STR("\xff\xfe"));
  REFUSED("usage", "sync", "--project", "web", "--path", page());
  put(before);
  CHECK(!jbool(SYNC(), "written"));
}

TEST(a_page_with_an_unresolved_merge_is_refused) {
  const char *path = path_join(NULL, "MEMORY.md");
  STORE("--project", "web", "Sessions live in Redis.");
  OK("--project", "web", "sync", "--path", path);
  struct str page = file_read(path);
  size_t end = str_find(page, STR("<!-- cairn:page"), 0);
  struct str body = str_slice(page, 0, end), last = str_slice(page, end, page.n);
  file_write(path, str_from(textf(
                       "%.*s<<<<<<< HEAD\n- It runs on Debian.\n%.*s=======\n- It runs on Fedora.\n%.*s>>>>>>> other\n",
                       STR_ARG(body), STR_ARG(last), STR_ARG(last))));
  yyjson_val *r = REFUSED("conflict", "--project", "web", "sync");
  CHECK(has(jstr(r, "message"), "unresolved merge conflict in line"));
  CHECK_INT(jint(OK("list", "--project", "web"), "total"), 1);
  /* Resolved, with both last lines. */
  file_write(path, str_from(textf("%.*s- It runs on Debian.\n%.*s%.*s", STR_ARG(body), STR_ARG(last), STR_ARG(last))));
  r = OK("--project", "web", "sync");
  CHECK(jlen(r, "added") == 1 && jlen(r, "removed") == 0);
  CHECK(str_find(file_read(path), STR("cairn:page"), str_find(file_read(path), STR("cairn:page"), 0) + 1) == SIZE_MAX);
}

TEST(edits_of_a_memory_that_got_a_tag_are_applied) {
  int64_t friday = web("context", "The deploy runs on every Friday at noon.");
  int64_t may = web("context", "The release is in May.");
  SYNC();
  OK("remember", "--project", "web", "--tag", "ops", "The deploy runs on every Friday at noon.");
  OK("remember", "--project", "web", "--tag", "ops", "The release is in May.");
  edit("at noon", "at two");
  cut("The release");
  yyjson_val *r = SYNC();
  CHECK_INT(jlen(r, "conflicts"), 0);
  CHECK_INT(jlen(r, "changed"), 1);
  CHECK_INT(jlen(r, "removed"), 1);
  CHECK(has(text(), "at two") && !has(text(), "at noon") && !has(text(), "in May"));
  r = OK("list", "--project", "web");
  CHECK_INT(jlen(r, "memories"), 1);
  CHECK(jhas_str(r, "memories[0].tags", "ops"));
  CHECK(jpos(r, "memories", friday) < 0 && jpos(r, "memories", may) < 0);
}

/* An editor that drops comments leaves the texts. */
TEST(a_bullet_without_its_anchor_is_the_memory_that_got_a_tag) {
  web("context", "The release is in May.");
  SYNC();
  OK("remember", "--project", "web", "--tag", "ops", "The release is in May.");
  struct str s = text();
  size_t at = str_find(s, STR(" <!--#"), 0), end = str_find(s, STR("-->"), at);
  put(str_from(textf("%.*s%.*s", STR_ARG(str_slice(s, 0, at)), STR_ARG(str_slice(s, end + 3, s.n)))));
  yyjson_val *r = SYNC();
  CHECK_INT(jlen(r, "added") + jlen(r, "removed") + jlen(r, "conflicts"), 0);
  CHECK_INT(jlen(OK("list", "--project", "web"), "memories"), 1);
}

TEST(a_truncated_page_removes_nothing) {
  for (int i = 0; i < 6; i++)
    web("fact", textf("The room %d has %d windows and a door.", i, i + 2));
  SYNC();
  struct str s = text();
  put(str_slice(s, 0, str_find(s, STR("- The room 3"), 0)));
  yyjson_val *r = SYNC();
  CHECK_INT(jlen(r, "removed"), 0);
  CHECK_INT(jint(r, "shown"), 6);
  put(STR(""));
  CHECK_INT(jlen(SYNC(), "removed"), 0);
  unlink(page());
  CHECK_INT(jlen(SYNC(), "removed"), 0);
  CHECK_INT(jint(OK("list", "--project", "web"), "total"), 6);
}

TEST(a_purged_memory_does_not_come_back_from_the_page) {
  int64_t id = web("fact", "The code of the safe is 4711.");
  web("fact", "The safe is grey.");
  SYNC();
  struct str whole = text();
  size_t list = str_find(whole, STR("<!-- cairn:page"), 0);
  OK("purge", num(id), "--confirm");
  /* With its last line, and without. */
  for (int i = 0; i < 2; i++) {
    put(i ? str_slice(whole, 0, list) : whole);
    yyjson_val *r = SYNC();
    CHECK_INT(jlen(r, "added"), 0);
    CHECK(!has(text(), "4711") && has(text(), "The safe is grey. <!--#"));
  }
  CHECK_INT(jint(OK("list", "--project", "web"), "total"), 1);
}

TEST(bullets_of_retired_memories_are_named) {
  web("fact", "Sessions live in Redis.");
  int64_t faded = STORE_AS_AGENT("--project", "web", "--type", "fact", "Caches live in memcached.");
  int64_t expired = STORE("--project", "web", "--ttl", "10d", "The freeze ends soon.");
  int64_t archived = STORE_AS_AGENT("--project", "web", "--type", "incident", "The disk of db4 was full.");
  SYNC();
  put(str_from(textf("%.*s\n- Written by hand.\n", STR_ARG(text()))));
  CHECK_INT(jlen(SYNC(), "added"), 1);
  cli_day(100);
  OK("maintain");
  yyjson_val *r = SYNC("--dry-run");
  CHECK_INT(jlen(r, "removed"), 3);
  r = SYNC();
  CHECK_INT(jlen(r, "removed"), 3);
  CHECK_INT(jint(r, "shown"), 2);
  int at = jpos(r, "removed", faded);
  CHECK_STR(jstr(r, textf("removed[%d].state", at)), "faded");
  CHECK_STR(jstr(r, textf("removed[%d].headline", at)), "Caches live in memcached");
  CHECK_STR(jstr(r, textf("removed[%d].state", jpos(r, "removed", expired))), "expired");
  CHECK_STR(jstr(r, textf("removed[%d].state", jpos(r, "removed", archived))), "archived");
  CHECK(has(text(), "Sessions live in Redis.") && has(text(), "Written by hand."));
  r = SYNC();
  CHECK_INT(jlen(r, "removed"), 0);
  CHECK(!jbool(r, "written"));
  CHECK_INT(jint(r, "faded"), 1);
  CHECK_INT(jint(r, "archived"), 1);
  CHECK_INT(jint(r, "expired"), 1);
  CHECK(has(text(), "*Left out: 1 faded memory, not used for long; 'cairn list --state faded' shows it.*"));
  CHECK(has(text(), "*Left out: 1 archived memory, not used for long; 'cairn list --state archived' shows it.*"));
  CHECK(has(text(), "*Left out: 1 expired memory; 'cairn list --state expired' shows it.*"));
  CHECK(has(CAIRN("sync", "--project", "web").out, ", 1 faded, 1 archived, 1 expired\n"));
  r = OK("page", "--project", "web");
  CHECK_INT(jint(r, "archived"), 1);
  CHECK(has(jstr(r, "text"), "*Left out: 1 expired memory;"));
}

TEST(expired_memories_are_counted_before_and_after_maintenance) {
  web("fact", "Sessions live in Redis.");
  STORE("--project", "web", "--ttl", "10d", "The freeze ends soon.");
  SYNC();
  cli_day(11);
  yyjson_val *r = SYNC();
  CHECK_INT(jlen(r, "removed"), 1);
  CHECK_INT(jint(r, "expired"), 1);
  struct str before = text();
  OK("maintain");
  r = SYNC();
  CHECK(!jbool(r, "written"));
  CHECK_INT(jint(r, "expired"), 1);
  cli_day(12);
  CHECK(!jbool(SYNC(), "written"));
  CHECK_STR(text(), cstr(before));
}

TEST(a_blocker_of_an_agent_names_its_author) {
  OK("agent", "add", "bot", "--role", "admin");
  int64_t mine = web("guardrail", "Never print a secret.");
  int64_t id = STORE_AS_AGENT("--project", "web", "--type", "guardrail", "Never deploy on Friday.");
  SYNC();
  struct str s = text();
  const char *shown = "- Never deploy on Friday. <!-- cairn:by -->(written by bot, not by a person) <!--#";
  CHECK(str_find(s, STR("- Never print a secret. <!--#"), 0) < str_find(s, str_from(shown), 0));
  CHECK(has(s, shown));
  CHECK(!jbool(SYNC(), "written"));
  struct str plain = jstr(OK("page", "--project", "web"), "text");
  size_t first = str_find(plain, str_from(textf("- Never print a secret. [%s]\n", num(mine))), 0);
  CHECK(first < str_find(plain,
                         str_from(textf("- Never deploy on Friday. [%s] (written by bot, not by a person)\n", num(id))),
                         0));
  edit("on Friday", "on Fridays");
  yyjson_val *r = SYNC();
  CHECK_INT(jlen(r, "changed"), 1);
  CHECK_STR(jstr(OK("get", num(jint(r, "changed[0].id"))), "body"), "Never deploy on Fridays.");
  CHECK(has(text(), "- Never deploy on Fridays. <!--#")); /* a person wrote this one */
  CHECK(!jbool(SYNC(), "written"));
}

TEST(the_page_counts_stale_tasks) {
  web("fact", "Sessions live in Redis.");
  STORE_AS_AGENT("--project", "web", "--type", "task", "Buy a lamp");
  SYNC();
  cli_day(100);
  OK("maintain");
  yyjson_val *r = OK("page", "--project", "web");
  CHECK_INT(jint(r, "shown") + jint(r, "stale"), 2);
  CHECK_INT(jint(r, "stale"), 1);
  CHECK(has(jstr(r, "text"), "*Left out: 1 stale task; 'cairn task list --status stale' shows it.*"));
  CHECK(has(CAIRN("sync", "--project", "web").out, ", 1 stale\n"));
  CHECK(!has(text(), "lamp") && has(text(), "*Left out: 1 stale task;"));
}

/* Characters that count against the limit: no comments, notices and blank lines. */
static size_t read_length(void) {
  size_t chars = 0, at;
  struct str page = text(), line;
  while (str_line(&page, &line)) {
    at = str_find(line, STR("<!--"), 0);
    line = str_trim(str_slice(line, 0, at == SIZE_MAX ? line.n : at));
    chars += line.n && !str_starts(line, STR("*Left out")) ? line.n + 1 : 0;
  }
  return chars;
}

TEST(left_out_memories_are_counted) {
  OK("config", "files.memory_max_chars", "2000");
  for (int i = 0; i < 30; i++)
    web("fact",
        textf("The cupboard %d holds %d cups, %d plates, and the %d spoons that nobody uses.", i, i + 2, i + 3, i + 5));
  yyjson_val *r = SYNC();
  CHECK(jint(r, "shown") > 3 && jint(r, "shown") + jint(r, "left_out") == 30);
  CHECK(read_length() <= 2000 && read_length() > 1900);
  CHECK(has(text(), textf("*Left out: %d more", (int)jint(r, "left_out"))));
  CHECK_INT(jlen(SYNC(), "removed"), 0);
  CHECK_INT(jint(OK("list", "--project", "web"), "total"), 30);
}

static void write_rooms(int from, int to) {
  struct str before = from ? text() : STR("# Rooms\n\n## Facts\n");
  put(str_from(textf("%.*s%s", STR_ARG(before), from ? "\n" : "")));
  for (int i = from; i < to; i++)
    put(str_from(textf("%.*s- Room %d holds %d.\n", STR_ARG(text()), i, i * 7 + 2)));
}

TEST(a_page_within_the_limit_is_adopted_whole) {
  OK("config", "files.memory_max_chars", "1000");
  write_rooms(0, 45);
  struct str before = text();
  CHECK(before.n > 900 && before.n <= 1000);
  yyjson_val *r = SYNC("--adopt", "--dry-run");
  CHECK(jint(r, "shown") == 45 && jint(r, "left_out") == 0);
  CHECK(str_eq(before, text()));
  CHECK_INT(jint(OK("list", "--project", "web"), "total"), 0);
  r = SYNC("--adopt");
  CHECK(jint(r, "shown") == 45 && jint(r, "left_out") == 0);
  for (int i = 0; i < 45; i++)
    CHECK(has(text(), textf("- Room %d holds %d. <!--#", i, i * 7 + 2)));
  CHECK(!jbool(SYNC(), "written"));
  write_rooms(45, 55);
  int64_t left_out = jint(SYNC("--dry-run"), "left_out");
  CHECK(left_out > 0);
  r = SYNC();
  CHECK(jint(r, "left_out") == left_out && jint(r, "shown") == 55 - left_out);
  CHECK(read_length() <= 1000 && read_length() > 970);
}

TEST(crlf_line_endings_are_kept) {
  web("fact", "One is enough.");
  SYNC();
  put(str_from(textf("# Mine\r\n\r\nWords.\r\n\r\n## Facts\r\n\r\n- Two are better.\r\n%s", "")));
  SYNC("--adopt");
  struct str s = text();
  for (size_t i = 0; i < s.n; i++)
    CHECK(s.p[i] != '\n' || (i && s.p[i - 1] == '\r'));
  CHECK(has(s, "- Two are better. <!--#") && has(s, "- One is enough. <!--#"));
  CHECK(!jbool(SYNC(), "written"));
}

TEST(page_prints_the_memories) {
  web("rule", "Never deploy on Friday.");
  struct run r = CAIRN("page", "--project", "web");
  CHECK_STR(r.out, "# Memory of web\n\n## Rules\n\n- Never deploy on Friday. [1]\n");
}

/* ---- crashes and races ---- */

/* The machine stops after the store was written and before the file was. */
TEST(a_crash_before_the_file_was_written) {
  web("fact", "The staging port is 5433.");
  int64_t old = web("fact", "The printer is on the second floor.");
  SYNC();
  edit("5433", "5434");
  cut("printer");
  edit("## Facts\n\n", "## Facts\n\n- The lift is out of order.\n");
  struct str edited = text();
  SYNC();
  struct str after = text();
  put(edited);
  yyjson_val *r = SYNC();
  CHECK(jlen(r, "added") + jlen(r, "changed") + jlen(r, "removed") + jlen(r, "conflicts") + jlen(r, "refused") == 0);
  CHECK(str_eq(text(), after));
  CHECK_STR(jstr(OK("get", num(old)), "state"), "forgotten");
  CHECK_INT(jint(OK("list", "--project", "web"), "total"), 2);
}

/* An editor saves by renaming while several processes write the page and another one writes the store. */
TEST(edits_while_others_write, .seconds = 90) {
  web("fact", "The door is red.");
  SYNC();
  const char *script =
      textf("page='%s'; cairn='%s'\n"
            "for i in 1 2 3 4 5 6 7 8; do\n"
            "  \"$cairn\" --project web sync >/dev/null &\n"
            "  cat \"$page\" >\"$page.mine\"\n"
            "  printf -- '- The cupboard number %%s belongs to person %%s.\\n' $i $i$i >>\"$page.mine\"\n"
            "  mv \"$page.mine\" \"$page\"\n"
            "  \"$cairn\" --project web sync >/dev/null &\n"
            "  \"$cairn\" --project web remember \"The window $i was cleaned by team $i$i.\" >/dev/null &\n"
            "  \"$cairn\" --project web sync >/dev/null\n"
            "done\nwait\n",
            page(), CAIRN_BIN);
  struct run r = proc_run(.argv = ARGS("sh", "-c", script), .env = cli_env(), .timeout_ms = 60000, .merge = true);
  if (r.exit_code != 0)
    FAIL("%s", cstr(r.out));
  SYNC();
  SYNC();
  for (int i = 1; i <= 8; i++) {
    const char *mine = textf("- The cupboard number %d belongs to person %d%d. <!--#", i, i, i);
    struct str s = text();
    size_t at = str_find(s, str_from(mine), 0);
    if (at == SIZE_MAX || str_find(s, str_from(mine), at + 1) != SIZE_MAX)
      FAIL("'%s' is not there once:\n%s", mine, cstr(s));
    CHECK(has(s, textf("- The window %d was cleaned by team %d%d. <!--#", i, i, i)));
  }
  CHECK_INT(jint(OK("list", "--project", "web"), "total"), 17);
  CHECK_HEALTHY();
}

/* ---- the watcher ---- */

static bool wait_for(bool (*done)(void)) {
  for (int i = 0; i < 150 * test_patience(); i++) {
    if (done())
      return true;
    usleep(100 * 1000);
  }
  return false;
}

static bool is_on_page(void) { return has(text(), "- The lift is out of order. <!--#"); }
static bool is_stored(void) { return has(CAIRN("list", "--project", "web").out, "roof leaks"); }
static bool is_marked(void) { return has(text(), "roof leaks. <!--#"); }

TEST(a_server_syncs_the_page, .seconds = 60) {
  web("fact", "The door is red.");
  SYNC();
  struct serve *s = serve_start(NULL);
  web("fact", "The lift is out of order.");
  CHECK(wait_for(is_on_page));
  edit("- The door is red.", "- The roof leaks.\n- The door is red.");
  CHECK(wait_for(is_stored));
  CHECK(wait_for(is_marked));
  serve_stop(s);
  /* What a person wrote does not fade. */
  cli_day(200);
  OK("maintain");
  CHECK(is_stored());
}
