/* test_transcripts.c: transcripts: append, read, flush, compact, archive, search, and their events. */
#include <unistd.h>

#include "support/cli.h"

#define LINE(role, text) "{\"role\":\"" role "\",\"content\":\"" text "\"}\n"

static yyjson_val *say(const char *role, const char *text) {
  return OK("transcript", "append", "talk", "--role", role, "--content", text);
}

/* Counts the events of an action and returns the last one. */
static int events_of(const char *action, yyjson_val **ret_last) {
  struct run r = CAIRN("events", "--json", "--limit", "1000", "--action", action);
  struct json_lines list = lines_of(r.out);
  *ret_last = list.n ? list.v[list.n - 1] : NULL;
  return (int)list.n;
}

TEST(messages_are_appended_from_options_and_lines) {
  yyjson_val *r = say("user", "Which port does staging use?");
  CHECK_INT(jint(r, "added"), 1);
  CHECK(str_starts(jstr(r, "id"), STR("msg_")));
  CHECK(jint(r, "tokens") > 0);
  OK("transcript", "append", "talk", "--role", "tool_call", "--id", "t1", "--name", "read", "--input",
     "{\"path\": \"README.md\"}");
  OK("transcript", "append", "talk", "--line", "{\"id\":\"t1\",\"role\":\"tool_result\",\"content\":\"port 5433\"}");
  struct run fed = CAIRN_FED(STR(LINE("assistant", "Port 5433.") LINE("user", "Thanks")), "transcript", "append",
                             "talk", "-", "--json");
  CHECK_INT(fed.exit_code, 0);
  CHECK_INT(lines_of(fed.out).n, 2);
  CAIRN_FED(STR(LINE("user", "Hello")), "--project", "shop", "transcript", "append", "talk", "-");
  CHECK(!jget(OK("--project", "shop", "transcript", "list"), "rebuilt"));
  r = OK("transcript", "read", "talk");
  CHECK_INT(jint(r, "count"), 5);
  CHECK_STR(jstr(r, "messages[1].input.path"), "README.md");
  CHECK_STR(jstr(r, "messages[4].content"), "Thanks");
  r = OK("transcript", "read", "talk", "--last", "2");
  CHECK_INT(jint(r, "count"), 2);
  CHECK_INT(jint(r, "left_out"), 3);
}

TEST(a_bad_line_does_not_stop_the_others) {
  struct run r = CAIRN_FED(STR(LINE("user", "one") "nonsense\n" LINE("robot", "x") LINE("user", "two")), "transcript",
                           "append", "talk", "-", "--json");
  CHECK_INT(r.exit_code, 2);
  struct json_lines list = lines_of(r.out);
  int good = 0, bad = 0;
  for (size_t i = 0; i < list.n; i++) {
    good += yyjson_obj_get(list.v[i], "id") != NULL;
    bad += yyjson_obj_get(list.v[i], "error") != NULL;
  }
  CHECK_INT(good, 2);
  CHECK_INT(bad, 2);
  CHECK_INT(jint(OK("transcript", "read", "talk"), "count"), 2);
}

TEST(invalid_calls_change_nothing) {
  OK("transcript", "append", "other", "--content", "x");
  REFUSED("usage", "transcript", "append", "--content", "x");
  REFUSED("usage", "transcript", "append", "talk");
  REFUSED("usage", "transcript", "append", "../talk", "--content", "x");
  REFUSED("usage", "transcript", "append", "talk", "--role", "robot", "--content", "x");
  REFUSED("usage", "transcript", "append", "talk", "--content", "x", "--timestamp", "soon");
  REFUSED("usage", "transcript", "append", "talk", "--name", "read", "--input", "{");
  REFUSED("usage", "transcript", "append", "talk", "--line", LINE("robot", "x"));
  REFUSED("not_found", "transcript", "append", "talk", "no-such-file.jsonl");
  REFUSED("not_found", "transcript", "read", "talk");
  REFUSED("not_found", "transcript", "flush", "talk");
  REFUSED("not_found", "transcript", "compact", "talk", "--force");
  REFUSED("not_found", "transcript", "archive", "talk");
  REFUSED("conflict", "transcript", "index");
  CHECK_INT(jint(OK("transcript", "list"), "count"), 1);
}

TEST(projects_have_separate_transcripts) {
  say("user", "global");
  OK("--project", "shop", "transcript", "append", "talk", "--content", "shop");
  CHECK_INT(jint(OK("transcript", "read", "talk"), "count"), 1);
  CHECK_STR(jstr(OK("--project", "shop", "transcript", "read", "talk"), "messages[0].content"), "shop");
  CHECK_INT(jint(OK("--project", "other", "transcript", "list"), "count"), 0);
}

TEST(secrets_are_not_written) {
  yyjson_val *r = say("user", "use ghp_1a2B3c4D5e6F7g8H9i0JkLmNoPqRsTuVwXyZ please");
  CHECK_INT(jint(r, "redacted"), 1);
  struct str text = file_read(cstr(jstr(r, "path")));
  CHECK(str_find(text, STR("ghp_"), 0) == SIZE_MAX);
  CHECK(str_find(text, STR("[REDACTED:"), 0) != SIZE_MAX);
}

TEST(only_the_last_five_tool_results_are_shown) {
  struct arena a;
  arena_init(&a);
  struct buf b = BUF(&a);
  for (int i = 0; i < 8; i++)
    buf_addf(&b,
             "{\"id\":\"t%d\",\"role\":\"tool_call\",\"name\":\"read\",\"input\":{}}\n"
             "{\"id\":\"t%d\",\"role\":\"tool_result\",\"content\":\"text %d\"}\n",
             i, i, i);
  CHECK_INT(CAIRN_FED(buf_str(&b), "transcript", "append", "talk", "-").exit_code, 0);
  yyjson_val *r = OK("transcript", "read", "talk");
  CHECK_INT(jint(r, "pruned"), 3);
  CHECK_INT(jint(r, "count"), 13);
  CHECK_INT(jint(OK("transcript", "read", "talk", "--all"), "count"), 16);
  OK("config", "pruning.tool_results", "1");
  CHECK_INT(jint(OK("transcript", "read", "talk"), "pruned"), 7);
  arena_release(&a);
}

static void fill(void) {
  say("user", "Where should sessions live?");
  say("assistant", "Decision: sessions of the shop live in Redis from now on. It rains.");
  say("user", "Agreed: Bob moves the cron jobs to the new machine.");
  say("assistant", "TODO: write the migration guide for version two.");
  say("user", "Good.");
}

TEST(thresholds_report_when_flush_and_compact_are_due) {
  OK("config", "flush.threshold", "100");
  OK("config", "compaction.threshold", "200");
  CHECK(!jbool(say("user", "short"), "flush_due"));
  yyjson_val *r = say("user", words("a", 150));
  CHECK(jbool(r, "flush_due"));
  CHECK(jbool(r, "compact_due"));
  /* A stream prints no summary: the last line tells. */
  struct run fed =
      CAIRN_FED(STR(LINE("user", "more") LINE("user", "and more")), "--json", "transcript", "append", "talk", "-");
  struct json_lines lines = lines_of(fed.out);
  CHECK_INT(lines.n, 2);
  CHECK(jbool(lines.v[1], "flush_due") && jbool(lines.v[1], "compact_due"));
  OK("transcript", "flush", "talk");
  CHECK(!jbool(say("user", "x"), "flush_due"));
  OK("config", "flush.enabled", "off");
}

TEST(a_flush_lists_leaving_messages_and_stores_memories) {
  fill();
  yyjson_val *r = OK("transcript", "flush", "talk", "--keep", "1");
  CHECK_INT(jint(r, "leaving.messages"), 4);
  CHECK_STR(jstr(r, "leaving.list[0].text"), "Where should sessions live?");
  CHECK(!jbool(r, "answered"));
  r = OK("transcript", "flush", "talk", "--memories",
         "[{\"text\":\"The shop keeps its sessions in Redis\",\"type\":\"decision\"},"
         "\"Bob looks after the cron jobs of the shop\"]");
  CHECK_INT(jint(r, "stored"), 2);
  CHECK(jbool(r, "answered"));
  yyjson_val *m = OK("get", num(jint(r, "memories[0].id")));
  CHECK_STR(jstr(m, "type"), "decision");
  CHECK(jhas_str(m, "tags", "flush"));
  /* After an answered flush, compact extracts nothing. */
  r = OK("transcript", "compact", "talk", "--keep", "1", "--force");
  CHECK(jbool(r, "compacted"));
  CHECK(!yyjson_obj_get(r, "memories"));
}

TEST(an_answer_may_use_fenced_blocks) {
  fill();
  yyjson_val *r =
      OK("transcript", "flush", "talk", "--memories",
         "Here you are:\n```memory\n## Key Decisions\n- The shop keeps its sessions in Redis\n\n## Lessons\n"
         "- Never restart the cache\n  while a sale is on\n```\nand\n```python\nprint(1)\n```\n");
  CHECK_INT(jint(r, "stored"), 2);
  CHECK_STR(jstr(OK("get", num(jint(r, "memories[0].id"))), "type"), "decision");
  yyjson_val *m = OK("get", num(jint(r, "memories[1].id")));
  CHECK_STR(jstr(m, "type"), "lesson");
  CHECK_STR(jstr(m, "body"), "Never restart the cache while a sale is on");
  r = OK("transcript", "flush", "talk", "--memories", "[NO_REPLY]");
  CHECK_INT(jint(r, "stored"), 0);
  REFUSED("usage", "transcript", "flush", "talk", "--memories", "I have nothing to say");
  REFUSED("usage", "transcript", "flush", "talk", "--memories", "[{\"text\":\"x\",\"project\":\"other\"}]");
  REFUSED("usage", "transcript", "flush", "talk", "--memories", "[{\"txt\":\"x\"}]");
  REFUSED("usage", "transcript", "flush", "talk", "--memories", "[7]");
}

TEST(one_bad_memory_of_an_answer_does_not_refuse_the_others) {
  fill();
  yyjson_val *r = OK("transcript", "flush", "talk", "--memories",
                     "[{\"text\":\"The shop keeps its sessions in Redis\",\"type\":\"decision\"},"
                     "{\"text\":\"Carts expire after a week\",\"type\":\"riddle\"},7,{\"txt\":\"x\"},"
                     "{\"text\":\"Paint it\",\"project\":\"other\"},\"Bob looks after the cron jobs\"]");
  CHECK_INT(jint(r, "stored"), 2);
  CHECK_INT(jint(r, "refused"), 4);
  CHECK(jbool(r, "answered"));
  CHECK_STR(jstr(r, "memories[1].headline"), "Carts expire after a week");
  CHECK(has(jstr(r, "memories[1].error.message"), "riddle"));
  CHECK(has(jstr(r, "memories[2].error.message"), "element 3"));
  CHECK(has(jstr(r, "memories[3].error.message"), "txt"));
  CHECK(has(jstr(r, "memories[4].error.message"), "element 5") && has(jstr(r, "memories[4].error.message"), "project"));
  CHECK_STR(jstr(OK("get", num(jint(r, "memories[5].id"))), "body"), "Bob looks after the cron jobs");
  struct str out =
      proc_run(.argv = ARGS(CAIRN_BIN, "transcript", "flush", "talk", "--memories", "[7,\"Bob grows leeks\"]"),
               .env = cli_env())
          .out;
  CHECK(has(out, "\n  element 1: "));
}

TEST(without_an_answer_labelled_sentences_are_stored_with_low_trust) {
  fill();
  CHECK(!jbool(OK("transcript", "compact", "talk"), "compacted"));
  yyjson_val *r = OK("transcript", "compact", "talk", "--force", "--keep", "1");
  CHECK(jbool(r, "compacted") && jbool(r, "extractive"));
  CHECK_INT(jint(r, "taken"), 4);
  CHECK_INT(jint(r, "stored"), 3);
  yyjson_val *m = OK("get", num(jint(r, "memories[0].id")));
  CHECK_STR(jstr(m, "kind"), "fact");
  CHECK_STR(jstr(m, "trust"), "tool");
  CHECK_STR(jstr(m, "confidence"), "low");
  CHECK(jhas_str(m, "tags", "flush"));
  CHECK(str_find(jstr(r, "summary"), STR("- Decision: sessions of the shop live in Redis from now on."), 0) !=
        SIZE_MAX);
  r = OK("transcript", "read", "talk");
  CHECK_INT(jint(r, "count"), 2);
  CHECK_STR(jstr(r, "messages[0].role"), "summary");
  CHECK_INT(jint(r, "compacted"), 4);
  r = OK("transcript", "read", "talk", "--archived");
  CHECK_INT(jint(r, "count"), 6);
  CHECK_STR(jstr(r, "messages[1].content"), "Decision: sessions of the shop live in Redis from now on. It rains.");
}

TEST(the_callers_summary_is_used) {
  fill();
  OK("config", "flush.enabled", "off");
  yyjson_val *r = OK("transcript", "compact", "talk", "--force", "--keep", "2", "--summary", "We chose Redis.");
  CHECK(!yyjson_obj_get(r, "memories"));
  CHECK(!jbool(r, "extractive"));
  CHECK_STR(jstr(OK("transcript", "read", "talk"), "messages[0].content"), "We chose Redis.");
  CHECK(!jbool(OK("transcript", "compact", "talk", "--force", "--keep", "2"), "compacted"));
}

TEST(maintenance_archives_sessions_and_append_restores_them) {
  say("user", "an old word");
  OK("--project", "shop", "transcript", "append", "talk", "--content", "another one");
  cli_day(29);
  CHECK(!yyjson_obj_get(OK("maintain"), "transcripts"));
  cli_day(31);
  CHECK_INT(jint(OK("transcript", "archive", "--dry-run"), "archived"), 1);
  CHECK_INT(jint(OK("maintain"), "transcripts"), 2);
  CHECK_INT(jint(OK("transcript", "list"), "count"), 0);
  CHECK_INT(jint(OK("transcript", "list"), "archived"), 1);
  CHECK(has(CAIRN("transcript", "list").out, "no transcript\n1 archived: cairn transcript list --archived\n"));
  yyjson_val *r = OK("transcript", "list", "--archived");
  CHECK(!jget(r, "archived"));
  CHECK_STR(jstr(r, "sessions[0].status"), "archived");
  CHECK_STR(jstr(OK("transcript", "read", "talk"), "messages[0].content"), "an old word");
  CHECK(jbool(say("user", "a new one"), "revived"));
  CHECK_INT(jint(OK("transcript", "list"), "count"), 1);
}

TEST(the_index_is_rebuilt) {
  yyjson_val *r = say("user", "hello");
  const char *index = cstr(str_slice(jstr(r, "path"), 0, jstr(r, "path").n - strlen("talk.jsonl")));
  index = textf("%ssessions.json", index);
  CHECK(unlink(index) == 0);
  r = OK("transcript", "list");
  CHECK(jbool(r, "rebuilt"));
  CHECK_INT(jint(r, "sessions[0].messages"), 1);
  CHECK(access(index, R_OK) == 0);
}

TEST(operations_are_logged) {
  yyjson_val *e;
  fill();
  CHECK_INT(events_of("memory:write", &e), 5);
  CHECK_STR(jstr(e, "detail.type"), "episodic");
  CHECK(str_ends(jstr(e, "detail.path"), STR("/talk.jsonl")));
  CHECK(jint(e, "detail.delta") > 50);
  OK("transcript", "read", "talk");
  CHECK_INT(events_of("memory:read", &e), 1);
  CHECK_STR(jstr(e, "detail.type"), "episodic");
  CHECK(jint(e, "detail.size") > 250);
  OK("transcript", "flush", "talk");
  CHECK_INT(events_of("memory:flush", &e), 1);
  CHECK_STR(jstr(e, "detail.sessionId"), "talk");
  OK("transcript", "compact", "talk", "--force", "--keep", "1", "--summary", "s");
  CHECK_INT(events_of("memory:compact", &e), 1);
  CHECK_STR(jstr(e, "detail.sessionId"), "talk");
  CHECK(jint(e, "detail.before") > jint(e, "detail.after"));
}

TEST(transcripts_are_found_only_on_request) {
  say("user", "The lighthouse keeper feeds seven cormorants");
  OK("config", "sessions.indexed", "on");
  say("assistant", "Cormorants dive for herring near the lighthouse");
  OK("transcript", "append", "talk", "--role", "tool_result", "--id", "t", "--content", "cormorants in a file");
  CHECK_INT(jlen(OK("search", "cormorants lighthouse"), "results"), 0);
  yyjson_val *r = OK("search", "cormorants lighthouse", "--in", "sessions");
  CHECK_INT(jlen(r, "results"), 1);
  CHECK_STR(jstr(r, "results[0].corpus"), "sessions");
  r = OK("transcript", "index");
  CHECK_INT(jint(r, "sessions"), 1);
  CHECK_INT(jint(r, "added"), 1);
  CHECK_INT(jlen(OK("search", "cormorants lighthouse", "--in", "sessions"), "results"), 2);
  CHECK_INT(jint(OK("transcript", "index"), "sessions"), 0);
  CHECK_INT(jint(OK("transcript", "index", "--remove"), "removed"), 2);
  r = OK("search", "cormorants lighthouse", "--in", "sessions");
  CHECK_INT(jlen(r, "results"), 0);
  CHECK_STR(jstr(r, "not_indexed"), "no transcript is indexed yet; 'cairn transcript index' indexes them");
  OK("transcript", "index");
  CHECK(!jget(OK("search", "--in", "sessions", "--mode", "keyword", "zeppelin"), "not_indexed"));
}
