/* test_sessions.c: rows of sessions, handoffs, scratch values and checkpoints, and constraints of the schema. */
#include "store/tables/sessions.h"

#include "fixture.h"
#include "store/tables/actions.h"

static struct txn begin(struct fixture *f) {
  struct txn who = {.team = STR("default"), .project = STR("demo"), .source = STR("test"), .op = "test", .now = f->now};
  struct txn txn;
  CHECK_OK(sessions_begin(f->store, &who, &txn, &f->err), &f->err);
  return txn;
}

static struct session add(struct fixture *f, const char *handle) {
  struct session s = {
      .team = STR("default"), .handle = str_from(handle), .project = STR("demo"), .source = STR("test")};
  struct txn txn = begin(f);
  CHECK_OK(session_insert(&txn, &f->arena, &s, &f->err), &f->err);
  fixture_commit(f, &txn);
  return s;
}

static void end(struct fixture *f, const struct session *s) {
  struct txn txn = begin(f);
  CHECK_OK(session_end(&txn, &f->arena, s, "ended", &f->err), &f->err);
  fixture_commit(f, &txn);
}

static int64_t number(struct fixture *f, const char *sql) {
  int64_t n = 0;
  CHECK_OK(db_int(store_db(f->store), &n, NULL, &f->err, sql, NULL), &f->err);
  return n;
}

TEST(a_session_is_ended_once) {
  struct fixture f = fixture_new();
  struct session s = add(&f, "s-one");
  end(&f, &s);
  end(&f, &s);
  CHECK_INT(number(&f, "SELECT count(*) FROM event WHERE action = 'session:end'"), 1);
  CHECK_INT(number(&f, "SELECT count(*) FROM event WHERE txn IS NOT NULL AND action LIKE 'session%'"), 0);
  fixture_close(&f);
}

TEST(the_last_handoff_is_from_another_session_of_the_project_or_global) {
  struct fixture f = fixture_new();
  struct handoff h = {0};
  int64_t id;
  struct txn txn = begin(&f);
  CHECK_OK(handoff_add(&txn, &f.arena, STR("s-one"), STR("first"), &id, &f.err), &f.err);
  txn.project = STR("");
  CHECK_OK(handoff_add(&txn, &f.arena, STR_NONE, STR("global"), &id, &f.err), &f.err);
  txn.project = STR("other");
  CHECK_OK(handoff_add(&txn, &f.arena, STR("s-two"), STR("of another project"), &id, &f.err), &f.err);
  txn.project = STR("demo");
  CHECK_OK(handoff_add(&txn, &f.arena, STR("s-three"), STR("newest"), &id, &f.err), &f.err);
  fixture_commit(&f, &txn);
#define LAST(project, except)                                                                                          \
  CHECK_OK(handoff_last(f.store, STR("default"), STR(project), except, &f.arena, &h, &f.err), &f.err);                 \
  CHECK(h.id > 0)
  LAST("demo", STR_NONE);
  CHECK_STR(h.text, "newest");
  LAST("demo", STR("s-three"));
  CHECK_STR(h.text, "global");
  LAST("", STR_NONE);
  CHECK_STR(h.text, "global");
  LAST("other", STR_NONE);
  CHECK_STR(h.text, "of another project");
  CHECK_OK(handoff_last(f.store, STR("nobody"), STR("demo"), STR_NONE, &f.arena, &h, &f.err), &f.err);
  CHECK_INT(h.id, 0);
  fixture_close(&f);
}

TEST(scratch_values_are_deleted_with_their_session) {
  struct fixture f = fixture_new();
  struct session s = add(&f, "s-one"), other = add(&f, "s-two");
  struct txn txn = begin(&f);
  CHECK_OK(scratch_set(&txn, &s, STR("k"), STR("1"), &f.err), &f.err);
  CHECK_OK(scratch_set(&txn, &s, STR("k"), STR("2"), &f.err), &f.err);
  CHECK_OK(scratch_set(&txn, &other, STR("k"), STR("3"), &f.err), &f.err);
  fixture_commit(&f, &txn);
  struct str value;
  CHECK_OK(scratch_get(f.store, &s, STR("k"), &f.arena, &value, &f.err), &f.err);
  CHECK_STR(value, "2");
  end(&f, &s);
  CHECK_OK(scratch_get(f.store, &s, STR("k"), &f.arena, &value, &f.err), &f.err);
  CHECK(value.p == NULL);
  CHECK_OK(scratch_get(f.store, &other, STR("k"), &f.arena, &value, &f.err), &f.err);
  CHECK_STR(value, "3");
  fixture_close(&f);
}

TEST(old_sessions_are_deleted) {
  struct fixture f = fixture_new();
  struct session old = add(&f, "s-old"), live = add(&f, "s-live");
  end(&f, &old);
  f.now += SESSIONS_KEPT_DAYS * MS_PER_DAY;
  struct txn txn = begin(&f);
  CHECK_OK(checkpoint_set(&txn, STR("0123456789012345678901234567890123456789012345678901234567890123"), &f.err),
           &f.err);
  CHECK_OK(sessions_tidy(&txn, &f.err), &f.err);
  CHECK_INT(number(&f, "SELECT count(*) FROM session"), 2);
  txn.now += 2 * MS_PER_DAY;
  CHECK_OK(sessions_tidy(&txn, &f.err), &f.err);
  fixture_commit(&f, &txn);
  CHECK_INT(number(&f, "SELECT count(*) FROM session"), 1);
  CHECK_INT(number(&f, "SELECT count(*) FROM checkpoint"), 0);
  CHECK_INT(number(&f, "SELECT id FROM session"), live.id);
  fixture_close(&f);
}

TEST(a_heartbeat_never_waits_for_another_process) {
  struct fixture f = fixture_new();
  struct session s = add(&f, "s-one");
  struct store *other = fixture_open("store.db");
  struct error err;
  CHECK_OK(db_begin(store_db(other), STR_NONE, false, &err), &err); /* another process holds the lock */
  int64_t ticks = clock_ticks_us();
  struct beat b = {.team = s.team, .handle = s.handle};
  session_heartbeat(f.store, &b, f.now + 60000);
  CHECK(clock_ticks_us() - ticks < 30000000); /* a wait for the lock takes a minute */
  CHECK_INT(number(&f, "SELECT heartbeat_at FROM session"), f.now);
  db_rollback(store_db(other));
  session_heartbeat(f.store, &b, f.now + 60001); /* the next call writes it */
  CHECK_INT(number(&f, "SELECT heartbeat_at FROM session"), f.now + 60001);
  store_close(&other);
  fixture_close(&f);
}

static void refuses(struct fixture *f, const char *sql) {
  struct error err;
  if (db_script(store_db(f->store), &err, sql) == STATUS_OK)
    FAIL("accepted, but should be refused: %s", sql);
}

TEST(the_schema_refuses_inconsistent_rows) {
  struct fixture f = fixture_new();
  add(&f, "s-one");
#define ITEM(columns, values)                                                                                          \
  "INSERT INTO action_item (team, text, source, created_at, kind" columns ") VALUES ('default', 'x', 't', 1" values ")"
  refuses(&f, ITEM("", ", 'idea'"));
  refuses(&f, ITEM(", status", ", 'task', 'someday'"));
  refuses(&f, ITEM(", status, decided_at, reason", ", 'rule', 'already_done', 1, 'r'")); /* rules do not complete */
  refuses(&f, ITEM(", status, decided_at", ", 'task', 'not_relevant', 1"));              /* no reason */
  refuses(&f, ITEM(", status, decided_at, reason", ", 'task', 'not_relevant', 1, '  '"));
  refuses(&f, ITEM(", status", ", 'task', 'will_execute'")); /* decided without a time */
  refuses(&f, ITEM(", memory_id", ", 'task', 99"));
  refuses(&f, "UPDATE session SET ended_at = 5");
  refuses(&f, "UPDATE session SET end_reason = 'why'");
  refuses(&f,
          "INSERT INTO session (team, handle, source, booted_at, heartbeat_at) VALUES ('default', 's-one', 't', 1, 1)");
  refuses(&f, "INSERT INTO scratch (team, session, key, value, updated_at) VALUES ('default', 's-none', 'k', 'v', 1)");
  refuses(&f, "INSERT INTO handoff (team, source, text, created_at) VALUES ('default', 't', '', 1)");
  refuses(&f, "INSERT INTO handoff (team, source, text, created_at) VALUES ('default', 't', printf('%2001c', 'x'), 1)");
  fixture_close(&f);
}
