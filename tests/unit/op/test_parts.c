/* test_parts.c: captures and long texts are stored in parts: others can write in between, and a long text whose writer
 * was killed is indexed by maintenance. */
#include "op/op.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "op/run/common.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

enum { PIECES = 60 };

static struct arena a;
static struct engine *e, *other;
static struct error err;
static _Atomic bool storing, finished;
static _Atomic int between; /* transactions of the other engine after the first part was stored and before the last */

static const struct caller caller = {
    .team = STR_INIT("default"), .project = STR_INIT(""), .source = STR_INIT("test"), .trust = STR_INIT("user")};

static struct engine *engine_at(int busy_ms) {
  struct engine *made;
  struct engine_options o = {.path = test_store("parts.db"), .busy_ms = busy_ms};
  CHECK_OK(engine_open(&o, &made, &err), &err);
  return made;
}

static enum status run(struct engine *on, const char *op, const struct op_hooks *hooks, const char *json,
                       yyjson_mut_val **ret) {
  yyjson_val *args;
  struct error bad;
  CHECK_OK(json_read(&a, str_from(json), &args, &bad), &bad);
  return op_run(on, op_find(str_from(op)), &caller, hooks, &a, args, ret, &err);
}

static void on_progress(void *arg, const char *what, int64_t done, int64_t total) {
  (void)arg, (void)what;
  if (done > total / 2) /* the first half is for preparing them */
    atomic_store(&storing, true);
}

static void *write_meanwhile(void *arg) {
  struct db *db = store_db(other->store);
  struct error ignored;
  while (!atomic_load(&finished)) {
    if (!atomic_load(&storing))
      usleep(1000);
    else if (db_begin(db, STR("default"), false, &ignored) == STATUS_OK) {
      atomic_fetch_add(&between, !atomic_load(&finished));
      db_rollback(db);
    }
  }
  return arg;
}

static const char *many_pieces(void) {
  struct buf b = BUF(&a);
  buf_adds(&b, "{\"text\":\"");
  for (int i = 0; i < PIECES; i++)
    buf_addf(&b, "- The machine m%dx%d stands in room %d of hall h%d\\n", i, i * 7, i + 100, i * 3);
  buf_adds(&b, "\"}");
  return buf_str(&b).p;
}

static int64_t count(const char *sql) {
  struct direct *d = direct_open(test_store("parts.db"));
  int64_t n = direct_number(d, sql);
  direct_close(d);
  return n;
}

static void setup(void) {
  arena_init(&a);
  e = engine_at(0);
  other = engine_at(0);
}

static void done(void) {
  engine_close(&e);
  engine_close(&other);
  arena_release(&a);
}

TEST(others_can_write_while_a_capture_is_stored, .seconds = 60) {
  setup();
  yyjson_mut_val *r = NULL;
  struct op_hooks hooks = {.progress = on_progress};
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, write_meanwhile, NULL) == 0);
  enum status s = run(e, "capture", &hooks, many_pieces(), &r);
  atomic_store(&finished, true);
  pthread_join(thread, NULL);
  CHECK_OK(s, &err);
  CHECK(atomic_load(&between) > 0);
  CHECK_INT(yyjson_mut_get_sint(yyjson_mut_obj_get(r, "stored")), PIECES);
  CHECK_INT((int64_t)yyjson_mut_arr_size(yyjson_mut_obj_get(r, "memories")), PIECES);
  CHECK(count("SELECT count(*) FROM txn WHERE op = 'capture'") > 1);
  done();
}

TEST(one_undo_removes_all_parts, .seconds = 60) {
  setup();
  yyjson_mut_val *r = NULL;
  CHECK_OK(run(e, "remember", NULL, "{\"text\":\"The gate is painted green\"}", &r), &err);
  CHECK_OK(run(e, "capture", NULL, many_pieces(), &r), &err);
  int64_t txn = yyjson_mut_get_sint(yyjson_mut_obj_get(r, "txn"));
  CHECK_INT(txn, count("SELECT min(id) FROM txn WHERE op = 'capture'"));
  CHECK_OK(run(e, "undo", NULL, arena_printf(&a, "{\"txn\":%lld,\"confirm\":true}", (long long)txn).p, &r), &err);
  CHECK_INT(count("SELECT count(*) FROM memory WHERE state = 'active'"), 1);
  CHECK_INT(count("SELECT count(*) FROM memory WHERE state = 'forgotten'"), PIECES);
  int64_t again = yyjson_mut_get_sint(yyjson_mut_obj_get(r, "txn"));
  CHECK_OK(run(e, "undo", NULL, arena_printf(&a, "{\"txn\":%lld,\"confirm\":true}", (long long)again).p, &r), &err);
  CHECK_INT(count("SELECT count(*) FROM memory WHERE state = 'active'"), PIECES + 1);
  done();
}

TEST(a_short_capture_is_one_transaction) {
  setup();
  yyjson_mut_val *r = NULL;
  CHECK_OK(run(e, "capture", NULL, "{\"text\":\"- The gate is painted green today\"}", &r), &err);
  CHECK_INT(count("SELECT count(*) FROM txn"), 1);
  done();
}

/* ---- long texts ---- */

enum { SENTENCES = 1500, FIRST_CHUNKS = 8 };

static const char *long_text(void) {
  struct buf b = BUF(&a);
  buf_adds(&b, "{\"text\":\"The gate at the beginning is called Aldebaran. ");
  for (int i = 0; i < SENTENCES; i++)
    buf_addf(&b, "The machine m%d stands in room %d of hall h%d. %s", i, i % 97, i % 31, i % 8 == 7 ? "\\n\\n" : "");
  buf_adds(&b, "The bridge at the end is called Betelgeuse.\"}");
  return buf_str(&b).p;
}

static int64_t chunk_count(void) { return count("SELECT count(*) FROM chunk"); }
static int64_t unindexed_count(void) { return count("SELECT count(*) FROM setting WHERE name LIKE 'unindexed.%'"); }

static size_t found(const char *word) {
  yyjson_mut_val *r = NULL;
  const char *args = arena_printf(&a, "{\"query\":\"%s\",\"mode\":\"keyword\"}", word).p;
  CHECK_OK(run(e, "search", NULL, args, &r), &err);
  return yyjson_mut_arr_size(yyjson_mut_obj_get(r, "results"));
}

static bool is_healthy(void) {
  yyjson_mut_val *r = NULL;
  CHECK_OK(run(e, "doctor", NULL, "{}", &r), &err);
  return yyjson_mut_is_true(yyjson_mut_obj_get(r, "ok"));
}

static bool stop_after_first_part(void *arg) {
  (void)arg;
  return unindexed_count() > 0;
}

static bool kill_after_first_part(void *arg) {
  if (stop_after_first_part(arg))
    kill(getpid(), SIGKILL);
  return false;
}

static int64_t seen[1000]; /* chunks that another writer saw between the parts */
static size_t parts;

/* Called between the parts: the lock must be free. */
static bool write_in_between(void *arg) {
  struct db *db = store_db(other->store);
  struct error bad;
  (void)arg;
  if (!unindexed_count())
    return false;
  CHECK_OK(db_begin(db, STR("default"), false, &bad), &bad);
  seen[parts++] = chunk_count();
  db_rollback(db);
  CHECK(parts < ARRAY_LEN(seen));
  return false;
}

TEST(others_can_write_while_a_long_text_is_indexed, .seconds = 60) {
  setup();
  yyjson_mut_val *r = NULL;
  struct op_hooks hooks = {.cancelled = write_in_between};
  CHECK_OK(run(e, "remember", &hooks, long_text(), &r), &err);
  CHECK(parts > 2);
  CHECK_INT(seen[0], FIRST_CHUNKS);
  for (size_t i = 1; i < parts; i++)
    CHECK(seen[i] > seen[i - 1]);
  CHECK(chunk_count() > seen[parts - 1]);
  CHECK_INT(unindexed_count(), 0);
  CHECK_INT((int64_t)found("Betelgeuse"), 1);
  CHECK_INT(count("SELECT count(*) FROM txn"), 1);
  CHECK_OK(run(e, "reembed", NULL, "{\"status\":true}", &r), &err);
  yyjson_mut_val *embedded = yyjson_mut_obj_get(r, "embedded");
  CHECK_INT(yyjson_mut_get_sint(yyjson_mut_obj_get(embedded, "done")), chunk_count());
  done();
}

/* Stores a long text in a process that is killed after the first part. */
static void store_and_die(void) {
  const char *store = test_store("parts.db");
  pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    yyjson_mut_val *r = NULL;
    struct op_hooks hooks = {.cancelled = kill_after_first_part};
    struct engine_options o = {.path = store};
    arena_init(&a);
    if (engine_open(&o, &e, &err) == STATUS_OK)
      (void)run(e, "remember", &hooks, long_text(), &r);
    _exit(1);
  }
  int status;
  CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
}

TEST(a_killed_writer_leaves_a_text_that_maintenance_indexes, .seconds = 60) {
  setenv("CAIRN_EMBEDDER", "none",
         1); /* no vector is added, either, when the cached result of a search goes out of date */
  store_and_die();
  setup();
  yyjson_mut_val *r = NULL;
  CHECK_INT(chunk_count(), FIRST_CHUNKS);
  CHECK_INT((int64_t)found("Aldebaran"), 1);
  CHECK_INT((int64_t)found("Betelgeuse"), 0);
  CHECK(is_healthy());
  CHECK_OK(run(e, "maintain", NULL, "{}", &r), &err);
  CHECK_INT(unindexed_count(), 0);
  CHECK_INT((int64_t)found("Betelgeuse"), 1);
  CHECK(is_healthy());
  int64_t chunks = chunk_count();
  CHECK_OK(run(e, "maintain", NULL, "{}", &r), &err);
  CHECK_INT(chunk_count(), chunks);
  done();
}

TEST(a_superseded_text_is_indexed_to_its_end, .seconds = 60) {
  setup();
  yyjson_mut_val *r = NULL;
  struct op_hooks hooks = {.cancelled = stop_after_first_part};
  CHECK_OK(run(e, "remember", &hooks, long_text(), &r), &err);
  int64_t id = yyjson_mut_get_sint(yyjson_mut_obj_get(r, "id"));
  const char *args =
      arena_printf(&a, "{\"id\":\"%lld\",\"text\":\"There is no gate.\",\"reason\":\"gone\"}", (long long)id).p;
  CHECK_OK(run(e, "supersede", NULL, args, &r), &err);
  CHECK_OK(run(e, "maintain", NULL, "{}", &r), &err);
  CHECK_INT((int64_t)found("Betelgeuse"), 0);
  args = arena_printf(&a, "{\"txn\":%lld,\"confirm\":true}", (long long)count("SELECT max(id) FROM txn")).p;
  CHECK_OK(run(e, "undo", NULL, args, &r), &err);
  CHECK_INT((int64_t)found("Betelgeuse"), 1);
  done();
}

TEST(a_purged_text_is_not_indexed, .seconds = 60) {
  setup();
  yyjson_mut_val *r = NULL;
  struct op_hooks hooks = {.cancelled = stop_after_first_part};
  CHECK_OK(run(e, "remember", &hooks, long_text(), &r), &err);
  CHECK_INT(chunk_count(), FIRST_CHUNKS);
  int64_t id = yyjson_mut_get_sint(yyjson_mut_obj_get(r, "id"));
  CHECK_OK(run(e, "purge", NULL, arena_printf(&a, "{\"ids\":[\"%lld\"],\"confirm\":true}", (long long)id).p, &r), &err);
  CHECK_INT(unindexed_count(), 0);
  CHECK_OK(run(e, "maintain", NULL, "{}", &r), &err);
  CHECK_INT(chunk_count(), 0);
  CHECK(is_healthy());
  done();
}

/* The writer does not know that the memory was purged while it waited. */
static bool purge_in_between(void *arg) {
  static bool purged;
  struct error bad;
  yyjson_val *args;
  yyjson_mut_val *r = NULL;
  (void)arg;
  if (purged || !unindexed_count())
    return false;
  purged = true;
  const char *json =
      arena_printf(&a, "{\"ids\":[\"%lld\"],\"confirm\":true}", (long long)count("SELECT max(id) FROM memory")).p;
  CHECK_OK(json_read(&a, str_from(json), &args, &bad), &bad);
  CHECK_OK(op_run(other, op_find(STR("purge")), &caller, NULL, &a, args, &r, &bad), &bad);
  return false;
}

TEST(a_text_that_is_purged_while_it_is_indexed_leaves_nothing, .seconds = 60) {
  setup();
  yyjson_mut_val *r = NULL;
  struct op_hooks hooks = {.cancelled = purge_in_between};
  CHECK_OK(run(e, "remember", &hooks, long_text(), &r), &err);
  CHECK_INT(chunk_count(), 0);
  CHECK_INT(unindexed_count(), 0);
  done();
}

static bool stop_after_second_part(void *arg) {
  (void)arg;
  return chunk_count() > FIRST_CHUNKS;
}

/* Two writers index the same text: each chunk is stored once. */
static bool maintain_in_between(void *arg) {
  struct op_hooks *hooks = arg;
  struct error bad;
  yyjson_val *args;
  yyjson_mut_val *r = NULL;
  if (parts || !unindexed_count())
    return false;
  parts++;
  CHECK_OK(json_read(&a, STR("{}"), &args, &bad), &bad);
  CHECK_OK(op_run(other, op_find(STR("maintain")), &caller, hooks, &a, args, &r, &bad), &bad);
  CHECK(chunk_count() > FIRST_CHUNKS);
  return false;
}

static void check_overtaken(struct op_hooks *maintenance) {
  yyjson_mut_val *r = NULL;
  struct op_hooks hooks = {.cancelled = maintain_in_between, .arg = maintenance};
  setup();
  CHECK_OK(run(e, "remember", &hooks, long_text(), &r), &err);
  CHECK_INT((int64_t)parts, 1);
  CHECK_INT(unindexed_count(), 0);
  CHECK_INT((int64_t)found("Betelgeuse"), 1);
  CHECK_INT(chunk_count(), count("SELECT max(seq) + 1 FROM chunk"));
  CHECK(is_healthy());
  done();
}

TEST(maintenance_may_overtake_the_writer_of_a_long_text, .seconds = 60) { check_overtaken(NULL); }

TEST(maintenance_may_add_a_part_before_the_writer, .seconds = 60) {
  static struct op_hooks hooks = {.cancelled = stop_after_second_part};
  check_overtaken(&hooks);
}
