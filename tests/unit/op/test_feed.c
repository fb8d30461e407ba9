/* test_feed.c: events of any connection reach every subscriber once, in order, from the requested position, whatever
 * happens to the store. */
#include "op/admin/feed.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/id.h"
#include "base/json.h"
#include "store/memories/memories.h"
#include "store/tables/sessions.h"
#include "store/tables/tokens.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

enum { KEPT = 4096 };

static struct error err;

struct seen {
  pthread_mutex_t lock;
  pthread_cond_t more;
  int64_t seq[KEPT];
  char uid[KEPT][16];
  size_t n;
  atomic_bool closed; /* no more calls are allowed */
  int pause_us;
};

static void seen_init(struct seen *s) {
  memset(s, 0, sizeof(*s));
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->more, NULL);
}

static void note(void *arg, const struct event *e) {
  struct seen *s = arg;
  if (atomic_load(&s->closed))
    FAIL("called after unsubscribe");
  if (s->pause_us)
    usleep((useconds_t)s->pause_us);
  pthread_mutex_lock(&s->lock);
  if (s->n < KEPT) {
    s->seq[s->n] = e->seq;
    snprintf(s->uid[s->n], sizeof(s->uid[0]), "%.*s", STR_ARG(e->uid));
    s->n++;
  }
  pthread_cond_signal(&s->more);
  pthread_mutex_unlock(&s->lock);
  if (atomic_load(&s->closed))
    FAIL("unsubscribe did not wait for the function");
}

/* Waits up to the test's time limit. */
static void wait_for(struct seen *s, size_t n) {
  pthread_mutex_lock(&s->lock);
  while (s->n < n)
    pthread_cond_wait(&s->more, &s->lock);
  pthread_mutex_unlock(&s->lock);
}

static size_t count(struct seen *s) {
  pthread_mutex_lock(&s->lock);
  size_t n = s->n;
  pthread_mutex_unlock(&s->lock);
  return n;
}

static const char *path_of(const char *name) { return test_store(name); }

static struct store *open_store(const char *path) {
  struct store_options o = {.path = path, .now = 1763208000000};
  struct store *st = NULL;
  CHECK_OK(store_open(&o, &st, &err), &err);
  return st;
}

static void add(struct store *st, const char *team, const char *uid) {
  struct txn who = {.team = str_from(team), .project = STR(""), .source = STR("test"), .op = "test", .now = 1};
  struct txn txn;
  struct event e = {.action = STR("test:event"), .uid = str_from(uid), .detail = STR("{\"n\":1}")};
  CHECK_OK(txn_begin(st, &who, 0, &txn, &err), &err);
  CHECK_OK(event_add(&txn, &e, &err), &err);
  CHECK_OK(txn_commit(&txn, &err), &err);
}

static void add_many(struct store *st, const char *team, int from, int to) {
  for (int i = from; i <= to; i++) {
    char uid[16];
    snprintf(uid, sizeof(uid), "e%d", i);
    add(st, team, uid);
  }
}

static struct feed *new_feed(const char *path) {
  struct engine_options o = {.path = path};
  struct feed *f = NULL;
  CHECK_OK(feed_new(&o, &f, &err), &err);
  return f;
}

static struct feed_subscriber *subscribe(struct feed *f, const char *team, int64_t since, struct seen *s) {
  struct feed_subscriber *sub = NULL;
  struct subscription what = {str_from(team), NULL, since, note, s};
  CHECK_OK(feed_subscribe(f, &what, &sub, &err), &err);
  return sub;
}

/* Events e<from>, e<from + 1>, ...: each once, in the order of the log. */
static void check_run(struct seen *s, int from, size_t n) {
  CHECK_INT(s->n, n);
  for (size_t i = 0; i < n; i++) {
    char uid[16];
    snprintf(uid, sizeof(uid), "e%zu", (size_t)from + i);
    CHECK_STR(str_from(s->uid[i]), uid);
    CHECK(i == 0 || s->seq[i] > s->seq[i - 1]);
  }
}

static void add_memory(struct store *st, struct arena *a, const char *project) {
  struct txn who = {
      .team = STR("default"), .project = str_from(project), .source = STR("test"), .op = "test", .now = 1};
  struct txn txn;
  struct chunk_rows chunks = {0};
  char uid[UUID_SIZE];
  uuid7_new(1763208000000, uid);
  struct memory m = {.uid = str_from(uid),
                     .team = STR("default"),
                     .project = str_from(project),
                     .kind = STR("fact"),
                     .type = STR("fact"),
                     .headline = STR("A fact"),
                     .body = STR("text"),
                     .delivery = STR("on_demand"),
                     .trust = STR("user"),
                     .state = STR("active"),
                     .weight = 1.0,
                     .valid_from = 1,
                     .created_at = 1,
                     .updated_at = 1,
                     .source = STR("test")};
  CHECK_OK(txn_begin(st, &who, 0, &txn, &err), &err);
  CHECK_OK(memory_insert(&txn, a, &m, &chunks, &err), &err);
  CHECK_OK(txn_commit(&txn, &err), &err);
}

static void declare(struct store *st, struct arena *a, const char *name, enum role role, const char *project) {
  struct txn who = {.team = STR("default"), .project = STR(""), .source = STR("test"), .op = "test", .now = 1};
  struct txn txn;
  struct agent agent = {.name = str_from(name), .role = role, .project = str_from(project)};
  CHECK_OK(txn_begin(st, &who, 0, &txn, &err), &err);
  CHECK_OK(agent_insert(&txn, a, &agent, &err), &err);
  CHECK_OK(txn_commit(&txn, &err), &err);
}

static struct feed *new_feed_of(const char *path, const char *agent) {
  struct engine_options o = {.path = path};
  struct feed *f = NULL;
  snprintf(o.agent, sizeof(o.agent), "%s", agent);
  CHECK_OK(feed_new(&o, &f, &err), &err);
  return f;
}

TEST(subscribers_get_only_events_that_the_agent_may_read) {
  static struct seen own, all, none, nobody;
  struct arena a = {0};
  const char *path = path_of("a.db");
  struct store *st = open_store(path);
  declare(st, &a, "web", ROLE_PROJECT, "alpha");
  declare(st, &a, "seo", ROLE_SKILL, NULL);
  struct seen *seen[] = {&own, &none, &nobody, &all};
  const char *agents[] = {"web", "seo", "stranger", ""};
  struct feed *feeds[4];
  struct feed_subscriber *subs[4];
  for (size_t i = 0; i < 4; i++) {
    seen_init(seen[i]);
    feeds[i] = new_feed_of(path, agents[i]);
    subs[i] = subscribe(feeds[i], "default", 0, seen[i]);
  }
  static const char *const projects[] = {"beta", "alpha", "beta", "", "beta"};
  for (size_t i = 0; i < ARRAY_LEN(projects); i++)
    add_memory(st, &a, projects[i]);
  wait_for(&all, 7); /* two declarations, five memories */
  wait_for(&own, 2);
  add_memory(st, &a, "alpha");
  wait_for(&own, 3); /* and nothing in between */
  wait_for(&all, 8);
  CHECK_INT((int64_t)count(&own), 3);
  CHECK_INT((int64_t)count(&none), 0);
  CHECK_INT((int64_t)count(&nobody), 0);
  for (size_t i = 0; i < 4; i++) {
    feed_unsubscribe(feeds[i], &subs[i]);
    feed_close(&feeds[i]);
  }
  store_close(&st);
  arena_release(&a);
}

TEST(logged_events_come_first_then_commits_of_another_handle) {
  static struct seen s;
  const char *path = path_of("a.db");
  struct store *st = open_store(path);
  add_many(st, "default", 1, 3);
  struct feed *f = new_feed(path);
  seen_init(&s);
  struct feed_subscriber *sub = subscribe(f, "default", 0, &s);
  wait_for(&s, 3);
  add_many(st, "default", 4, 6);
  wait_for(&s, 6);
  check_run(&s, 1, 6);
  feed_unsubscribe(f, &sub);
  CHECK(!sub);
  feed_close(&f);
  CHECK(!f);
  store_close(&st);
}

TEST(a_subscriber_without_since_gets_only_new_events) {
  static struct seen s, late;
  const char *path = path_of("a.db");
  struct store *st = open_store(path);
  add_many(st, "default", 1, 5);
  struct feed *f = new_feed(path);
  seen_init(&s);
  seen_init(&late);
  struct feed_subscriber *sub = subscribe(f, "default", -1, &s);
  add_many(st, "default", 6, 7); /* immediately: the thread may not have checked yet */
  struct feed_subscriber *second = subscribe(f, "default", -1, &late);
  add_many(st, "default", 8, 9);
  wait_for(&s, 4);
  wait_for(&late, 2);
  check_run(&s, 6, 4);
  check_run(&late, 8, 2);
  feed_unsubscribe(f, &second);
  feed_unsubscribe(f, &sub);
  feed_close(&f);
  store_close(&st);
}

TEST(a_subscriber_resumes_after_a_sequence_number) {
  static struct seen first, again;
  const char *path = path_of("a.db");
  struct store *st = open_store(path);
  add_many(st, "default", 1, 10);
  struct feed *f = new_feed(path);
  seen_init(&first);
  seen_init(&again);
  struct feed_subscriber *sub = subscribe(f, "default", 0, &first);
  wait_for(&first, 10);
  feed_unsubscribe(f, &sub);
  sub = subscribe(f, "default", first.seq[5], &again);
  wait_for(&again, 4);
  check_run(&again, 7, 4);
  feed_unsubscribe(f, &sub);
  feed_close(&f);
  store_close(&st);
}

TEST(a_sequence_number_past_the_end_means_the_end) {
  static struct seen s;
  const char *path = path_of("a.db");
  struct store *st = open_store(path);
  add_many(st, "default", 1, 2);
  struct feed *f = new_feed(path);
  seen_init(&s);
  struct feed_subscriber *sub = subscribe(f, "default", 1000000, &s);
  while (count(&s) == 0) { /* its position is set when the thread first checks; later events are new */
    add_many(st, "default", 3, 3);
    usleep(20000);
  }
  CHECK_STR(str_from(s.uid[0]), "e3");
  feed_unsubscribe(f, &sub);
  feed_close(&f);
  store_close(&st);
}

TEST(teams_do_not_see_each_other) {
  static struct seen red, blue;
  const char *path = path_of("a.db");
  struct store *st = open_store(path);
  struct feed *f = new_feed(path);
  seen_init(&red);
  seen_init(&blue);
  struct feed_subscriber *r = subscribe(f, "red", 0, &red), *b = subscribe(f, "blue", 0, &blue);
  add(st, "blue", "e1");
  add(st, "red", "e1");
  add(st, "blue", "e2");
  add(st, "red", "e2");
  wait_for(&red, 2);
  wait_for(&blue, 2);
  check_run(&red, 1, 2);
  check_run(&blue, 1, 2);
  feed_unsubscribe(f, &r);
  feed_unsubscribe(f, &b);
  feed_close(&f);
  store_close(&st);
}

TEST(a_store_created_later_is_followed_from_its_first_event) {
  static struct seen s, now;
  const char *path = test_store_new("later.db");
  struct feed *f = new_feed(path);
  seen_init(&s);
  seen_init(&now);
  struct feed_subscriber *sub = subscribe(f, "default", 0, &s), *other = subscribe(f, "default", -1, &now);
  usleep(100000);
  CHECK_INT(count(&s), 0);
  CHECK(!store_is_there(path)); /* a reader creates no store */
  struct store *st = open_store(path);
  add_many(st, "default", 1, 3);
  wait_for(&s, 3);
  wait_for(&now, 3);
  check_run(&s, 1, 3);
  check_run(&now, 1, 3);
  feed_unsubscribe(f, &sub);
  feed_unsubscribe(f, &other);
  feed_close(&f);
  store_close(&st);
}

/* A file that is not a store, later replaced by a store. */
TEST(a_failed_store_is_retried, .only = TEST_ON_SQLITE) {
  static struct seen s;
  const char *path = path_of("a.db"), *good = path_of("good.db");
  FILE *junk = fopen(path, "w");
  CHECK(junk && fputs("this is not a database, and it is long enough to be looked at\n", junk) >= 0);
  CHECK(fclose(junk) == 0);
  struct store *st = open_store(good);
  add_many(st, "default", 1, 2);
  store_close(&st);
  struct feed *f = new_feed(path);
  seen_init(&s);
  struct feed_subscriber *sub = subscribe(f, "default", 0, &s);
  usleep(100000);
  CHECK_INT(count(&s), 0);
  CHECK(rename(good, path) == 0);
  wait_for(&s, 2);
  check_run(&s, 1, 2);
  feed_unsubscribe(f, &sub);
  feed_close(&f);
}

TEST(a_restored_log_that_is_shorter_is_followed_from_its_end) {
  static struct seen s;
  struct arena a;
  arena_init(&a);
  const char *path = path_of("a.db"), *copy = path_join(NULL, "copy.db");
  struct store *st = open_store(path);
  add_many(st, "default", 1, 2);
  CHECK_OK(store_copy_to(st, copy, NULL, NULL, &err), &err);
  add_many(st, "default", 3, 8);
  struct feed *f = new_feed(path);
  seen_init(&s);
  struct feed_subscriber *sub = subscribe(f, "default", 0, &s);
  wait_for(&s, 8);
  struct restored restored;
  CHECK_OK(store_restore(st, copy, 1763208000000, &a, &restored, &err), &err);
  size_t before = count(&s);
  for (int i = 0; i < 200 && count(&s) == before; i++) {
    add(st, "default", "new");
    usleep(20000);
  }
  CHECK_STR(str_from(s.uid[before]), "new");
  CHECK(s.seq[before] < s.seq[before - 1]);
  feed_unsubscribe(f, &sub);
  feed_close(&f);
  store_close(&st);
  arena_release(&a);
}

struct writer {
  struct store *store;
  atomic_bool stop;
  int from, to;
};

static void *write_on(void *arg) {
  struct writer *w = arg;
  for (int i = w->from; i <= w->to && !atomic_load(&w->stop); i++)
    add_many(w->store, "default", i, i);
  return NULL;
}

TEST(many_subscribers_each_get_every_event_once) {
  enum { SUBS = 8, EVENTS = 1200 }; /* more than a batch */
  static struct seen s[SUBS];
  struct feed_subscriber *sub[SUBS];
  const char *path = path_of("a.db");
  struct writer w = {.store = open_store(path), .from = 1, .to = EVENTS};
  struct error e2;
  if (!on_postgres())
    CHECK_OK(db_exec(store_db(w.store), &e2, "PRAGMA synchronous = OFF", NULL), &e2);
  struct feed *f = new_feed(path);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, write_on, &w) == 0);
  for (int i = 0; i < SUBS; i++) {
    seen_init(&s[i]);
    sub[i] = subscribe(f, "default", 0, &s[i]);
  }
  for (int i = 0; i < SUBS; i++)
    wait_for(&s[i], EVENTS);
  pthread_join(thread, NULL);
  for (int i = 0; i < SUBS; i++) {
    check_run(&s[i], 1, EVENTS);
    feed_unsubscribe(f, &sub[i]);
  }
  feed_close(&f);
  store_close(&w.store);
}

TEST(unsubscribe_while_events_arrive_waits_for_the_function) {
  enum { ROUNDS = 20 };
  static struct seen s[ROUNDS], steady;
  const char *path = path_of("a.db");
  struct writer w = {.store = open_store(path), .from = 1, .to = 100000};
  struct error e2;
  if (!on_postgres())
    CHECK_OK(db_exec(store_db(w.store), &e2, "PRAGMA synchronous = OFF", NULL), &e2);
  add_many(w.store, "default", 0, 0);
  struct feed *f = new_feed(path);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, write_on, &w) == 0);
  seen_init(&steady);
  struct feed_subscriber *stays = subscribe(f, "default", -1, &steady);
  for (int i = 0; i < ROUNDS; i++) {
    seen_init(&s[i]);
    s[i].pause_us = 2000;
    struct feed_subscriber *sub = subscribe(f, "default", i % 2 ? -1 : 0, &s[i]);
    if (i % 2 == 0)
      wait_for(&s[i], 1);
    feed_unsubscribe(f, &sub);
    atomic_store(&s[i].closed, true);
  }
  wait_for(&steady, 10);
  atomic_store(&w.stop, true);
  pthread_join(thread, NULL);
  feed_unsubscribe(f, &stays);
  feed_close(&f);
  store_close(&w.store);
}

TEST(closing_with_subscribers_left_stops_the_thread) {
  static struct seen s;
  const char *path = path_of("a.db");
  struct store *st = open_store(path);
  add_many(st, "default", 1, 700);
  struct feed *f = new_feed(path);
  seen_init(&s);
  s.pause_us = 1000;
  subscribe(f, "default", 0, &s);
  wait_for(&s, 1);
  feed_close(&f);
  atomic_store(&s.closed, true);
  size_t n = s.n;
  CHECK(n < 700);
  struct feed *never = new_feed(path);
  feed_close(&never); /* without a subscriber */
  store_close(&st);
}

TEST(an_event_as_json_equals_the_command_output) {
  struct arena a;
  arena_init(&a);
  struct event e = {.seq = 7,
                    .txn = 3,
                    .at = 1763208000000,
                    .memory_id = 12,
                    .change = "insert",
                    .action = STR("memory:write"),
                    .op = STR("remember"),
                    .project = STR("p"),
                    .source = STR("cli"),
                    .after = STR("{\"x\":1}")};
  CHECK_STR(event_json(&a, &e, NULL),
            "{\"seq\":7,\"at\":\"2025-11-15T12:00:00.000Z\",\"action\":\"memory:write\",\"change\":\"insert\","
            "\"op\":\"remember\",\"txn\":3,\"id\":12,\"project\":\"p\",\"source\":\"cli\",\"after\":{\"x\":1}}");
  arena_release(&a);
}

/* ---- a server ---- */

/* Terminates all other connections to the store, including the feed's. */
static void cut_connections(const char *store) {
  struct direct *d = direct_open(store);
  direct_string(d, "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE datname ="
                   " current_database() AND usename = current_user AND pid <> pg_backend_pid()");
  direct_close(d);
}

TEST(a_lost_connection_loses_no_event, .only = TEST_ON_POSTGRES) {
  static struct seen s;
  const char *path = path_of("a.db");
  struct store *st = open_store(path);
  struct feed *f = new_feed(path);
  seen_init(&s);
  struct feed_subscriber *sub = subscribe(f, "default", -1, &s);
  for (int round = 0; round < 5; round++) {
    add_many(st, "default", 4 * round + 1, 4 * round + 2);
    if (round % 2) /* after they arrived, or while they are being delivered */
      wait_for(&s, (size_t)(4 * round + 2));
    cut_connections(path);
    add_many(st, "default", 4 * round + 3, 4 * round + 4);
  }
  wait_for(&s, 20);
  check_run(&s, 1, 20);
  feed_unsubscribe(f, &sub);
  feed_close(&f);
  store_close(&st);
}

/* Writers of two teams do not wait for each other: a lower sequence number may become visible later. */
TEST(an_event_committed_after_a_larger_number_is_delivered, .only = TEST_ON_POSTGRES) {
  static struct seen own, others;
  const char *path = path_of("a.db");
  struct store *st = open_store(path), *slow = open_store(path);
  struct feed *f = new_feed(path);
  seen_init(&own);
  seen_init(&others);
  struct txn who = {.team = STR("slow"), .project = STR(""), .source = STR("test"), .op = "test", .now = 1}, txn;
  struct event e = {.action = STR("test:event"), .uid = STR("e1"), .detail = STR("{\"n\":1}")};
  CHECK_OK(txn_begin(slow, &who, 0, &txn, &err), &err);
  CHECK_OK(event_add(&txn, &e, &err), &err);
  struct feed_subscriber *a = subscribe(f, "fast", -1, &others);
  add_many(st, "fast", 1, 3);
  wait_for(&others, 3);
  /* New events start after the end of the team's own log, which does not include the open transaction. */
  struct feed_subscriber *b = subscribe(f, "slow", -1, &own);
  add_many(st, "fast", 4, 4);
  wait_for(&others, 4);
  CHECK_OK(txn_commit(&txn, &err), &err);
  wait_for(&own, 1);
  check_run(&own, 1, 1);
  check_run(&others, 1, 4);
  feed_unsubscribe(f, &a);
  feed_unsubscribe(f, &b);
  feed_close(&f);
  store_close(&slow);
  store_close(&st);
}

/* A crash loses read events, which are committed asynchronously. Their sequence numbers are reused. */
TEST(a_number_reused_after_a_crash_is_delivered_again, .only = TEST_ON_POSTGRES) {
  static struct seen s;
  const char *path = path_of("a.db");
  struct store *st = open_store(path);
  struct feed *f = new_feed(path);
  seen_init(&s);
  struct feed_subscriber *sub = subscribe(f, "default", -1, &s);
  add_many(st, "default", 1, 3);
  wait_for(&s, 3);
  struct direct *d = direct_open(path);
  direct_do(d, "ALTER TABLE event DISABLE TRIGGER USER; DELETE FROM event WHERE uid IN ('e2', 'e3');"
               "SELECT setval(pg_get_serial_sequence('event', 'seq'), (SELECT max(seq) FROM event))");
  direct_close(d);
  cut_connections(path);
  struct txn who = {.team = STR("default"), .project = STR(""), .source = STR("test"), .op = "test", .now = 1000};
  const char *const uids[] = {"e4", "e5"};
  for (size_t i = 0; i < 2; i++) {
    struct txn txn;
    struct event e = {.action = STR("test:event"), .uid = str_from(uids[i]), .detail = STR("{\"n\":1}")};
    CHECK_OK(txn_begin(st, &who, 0, &txn, &err), &err);
    CHECK_OK(event_add(&txn, &e, &err), &err);
    CHECK_OK(txn_commit(&txn, &err), &err);
  }
  wait_for(&s, 5);
  CHECK_INT(s.n, 5);
  CHECK_STR(str_from(s.uid[3]), "e4");
  CHECK_STR(str_from(s.uid[4]), "e5");
  CHECK_INT(s.seq[3], s.seq[1]); /* the number of e2 */
  feed_unsubscribe(f, &sub);
  feed_close(&f);
  store_close(&st);
}

/* ---- tokens ---- */

struct bearer {
  struct seen seen;
  atomic_int ends; /* number of calls with the end of its token */
};

static void note_of_bearer(void *arg, const struct event *e) {
  struct bearer *b = arg;
  if (e)
    note(&b->seen, e);
  else
    atomic_fetch_add(&b->ends, 1);
}

static struct feed_subscriber *subscribe_as(struct feed *f, const struct principal *who, struct bearer *b) {
  struct feed_subscriber *sub = NULL;
  seen_init(&b->seen);
  struct subscription what = {who->team, who, 0, note_of_bearer, b};
  CHECK_OK(feed_subscribe(f, &what, &sub, &err), &err);
  return sub;
}

/* Waits up to the test's time limit. */
static void wait_for_end(struct bearer *b) {
  while (atomic_load(&b->ends) == 0)
    usleep(1000);
}

static void make_token(struct store *st, struct arena *a, const char *name, const char *id) {
  struct txn who = {.team = STR("default"), .project = STR(""), .source = STR("test"), .op = "test", .now = 1}, txn;
  struct token t = {.team = who.team, .id = str_from(id), .name = str_from(name), .created_by = STR("test")};
  CHECK_OK(sessions_begin(st, &who, &txn, &err), &err);
  CHECK_OK(token_insert(&txn, a, &t, &err), &err);
  CHECK_OK(txn_commit(&txn, &err), &err);
}

static void revoke_token(struct store *st, struct arena *a, const char *id) {
  struct txn who = {.team = STR("default"), .project = STR(""), .source = STR("test"), .op = "test", .now = 2}, txn;
  struct token t = {.team = who.team, .id = str_from(id), .name = STR("?")};
  CHECK_OK(sessions_begin(st, &who, &txn, &err), &err);
  CHECK_OK(token_revoke(&txn, a, &t, &err), &err);
  CHECK_OK(txn_commit(&txn, &err), &err);
}

static struct principal bearer_of(const char *id) {
  return (struct principal){.name = STR("token:x"), .team = STR("default"), .role = ROLE_ADMIN, .token = str_from(id)};
}

TEST(a_revoked_token_is_reported_once_and_ends_delivery) {
  static struct bearer first, second;
  struct arena a;
  arena_init(&a);
  const char *path = path_of("a.db");
  struct store *st = open_store(path);
  make_token(st, &a, "one", "aaaaaaaaaaaa");
  make_token(st, &a, "two", "bbbbbbbbbbbb");
  struct feed *f = new_feed(path);
  struct principal one = bearer_of("aaaaaaaaaaaa"), two = bearer_of("bbbbbbbbbbbb");
  struct feed_subscriber *of_one = subscribe_as(f, &one, &first), *of_two = subscribe_as(f, &two, &second);
  wait_for(&first.seen, 2); /* creation of the tokens */
  revoke_token(st, &a, "aaaaaaaaaaaa");
  wait_for_end(&first);
  size_t heard = count(&first.seen);
  add_many(st, "default", 1, 3);
  wait_for(&second.seen, 2 + 1 + 3);
  CHECK_INT(count(&first.seen), heard);
  CHECK_INT(atomic_load(&first.ends), 1);
  CHECK_INT(atomic_load(&second.ends), 0);
  feed_unsubscribe(f, &of_one);
  feed_unsubscribe(f, &of_two);
  feed_close(&f);
  store_close(&st);
  arena_release(&a);
}

/* Nothing is committed, and there is no store to read. */
TEST(an_expired_token_is_reported_without_an_event) {
  static struct bearer b, never;
  struct feed *f = new_feed(path_join(NULL, "none.db"));
  struct clock clock = {0};
  struct principal who = bearer_of("aaaaaaaaaaaa"), other = bearer_of("bbbbbbbbbbbb");
  who.expires_at = clock_now(&clock) + 300;
  other.expires_at = clock_now(&clock) + MS_PER_DAY;
  struct feed_subscriber *sub = subscribe_as(f, &who, &b), *stays = subscribe_as(f, &other, &never);
  wait_for_end(&b);
  CHECK(clock_now(&clock) >= who.expires_at);
  CHECK_INT(atomic_load(&never.ends), 0);
  feed_unsubscribe(f, &sub);
  feed_unsubscribe(f, &stays);
  CHECK_INT(atomic_load(&b.ends), 1);
  feed_close(&f);
}
