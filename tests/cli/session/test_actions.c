/* test_actions.c: action items: added, extracted from memories, acknowledged on the command line, and blocking the
 * writes of an MCP agent (more in tests/unit/op/test_session.c). */
#include "support/cli.h"

TEST(an_item_is_added_once_and_acknowledged_once) {
  yyjson_val *r = OK("action", "add", "Rotate  the signing key");
  int64_t id = jint(r, "id");
  CHECK_STR(jstr(r, "text"), "Rotate the signing key");
  CHECK_STR(jstr(r, "action"), "added");
  CHECK_STR(jstr(r, "status"), "pending");
  CHECK_STR(jstr(r, "kind"), "task");
  r = OK("action", "add", "Rotate the signing key");
  CHECK_STR(jstr(r, "action"), "already");
  CHECK_INT(jint(r, "id"), id);
  OK("action", "add", "Ask the harbour master");
  r = OK("action", "list");
  CHECK_INT(jint(r, "pending"), 2);
  CHECK_STR(jstr(r, "items[0].text"), "Ask the harbour master"); /* newest first */
  r = OK("action", "ack", num(id), "already_done", "--reason", "it was rotated yesterday");
  CHECK_INT(jint(r, "removed"), 1);
  CHECK_INT(jint(r, "remaining"), 1);
  CHECK_STR(jstr(r, "status"), "already_done");
  /* A second acknowledgement changes nothing and is not an error. */
  r = OK("action", "ack", num(id), "will_execute");
  CHECK_INT(jint(r, "removed"), 0);
  CHECK_STR(jstr(r, "status"), "already_done");
  CHECK_INT(jint(OK("action", "list"), "count"), 1);
  r = OK("action", "list", "--all");
  CHECK_INT(jint(r, "count"), 2);
  CHECK_STR(jstr(r, "items[1].reason"), "it was rotated yesterday");
  CHECK_STR(jstr(r, "items[1].decided_by"), "cli");
  CHECK_STR(jstr(r, "items[1].decided_at"), cli_time(0));
  /* An acknowledged item is not added again. */
  CHECK_STR(jstr(OK("action", "add", "Rotate the signing key"), "action"), "already");
  CHECK_INT(jint(OK("action", "list"), "pending"), 1);
}

TEST(answers_are_logged_without_the_text) {
  OK("action", "add", "Rotate the signing key");
  OK("action", "ack", "1", "will_execute");
  struct json_lines events = events_since(0);
  CHECK_INT(events.n, 2);
  CHECK_STR(jstr(events.v[0], "action"), "action:add");
  CHECK_STR(jstr(events.v[1], "action"), "action:ack");
  CHECK_INT(jint(events.v[1], "detail.item"), 1);
  CHECK_STR(jstr(events.v[1], "detail.decision"), "will_execute");
}

TEST(some_answers_need_a_reason_and_rules_are_never_done) {
  OK("action", "add", "Rotate the signing key");
  OK("action", "add", "--kind", "rule", "Ask before every deploy");
  REFUSED("refused", "action", "ack", "1", "already_done");
  REFUSED("refused", "action", "ack", "1", "not_relevant");
  REFUSED("refused", "action", "ack", "1", "not_relevant", "--reason", "  ");
  REFUSED("usage", "action", "ack", "1", "maybe");
  yyjson_val *r = REFUSED("refused", "action", "ack", "2", "already_done", "--reason", "done");
  CHECK(has(jstr(r, "message"), "rule"));
  OK("action", "ack", "2", "not_relevant", "--reason", "deploys have stopped");
  REFUSED("not_found", "action", "ack", "99", "will_execute");
  REFUSED("refused", "action", "add", "   ");
  CHECK_INT(jint(OK("action", "list"), "pending"), 1);
}

TEST(an_item_can_be_named_by_its_text) {
  int64_t id = STORE("The release is on Friday");
  OK("action", "add", "TODO: rotate the signing key before it.", "--memory", num(id));
  yyjson_val *r = OK("boot", "--register");
  CHECK_INT(jlen(r, "action_items"), 1);
  CHECK_INT(jint(r, "action_items[0].memory"), id);
  const char *text = cstr(jstr(r, "action_items[0].text"));
  REFUSED("not_found", "action", "ack", "--decision", "will_execute", "--text", "rotate");
  REFUSED("usage", "action", "ack", "--decision", "will_execute");
  r = OK("action", "ack", "--decision", "will_execute", "--text", text, "--memory", num(id));
  CHECK_INT(jint(r, "removed"), 1);
}

TEST(items_belong_to_their_project) {
  OK("action", "add", "Of the garden", "--project", "garden");
  OK("action", "add", "Of everybody", "--project", "");
  CHECK_INT(jint(OK("action", "list", "--project", "garden"), "pending"), 2);
  CHECK_INT(jint(OK("action", "list", "--project", "kitchen"), "pending"), 1);
  CHECK_INT(jlen(OK("boot", "--project", "kitchen"), "action_items"), 1);
  /* The remaining items are counted in the project of the item. */
  CHECK_INT(jint(OK("action", "ack", "1", "will_execute", "--project", "kitchen"), "remaining"), 1);
}

TEST(items_of_all_projects_are_listed_and_found) {
  OK("action", "add", "Cut the hedge", "--project", "garden");
  OK("action", "add", "Clean the oven", "--project", "kitchen");
  CHECK_INT(jint(OK("action", "list"), "pending"), 0);
  CHECK_INT(jint(OK("action", "list", "--all-projects"), "pending"), 2);
  CHECK_INT(jint(OK("action", "list", "--all-projects", "--all"), "count"), 2);
  REFUSED("not_found", "action", "ack", "--decision", "will_execute", "--text", "Cut the hedge");
  yyjson_val *r = OK("action", "ack", "--decision", "will_execute", "--text", "Cut the hedge", "--all-projects");
  CHECK_INT(jint(r, "removed"), 1);
  CHECK_INT(jint(OK("action", "list", "--all-projects"), "pending"), 1);
}

TEST(people_are_never_blocked) {
  OK("action", "add", "Rotate the signing key");
  cli_set(textf("CAIRN_SESSION=%s", cstr(jstr(OK("boot", "--register"), "session"))));
  CHECK(!jbool(OK("boot"), "writes_blocked"));
  STORE("Parsley grows in pots");
}

TEST(sentences_of_memories_are_candidates_until_they_are_added) {
  int64_t id = STORE("The release is on Friday. TODO: rotate the signing key before it.");
  yyjson_val *r = OK("action", "list");
  CHECK_INT(jint(r, "pending"), 0);
  CHECK_INT(jlen(r, "candidates"), 1);
  CHECK_INT(jint(r, "candidates[0].memory"), id);
  const char *text = cstr(jstr(r, "candidates[0].text"));
  CHECK_INT(jlen(OK("boot", "--register"), "action_items"), 0);
  CHECK_STR(jstr(OK("action", "add", text, "--memory", num(id)), "action"), "added");
  r = OK("boot", "--register");
  CHECK_INT(jlen(r, "action_items"), 1);
  CHECK_STR(jstr(r, "action_items[0].text"), text);
  r = OK("action", "list");
  CHECK_INT(jint(r, "pending"), 1);
  CHECK(!jget(r, "candidates"));
  OK("action", "ack", "1", "will_execute");
  CHECK(!jget(OK("action", "list"), "candidates"));
}

/* Cairn 0.1.0 made items of such sentences at boot. */
TEST(an_item_that_an_earlier_version_extracted_does_not_block) {
  int64_t id = STORE("The release is on Friday. TODO: rotate the signing key before it.");
  const char *text = cstr(jstr(OK("action", "list"), "candidates[0].text"));
  OK("action", "add", text);
  sql_do(textf("UPDATE action_item SET memory_id = %lld", (long long)id));
  CHECK_INT(jlen(OK("boot", "--register"), "action_items"), 0);
  yyjson_val *r = OK("action", "list");
  CHECK_INT(jint(r, "pending"), 0);
  CHECK_INT(jlen(r, "candidates"), 1);
  CHECK_STR(jstr(OK("action", "add", text), "action"), "already");
  CHECK_INT(jint(OK("action", "list"), "pending"), 1);
}

/* ---- an agent ---- */

/* Sends a request to an MCP server on stdin and returns the result. */
static yyjson_val *ask(struct proc *server, int id, const char *method, const char *params) {
  struct str line;
  CHECK(proc_send(server, str_from(textf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":%s}\n", id,
                                         method, params))));
  while (proc_line(server, 10000 * test_slowness(), &line)) {
    yyjson_val *reply = lines_of(line).v[0];
    if (jget(reply, "id"))
      return jget(reply, "result");
  }
  FAIL("no answer to %s", method);
}

static struct proc *start(const char *profile) {
  struct proc *server = proc_start(.argv = ARGS(CAIRN_BIN, "mcp", "--profile", profile), .env = cli_env());
  ask(server, 1, "initialize",
      "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"tester\",\"version\":\"1\"}"
      "}");
  proc_send(server, STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"));
  return server;
}

TEST(facts_that_say_must_do_not_block_agents) {
  OK("remember", "--type", "person", "Helen from legal must approve every change to the cookie banner.");
  STORE("The API must return JSON.");
  static const char *const calls[][3] = {
      {"default", "{\"name\":\"memory_boot\",\"arguments\":{}}",
       "{\"name\":\"memory_store\",\"arguments\":{\"text\":\"Tea is green and comes from the hills\"}}"},
      {"full", "{\"name\":\"memory_boot\",\"arguments\":{}}",
       "{\"name\":\"memory_remember\",\"arguments\":{\"text\":\"Coffee is black and comes from the south\"}}"},
      {"openbrain", "{\"name\":\"boot_session\",\"arguments\":{\"project\":\"\",\"source\":\"tester\"}}",
       "{\"name\":\"remember\",\"arguments\":{\"content\":\"Lunch is at noon on Mondays\",\"source\":\"tester\"}}"},
  };
  for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
    test_note("%s", calls[i][0]);
    struct proc *server = start(calls[i][0]);
    yyjson_val *r = ask(server, 2, "tools/call", calls[i][1]);
    CHECK(!jbool(r, "isError"));
    r = ask(server, 3, "tools/call", calls[i][2]);
    test_note("%s: %s", calls[i][0], cstr(jstr(r, "content[0].text")));
    CHECK(!jbool(r, "isError"));
    CHECK_INT(proc_wait(server).exit_code, 0);
  }
  CHECK_INT(sql_number("SELECT count(*) FROM action_item"), 0);
}

#define BRAIN_BOOT "{\"name\":\"boot_session\",\"arguments\":{\"project\":\"\",\"source\":\"tester\"}}"
#define BRAIN_STORE(text) "{\"name\":\"remember\",\"arguments\":{\"content\":\"" text "\",\"source\":\"tester\"}}"

TEST(items_that_open_brain_extracts_block_only_its_sessions) {
  struct proc *brain = start("openbrain");
  ask(brain, 2, "tools/call", BRAIN_BOOT);
  ask(brain, 3, "tools/call", BRAIN_STORE("We need to rotate the signing key of the mail server"));
  CHECK_INT(proc_wait(brain).exit_code, 0);
  brain = start("openbrain");
  ask(brain, 2, "tools/call", BRAIN_BOOT);
  yyjson_val *r = ask(brain, 3, "tools/call", BRAIN_STORE("Lunch is at noon"));
  CHECK(has(jstr(r, "content[0].text"), "acknowledge"));
  CHECK_INT(proc_wait(brain).exit_code, 0);
  CHECK_INT(sql_number("SELECT count(*) FROM action_item WHERE status = 'pending'"), 1);

  struct proc *other = start("default");
  ask(other, 2, "tools/call", "{\"name\":\"memory_boot\",\"arguments\":{}}");
  r = ask(other, 3, "tools/call", "{\"name\":\"memory_store\",\"arguments\":{\"text\":\"Tea comes from the hills\"}}");
  test_note("%s", cstr(jstr(r, "content[0].text")));
  CHECK(!jbool(r, "isError"));
  CHECK_INT(proc_wait(other).exit_code, 0);
}

TEST(an_agent_must_acknowledge_before_it_writes) {
  OK("action", "add", "rotate the signing key");
  struct proc *server = start("default");
#define TOOL(id, name, args) ask(server, id, "tools/call", "{\"name\":\"" name "\",\"arguments\":" args "}")
#define STORE_TEA(id) TOOL(id, "memory_store", "{\"text\":\"Tea is green and comes from the hills\"}")
  /* Not blocked before the first boot. */
  CHECK(!jbool(TOOL(2, "memory_store", "{\"text\":\"Coffee is black and comes from the south\"}"), "isError"));
  yyjson_val *r = TOOL(3, "memory_boot", "{\"task\":\"release\"}");
  CHECK(has(jstr(r, "content[0].text"), "rotate the signing key"));
  r = STORE_TEA(4);
  CHECK(jbool(r, "isError"));
  CHECK(has(jstr(r, "content[0].text"), "memory_session {\"action\":\"ack\""));
  CHECK(has(jstr(r, "content[0].text"), "rotate the signing key"));
  OK("remember", "People are not stopped meanwhile");
  CHECK_INT(jlen(OK("session", "list"), "sessions"), 1);
  OK("action", "ack", "1", "already_done", "--reason", "it was rotated yesterday");
  CHECK(!jbool(STORE_TEA(5), "isError"));
  /* Closing the connection ends the session. */
  CHECK_INT(proc_wait(server).exit_code, 0);
  CHECK_INT(jlen(OK("session", "list"), "sessions"), 0);
}
