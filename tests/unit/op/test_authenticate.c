/* test_authenticate.c: token authentication; every invalid token gets the same error. */
#include "op/access/authenticate.h"

#include "base/alloc.h"
#include "op/op.h"
#include "store/tables/tokens.h"
#include "support/cli.h"

#define NOW INT64_C(1800000000000)

static struct arena a;
static struct engine *engine;
static struct error err;

static void open_engine(int64_t now) {
  struct engine_options o = {.path = cli_db(), .clock = {.fixed = now}};
  engine_close(&engine);
  CHECK_OK(engine_open(&o, &engine, &err), &err);
}

static yyjson_mut_val *run(const char *team, const char *op, const char *args) {
  struct caller caller = {.team = str_from(team), .project = STR(""), .source = STR("test"), .trust = STR("user")};
  yyjson_val *v;
  yyjson_mut_val *result = NULL;
  CHECK_OK(json_read(&a, str_from(args), &v, &err), &err);
  CHECK_OK(op_run(engine, op_find(str_from(op)), &caller, NULL, &a, v, &result, &err), &err);
  return result;
}

static struct str make(const char *team, const char *args) {
  return str_from(yyjson_mut_get_str(yyjson_mut_obj_get(run(team, "token add", args), "token")));
}

static bool is_known(struct str token) {
  struct principal p;
  enum status s = authenticate_token(engine, token, &a, &p, &err);
  if (s == STATUS_OK)
    return true;
  CHECK_INT(s, STATUS_UNKNOWN_CALLER);
  CHECK_STR(str_from(err.message), "the token is wrong, expired or revoked");
  return false;
}

TEST(a_token_identifies_its_principal) {
  open_engine(NOW);
  struct str token = make("red", "{\"name\":\"ci-bot\",\"projects\":[\"web\",\"api\",\"web\"],\"read\":true,"
                                 "\"profile\":\"readonly\",\"ttl\":\"30d\"}");
  struct principal p;
  CHECK_OK(authenticate_token(engine, token, &a, &p, &err), &err);
  CHECK_STR(p.name, "token:ci-bot");
  CHECK_STR(p.team, "red");
  CHECK_INT(p.role, ROLE_PROJECT);
  CHECK_INT((int64_t)p.projects.n, 2);
  CHECK_STR(p.projects.v[0], "web");
  CHECK_STR(p.projects.v[1], "api");
  CHECK(p.read_only);
  CHECK_STR(p.profile, "readonly");
  CHECK_INT(p.expires_at, NOW + 30 * MS_PER_DAY);
  CHECK_OK(authenticate_token(engine, make("blue", "{\"name\":\"ci-bot\"}"), &a, &p, &err), &err);
  CHECK_STR(p.team, "blue");
  CHECK_INT(p.role, ROLE_ADMIN);
  CHECK(!p.read_only && !p.profile.p && p.projects.n == 0);
  CHECK_INT(p.expires_at, NOW + 90 * MS_PER_DAY);
  engine_close(&engine);
}

static struct str changed(struct str token, size_t at, char c) {
  char *copy = arena_cstr(&a, token);
  copy[at] = copy[at] == c ? (char)(c == 'a' ? 'b' : 'a') : c;
  return (struct str){copy, token.n};
}

TEST(every_invalid_token_gets_the_same_error) {
  open_engine(NOW);
  struct str token = make("red", "{\"name\":\"one\"}"), other = make("blue", "{\"name\":\"one\"}");
  size_t id = sizeof("cairn_red.") - 1, secret = id + TOKEN_ID_CHARS + 1;
  CHECK(is_known(token) && is_known(other));
  CHECK(!is_known(STR("")));
  CHECK(!is_known(STR("cairn_red")));
  CHECK(!is_known(changed(token, id, 'a')));     /* no such row */
  CHECK(!is_known(changed(token, secret, 'a'))); /* another secret */
  CHECK(!is_known(changed(token, secret + 20, 'a')));
  CHECK(!is_known(changed(token, sizeof("cairn_") - 1, 'a'))); /* team "aed" */
  /* A valid id and secret with the name of another team. */
  CHECK(!is_known(arena_printf(&a, "cairn_blue.%.*s", STR_ARG(str_slice(token, id, token.n)))));
  /* The secret of one token with the id of another. */
  CHECK(!is_known(arena_printf(&a, "%.*s%.*s", STR_ARG(str_slice(token, 0, secret)),
                               STR_ARG(str_slice(other, other.n - (token.n - secret), other.n)))));
  run("red", "token revoke", "{\"name\":\"one\"}");
  CHECK(!is_known(token));
  CHECK(is_known(other)); /* a token of the same name in another team */
  run("red", "token delete", "{\"name\":\"one\"}");
  CHECK(!is_known(token));
  engine_close(&engine);
}

TEST(a_token_expires) {
  open_engine(NOW);
  struct str hour = make("red", "{\"name\":\"hour\",\"ttl\":\"1h\"}"),
             never = make("red", "{\"name\":\"never\",\"ttl\":\"never\"}");
  open_engine(NOW + MS_PER_HOUR - 1);
  CHECK(is_known(hour) && is_known(never));
  open_engine(NOW + MS_PER_HOUR);
  CHECK(!is_known(hour) && is_known(never));
  open_engine(NOW + 10000 * MS_PER_DAY);
  CHECK(!is_known(hour) && is_known(never));
  engine_close(&engine);
}

static int64_t used_at(void) { return sql_number("SELECT coalesce(max(used_at), 0) FROM token"); }

TEST(last_use_is_recorded_once_a_minute) {
  open_engine(NOW);
  struct str token = make("red", "{\"name\":\"one\"}");
  CHECK_INT(used_at(), 0);
  CHECK(!is_known(changed(token, token.n - 5, 'a')));
  CHECK_INT(used_at(), 0);
  CHECK(is_known(token));
  CHECK_INT(used_at(), NOW);
  open_engine(NOW + TOKEN_USE_MS - 1);
  CHECK(is_known(token));
  CHECK_INT(used_at(), NOW);
  open_engine(NOW + TOKEN_USE_MS);
  CHECK(is_known(token));
  CHECK_INT(used_at(), NOW + TOKEN_USE_MS);
  engine_close(&engine);
}

TEST(the_store_keeps_only_a_hash) {
  open_engine(NOW);
  struct str token = make("red", "{\"name\":\"one\"}");
  struct token_text text;
  CHECK(token_parse(token, &text));
  run("red", "token revoke", "{\"name\":\"one\"}");
  run("red", "token delete", "{\"name\":\"one\"}");
  engine_close(&engine);
  CHECK(!store_holds(cstr(str_slice(token, token.n - 43, token.n))));
  CHECK(!store_holds_bytes((struct str){(const char *)text.secret, sizeof(text.secret)}));
  CHECK(store_holds("token:add") && store_holds("token:revoke") && store_holds("token:delete"));
}

TEST(a_cached_principal_is_a_copy) {
  struct str projects[] = {STR("web"), STR("api")};
  struct principal p = {.name = STR("token:one"),
                        .team = STR("red"),
                        .role = ROLE_PROJECT,
                        .projects = {projects, 2, 2},
                        .read_only = true,
                        .expires_at = 7};
  struct principal *kept = principal_dup(&p);
  projects[0] = projects[1] = STR("gone");
  CHECK_STR(kept->name, "token:one");
  CHECK_STR(kept->team, "red");
  CHECK_STR(kept->projects.v[0], "web");
  CHECK_STR(kept->projects.v[1], "api");
  CHECK(kept->read_only && kept->role == ROLE_PROJECT && kept->expires_at == 7);
  CHECK(!kept->profile.p && !kept->token.p);
  struct reach reach = principal_reach(kept);
  CHECK(reach.read_only && reach.project_count == 2 && reach_owns(&reach, STR("api")));
  mem_free(kept);
}

/* ---- out of memory ---- */

static void ask_who(void *token) {
  struct arena own;
  struct principal p;
  arena_init(&own);
  enum status s = authenticate_token(engine, *(struct str *)token, &own, &p, &err);
  CHECK_INT(s, alloc_failures() ? STATUS_NOMEM : STATUS_OK);
  arena_release(&own);
}

static void ask_whether_live(void *who) {
  bool live = false;
  enum status s = principal_is_live(engine->store, who, NOW, &live, &err);
  CHECK_INT(s, alloc_failures() ? STATUS_NOMEM : STATUS_OK);
  CHECK(live == (s == STATUS_OK));
}

TEST(out_of_memory_in_authentication_leaves_no_snapshot) {
  no_statement_check();
  open_engine(NOW);
  struct str token = make("red", "{\"name\":\"one\",\"projects\":[\"web\",\"api\"],\"profile\":\"readonly\"}");
  struct principal who;
  CHECK_OK(authenticate_token(engine, token, &a, &who, &err), &err);
  CHECK(check_leaves_no_snapshot(engine->store, cli_db(), ask_who, &token) >= 1);
  CHECK(check_leaves_no_snapshot(engine->store, cli_db(), ask_whether_live, &who) >= 1);
  engine_close(&engine);
}
