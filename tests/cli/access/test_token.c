/* test_token.c: tokens on the command line: added, shown once, listed, revoked, deleted. */
#include "support/cli.h"

static struct str secret_of(struct str token) { return str_slice(token, token.n - 43, token.n); }

TEST(a_token_is_shown_once) {
  yyjson_val *r = OK("token", "add", "ci-bot", "--project", "website", "--project", "api", "--ttl", "30d");
  struct str token = jstr(r, "token");
  CHECK(str_starts(token, STR("cairn_default.")));
  CHECK_INT((int64_t)token.n, (int64_t)sizeof("cairn_default.") - 1 + 12 + 1 + 43);
  CHECK_STR(jstr(r, "role"), "project");
  CHECK_STR(jstr(r, "access"), "write");
  CHECK_STR(jstr(r, "state"), "live");
  CHECK_STR(jstr(r, "expires_at"), cli_time(30));
  CHECK_INT((int64_t)jlen(r, "projects"), 2);
  r = OK("token", "list");
  CHECK_INT(jint(r, "count"), 1);
  CHECK_STR(jstr(r, "tokens[0].name"), "ci-bot");
  CHECK(!jget(r, "tokens[0].token") && !jget(r, "tokens[0].hash") && !jget(r, "tokens[0].used_at"));
  CHECK(!store_holds(cstr(secret_of(token))));
  OK("token", "revoke", "ci-bot");
  CHECK(!store_holds(cstr(secret_of(token))));
  CHECK_HEALTHY();
}

TEST(two_tokens_have_nothing_in_common) {
  struct str one = jstr(OK("token", "add", "one"), "token"), two = jstr(OK("token", "add", "two"), "token");
  CHECK(!str_eq(secret_of(one), secret_of(two)));
  CHECK(!str_eq(str_slice(one, 0, one.n - 43), str_slice(two, 0, two.n - 43)));
}

/* Scripts use TOKEN=$(cairn token add NAME --quiet). */
TEST(text_for_people_and_scripts) {
  struct run r = CAIRN("token", "add", "script", "--quiet");
  CHECK_INT(r.exit_code, 0);
  CHECK(str_starts(r.out, STR("cairn_default.")) && memchr(r.out.p, '\n', r.out.n) == r.out.p + r.out.n - 1);
  r = CAIRN("token", "add", "person", "--read", "--profile", "readonly");
  CHECK(has(r.out, "cairn_default.") && has(r.out, "shown only once") && has(r.out, "readonly"));
  CHECK(has(r.out, "access: read"));
  r = CAIRN("token", "list");
  CHECK(has(r.out, "script") && has(r.out, "person") && has(r.out, "used never") && !has(r.out, "cairn_default."));
  r = CAIRN("token", "revoke", "person");
  CHECK_STR(r.out, "person: revoked\n");
  OK("token", "add", "child");
  OK("token", "add", "other");
  sql_do("UPDATE token SET created_by = 'token:script' WHERE name <> 'script'");
  CHECK_STR(CAIRN("token", "revoke", "script").out, "script: revoked\nalso revoked: child, other\n");
  r = CAIRN("token", "delete", "person");
  CHECK_STR(r.out, "person: deleted\n");
}

TEST(expired_and_revoked_tokens_are_listed_as_such) {
  OK("token", "add", "hour", "--ttl", "1h");
  OK("token", "add", "usual");
  OK("token", "add", "forever", "--ttl", "never");
  struct str id = jstr(OK("token", "add", "gone"), "id");
  CHECK_STR(jstr(OK("token", "revoke", cstr(id)), "state"), "revoked");
  CHECK_STR(jstr(OK("token", "revoke", "gone"), "state"), "revoked"); /* revoking again is not an error */
  CHECK_INT(sql_number("SELECT count(*) FROM event WHERE action = 'token:revoke'"), 1);
  cli_day(1);
  yyjson_val *r = OK("token", "list");
  CHECK_STR(jstr(r, "tokens[0].name"), "forever");
  CHECK_STR(jstr(r, "tokens[0].state"), "live");
  CHECK(!jget(r, "tokens[0].expires_at"));
  CHECK_STR(jstr(r, "tokens[1].state"), "revoked");
  CHECK_STR(jstr(r, "tokens[2].state"), "expired");
  CHECK_STR(jstr(r, "tokens[3].state"), "live");
  CHECK_STR(jstr(r, "tokens[3].expires_at"), cli_time(90));
  REFUSED("conflict", "token", "delete", "usual");
  OK("token", "delete", "hour");
  OK("token", "delete", "gone");
  CHECK_INT(jint(OK("token", "list"), "count"), 2);
  cli_day(90);
  CHECK_STR(jstr(OK("token", "list"), "tokens[1].state"), "expired");
}

TEST(token_names_are_unique) {
  OK("token", "add", "one");
  REFUSED("conflict", "token", "add", "one");
  OK("token", "revoke", "one");
  REFUSED("conflict", "token", "add", "one");
  OK("token", "delete", "one");
  OK("token", "add", "one");
  cli_set("CAIRN_TEAM=red");
  OK("token", "add", "one");
  CHECK_INT(jint(OK("token", "list"), "count"), 1);
  REFUSED("not_found", "token", "revoke", "two");
}

TEST(tokens_of_another_team_are_invisible) {
  struct str id = jstr(OK("token", "add", "one"), "id");
  cli_set("CAIRN_TEAM=red");
  CHECK_INT(jint(OK("token", "list"), "count"), 0);
  REFUSED("not_found", "token", "revoke", "one");
  REFUSED("not_found", "token", "revoke", cstr(id));
  REFUSED("not_found", "token", "delete", cstr(id));
  cli_set("CAIRN_TEAM");
  CHECK_STR(jstr(OK("token", "list"), "tokens[0].state"), "live");
}

TEST(invalid_token_options_are_refused) {
  OK("token", "add", "one");
  REFUSED("usage", "token", "add", "two words");
  REFUSED("usage", "token", "add", "");
  REFUSED("usage", "token", "add", "x", "--role", "root");
  REFUSED("usage", "token", "add", "x", "--role", "project");
  REFUSED("usage", "token", "add", "x", "--role", "admin", "--project", "web");
  REFUSED("usage", "token", "add", "x", "--project", "");
  REFUSED("usage", "token", "add", "x", "--ttl", "soon");
  REFUSED("usage", "token", "add", "x", "--ttl", "2020-01-01");
  REFUSED("usage", "token", "add", "x", "--profile", "nobody");
  const char *argv[80] = {"token", "add", "x"};
  for (int i = 0; i < 33; i++) {
    argv[3 + 2 * i] = "--project";
    argv[4 + 2 * i] = textf("p%d", i);
  }
  CHECK_INT(cli_run(STR_NONE, argv).exit_code, 2);
  argv[3 + 2 * 32] = NULL;
  CHECK_INT(cli_run(STR_NONE, argv).exit_code, 0);
}

TEST(an_agent_cannot_add_tokens) {
  OK("agent", "add", "boss", "--role", "admin");
  REFUSED("denied", "token", "add", "x", "--agent", "boss");
  REFUSED("denied", "token", "list", "--agent", "boss");
  CHECK_INT(jint(OK("token", "list"), "count"), 0);
}
