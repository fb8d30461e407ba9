/* test_cost.c: an operation costs the same in a small store and in a larger one, counted in SQLite VM steps.
 *
 * A statement that scans all memories is invisible in a small store and ruins a large one. Counts, unlike times, are
 * the same on every machine. */
#include <sqlite3.h>

#include "op/op.h"
#include "store/sqlite/internal.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

enum { SMALL = 300, LARGE = 1500, SAMPLES = 20 };

static struct arena a; /* lives as long as the test */
static struct error err;
static int64_t steps;
static uint64_t seed = 1;

static int count_step(void *arg UNUSED) {
  steps++;
  return 0;
}

static struct engine *open_engine(void) {
  struct engine_options o = {.path = test_store("cost.db"), .clock = {.fixed = 1763208000000}};
  struct engine *e = NULL;
  CHECK_OK(engine_open(&o, &e, &err), &err);
  sqlite3_progress_handler(sqlite_handle(store_db(e->store)), 1, count_step, NULL);
  return e;
}

/* Runs an operation and returns its steps. */
static int64_t cost(struct engine *e, const char *op, struct str json) {
  struct caller caller = {.team = STR("default"), .project = STR(""), .source = STR("test"), .trust = STR("user")};
  struct arena scratch = {0};
  yyjson_val *args;
  yyjson_mut_val *result;
  CHECK_OK(json_read(&scratch, json, &args, &err), &err);
  steps = 0;
  CHECK_OK(op_run(e, op_find(str_from(op)), &caller, NULL, &scratch, args, &result, &err), &err);
  arena_release(&scratch);
  return steps;
}

static struct str new_text(void) {
  struct buf b = BUF(&a);
  for (int word = 0; word < 12; word++) {
    buf_addc(&b, word ? ' ' : 'w');
    for (int i = 0; i < 6; i++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      buf_addc(&b, (char)('a' + (seed >> 33) % 26));
    }
  }
  return buf_str(&b);
}

static int64_t write_one(struct engine *e) {
  return cost(e, "remember", arena_printf(&a, "{\"text\":\"%s\",\"defer_embedding\":true}", new_text().p));
}

static int by_value(const void *x, const void *y) {
  int64_t p = *(const int64_t *)x, q = *(const int64_t *)y;
  return (p > q) - (p < q);
}

/* The median, because some writes merge a part of the full-text index. */
static int64_t median(int64_t *v) {
  qsort(v, SAMPLES, sizeof(*v), by_value);
  return v[SAMPLES / 2];
}

struct costs {
  int64_t write, keyed, get, claim;
};

static struct costs measure(struct engine *e, int from) {
  int64_t write[SAMPLES], keyed[SAMPLES], get[SAMPLES], claim[SAMPLES];
  for (int i = 0; i < SAMPLES; i++) {
    int n = from + i;
    write[i] = write_one(e);
    keyed[i] = cost(e, "remember",
                    arena_printf(&a, "{\"text\":\"%s\",\"key\":\"k\",\"reason\":\"newer\",\"defer_embedding\":true}",
                                 new_text().p));
    get[i] = cost(e, "get", arena_printf(&a, "{\"id\":\"%d\"}", n));
    cost(e, "task add", arena_printf(&a, "{\"text\":\"%s\",\"key\":\"t%d\"}", new_text().p, n));
    claim[i] = cost(e, "task claim", arena_printf(&a, "{\"id\":\"t%d\"}", n));
  }
  return (struct costs){median(write), median(keyed), median(get), median(claim)};
}

static void check_growth(const char *what, int64_t small, int64_t large) {
  test_note("%s: %lld steps in a small store, %lld in a larger one", what, (long long)small, (long long)large);
  CHECK(small > 20);
  CHECK(large < small + small / 2);
}

/* Steps are counted by SQLite. */
TEST(the_cost_of_an_operation_does_not_grow_with_the_store, .seconds = 60, .only = TEST_ON_SQLITE, .slow = true) {
  struct engine *e = open_engine();
  cost(e, "remember", STR("{\"text\":\"The first memory with that key\",\"key\":\"k\"}"));
  for (int i = 0; i < SMALL; i++)
    write_one(e);
  struct costs small = measure(e, 1);
  for (int i = 0; i < LARGE; i++)
    write_one(e);
  struct costs large = measure(e, 101);
  check_growth("remember", small.write, large.write);
  check_growth("remember with a key", small.keyed, large.keyed);
  check_growth("get", small.get, large.get);
  check_growth("task claim", small.claim, large.claim);
  printf("remember %lld -> %lld, keyed %lld -> %lld, get %lld -> %lld, claim %lld -> %lld\n", (long long)small.write,
         (long long)large.write, (long long)small.keyed, (long long)large.keyed, (long long)small.get,
         (long long)large.get, (long long)small.claim, (long long)large.claim);
  engine_close(&e);
}
