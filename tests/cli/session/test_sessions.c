/* test_sessions.c: sessions: boot, list, task, handoff, end, scratch values, checkpoints, with real processes. */
#include <signal.h>

#include "support/cli.h"

/* A process that sleeps until it is killed. */
static struct proc *sleeper(void) { return proc_start(.argv = ARGS("sleep", "60")); }

static const char *pid_of(struct proc *p) { return textf("%d", (int)proc_pid(p)); }

/* Boots for a process and returns its session. */
static const char *boot_for(struct proc *p, const char *task) {
  return cstr(jstr(OK("boot", "--pid", pid_of(p), "--task", task), "session"));
}

static void use(const char *session) { cli_set(textf("CAIRN_SESSION=%s", session)); }

TEST(a_plain_boot_registers_no_session) {
  STORE("Parsley grows in pots");
  yyjson_val *r = OK("boot", "--task", "gardening");
  CHECK(!jget(r, "session"));
  CHECK_INT(jlen(r, "sessions"), 0);
  CHECK_INT(jlen(r, "action_items"), 0);
  CHECK_INT(jlen(r, "ended"), 0);
  CHECK(!jbool(r, "writes_blocked"));
  CHECK(!jget(r, "handoff"));
  CHECK_STR(jstr(r, "working_context.task"), "gardening");
  CHECK_INT(sql_number("SELECT count(*) FROM session"), 0);
}

TEST(a_session_from_boot_to_end) {
  struct proc *p = sleeper();
  yyjson_val *r = OK("boot", "--pid", pid_of(p), "--task", "fix the login", "--cwd", "/srv/app", "--project", "demo");
  const char *handle = cstr(jstr(r, "session"));
  CHECK(has(jstr(r, "text"), handle));
  cli_set("CAIRN_PROJECT=demo");
  use(handle);
  r = OK("session", "list");
  CHECK_INT(jlen(r, "sessions"), 1);
  CHECK_STR(jstr(r, "sessions[0].session"), handle);
  CHECK_STR(jstr(r, "sessions[0].task"), "fix the login");
  CHECK_STR(jstr(r, "sessions[0].cwd"), "/srv/app");
  CHECK_STR(jstr(r, "sessions[0].source"), "cli");
  CHECK_INT(jint(r, "sessions[0].pid"), proc_pid(p));
  CHECK_STR(jstr(r, "sessions[0].state"), "live");
  CHECK(jbool(r, "sessions[0].self"));
  CHECK_INT(jlen(OK("session", "list", "--exclude-self"), "sessions"), 0);
  CHECK_INT(jlen(OK("session", "list", "--project", "other"), "sessions"), 0);
  CHECK_INT(jlen(OK("session", "list", "--project", "other", "--all-projects"), "sessions"), 1);
  OK("session", "task", "writing the test");
  CHECK_STR(jstr(OK("session", "list"), "sessions[0].task"), "writing the test");
  r = OK("session", "end", "--handoff", "The docs are left.");
  CHECK_STR(jstr(r, "reason"), "ended");
  CHECK(jint(r, "handoff") > 0);
  CHECK_INT(jlen(OK("session", "list"), "sessions"), 0);
  /* Ending it again changes nothing and is not an error. */
  r = OK("session", "end");
  CHECK(jbool(r, "already"));
  CHECK_STR(jstr(r, "session"), handle);
  REFUSED("not_found", "session", "task", "too late");
  struct json_lines events = events_since(0);
  static const char *const actions[] = {"session:boot", "memory:read", "session:task", "session:handoff",
                                        "session:end"};
  CHECK_INT(events.n, ARRAY_LEN(actions));
  for (size_t i = 0; i < events.n; i++) {
    CHECK_STR(jstr(events.v[i], "action"), actions[i]);
    CHECK_STR(jstr(events.v[i], "session"), handle);
    CHECK_STR(jstr(events.v[i], "project"), "demo");
  }
  proc_kill(p, SIGKILL);
  CHECK_HEALTHY();
}

TEST(a_boot_ends_the_sessions_of_dead_processes) {
  struct proc *p = sleeper(), *q = sleeper();
  const char *dead = boot_for(p, "first"), *live = boot_for(q, "second");
  CHECK_INT(jlen(OK("boot"), "sessions"), 2);
  proc_kill(p, SIGKILL);
  proc_wait(p);
  yyjson_val *r = OK("boot"); /* an unregistered boot already tells them apart */
  CHECK_INT(jlen(r, "sessions"), 1);
  CHECK_STR(jstr(r, "sessions[0].session"), live);
  CHECK_INT(sql_number("SELECT count(*) FROM session WHERE ended_at IS NULL"), 2);
  r = OK("boot", "--register");
  CHECK_INT(jlen(r, "ended"), 1);
  CHECK_STR(jstr(r, "ended[0]"), dead);
  CHECK_STR(sql_string(textf("SELECT end_reason FROM session WHERE handle = '%s'", dead)), "process ended");
  proc_kill(q, SIGKILL);
}

TEST(a_stopped_process_is_unresponsive_but_not_dead) {
  struct proc *p = sleeper();
  const char *handle = boot_for(p, "thinking");
  proc_kill(p, SIGSTOP);
  const char *state = "";
  for (int i = 0; i < 200 && strcmp(state, "unresponsive") != 0; i++) /* the signal takes a moment */
    state = cstr(jstr(OK("session", "list"), "sessions[0].state"));
  CHECK_STR(str_from(state), "unresponsive");
  CHECK_INT(jlen(OK("boot", "--register"), "ended"), 0);
  CHECK(has(jstr(OK("boot"), "text"), "unresponsive"));
  proc_kill(p, SIGCONT);
  for (int i = 0; i < 200 && strcmp(state, "live") != 0; i++)
    state = cstr(jstr(OK("session", "list"), "sessions[1].state"));
  CHECK_STR(jstr(OK("session", "list"), "sessions[1].session"), handle);
  CHECK_STR(str_from(state), "live");
  proc_kill(p, SIGKILL);
}

TEST(a_reused_pid_is_another_process) {
  struct proc *p = sleeper();
  boot_for(p, "first");
  sql_do("UPDATE session SET started = started - 3600000"); /* as if the pid had been reused */
  yyjson_val *r = OK("session", "list");
  CHECK_INT(jlen(r, "sessions"), 0);
  CHECK_INT(jlen(r, "ended"), 1);
  CHECK_STR(sql_string("SELECT end_reason FROM session"), "pid reused");
  proc_kill(p, SIGKILL);
}

TEST(an_unknown_pid_does_not_end_the_session) {
  yyjson_val *r = OK("boot", "--pid", "4194000"); /* invented, as agents do */
  CHECK(jstr(r, "session").n > 0);
  r = OK("session", "list");
  CHECK_INT(jlen(r, "sessions"), 1);
  CHECK(!jget(r, "sessions[0].pid"));
  CHECK_INT(jlen(r, "ended"), 0);
}

TEST(a_second_boot_of_a_process_ends_its_older_session) {
  struct proc *p = sleeper();
  const char *first = boot_for(p, "first"), *second = boot_for(p, "second");
  CHECK(strcmp(first, second) != 0);
  yyjson_val *r = OK("session", "list");
  CHECK_INT(jlen(r, "sessions"), 1);
  CHECK_STR(jstr(r, "sessions[0].session"), second);
  CHECK_STR(sql_string(textf("SELECT end_reason FROM session WHERE handle = '%s'", first)), "replaced");
  proc_kill(p, SIGKILL);
}

TEST(calls_are_heartbeats) {
  const char *handle = cstr(jstr(OK("boot", "--register", "--host", "far-away", "--pid", "7"), "session"));
  use(handle);
  cli_day(0.5);
  OK("list"); /* any call */
  CHECK_INT(jint(OK("session", "list"), "sessions[0].silent_s"), 0);
  cli_set("CAIRN_SESSION");
  cli_day(1.4); /* less than a day later */
  yyjson_val *r = OK("session", "list");
  CHECK_STR(jstr(r, "sessions[0].state"), "stale");
  CHECK(!jbool(r, "trustworthy"));
  cli_day(1.6);
  CHECK_INT(jlen(OK("session", "list"), "sessions"), 0);
}

TEST(concurrent_boots) {
  enum { MANY = 12 };
  struct proc *p[MANY];
  OK("action", "add", "Rotate the signing key");
  for (int i = 0; i < MANY; i++)
    p[i] = proc_start(.argv = ARGS(CAIRN_BIN, "--json", "boot", "--register", "--task", textf("task %d", i)),
                      .env = cli_env());
  for (int i = 0; i < MANY; i++) {
    struct run r = proc_wait(p[i]);
    CHECK_INT(r.exit_code, 0);
    yyjson_val *result = lines_of(r.out).v[0];
    CHECK(jstr(result, "session").n > 0);
    CHECK(!jget(result, "degraded"));
    CHECK_INT(jlen(result, "action_items"), 1);
  }
  CHECK_INT(sql_number("SELECT count(DISTINCT handle) FROM session WHERE ended_at IS NULL"), MANY);
  CHECK_INT(sql_number("SELECT count(*) FROM action_item"), 1);
  CHECK_INT(jlen(OK("boot"), "sessions"), 10); /* the others are counted */
  CHECK_STR(jstr(OK("boot", "--budget", "20000"), "dropped[0].section"), "sessions");
}

/* ---- handoffs ---- */

TEST(a_handoff_reaches_the_next_session_and_not_its_own) {
  const char *first = cstr(jstr(OK("boot", "--register"), "session"));
  use(first);
  yyjson_val *r = OK("session", "handoff", "  The cellar door sticks; oil is on the shelf.  ");
  CHECK_INT(jint(r, "length"), 44);
  CHECK_STR(jstr(r, "session"), first);
  CHECK(!jget(OK("boot"), "handoff"));
  cli_set("CAIRN_SESSION");
  r = OK("boot", "--register");
  CHECK_STR(jstr(r, "handoff.text"), "The cellar door sticks; oil is on the shelf.");
  CHECK_STR(jstr(r, "handoff.session"), first);
  CHECK(has(jstr(r, "text"), "oil is on the shelf"));
  CHECK_STR(jstr(OK("session", "handoff"), "handoff.text"), "The cellar door sticks; oil is on the shelf.");
}

TEST(a_handoff_stays_in_its_project) {
  OK("session", "handoff", "Of the garden", "--project", "garden");
  CHECK(!jget(OK("boot", "--project", "kitchen"), "handoff"));
  OK("session", "handoff", "For everybody", "--project", "");
  CHECK_STR(jstr(OK("boot", "--project", "kitchen"), "handoff.text"), "For everybody");
  CHECK_STR(jstr(OK("boot", "--project", "garden"), "handoff.text"), "For everybody"); /* the newest */
}

/* n two-byte characters */
static const char *umlauts(int n) {
  struct str s = {textf("%*s", n * 2, ""), (size_t)n * 2};
  char *p = (char *)(uintptr_t)s.p;
  for (int i = 0; i < n; i++)
    memcpy(p + (size_t)i * 2, "\xc3\xa4", 2);
  return p;
}

TEST(a_handoff_has_at_most_2000_characters) {
  OK("session", "handoff", umlauts(2000));
  yyjson_val *r = REFUSED("refused", "session", "handoff", umlauts(2001));
  CHECK(has(jstr(r, "message"), "2001"));
  const char *handle = cstr(jstr(OK("boot", "--register"), "session"));
  use(handle);
  r = REFUSED("refused", "session", "end", "--handoff", umlauts(2500)); /* the session stays open */
  CHECK(has(jstr(r, "message"), "2500"));
  CHECK_INT(jlen(OK("session", "list"), "sessions"), 1);
  REFUSED("refused", "session", "handoff", "   ");
}

/* ---- scratch values ---- */

TEST(scratch_values_end_with_the_session) {
  STORE("Parsley grows in pots");
  REFUSED("conflict", "scratch", "set", "branch", "main");
  const char *first = cstr(jstr(OK("boot", "--register"), "session"));
  const char *second = cstr(jstr(OK("boot", "--register"), "session"));
  use(first);
  OK("scratch", "set", "branch", "main");
  OK("scratch", "set", "branch", "fix/login");
  OK("scratch", "set", "count", "3");
  yyjson_val *r = OK("scratch", "get", "branch");
  CHECK(jbool(r, "found"));
  CHECK_STR(jstr(r, "value"), "fix/login");
  CHECK(!jbool(OK("scratch", "get", "nothing"), "found"));
  r = OK("scratch", "list");
  CHECK_INT(jint(r, "count"), 2);
  CHECK_STR(jstr(r, "values[0].key"), "branch");
  use(second);
  CHECK_INT(jint(OK("scratch", "list"), "count"), 0);
  use(first);
  OK("session", "end");
  REFUSED("not_found", "scratch", "get", "branch");
  CHECK_INT(sql_number("SELECT count(*) FROM scratch"), 0);
}

TEST(scratch_values_are_limited) {
  use(cstr(jstr(OK("boot", "--register"), "session")));
  REFUSED("refused", "scratch", "set", "", "x");
  REFUSED("refused", "scratch", "set", words("key", 60), "x");
  REFUSED("secret", "scratch", "set", "k", "GITHUB_TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyz");
  sql_do(textf("INSERT INTO scratch (team, session, key, value, updated_at)"
               " SELECT 'default', handle, 'big', %s, 1 FROM session",
               on_postgres() ? "repeat('x', 1048576)" : "printf('%1048576c', 'x')"));
  REFUSED("too_large", "scratch", "set", "k", "x");
  OK("scratch", "set", "big", "small again");
  OK("scratch", "set", "k", "x");
}

/* ---- checkpoints ---- */

TEST(a_checkpoint_shows_pinned_guardrails_and_relevant_memories) {
  int64_t pinned = STORE("--type", "guardrail", "--headline", "Never force-push to main",
                         textf("It destroyed a day of work in March. %s", umlauts(600)));
  OK("pin", num(pinned));
  int64_t loose = STORE("--type", "guardrail", "Nobody swims behind the pier");
  STORE("Force pushes to the main branch were blocked by the server in May");
  yyjson_val *r = OK("checkpoint", "force-push to main", "--context", "the branch is behind");
  CHECK(!jbool(r, "skipped"));
  CHECK_INT(jlen(r, "guardrails"), 1);
  CHECK_INT(jint(r, "guardrails[0].id"), pinned);
  struct str text = jstr(r, "guardrails[0].text");
  CHECK_INT(text.n, 37 + 2 * (500 - 37)); /* 500 characters, none split */
  CHECK(jlen(r, "relevant") >= 1 && jlen(r, "relevant") <= 5);
  CHECK(jpos(r, "guardrails", loose) < 0);
  CHECK(!jget(r, "degraded"));
}

TEST(a_checkpoint_shows_guardrails_about_the_action) {
  int64_t push = STORE("--type", "guardrail", "--headline", "Never force-push to main", "It destroyed a day of work.");
  int64_t swim = STORE("--type", "guardrail", "Nobody swims behind the pier");
  yyjson_val *r = OK("checkpoint", "force-push to main");
  CHECK_INT(jlen(r, "guardrails"), 1);
  CHECK_INT(jint(r, "guardrails[0].id"), push);
  OK("pin", num(swim));
  r = OK("checkpoint", "git push --force origin main");
  CHECK_INT(jlen(r, "guardrails"), 2);
  CHECK_INT(jint(r, "guardrails[0].id"), swim);
  CHECK_INT(jint(r, "guardrails[1].id"), push);
  CHECK(jpos(r, "relevant", push) < 0);
}

TEST(a_checkpoint_counts_faded_memories_about_the_action) {
  STORE_AS_AGENT("Force pushes to the main branch were blocked by the server in May");
  STORE_AS_AGENT("The pier was built for swimmers");
  cli_day(25);
  CHECK_INT(jint(OK("maintain"), "faded"), 2);
  yyjson_val *r = OK("checkpoint", "force-push to main");
  CHECK_INT(jlen(r, "relevant"), 0);
  CHECK_INT(jint(r, "faded"), 1);
  CHECK_STR(jstr(r, "fetch"), "cairn list --state faded");
  CHECK(has(CAIRN("checkpoint", "push to main by force").out, "faded, but about the action: 1; cairn list"));
  CHECK(!jget(OK("checkpoint", "bake bread"), "faded"));
}

TEST(a_checkpoint_prints_headlines_of_guardrails_once) {
  STORE("--type", "guardrail", "--headline", "No parking", "Cars on pier seven block the fire brigade.");
  STORE("--type", "guardrail", "Boats on pier eight block the fire brigade");
  struct str out = CAIRN("checkpoint", "block the pier for the fire brigade").out;
  CHECK(has(out, "No parking: Cars on pier seven"));
  CHECK(has(out, "  Boats on pier eight block the fire brigade") && !has(out, "brigade: Boats"));
}

TEST(a_checkpoint_leaves_out_skills_of_other_projects) {
  STORE("--type", "guardrail", "--skill-name", "helmet", "--skill-keyword", "helmet", "--skill-always-on",
        "--skill-project", "quarry", "Wear a helmet below the crane");
  yyjson_val *r = OK("checkpoint", "work below the crane", "--project", "harbor");
  CHECK_INT(jlen(r, "guardrails"), 0);
  CHECK_STR(jstr(r, "relevant[0].severity"), "blocker");
  r = OK("checkpoint", "work below the crane", "--project", "quarry");
  CHECK_INT(jlen(r, "guardrails"), 1);
  CHECK_INT(jlen(r, "relevant"), 0);
}

TEST(a_checkpoint_is_not_repeated_for_five_minutes) {
  OK("checkpoint", "deploy to production");
  yyjson_val *r = OK("checkpoint", "Deploy to  production");
  CHECK(jbool(r, "skipped"));
  CHECK_INT(jint(r, "cooldown_s"), 300);
  CHECK_INT(jlen(r, "relevant"), 0);
  CHECK(!jbool(OK("checkpoint", "drop the database"), "skipped"));
  CHECK(!jbool(OK("checkpoint", "deploy to production", "--source", "another"), "skipped"));
  cli_day(299.0 / 86400);
  CHECK(jbool(OK("checkpoint", "deploy to production"), "skipped"));
  cli_day(301.0 / 86400);
  CHECK(!jbool(OK("checkpoint", "deploy to production"), "skipped"));
  CHECK(!store_holds("deploy to production")); /* the text of the action is not stored */
  REFUSED("usage", "checkpoint", "  ");
}

TEST(a_checkpoint_never_blocks) {
  STORE("The pier was built for swimmers");
  sql_do("ALTER TABLE checkpoint RENAME TO checkpoint_away");
  yyjson_val *r = OK("checkpoint", "swim behind the pier");
  CHECK(!jbool(r, "skipped"));
  CHECK(has(jstr(r, "degraded"), "checkpoint"));
  CHECK(jlen(r, "relevant") >= 1);
}

/* ---- text output ---- */

TEST(sessions_are_readable) {
  struct proc *p = sleeper();
  const char *handle = boot_for(p, "fix the login");
  struct run r = CAIRN("session", "list");
  CHECK(has(r.out, handle) && has(r.out, "fix the login") && has(r.out, "live"));
  use(handle);
  CHECK(has(CAIRN("session", "list").out, "this one"));
  CHECK(has(CAIRN("scratch", "list").out, "no values"));
  CHECK(has(CAIRN("session", "handoff").out, "no handoff"));
  CHECK(has(CAIRN("session", "end").out, "ended"));
  CHECK(has(CAIRN("session", "list").out, "no live session"));
  CHECK(has(CAIRN("action", "list").out, "no pending action items"));
  proc_kill(p, SIGKILL);
}

TEST(sessions_are_not_exported) {
  use(cstr(jstr(OK("boot", "--register", "--task", "zebra"), "session")));
  OK("scratch", "set", "k", "zebra");
  OK("session", "handoff", "zebra");
  OK("action", "add", "zebra");
  CHECK(!has(CAIRN("export").out, "zebra"));
}
