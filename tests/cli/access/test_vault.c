/* test_vault.c: named values: what is stored, what is refused, what is never shown. */
#include "support/cli.h"

TEST(a_value_is_set_read_listed_and_deleted) {
  yyjson_val *r = OK("vault", "set", "reports:last-run", "2026-03-31");
  CHECK_STR(jstr(r, "key"), "reports:last-run");
  CHECK_STR(jstr(r, "action"), "created");
  CHECK(!jbool(r, "is_secret"));
  cli_day(1);
  r = OK("vault", "set", "reports:last-run", "2026-04-01");
  CHECK_STR(jstr(r, "action"), "updated");
  CHECK_STR(jstr(r, "created_at"), cli_time(0));
  CHECK_STR(jstr(r, "updated_at"), cli_time(1));
  r = OK("vault", "get", "reports:last-run");
  CHECK_STR(jstr(r, "value"), "2026-04-01");
  CHECK_STR(jstr(r, "updated_by"), "cli");
  OK("vault", "set", "flags:dark", "");
  OK("vault", "set", "reports", "x");
  r = OK("vault", "list");
  CHECK_INT(jint(r, "count"), 3);
  CHECK_STR(jstr(r, "entries[0].key"), "flags:dark");
  CHECK_STR(jstr(r, "entries[0].value"), "");
  r = OK("vault", "list", "reports:");
  CHECK_INT(jint(r, "count"), 1);
  CHECK_STR(jstr(r, "entries[0].key"), "reports:last-run");
  CHECK(jbool(OK("vault", "delete", "reports:last-run"), "deleted"));
  REFUSED("not_found", "vault", "get", "reports:last-run");
  REFUSED("not_found", "vault", "delete", "reports:last-run");
  CHECK_HEALTHY();
}

TEST(a_value_is_stored_unchanged) {
  const char *value = "{\"a\": [1, 2],\n  \"b\": \"\xc3\xa9\"}\n\n ";
  OK("vault", "set", "cache:x", value);
  CHECK_STR(jstr(OK("vault", "get", "cache:x"), "value"), value);
  struct run r = CAIRN("vault", "get", "cache:x");
  CHECK_INT(r.exit_code, 0);
  CHECK_STR(r.out, textf("%s\n", value));
}

TEST(a_counter_starts_at_zero) {
  CHECK_INT(jint(OK("vault", "add", "sent"), "value"), 1);
  CHECK_INT(jint(OK("vault", "add", "sent", "41"), "value"), 42);
  CHECK_INT(jint(OK("vault", "add", "sent", "--", "-50"), "value"), -8);
  CHECK_STR(jstr(OK("vault", "get", "sent"), "value"), "-8");
  OK("vault", "set", "word", "seven");
  REFUSED("conflict", "vault", "add", "word");
  OK("vault", "set", "high", "9223372036854775807");
  REFUSED("conflict", "vault", "add", "high");
}

TEST(text_that_looks_like_a_secret_is_refused_and_leaves_no_trace) {
  OK("vault", "list");
  const char *token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
  yyjson_val *e = REFUSED("secret", "vault", "set", "token", token);
  CHECK(!has(jstr(e, "message"), token));
  REFUSED("secret", "vault", "set", token, "x");
  OK("config", "secrets.mode", "redact"); /* a redacted value would be useless */
  REFUSED("secret", "vault", "set", "token", token);
  CHECK(!store_holds(token));
  /* The schema itself refuses a secret that is not encrypted. */
  CHECK(!sql_try("INSERT INTO vault (team, key, value, is_secret, created_at, updated_at, updated_by)"
                 " VALUES ('default', 'k', 'v', 1, 1, 1, 'x')"));
}

TEST(keys_and_values_have_limits) {
  OK("vault", "list");
  REFUSED("refused", "vault", "set", "", "x");
  REFUSED("refused", "vault", "set", "a\nb", "x");
  REFUSED("refused", "vault", "set", words("k", 100), "x");
  REFUSED("refused", "vault", "add", " ");
}

TEST(values_are_not_searched_and_not_in_the_log) {
  OK("vault", "set", "plan:zebra", "quokkaquokka");
  OK("vault", "add", "plan:count", "3");
  struct json_lines events = events_since(0);
  static struct arena memory;
  bool named = false;
  for (size_t i = 0; i < events.n; i++) {
    named |= has(jstr(events.v[i], "action"), "vault:set");
    CHECK(!has(json_write_val(&memory, events.v[i]), "quokka"));
  }
  CHECK(named);
  CHECK_INT(jlen(OK("search", "quokkaquokka"), "results"), 0);
  CHECK_INT(jint(OK("list"), "total"), 0);
  CHECK(!has(jstr(OK("boot"), "text"), "quokka"));
}

TEST(undo_does_not_change_the_vault) {
  yyjson_val *r = OK("vault", "set", "flag", "on");
  REFUSED("conflict", "undo", num(jint(r, "txn")));
  CHECK_STR(jstr(OK("vault", "get", "flag"), "value"), "on");
}

TEST(teams_do_not_see_each_other) {
  OK("vault", "set", "flag", "on");
  cli_set("CAIRN_TEAM=other");
  REFUSED("not_found", "vault", "get", "flag");
  CHECK_INT(jint(OK("vault", "list"), "count"), 0);
  OK("vault", "set", "flag", "off");
  cli_set("CAIRN_TEAM");
  CHECK_STR(jstr(OK("vault", "get", "flag"), "value"), "on");
}
