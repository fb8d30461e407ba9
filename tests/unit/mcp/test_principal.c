/* test_principal.c: callers with tokens over MCP: visible tools, sessions, notifications. */
#include <unistd.h>

#include "op/access/authenticate.h"
#include "talking.h"

static struct arena arena;
static struct error err;

static yyjson_val *run(const char *op, const char *args) {
  struct engine *engine = NULL;
  struct engine_options o = {.path = cli_db()};
  struct caller caller = {.team = STR("default"), .project = STR(""), .source = STR("other"), .trust = STR("user")};
  yyjson_val *v;
  yyjson_mut_val *out = NULL;
  CHECK_OK(engine_open(&o, &engine, &err), &err);
  CHECK_OK(json_read(&arena, str_from(args), &v, &err), &err);
  CHECK_OK(op_run(engine, op_find(str_from(op)), &caller, NULL, &arena, v, &out, &err), &err);
  CHECK_OK(json_read(&arena, json_write(&arena, out, false), &v, &err), &err);
  engine_close(&engine);
  return v;
}

static struct principal principal_for(const char *args) {
  struct engine *engine = NULL;
  struct engine_options o = {.path = cli_db()};
  struct principal who;
  struct str token = jstr(run("token add", args), "token");
  CHECK_OK(engine_open(&o, &engine, &err), &err);
  CHECK_OK(authenticate_token(engine, token, &arena, &who, &err), &err);
  engine_close(&engine);
  return who;
}

static void say_as(struct mcp_server *server, const struct principal *who, const char *profile,
                   const struct mcp_head *head, const char *message, struct said *s) {
  struct mcp_sender sender = talking_sender();
  sender.caller.principal = who;
  sender.profile = profile ? profile_find(str_from(profile)) : NULL;
  said_init(s);
  mcp_handle(server, &sender, head, str_from(message), &s->out, &s->reply);
}

static yyjson_val *ask_as(struct mcp_server *server, const struct principal *who, const char *profile,
                          const char *method, const char *params) {
  static struct said s;
  static const struct mcp_head none;
  say_as(server, who, profile, &none, modern(method, params), &s);
  CHECK_INT(s.n, 1);
  return said_line(&s, 0);
}

static bool lists(yyjson_val *reply, const char *list, const char *key, const char *name) {
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(jget(reply, textf("result.%s", list)), i, n, v) {
    if (str_is(json_str(v, key), name))
      return true;
  }
  return false;
}

static yyjson_val *definition(yyjson_val *reply, const char *name) {
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(jget(reply, "result.tools"), i, n, v) {
    if (str_is(json_str(v, "name"), name))
      return v;
  }
  return NULL;
}

TEST(lists_only_tools_that_the_caller_may_call) {
  struct mcp_server *server = talking_server(false, false);
  struct principal reader = principal_for("{\"name\":\"reader\",\"read\":true}"),
                   web = principal_for("{\"name\":\"web\",\"projects\":[\"web\"]}"),
                   skill = principal_for("{\"name\":\"skill\",\"role\":\"skill\"}");
  yyjson_val *all = ask_as(server, NULL, NULL, "tools/list", "");
  yyjson_val *of_reader = ask_as(server, &reader, NULL, "tools/list", "");
  CHECK(lists(of_reader, "tools", "name", "memory_search") && lists(of_reader, "tools", "name", "memory_events"));
  CHECK(lists(all, "tools", "name", "memory_remember") && !lists(of_reader, "tools", "name", "memory_remember"));
  CHECK(!lists(of_reader, "tools", "name", "memory_scratch_set"));
  yyjson_val *of_web = ask_as(server, &web, NULL, "tools/list", "");
  CHECK(lists(of_web, "tools", "name", "memory_remember") && !lists(of_web, "tools", "name", "memory_events"));
  CHECK(!lists(of_web, "tools", "name", "memory_vault_get"));
  CHECK_INT((int64_t)jlen(ask_as(server, &skill, NULL, "tools/list", ""), "result.tools"), 0);
  CHECK_INT((int64_t)jlen(ask_as(server, &skill, "openbrain", "tools/list", ""), "result.tools"), 0);
  /* Hidden tools are refused, too. */
  yyjson_val *r = ask_as(server, &reader, NULL, "tools/call",
                         "\"name\":\"memory_remember\",\"arguments\":{\"text\":\"The fence is high\"}");
  CHECK(jbool(r, "result.isError") && has(jstr(r, "result.content[0].text"), "is read-only"));
  talking_stop(&server);
}

TEST(omits_actions_that_the_caller_may_not_call) {
  struct mcp_server *server = talking_server(false, false);
  struct principal reader = principal_for("{\"name\":\"reader\",\"read\":true}");
  yyjson_val *all = definition(ask_as(server, NULL, "default", "tools/list", ""), "memory_task");
  yyjson_val *part = definition(ask_as(server, &reader, "default", "tools/list", ""), "memory_task");
  CHECK(jhas_str(all, "inputSchema.properties.action.enum", "list"));
  CHECK(jhas_str(all, "inputSchema.properties.action.enum", "add"));
  CHECK(jhas_str(part, "inputSchema.properties.action.enum", "list"));
  CHECK(!jhas_str(part, "inputSchema.properties.action.enum", "add"));
  CHECK(!jget(all, "annotations.readOnlyHint") && jbool(part, "annotations.readOnlyHint"));
  CHECK(!definition(ask_as(server, &reader, "default", "tools/list", ""), "memory_remember"));
  talking_stop(&server);
}

TEST(lists_only_prompts_and_resources_that_the_caller_may_read) {
  struct mcp_server *server = talking_server(false, false);
  struct principal reader = principal_for("{\"name\":\"reader\",\"read\":true,\"projects\":[\"alpha\",\"beta\"]}"),
                   skill = principal_for("{\"name\":\"skill\",\"role\":\"skill\"}");
  yyjson_val *r = ask_as(server, &reader, NULL, "prompts/list", "");
  CHECK(lists(r, "prompts", "name", "startup") && lists(r, "prompts", "name", "review"));
  CHECK(!lists(r, "prompts", "name", "handoff"));
  CHECK(lists(ask_as(server, NULL, NULL, "prompts/list", ""), "prompts", "name", "handoff"));
  CHECK_INT((int64_t)jlen(ask_as(server, &skill, NULL, "prompts/list", ""), "result.prompts"), 0);
  r = ask_as(server, &reader, NULL, "resources/list", "");
  CHECK(lists(r, "resources", "uri", "cairn://boot/alpha") && lists(r, "resources", "uri", "cairn://boot/beta"));
  CHECK(lists(r, "resources", "uri", "cairn://boot/"));
  CHECK(!lists(r, "resources", "uri", "cairn://boot/web")); /* the project of the server */
  CHECK_INT((int64_t)jlen(ask_as(server, &skill, NULL, "resources/list", ""), "result.resources"), 0);
  CHECK_INT((int64_t)jlen(ask_as(server, &skill, NULL, "resources/templates/list", ""), "result.resourceTemplates"), 0);
  r = ask_as(server, &reader, NULL, "completion/complete",
             "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"cairn://boot/{project}\"},"
             "\"argument\":{\"name\":\"project\",\"value\":\"\"}");
  CHECK_INT((int64_t)jlen(r, "result.completion.values"), 2);
  CHECK(jhas_str(r, "result.completion.values", "beta"));
  CHECK(jget(ask_as(server, &reader, NULL, "resources/read", "\"uri\":\"cairn://boot/alpha\""), "result.contents"));
  CHECK(jget(ask_as(server, &reader, NULL, "resources/read", "\"uri\":\"cairn://boot/web\""), "error"));
  talking_stop(&server);
}

/* ---- legacy sessions ---- */

static int status_of(struct mcp_server *server, const struct principal *who, const char *session) {
  static struct said s;
  struct mcp_head head = http_head("2025-11-25", NULL, NULL, session);
  say_as(server, who, NULL, &head, legacy("ping", ""), &s);
  return s.reply.status;
}

TEST(a_session_belongs_to_its_creator) {
  struct mcp_server *server = talking_server(false, false);
  struct principal one = principal_for("{\"name\":\"one\"}"), two = principal_for("{\"name\":\"two\"}");
  static struct said s;
  struct mcp_head head = http_head(NULL, NULL, NULL, NULL);
  say_as(server, &one, NULL, &head, legacy("initialize", "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}"), &s);
  const char *id = textf("%s", s.reply.session);
  CHECK(id[0]);
  CHECK_INT(status_of(server, &one, id), 200);
  CHECK_INT(status_of(server, &two, id), 404);
  CHECK_INT(status_of(server, NULL, id), 404);
  struct principal other = one;
  other.team = STR("red");
  struct mcp_sender sender = {.caller = {.team = STR("red"), .principal = &other}};
  CHECK(!mcp_has_session(server, &sender, str_from(id)));
  sender = (struct mcp_sender){.caller = {.team = STR("default"), .principal = &two}};
  CHECK(!mcp_has_session(server, &sender, str_from(id)));
  head = http_head("2025-11-25", NULL, NULL, id);
  CHECK_INT(mcp_end_session(server, &sender, &head), 404);
  struct mcp_reply reply;
  said_init(&s);
  mcp_listen(server, &sender, &head, &s.out, &reply);
  CHECK_INT(reply.status, 404);
  sender.caller.principal = &one;
  CHECK(mcp_has_session(server, &sender, str_from(id)));
  CHECK_INT(mcp_end_session(server, &sender, &head), 200);
  CHECK_INT(status_of(server, &one, id), 404);
  talking_stop(&server);
}

static const char *new_session(struct mcp_server *server, const struct principal *who) {
  static struct said s;
  struct mcp_head head = http_head(NULL, NULL, NULL, NULL);
  say_as(server, who, NULL, &head, legacy("initialize", "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}"), &s);
  CHECK(s.reply.session[0]);
  return textf("%s", s.reply.session);
}

/* More sessions than the server keeps for all callers together. */
TEST(a_token_does_not_evict_sessions_of_others, .seconds = 60) {
  struct mcp_server *server = talking_server(false, false);
  struct principal one = principal_for("{\"name\":\"one\"}"), greedy = principal_for("{\"name\":\"greedy\"}");
  const char *mine = new_session(server, &one), *local = new_session(server, NULL);
  const char *first = new_session(server, &greedy), *last = NULL;
  for (int i = 0; i < 1100; i++)
    last = new_session(server, &greedy);
  CHECK_INT(status_of(server, &one, mine), 200);
  CHECK_INT(status_of(server, NULL, local), 200);
  CHECK_INT(status_of(server, &greedy, first), 404); /* its own are evicted, the least recently used first */
  CHECK_INT(status_of(server, &greedy, last), 200);
  talking_stop(&server);
}

TEST(local_callers_do_not_evict_sessions_of_tokens, .seconds = 60) {
  struct mcp_server *server = talking_server(false, false);
  struct principal one = principal_for("{\"name\":\"one\"}");
  const char *mine = new_session(server, &one), *first = new_session(server, NULL), *last = NULL;
  for (int i = 0; i < 1100; i++)
    last = new_session(server, NULL);
  CHECK_INT(status_of(server, &one, mine), 200);
  CHECK_INT(status_of(server, NULL, first), 404);
  CHECK_INT(status_of(server, NULL, last), 200);
  talking_stop(&server);
}

/* ---- notifications ---- */

#define WANTED                                                                                                         \
  "\"resourcesListChanged\":true,\"resourceSubscriptions\":[\"cairn://boot/alpha\",\"cairn://boot/beta\","             \
  "\"cairn://memory/1\",\"cairn://memory/2\",\"cairn://memory/3\",\"cairn://memory/secret-key\","                      \
  "\"cairn://skill/beta-skill\"]"

static void listen_as(struct mcp_server *server, const struct principal *who, struct said *s) {
  static const struct mcp_head none;
  say_as(server, who, NULL, &none, modern("subscriptions/listen", "\"notifications\":{" WANTED "}"), s);
  CHECK(s->reply.stream);
}

static bool heard(struct said *s, const char *text) {
  for (size_t i = 1; i < said_count(s); i++)
    if (has(s->lines[i], text))
      return true;
  return false;
}

TEST(no_notifications_about_other_projects) {
  struct mcp_server *server = talking_server(false, false);
  static struct said of_alpha, of_admin;
  run("remember", "{\"text\":\"The first one is of alpha\",\"project\":\"alpha\"}");
  struct principal alpha = principal_for("{\"name\":\"alpha\",\"projects\":[\"alpha\"]}"),
                   admin = principal_for("{\"name\":\"all\"}");
  listen_as(server, &alpha, &of_alpha);
  listen_as(server, &admin, &of_admin);
  run("remember", "{\"text\":\"The launch is in May\",\"project\":\"beta\",\"key\":\"secret-key\","
                  "\"skill_name\":\"beta-skill\",\"skill_keywords\":[\"launch\"]}");
  run("supersede", "{\"id\":\"2\",\"text\":\"The launch is in June\",\"reason\":\"late\",\"project\":\"beta\"}");
  run("link", "{\"id\":\"1\",\"rel\":\"relates\",\"to\":\"2\",\"all_projects\":true}");
  run("remember", "{\"text\":\"Everybody writes tests\",\"project\":\"\"}");
  said_wait(&of_admin, 6);
  said_wait(&of_alpha, 2); /* global memories are part of its boot */
  usleep(300 * 1000);
  CHECK(heard(&of_admin, "boot/beta") && heard(&of_admin, "memory/2") && heard(&of_admin, "list_changed"));
  CHECK(heard(&of_alpha, "boot/alpha"));
  CHECK(!heard(&of_alpha, "memory/2") && !heard(&of_alpha, "memory/3") && !heard(&of_alpha, "secret-key"));
  CHECK(!heard(&of_alpha, "beta-skill") && !heard(&of_alpha, "list_changed"));
  mcp_hang_up(server, of_alpha.reply.stream);
  mcp_hang_up(server, of_admin.reply.stream);
  talking_stop(&server);
}

TEST(a_revoked_token_ends_its_stream) {
  struct mcp_server *server = talking_server(false, false);
  static struct said s, steady;
  run("remember", "{\"text\":\"The first one is of alpha\",\"project\":\"alpha\"}");
  struct principal alpha = principal_for("{\"name\":\"alpha\",\"projects\":[\"alpha\"]}"),
                   other = principal_for("{\"name\":\"other\",\"projects\":[\"alpha\"]}");
  listen_as(server, &alpha, &s);
  listen_as(server, &other, &steady);
  run("remember", "{\"text\":\"The second one is of alpha\",\"project\":\"alpha\"}");
  said_wait(&s, 3);
  said_wait(&steady, 3);
  size_t before = said_count(&s), of_other = said_count(&steady);
  run("token revoke", "{\"name\":\"alpha\"}");
  said_wait(&s, before + 1); /* result of the listen request */
  CHECK(has(s.lines[before], "\"resultType\":\"complete\""));
  run("remember", "{\"text\":\"Nobody else may know of the third\",\"project\":\"alpha\"}");
  said_wait(&steady, of_other + 1);
  CHECK_INT((int64_t)said_count(&s), (int64_t)before + 1);
  mcp_hang_up(server, s.reply.stream);
  /* The next stream frees the follower of the last one. */
  listen_as(server, &other, &s);
  mcp_hang_up(server, s.reply.stream);
  mcp_hang_up(server, steady.reply.stream);
  talking_stop(&server);
}

TEST(a_token_must_name_a_known_profile) {
  const char *const *choice = op_param(op_find(STR("token add")), STR("profile"))->choices;
  for (const struct profile *const *p = profiles; *p; p++, choice++) {
    CHECK(*choice);
    CHECK_STR(str_from(*choice), (*p)->name);
  }
  CHECK(!*choice);
}
