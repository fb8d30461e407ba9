/* test_concurrency.c: a connection while others hold the lock, write, or replace the store's file. */
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "fixture.h"
#include "store/tables/events.h"
#include "store/vectors/vectors.h"

/* Another program that blocks all writes to the store. */
static struct direct *stranger(void) {
  struct direct *d = direct_open(test_store("store.db"));
  direct_lock(d);
  return d;
}

static int64_t count(struct fixture *f, const char *sql) {
  int64_t n;
  CHECK_OK(db_int(store_db(f->store), &n, NULL, &f->err, sql, NULL), &f->err);
  return n;
}

TEST(recording_a_read_never_waits_for_a_writer) {
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  struct memory m = fixture_fact(&f, &txn, STR(""), STR("text"), NULL);
  fixture_commit(&f, &txn);
  struct direct *writer = stranger();
  struct txn who = {.team = STR("default"), .project = STR(""), .source = STR("test"), .op = "get", .now = f.now};
  int64_t began = clock_ticks_us();
  for (int i = 0; i < 200; i++)
    reads_queue(f.store, &who, STR("memory:read"), m.id, m.uid, STR("{}"));
  CHECK(clock_ticks_us() - began < 30000000); /* one wait for the lock takes a minute */
  direct_close(writer);
  /* Nothing was lost: the lock is free now. */
  reads_flush(f.store);
  CHECK_INT(count(&f, "SELECT count(*) FROM event WHERE action = 'memory:read'"), 200);
  CHECK_INT(count(&f, "SELECT access_count FROM memory"), 200);
  fixture_close(&f);
}

TEST(reads_beyond_a_full_queue_are_dropped) {
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  struct memory m = fixture_fact(&f, &txn, STR(""), STR("text"), NULL);
  fixture_commit(&f, &txn);
  struct direct *writer = stranger();
  struct txn who = {.team = STR("default"), .project = STR(""), .source = STR("test"), .op = "get", .now = f.now};
  for (int i = 0; i < 4200; i++)
    reads_queue(f.store, &who, STR("memory:read"), m.id, m.uid, STR_NONE);
  direct_close(writer);
  reads_queue(f.store, &who, STR("memory:read"), m.id, m.uid, STR_NONE);
  CHECK_INT(count(&f, "SELECT count(*) FROM event WHERE action = 'memory:read'"), 4096);
  reads_flush(f.store);
  CHECK_INT(count(&f, "SELECT count(*) FROM event WHERE action = 'memory:read'"), 4097);
  fixture_close(&f);
}

/* A backup that restarted at every change would never end. */
TEST(a_backup_ends_while_others_write, .only = TEST_ON_SQLITE) {
  struct fixture f = fixture_new();
  CHECK_OK(db_script(store_db(f.store), &f.err,
                     "CREATE TABLE bulk (n INTEGER PRIMARY KEY, filling BLOB); WITH RECURSIVE c (n) AS (SELECT 1 UNION"
                     " ALL SELECT n + 1 FROM c WHERE n < 6000) INSERT INTO bulk SELECT n, zeroblob(3500) FROM c"),
           &f.err);
  fflush(NULL);
  pid_t writer = fork();
  if (writer == 0) {
    sqlite3 *db = NULL;
    sqlite3_open(test_store("store.db"), &db);
    sqlite3_busy_timeout(db, 10000);
    sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
    for (;;) /* until killed */
      if (sqlite3_exec(db, "UPDATE bulk SET filling = randomblob(3500) WHERE n = 7", NULL, NULL, NULL) != SQLITE_OK)
        _exit(1);
  }
  CHECK(writer > 0);
  usleep(50000);
  CHECK_OK(store_copy_to(f.store, path_join(NULL, "copy.db"), NULL, NULL, &f.err), &f.err);
  CHECK_INT(kill(writer, SIGKILL), 0);
  CHECK_INT(waitpid(writer, NULL, 0), writer);
  struct db_options o = {.path = path_join(NULL, "copy.db"), .must_exist = true, .read_only = true};
  struct db *copy = NULL;
  int64_t n;
  CHECK_OK(db_open(&o, &copy, &f.err), &f.err);
  CHECK_OK(db_int(copy, &n, NULL, &f.err, "SELECT count(*) FROM bulk", NULL), &f.err);
  CHECK_INT(n, 6000);
  db_close(&copy);
  fixture_close(&f);
}

TEST(an_unfinished_backup_does_not_block_the_next, .only = TEST_ON_SQLITE) {
  struct fixture f = fixture_new();
  const char *path = path_join(NULL, "copy.db");
  file_write(path_join(NULL, "copy.db.part"), STR("left behind"));
  CHECK_OK(store_copy_to(f.store, path, NULL, NULL, &f.err), &f.err);
  CHECK_INT(access(path, F_OK), 0);
  fixture_close(&f);
}

/* A backup has no side files and another journal mode; used as a store, it allows concurrent readers and writers. */
TEST(a_backup_can_be_used_as_a_store, .only = TEST_ON_SQLITE) {
  struct fixture f = fixture_new();
  CHECK_OK(store_copy_to(f.store, path_join(NULL, "copy.db"), NULL, NULL, &f.err), &f.err);
  struct store *st = fixture_open("copy.db");
  struct rows r;
  db_query(store_db(st), &r, &f.err, "PRAGMA journal_mode", NULL);
  CHECK(rows_next(&r));
  CHECK_STR(rows_text(&r, 0), "wal");
  CHECK_OK(rows_end(&r), &f.err);
  store_close(&st);
  fixture_close(&f);
}

/* ---- rollback ---- */

TEST(a_savepoint_rolls_back_only_later_changes) {
  struct fixture f = fixture_new();
  struct txn txn = fixture_begin(&f);
  fixture_fact(&f, &txn, STR(""), STR("kept"), NULL);
  CHECK_OK(txn_savepoint(&txn, &f.err), &f.err);
  fixture_fact(&f, &txn, STR(""), STR("taken back"), NULL);
  CHECK_OK(txn_savepoint_end(&txn, false, &f.err), &f.err);
  CHECK_OK(txn_savepoint(&txn, &f.err), &f.err);
  fixture_fact(&f, &txn, STR(""), STR("kept too"), NULL);
  CHECK_OK(txn_savepoint_end(&txn, true, &f.err), &f.err);
  fixture_commit(&f, &txn);
  CHECK_INT(count(&f, "SELECT count(*) FROM memory"), 2);
  CHECK_INT(count(&f, "SELECT count(*) FROM body WHERE text LIKE 'kept%'"), 2);
  CHECK_INT(count(&f, HAS_WORD("kept")), 2);
  CHECK_INT(count(&f, HAS_WORD("taken")), 0);
  fixture_close(&f);
}

enum { DIMS = 256 };
static const struct vec_model model = {STR_INIT("default"), STR_INIT("test-model"), DIMS};

/* Nearest chunk to a vector. */
static int64_t nearest(struct fixture *f, const int8_t *vector) {
  struct vec_hits hits = {0};
  struct vec_filter any = {.one = SQL(&f->arena), .all = SQL(&f->arena)};
  sql_add(&any.one, "SELECT memory_id FROM chunk WHERE id = ");
  sql_int(&any.one, 0);
  sql_add(&any.all, "SELECT id FROM chunk LIMIT ");
  sql_int(&any.all, 0);
  struct vec_query q = {&model, vector, 0.5, 1, &any};
  CHECK_OK(vec_search(f->store, &q, &f->arena, &hits, NULL, &f->err), &f->err);
  return hits.n ? hits.v[0].chunk_id : 0;
}

/* The cache uses versions, and a rolled-back version number is used again for other vectors. */
TEST(rolled_back_vectors_are_not_cached) {
  struct fixture f = fixture_new();
  int8_t first[DIMS] = {0}, second[DIMS] = {0};
  memset(first, 8, DIMS / 2);
  memset(second + DIMS / 2, 8, DIMS / 2);
  int64_t chunk;
  struct txn txn = fixture_begin(&f);
  fixture_fact(&f, &txn, STR(""), STR("some other one, so that there is a block"), &chunk);
  int8_t other[DIMS] = {100};
  CHECK_OK(vec_add(&txn, &model, chunk, other, &f.err), &f.err);
  fixture_commit(&f, &txn);
  txn = fixture_begin(&f);
  fixture_fact(&f, &txn, STR(""), STR("first"), &chunk);
  CHECK_OK(vec_add(&txn, &model, chunk, first, &f.err), &f.err);
  CHECK_INT(nearest(&f, first), chunk); /* cached before the rollback */
  store_rollback(f.store);
  txn = fixture_begin(&f);
  fixture_fact(&f, &txn, STR(""), STR("second"), &chunk);
  CHECK_OK(vec_add(&txn, &model, chunk, second, &f.err), &f.err);
  fixture_commit(&f, &txn);
  CHECK_INT(nearest(&f, second), chunk);
  CHECK_INT(nearest(&f, first), 0);
  fixture_close(&f);
}

#define IDS "SELECT id FROM memory WHERE team = ?1 ORDER BY id"

/* Begins a snapshot and a query, and runs out of memory. */
static void jump_out_of_a_query(struct fixture *f) {
  struct db *db = store_db(f->store);
  struct store_boundary oom;
  struct arena own;
  arena_init(&own);
  if (!STORE_BOUNDARY(f->store, &own, oom)) {
    struct rows r;
    bool alone;
    CHECK_OK(db_snapshot(db, &alone, &f->err), &f->err);
    db_query(db, &r, &f->err, IDS, "s", STR("default"));
    CHECK(rows_next(&r));
    (void)arena_alloc(&own, SIZE_MAX);
    FAIL("there is so much memory");
  }
  arena_release(&own);
}

/* Queries begun inside the boundary are ended; those begun before it continue. */
TEST(a_boundary_ends_queries_begun_inside_it) {
  struct fixture f = fixture_new();
  struct db *db = store_db(f.store);
  struct txn txn = fixture_begin(&f);
  for (int i = 0; i < 3; i++)
    fixture_fact(&f, &txn, STR(""), arena_printf(&f.arena, "text %d", i), NULL);
  fixture_commit(&f, &txn);
  struct rows r;
  int64_t seen = 0, last = 0;
  db_query(db, &r, &f.err, IDS, "s", STR("default"));
  for (; rows_next(&r); seen++) { /* the same statement */
    CHECK(rows_int(&r, 0) > last);
    last = rows_int(&r, 0);
    jump_out_of_a_query(&f);
    CHECK_INT(rows_int(&r, 0), last);
  }
  CHECK_OK(rows_end(&r), &f.err);
  CHECK_INT(seen, 3);
  CHECK(!db_in_transaction(db));

  txn = fixture_begin(&f);
  fixture_fact(&f, &txn, STR(""), STR("one more"), NULL);
  jump_out_of_a_query(&f);
  CHECK(db_in_transaction(db));
  fixture_commit(&f, &txn);
  CHECK_INT(count(&f, "SELECT count(*) FROM memory"), 4);

  jump_out_of_a_query(&f);
  CHECK(!db_in_transaction(db));
  struct direct *other = direct_open(test_store("store.db"));
  direct_do(other, "INSERT INTO meta (name, value) VALUES ('test_written', '1')");
  direct_close(other);
  CHECK_INT(count(&f, "SELECT count(*) FROM meta WHERE name = 'test_written'"), 1);
  fixture_close(&f);
}

/* ---- turns ---- */

struct turn {
  struct store *store;
  _Atomic pid_t thread;
  _Atomic int *next;
  int place; /* in the order of the transactions */
};

static void *take_turn(void *arg) {
  struct turn *t = arg;
  struct error err;
  atomic_store(&t->thread, gettid());
  if (db_begin(store_db(t->store), STR("default"), false, &err) == STATUS_OK) {
    t->place = atomic_fetch_add(t->next, 1);
    db_rollback(store_db(t->store));
  }
  return arg;
}

/* Until the thread sleeps: it waits for its turn. */
static void wait_until_asleep(struct turn *t) {
  for (char state = 0; state != 'S'; usleep(1000)) {
    char path[64], line[512] = "";
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)atomic_load(&t->thread));
    FILE *f = fopen(path, "r");
    if (f && fgets(line, sizeof(line), f) && strrchr(line, ')'))
      state = strrchr(line, ')')[2];
    if (f)
      fclose(f);
  }
}

/* Polling writers would get the lock in any order. */
TEST(writers_of_a_process_take_turns_in_the_order_they_ask, .only = TEST_ON_SQLITE, .seconds = 60) {
  enum { WRITERS = 4, ROUNDS = 10 };
  struct fixture f = fixture_new();
  struct turn turns[WRITERS];
  pthread_t threads[WRITERS];
  for (int i = 0; i < WRITERS; i++)
    turns[i].store = fixture_open("store.db");
  for (int round = 0; round < ROUNDS; round++) {
    _Atomic int next = 0;
    CHECK_OK(db_begin(store_db(f.store), STR("default"), false, &f.err), &f.err);
    for (int i = 0; i < WRITERS; i++) {
      atomic_store(&turns[i].thread, 0);
      turns[i].next = &next;
      turns[i].place = -1;
      CHECK(pthread_create(&threads[i], NULL, take_turn, &turns[i]) == 0);
      wait_until_asleep(&turns[i]);
    }
    db_rollback(store_db(f.store));
    for (int i = 0; i < WRITERS; i++)
      pthread_join(threads[i], NULL);
    for (int i = 0; i < WRITERS; i++)
      CHECK_INT(turns[i].place, i);
  }
  for (int i = 0; i < WRITERS; i++)
    store_close(&turns[i].store);
  fixture_close(&f);
}

TEST(a_writer_that_gave_up_does_not_block_the_next_one, .only = TEST_ON_SQLITE) {
  struct fixture f = fixture_new();
  struct store_options o = {.path = test_store("store.db"), .busy_ms = 20, .now = f.now};
  struct store *impatient;
  CHECK_OK(store_open(&o, &impatient, &f.err), &f.err);
  CHECK_OK(db_begin(store_db(f.store), STR("default"), false, &f.err), &f.err);
  CHECK_INT(db_begin(store_db(impatient), STR("default"), false, &f.err), STATUS_BUSY);
  db_rollback(store_db(f.store));
  CHECK_OK(db_begin(store_db(impatient), STR("default"), false, &f.err), &f.err);
  store_close(&impatient); /* with its transaction open */
  CHECK_OK(db_begin(store_db(f.store), STR("default"), false, &f.err), &f.err);
  db_rollback(store_db(f.store));
  fixture_close(&f);
}
