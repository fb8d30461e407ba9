/* test_vault_secrets.c: secrets of the vault: encrypted wherever they are stored, shown only with a grant, not lost
 * when their key changes. */
#include <signal.h>
#include <sodium.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "support/cli.h"
#include "support/scan.h"

#define HUSH "hush-3f9a-Quiet/77c1+still"
#define KEY_A "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define KEY_B "100102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

static yyjson_val *keep(const char *key, const char *value) {
  return OK_FED(str_from(value), "vault", "set", key, "-", "--secret");
}

static struct str shown(const char *key) { return jstr(OK("vault", "get", key, "--reveal"), "value"); }

static const char *key_file(void) { return path_join(getenv("XDG_CONFIG_HOME"), "cairn/vault.key"); }

/* A call that fails with this code. It may log an event. */
static struct run fails(const char *code, const char *const *args) {
  struct run r = cli_run(STR_NONE, args);
  if (r.exit_code == 0 || !has(r.out, textf("\"code\":\"%s\"", code)))
    FAIL("exit code %d, not %s: %.*s", r.exit_code, code, STR_ARG(r.out));
  return r;
}
#define FAILS(code, ...) fails(code, ARGS(__VA_ARGS__, "--json"))

static int64_t events_of(const char *action) {
  struct json_lines all = events_since(0);
  int64_t n = 0;
  for (size_t i = 0; i < all.n; i++)
    n += str_is(jstr(all.v[i], "action"), action);
  return n;
}

/* True if the text contains the value in plain text, base64 or hex. */
static bool tells(struct str text, const char *value) {
  char base64[400], hex[400];
  sodium_bin2base64(base64, sizeof(base64), (const uint8_t *)value, strlen(value),
                    sodium_base64_VARIANT_ORIGINAL_NO_PADDING);
  sodium_bin2hex(hex, sizeof(hex), (const uint8_t *)value, strlen(value));
  return has(text, value) || has(text, base64) || has(text, hex);
}

static bool store_tells(const char *value) {
  char base64[400], hex[400];
  sodium_bin2base64(base64, sizeof(base64), (const uint8_t *)value, strlen(value),
                    sodium_base64_VARIANT_ORIGINAL_NO_PADDING);
  sodium_bin2hex(hex, sizeof(hex), (const uint8_t *)value, strlen(value));
  return store_holds(value) || store_holds(base64) || store_holds(hex);
}

/* ---- storing ---- */

TEST(a_secret_has_a_handle_and_is_shown_on_request) {
  yyjson_val *r = keep("db", HUSH);
  CHECK_STR(jstr(r, "action"), "created");
  CHECK_STR(jstr(r, "handle"), "vault:db");
  CHECK(jbool(r, "is_secret") && !jget(r, "value"));
  r = OK("vault", "get", "db");
  CHECK_STR(jstr(r, "handle"), "vault:db");
  CHECK(!jget(r, "value"));
  CHECK_STR(CAIRN("vault", "get", "db").out, "vault:db\n");
  OK("vault", "set", "flag", "on");
  r = OK("vault", "list");
  CHECK_INT(jint(r, "count"), 2);
  CHECK(!jget(r, "entries[0].value"));
  CHECK_STR(jstr(r, "entries[1].value"), "on");
  CHECK(!tells(CAIRN("vault", "list").out, HUSH));
  CHECK_STR(shown("db"), HUSH);
  CHECK_STR(CAIRN("vault", "get", "db", "--reveal").out, HUSH "\n");
  CHECK_INT(events_of("vault:reveal"), 2);
  CHECK_STR(jstr(OK("vault", "get", "flag", "--reveal"), "value"), "on");
  CHECK_INT(events_of("vault:reveal"), 2);
  CHECK(jbool(OK("vault", "delete", "db"), "deleted"));
  REFUSED("not_found", "vault", "get", "db");
  CHECK_HEALTHY();
}

TEST(the_key_file_is_made_once_and_private) {
  struct stat st;
  OK("vault", "set", "flag", "on");
  CHECK(stat(key_file(), &st) != 0); /* no key without a secret */
  keep("db", HUSH);
  CHECK(stat(key_file(), &st) == 0);
  CHECK_INT(st.st_mode & 07777, 0600);
  struct str before = file_read(key_file());
  keep("other", "something else");
  cli_set("CAIRN_TEAM=other");
  keep("db", "of another team");
  CHECK_STR(shown("db"), "of another team");
  cli_set("CAIRN_TEAM");
  CHECK_STR(file_read(key_file()), cstr(before));
  CHECK_STR(shown("db"), HUSH);
  CHECK(chmod(key_file(), 0644) == 0);
  REFUSED("refused", "vault", "get", "db", "--reveal");
  REFUSED_FED("refused", STR("x"), "vault", "set", "third", "-", "--secret");
}

TEST(values_of_all_kinds_are_returned_unchanged) {
  const char *const values[] = {"", " ", "x", "line\nline\n", "\xc3\xa9\xf0\x9f\x98\x80", "\"quoted\\\""};
  for (size_t i = 0; i < ARRAY_LEN(values); i++) {
    test_note("value %zu", i);
    OK("vault", "set", "k", values[i], "--secret");
    CHECK_STR(shown("k"), values[i]);
  }
  const char *large = words("w", 100000);
  keep("large", large);
  CHECK_STR(shown("large"), large);
  REFUSED_FED("too_large", str_from(words("w", 200000)), "vault", "set", "k", "-", "--secret");
}

TEST(a_secret_stays_a_secret) {
  keep("db", HUSH);
  yyjson_val *r = OK("vault", "set", "db", "another " HUSH);
  CHECK(jbool(r, "is_secret") && !jget(r, "value"));
  CHECK(!store_tells("another " HUSH));
  CHECK_STR(shown("db"), "another " HUSH);
  REFUSED("conflict", "vault", "add", "db");
}

/* ---- no copies in plain text ---- */

TEST(a_secret_is_nowhere_in_plain_text, .seconds = 60) {
  struct str all[12];
  size_t n = 0;
  keep("db", "a former " HUSH);
  keep("db", HUSH);
  struct run r = CAIRN_FED(STR(HUSH), "vault", "set", "more", "-", "--secret");
  all[n++] = r.out;
  all[n++] = r.err;
  all[n++] = CAIRN("vault", "list", "--json").out;
  shown("db");
  all[n++] = FAILS("denied", "vault", "get", "db", "--reveal", "--agent", "nobody").out;
  all[n++] = CAIRN("events", "--json").out;
  all[n++] = CAIRN("stats", "--json").out;
  all[n++] = CAIRN("doctor", "--json").out;
  const char *dump = path_join(NULL, "out.jsonl"), *backup = path_join(NULL, "backup.db");
  OK("export", dump, "--events");
  OK("backup", backup);
  OK("vault", "rotate");
  all[n++] = file_read(dump);
  all[n++] = file_read(backup);
  for (size_t i = 0; i < n; i++) {
    test_note("text %zu", i);
    CHECK(!tells(all[i], HUSH));
  }
  CHECK(!store_tells(HUSH));
  CHECK(!store_tells("a former " HUSH));
  CHECK_INT(jlen(OK("search", HUSH), "results"), 0);
}

TEST(a_value_that_becomes_a_secret_does_not_stay_in_the_file, .only = TEST_ON_SQLITE) {
  OK("vault", "set", "db", HUSH);
  CHECK(store_holds(HUSH));
  yyjson_val *r = keep("db", HUSH);
  CHECK_STR(jstr(r, "action"), "updated");
  CHECK(!warning(r, "former_value"));
  CHECK(!store_tells(HUSH));
  REFUSED("secret", "vault", "set", "other", "copied " HUSH);
  OK("backup", textf("%s.backup-manual-20260301T120000Z", cli_db()));
  CHECK_STR(shown("db"), HUSH);
}

TEST(memories_that_contain_the_secret_are_listed) {
  int64_t plain = STORE("The staging password is short and lives with the team lead");
  int64_t raw = STORE("Notes of Tuesday: we typed hush-3f9a-Quiet/77c1+still into the form by hand");
  int64_t base64 = STORE("The header was Basic aHVzaC0zZjlhLVF1aWV0Lzc3YzErc3RpbGw= all the time");
  yyjson_val *r = keep("db", HUSH);
  CHECK_INT(jlen(r, "held_by"), 2);
  CHECK(jpos(r, "held_by", raw) >= 0 && jpos(r, "held_by", base64) >= 0 && jpos(r, "held_by", plain) < 0);
  CHECK(warning(r, "held_already"));
}

/* ---- keys ---- */

TEST(a_key_from_the_environment) {
  cli_set("CAIRN_VAULT_KEY=" KEY_A);
  keep("db", HUSH);
  CHECK(access(key_file(), F_OK) != 0);
  cli_set("CAIRN_VAULT_KEY=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="); /* the same key in base64 */
  CHECK_STR(shown("db"), HUSH);
  cli_set("CAIRN_VAULT_KEY=" KEY_B);
  REFUSED("unavailable", "vault", "get", "db", "--reveal");
  REFUSED_FED("unavailable", STR("x"), "vault", "set", "more", "-", "--secret");
  cli_set("CAIRN_VAULT_KEY=not-a-key");
  yyjson_val *e = REFUSED("usage", "vault", "get", "db", "--reveal");
  CHECK(!has(jstr(e, "message"), "not-a-key"));
  cli_set("CAIRN_VAULT_KEY");
  REFUSED("unavailable", "vault", "get", "db", "--reveal");
  OK("vault", "get", "db"); /* its handle needs no key */
  CHECK_INT(CAIRN("doctor").exit_code, 11);
  cli_set("CAIRN_VAULT_KEY=" KEY_A);
  CHECK_HEALTHY();
}

TEST(a_lost_key_file_is_reported_and_not_replaced) {
  keep("db", HUSH);
  struct str kept = file_read(key_file());
  CHECK(unlink(key_file()) == 0);
  REFUSED("unavailable", "vault", "get", "db", "--reveal");
  REFUSED_FED("unavailable", STR("x"), "vault", "set", "more", "-", "--secret");
  CHECK(access(key_file(), F_OK) != 0);
  file_write(key_file(), kept);
  CHECK(chmod(key_file(), 0600) == 0);
  CHECK_STR(shown("db"), HUSH);
}

TEST(a_passphrase, .seconds = 90) {
  OK("vault", "list");
  cli_set("CAIRN_VAULT_PASSPHRASE=too short");
  REFUSED_FED("refused", STR(HUSH), "vault", "set", "db", "-", "--secret");
  cli_set("CAIRN_VAULT_PASSPHRASE=plum lantern orbit");
  keep("db", HUSH);
  CHECK(access(key_file(), F_OK) != 0);
  CHECK_STR(shown("db"), HUSH);
  cli_set("CAIRN_VAULT_PASSPHRASE=plum lantern orbits");
  REFUSED("unavailable", "vault", "get", "db", "--reveal");
  cli_set("CAIRN_VAULT_PASSPHRASE");
  REFUSED("unavailable", "vault", "get", "db", "--reveal");
  CHECK(!store_holds("plum lantern"));
}

/* ---- damage ---- */

TEST(a_damaged_secret_is_reported_and_does_not_hide_the_others) {
  keep("a", "the first secret");
  keep("b", "the second secret");
  OK("vault", "set", "plain", "x");
  sql_do("UPDATE vault SET cipher = (SELECT v.cipher FROM vault v WHERE v.key = 'a') WHERE key = 'b'");
  REFUSED("corrupt", "vault", "get", "b", "--reveal");
  CHECK_STR(shown("a"), "the first secret");
  struct run r = CAIRN("doctor");
  CHECK_INT(r.exit_code, 11);
  CHECK(has(r.out, "these secrets are damaged: b"));
  REFUSED("corrupt", "vault", "rotate"); /* all or nothing */
  CHECK_STR(shown("a"), "the first secret");
  keep("b", "the second secret");
  CHECK_HEALTHY();
}

/* ---- key rotation ---- */

TEST(rotation_reencrypts_every_secret_and_keeps_the_values) {
  const char *backup = path_join(NULL, "backup.db");
  OK("vault", "list");
  REFUSED("not_found", "vault", "rotate");
  keep("a", "the first secret");
  keep("b", "the second secret");
  OK("vault", "grant", "a", "--to", "bot");
  OK("backup", backup);
  struct str before = snapshot();
  yyjson_val *r = OK("vault", "rotate");
  CHECK_INT(jint(r, "secrets"), 2);
  CHECK(!str_eq(jstr(r, "from"), jstr(r, "to")));
  CHECK_STR(sql_string("SELECT id FROM vault_key"), cstr(jstr(r, "to")));
  CHECK(!str_eq(before, snapshot()));
  CHECK_STR(shown("a"), "the first secret");
  CHECK_STR(shown("b"), "the second secret");
  CHECK_INT(jint(OK("vault", "grants"), "count"), 1);
  CHECK_INT(events_of("vault:rotate"), 1);
  OK("restore", backup, "--confirm"); /* made before the rotation; its key still exists */
  CHECK_STR(shown("a"), "the first secret");
  CHECK_HEALTHY();
}

TEST(rotation_from_the_file_to_a_key_to_a_passphrase, .seconds = 120) {
  keep("db", HUSH);
  cli_set("CAIRN_VAULT_NEW_KEY=" KEY_A);
  CHECK_STR(jstr(OK("vault", "rotate"), "way"), "key");
  cli_set("CAIRN_VAULT_NEW_KEY");
  REFUSED("unavailable", "vault", "get", "db", "--reveal");
  cli_set("CAIRN_VAULT_KEY=" KEY_A);
  CHECK_STR(shown("db"), HUSH);
  cli_set("CAIRN_VAULT_NEW_PASSPHRASE=plum lantern orbit");
  CHECK_STR(jstr(OK("vault", "rotate"), "way"), "passphrase");
  cli_set("CAIRN_VAULT_NEW_PASSPHRASE");
  cli_set("CAIRN_VAULT_KEY");
  cli_set("CAIRN_VAULT_PASSPHRASE=plum lantern orbit");
  CHECK_STR(shown("db"), HUSH);
  REFUSED("usage", "vault", "rotate", "--passphrase"); /* no terminal to ask on */
}

TEST(a_killed_rotation_loses_nothing, .seconds = 180, .slow = true) {
  enum { KILLS = 20, SECRETS = 40 };
  for (int i = 0; i < SECRETS; i++)
    keep(textf("k%d", i), textf("value number %d", i));
  struct run whole = CAIRN("vault", "rotate");
  CHECK_INT(whole.exit_code, 0);
  unsigned seed = 7;
  for (int kills = 0, tries = 0; kills < KILLS && tries < 3 * KILLS; tries++) {
    struct proc *p = proc_start(.argv = ARGS(CAIRN_BIN, "vault", "rotate"), .env = cli_env());
    seed = seed * 1664525u + 1013904223u;
    int64_t us = (int64_t)((seed >> 8) % (unsigned)whole.elapsed_us);
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
    proc_kill(p, SIGKILL);
    kills += proc_wait(p).signal == SIGKILL;
    CHECK_STR(shown("k7"), "value number 7");
  }
  for (int i = 0; i < SECRETS; i++)
    CHECK_STR(shown(textf("k%d", i)), textf("value number %d", i));
  CHECK_HEALTHY();
}

TEST(concurrent_rotations_and_writes, .seconds = 120) {
  keep("db", HUSH);
  for (int round = 0; round < 5; round++) {
    struct proc *p = proc_start(.argv = ARGS(CAIRN_BIN, "vault", "rotate"), .env = cli_env());
    struct proc *q = proc_start(.argv = ARGS(CAIRN_BIN, "vault", "rotate"), .env = cli_env());
    struct proc *w = proc_start(.argv = ARGS(CAIRN_BIN, "vault", "set", "more", "-", "--secret"), .env = cli_env(),
                                .input = STR("m"));
    struct run r[] = {proc_wait(p), proc_wait(q), proc_wait(w)};
    for (size_t i = 0; i < ARRAY_LEN(r); i++)
      if (r[i].exit_code != 0 && !has(r[i].err, "at the same time"))
        FAIL("%.*s", STR_ARG(r[i].err));
    CHECK_STR(shown("db"), HUSH);
    CHECK_HEALTHY();
  }
}

/* ---- grants ---- */

TEST(an_agent_sees_only_granted_secrets) {
  keep("db", HUSH);
  OK("agent", "add", "bot", "--role", "admin");
  OK("agent", "add", "helper", "--role", "admin");
  CHECK_STR(jstr(OK("vault", "get", "db", "--agent", "bot"), "handle"), "vault:db");
  struct run r = FAILS("denied", "vault", "get", "db", "--reveal", "--agent", "bot");
  CHECK(!tells(r.out, HUSH) && has(r.out, "vault grant 'db' --to 'bot'"));
  CHECK_INT(events_of("vault:refused"), 1);
  OK("vault", "grant", "db", "--to", "bot", "--uses", "2", "--ttl", "1d");
  FAILS("denied", "vault", "get", "db", "--reveal", "--agent", "helper");
  CHECK_STR(jstr(OK("vault", "get", "db", "--reveal", "--agent", "bot"), "value"), HUSH);
  CHECK_INT(jint(OK("vault", "grants", "db"), "grants[0].uses_left"), 1);
  CHECK_STR(jstr(OK("vault", "get", "db", "--reveal", "--agent", "bot"), "value"), HUSH);
  FAILS("denied", "vault", "get", "db", "--reveal", "--agent", "bot");
  CHECK(!jbool(OK("vault", "grants"), "grants[0].live"));
  CHECK_INT(events_of("vault:reveal"), 2);
  struct json_lines all = events_since(0);
  for (size_t i = 0; i < all.n; i++)
    if (str_is(jstr(all.v[i], "action"), "vault:reveal"))
      CHECK_STR(jstr(all.v[i], "detail.to"), "bot");
}

TEST(grants_can_be_revoked_and_expire) {
  keep("db", HUSH);
  OK("agent", "add", "bot", "--role", "admin");
  OK("vault", "grant", "db", "--to", "bot", "--ttl", "1d");
  CHECK_STR(jstr(OK("vault", "get", "db", "--reveal", "--agent", "bot"), "value"), HUSH);
  cli_day(1.5);
  FAILS("denied", "vault", "get", "db", "--reveal", "--agent", "bot");
  OK("vault", "grant", "db", "--to", "*");
  CHECK_STR(jstr(OK("vault", "get", "db", "--reveal", "--agent", "bot"), "value"), HUSH);
  CHECK(jbool(OK("vault", "revoke", "db", "--to", "*"), "revoked"));
  FAILS("denied", "vault", "get", "db", "--reveal", "--agent", "bot");
  REFUSED("not_found", "vault", "revoke", "db", "--to", "*");
  OK("vault", "grant", "db", "--to", "bot");
  OK("vault", "delete", "db");
  keep("db", "a new one");
  FAILS("denied", "vault", "get", "db", "--reveal", "--agent", "bot"); /* the grant was deleted with the secret */
}

static int64_t grants_of(const char *who) {
  return sql_number(textf("SELECT count(*) FROM vault_grant WHERE grantee = '%s'", who));
}

TEST(a_new_token_does_not_inherit_the_grants_of_an_old_one) {
  keep("db", HUSH);
  REFUSED("not_found", "vault", "grant", "db", "--to", "token:bot"); /* no such token yet */
  OK("token", "add", "bot");
  OK("token", "add", "other");
  OK("vault", "grant", "db", "--to", "token:bot");
  OK("vault", "grant", "db", "--to", "token:other");
  OK("token", "revoke", "bot");
  CHECK_INT(grants_of("token:bot"), 1);
  OK("token", "delete", "bot");
  CHECK_INT(grants_of("token:bot"), 0);
  CHECK_INT(grants_of("token:other"), 1);
  /* 0.1.0 left the grants of a deleted token behind. */
  sql_do("INSERT INTO vault_grant (team, key, grantee, created_at, created_by) VALUES ('default', 'db', 'token:bot', 1,"
         " 'user')");
  OK("token", "add", "bot");
  CHECK_INT(grants_of("token:bot"), 0);
}

TEST(a_new_agent_does_not_inherit_the_grants_of_an_old_one) {
  keep("db", HUSH);
  OK("agent", "add", "bot", "--role", "admin");
  OK("vault", "grant", "db", "--to", "bot");
  OK("agent", "remove", "bot");
  OK("agent", "add", "bot", "--role", "admin");
  FAILS("denied", "vault", "get", "db", "--reveal", "--agent", "bot");
}

TEST(agents_do_not_manage_secrets) {
  keep("db", HUSH);
  OK("agent", "add", "bot", "--role", "admin");
  cli_set("CAIRN_AGENT=bot");
  REFUSED("denied", "vault", "grant", "db", "--to", "bot");
  REFUSED("denied", "vault", "revoke", "db", "--to", "bot");
  REFUSED("denied", "vault", "rotate");
  REFUSED("denied", "vault", "delete", "db");
  REFUSED("denied", "vault", "set", "db", "x");
  REFUSED_FED("denied", STR("x"), "vault", "set", "db", "-", "--secret");
  keep("mine", "an agent may store a new one");
  OK("vault", "set", "flag", "on");
  OK("vault", "delete", "flag");
  cli_set("CAIRN_AGENT");
  CHECK_STR(shown("db"), HUSH);
  CHECK_STR(shown("mine"), "an agent may store a new one");
}

TEST(invalid_grants_are_refused) {
  OK("vault", "set", "flag", "on");
  keep("db", HUSH);
  REFUSED("conflict", "vault", "grant", "flag", "--to", "bot");
  REFUSED("not_found", "vault", "grant", "nothing", "--to", "bot");
  REFUSED("usage", "vault", "grant", "db", "--to", "");
  REFUSED("usage", "vault", "grant", "db", "--to", "a b");
  REFUSED("usage", "vault", "grant", "db", "--to", "a*");
  REFUSED("usage", "vault", "grant", "db", "--to", "bot", "--uses", "0");
  REFUSED("usage", "vault", "grant", "db", "--to", "bot", "--ttl", "soon");
  REFUSED("usage", "vault", "grant", "db");
}

TEST(a_migrated_store_keeps_its_secrets, .seconds = 60) {
  const char *to = path_join(NULL, "to.db");
  keep("db", HUSH);
  OK("vault", "grant", "db", "--to", "bot", "--uses", "3");
  OK("vault", "set", "flag", "on");
  OK("migrate", "--to", to);
  cli_set(textf("CAIRN_DB=%s", to));
  CHECK_STR(shown("db"), HUSH);
  CHECK_STR(jstr(OK("vault", "get", "flag"), "value"), "on");
  CHECK_INT(jint(OK("vault", "grants"), "grants[0].uses_left"), 3);
  CHECK(jbool(OK("doctor"), "ok"));
}

/* ---- teams ---- */

TEST(an_encrypted_secret_opens_only_in_its_own_team) {
  keep("db", HUSH);
  cli_set("CAIRN_TEAM=other");
  keep("db", "of the other team");
  cli_set("CAIRN_TEAM");
  sql_do("UPDATE vault SET cipher = (SELECT v.cipher FROM vault v WHERE v.team = 'default') WHERE team = 'other'");
  cli_set("CAIRN_TEAM=other");
  REFUSED("corrupt", "vault", "get", "db", "--reveal");
}

/* ---- a server and its crash ---- */

/* A server that has just received the value. */
static struct proc *server_with_secret(void) {
  keep("first", "made the key, which a server does not"); /* its sandbox denies access to the folder of the key */
  struct proc *p =
      proc_start(.argv = ARGS("sh", "-c", "ulimit -c unlimited; exec \"$0\" mcp --profile openhive", CAIRN_BIN),
                 .env = cli_env(), .timeout_ms = 60000);
  struct str line;
  CHECK(proc_send(p, STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
                         "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n"
                         "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")));
  CHECK(proc_line(p, 20000, &line));
  CHECK(proc_send(p, STR("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"vault_set\","
                         "\"arguments\":{\"key\":\"more\",\"value\":\"" HUSH "\",\"is_secret\":true}}}\n")));
  CHECK(proc_line(p, 20000, &line));
  test_note("%.*s", STR_ARG(line));
  CHECK(has(line, "vault:more"));
  return p;
}

/* The memory of a message is wiped after the reply. Retained values are in locked memory. */
TEST(a_server_keeps_no_value_in_unlocked_memory) {
  char masked[sizeof(HUSH)];
  struct scan found;
  int tries = 0;
  for (size_t i = 0; i < sizeof(HUSH); i++)
    masked[i] = (char)(HUSH[i] ^ SCAN_MASK);
  struct proc *p = server_with_secret();
  do { /* the reply may arrive before its memory is freed */
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    found = scan_memory(proc_pid(p), (struct str){masked, sizeof(HUSH) - 1});
  } while (found.risky && ++tries < 40);
  if (!found.readable)
    test_unable("root, to look into a process that holds keys");
  CHECK_INT(found.risky, 0);
  proc_kill(p, SIGKILL);
  proc_wait(p);
}

TEST(a_crash_leaves_no_core_dump_with_the_value) {
  struct proc *p = server_with_secret();
  struct str line, limits = file_read(textf("/proc/%d/limits", (int)proc_pid(p)));
  struct str row = str_slice(limits, str_find(limits, STR("Max core file size"), 0), limits.n);
  CHECK(str_line(&row, &line));
  CHECK(has(line, " 0  ") && !has(line, "unlimited"));
  proc_kill(p, SIGABRT);
  CHECK_INT(proc_wait(p).signal, SIGABRT);
  struct run r = proc_run(.argv = ARGS("sh", "-c", "grep -rlF -- '" HUSH "' . || true"));
  CHECK_STR(r.out, "");
}
