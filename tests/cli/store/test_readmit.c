/* test_readmit.c: restoring a backup does not restore access that was revoked since. */
#include <signal.h>
#include <unistd.h>

#include "support/cli.h"

static struct str state_of(const char *name) {
  yyjson_val *tokens = jget(OK("token", "list"), "tokens"), *t;
  size_t i, n;
  yyjson_arr_foreach(tokens, i, n, t) {
    if (str_is(json_str(t, "name"), name))
      return json_str(t, "state");
  }
  return STR("gone");
}

static int64_t revocations(const char *name) {
  return sql_number(textf("SELECT count(*) FROM event WHERE action = 'token:revoke' AND source = 'restore'"
                          " AND detail LIKE '%%\"%s\"%%'",
                          name));
}

static const char *backup_as(const char *name) {
  const char *path = path_join(NULL, name);
  OK("backup", path);
  return path;
}

TEST(revoked_or_deleted_tokens_are_restored_as_revoked) {
  static const char *const names[] = {"stays", "revoked", "deleted", "was-revoked"};
  for (size_t i = 0; i < ARRAY_LEN(names); i++)
    OK("token", "add", names[i]);
  OK("token", "add", "short", "--ttl", "1d");
  OK("token", "revoke", "was-revoked");
  int64_t id = STORE("The ferry leaves at nine");
  const char *backup = backup_as("backup.db");
  cli_day(1.5); /* `short` has expired */
  OK("token", "revoke", "revoked");
  OK("token", "revoke", "deleted");
  OK("token", "delete", "deleted");
  OK("token", "delete", "short");
  OK("token", "add", "new");
  OK("forget", num(id), "--reason", "wrong");
  cli_day(3);
  yyjson_val *r = OK("restore", backup, "--confirm");
  CHECK_INT(jint(r, "memories"), 1);
  CHECK_INT(jint(r, "tokens_live"), 1);
  CHECK_INT(jint(r, "tokens_revoked"), 2);
  CHECK_INT(jint(r, "grants_revoked"), 0);
  CHECK_STR(state_of("stays"), "live");
  CHECK_STR(state_of("revoked"), "revoked");
  CHECK_STR(state_of("deleted"), "revoked");
  CHECK_STR(state_of("was-revoked"), "revoked");
  CHECK_STR(state_of("short"), "revoked");
  CHECK_STR(state_of("new"), "gone");
  CHECK_INT(revocations("revoked"), 1);
  CHECK_INT(revocations("deleted"), 1);
  CHECK_INT(revocations("stays") + revocations("was-revoked"), 0);
  /* The original revocation time is known for one token. The other gets the time of the restore. */
  CHECK_STR(sql_string(textf("SELECT CASE WHEN revoked_at < (SELECT revoked_at FROM token WHERE name = 'deleted')"
                             " THEN 'before' ELSE 'not before' END FROM token WHERE name = 'revoked'")),
            "before");
  CHECK_HEALTHY();
  /* A second restore gives the same result. */
  r = OK("restore", backup, "--confirm");
  CHECK_INT(jint(r, "tokens_live"), 1);
  CHECK_INT(jint(r, "tokens_revoked"), 2);
  CHECK_STR(state_of("stays"), "live");
  struct run text = CAIRN("restore", backup, "--confirm");
  CHECK_INT(text.exit_code, 0);
  CHECK(has(text.out, "live tokens: 1") && has(text.out, "revoked them: 2"));
}

TEST(an_empty_store_gets_the_backup_unchanged) {
  OK("token", "add", "bot");
  OK("token", "add", "old");
  OK("token", "revoke", "old");
  OK_FED(STR("a value that nobody guesses"), "vault", "set", "db", "--secret", "-");
  OK("vault", "grant", "db", "--to", "agent");
  const char *backup = backup_as("backup.db"), *other = test_store("other.db"), *used = test_store("used.db");
  cli_set(textf("CAIRN_DB=%s", other));
  yyjson_val *r = OK("restore", backup, "--confirm");
  CHECK_INT(jint(r, "tokens_live"), 1);
  CHECK_INT(jint(r, "tokens_revoked"), 0);
  CHECK_INT(jint(r, "grants_revoked"), 0);
  CHECK_STR(state_of("bot"), "live");
  CHECK_STR(state_of("old"), "revoked");
  CHECK_INT(jint(OK("vault", "grants"), "count"), 1);
  /* A store in use that never had these tokens. */
  cli_set(textf("CAIRN_DB=%s", used));
  STORE("Somebody lives here");
  r = OK("restore", backup, "--confirm");
  CHECK_INT(jint(r, "tokens_live"), 0);
  CHECK_INT(jint(r, "tokens_revoked"), 1);
  CHECK_INT(jint(r, "grants_revoked"), 1);
  CHECK_STR(state_of("bot"), "revoked");
  CHECK_INT(jint(OK("vault", "grants"), "count"), 0);
}

/* Restoring the empty backup removes the token's row, but the store still counts as used. */
TEST(two_restores_do_not_reactivate_a_revoked_token) {
  OK("token", "list");
  const char *empty = backup_as("empty.db");
  OK("token", "add", "bot");
  const char *full = backup_as("full.db");
  OK("token", "revoke", "bot");
  OK("restore", empty, "--confirm");
  CHECK_STR(state_of("bot"), "gone");
  yyjson_val *r = OK("restore", full, "--confirm");
  CHECK_INT(jint(r, "tokens_live"), 0);
  CHECK_INT(jint(r, "tokens_revoked"), 1);
  CHECK_STR(state_of("bot"), "revoked");
}

TEST(tokens_of_a_deleted_team_are_restored_as_revoked) {
  OK("token", "add", "stays");
  cli_set("CAIRN_TEAM=web");
  OK("token", "add", "bot");
  STORE("The ferry leaves at nine");
  cli_set("CAIRN_TEAM");
  const char *backup = backup_as("backup.db");
  OK("team", "delete", "web", "--confirm", "web");
  yyjson_val *r = OK("restore", backup, "--confirm");
  CHECK_INT(jint(r, "tokens_live"), 1);
  CHECK_INT(jint(r, "tokens_revoked"), 1);
  CHECK_STR(state_of("stays"), "live");
  cli_set("CAIRN_TEAM=web");
  CHECK_STR(state_of("bot"), "revoked");
}

TEST(a_restore_keeps_the_current_grants) {
  OK_FED(STR("a value that nobody guesses"), "vault", "set", "db", "--secret", "-");
  OK_FED(STR("another value that nobody guesses"), "vault", "set", "mail", "--secret", "-");
  OK("vault", "grant", "db", "--to", "stays");
  OK("vault", "grant", "db", "--to", "counted", "--uses", "9");
  OK("vault", "grant", "db", "--to", "revoked");
  OK("vault", "grant", "mail", "--to", "with-its-secret");
  const char *backup = backup_as("backup.db");
  sql_do("UPDATE vault_grant SET uses = 2 WHERE grantee = 'counted'");
  OK("vault", "revoke", "db", "--to", "revoked");
  OK("vault", "delete", "mail");
  yyjson_val *r = OK("restore", backup, "--confirm");
  CHECK_INT(jint(r, "grants_revoked"), 2);
  CHECK_STR(sql_string("SELECT group_concat(grantee, ' ') FROM (SELECT grantee FROM vault_grant ORDER BY grantee) g"),
            "counted stays");
  CHECK_INT(sql_number("SELECT uses FROM vault_grant WHERE grantee = 'counted'"), 2);
  CHECK_INT(sql_number("SELECT count(*) FROM vault"), 2);
  CHECK_INT(sql_number("SELECT count(*) FROM event WHERE action = 'vault:revoke' AND source = 'restore'"), 2);
  CHECK_HEALTHY();
}

/* Killed at any time: the store has the old or the new content, and the token is revoked in both. */
TEST(a_killed_restore_restores_no_access, .seconds = 60, .slow = true) {
  OK("token", "add", "bot");
  for (int i = 0; i < 50; i++)
    STORE(textf("Memory number %d is about %s", i, words(textf("subject%d_", i), 12)));
  const char *backup = backup_as("backup.db");
  OK("token", "revoke", "bot");
  for (int i = 0; i < 12; i++) {
    struct proc *p = proc_start(.argv = ARGS(CAIRN_BIN, "restore", backup, "--confirm"), .env = cli_env());
    usleep((useconds_t)(1000 + i * 6000 * test_patience()));
    proc_kill(p, SIGKILL);
    proc_wait(p);
    test_note("killed %d", i);
    CHECK_STR(state_of("bot"), "revoked");
  }
  OK("restore", backup, "--confirm");
  CHECK_STR(state_of("bot"), "revoked");
  CHECK_HEALTHY();
}
