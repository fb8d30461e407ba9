/* repeat.c: whether an operation may be run again after its connection was lost, and the wait for the server. */
#include "op/run/repeat.h"

#include <time.h>

#include "store/store.h"

/* A server that restarts is back within seconds; who waits longer than this wants to be told. */
enum { AWAY_MAX_US = 15 * 1000 * 1000, WAIT_FIRST_MS = 20, WAIT_LAST_MS = 1000, NAP_MS = 100 };

void repeat_begin(struct repeat *ret_repeat, struct op_call *call) {
  struct store *st = call->engine->store;
  *ret_repeat = (struct repeat){.possible = st && db_engine(store_db(st)) != DB_SQLITE};
  if (!ret_repeat->possible)
    return;
  ret_repeat->commits = db_commits(store_db(st));
}

static bool is_cancelled(const struct op_hooks *h) { return h->cancelled && h->cancelled(h->arg); }

/* False when the caller does not want to wait any more. */
static bool nap(const struct op_hooks *h, int ms) {
  for (; ms > 0; ms -= NAP_MS) {
    int part = ms < NAP_MS ? ms : NAP_MS;
    struct timespec ts = {0, part * 1000000L};
    nanosleep(&ts, NULL);
    if (is_cancelled(h))
      return false;
  }
  return true;
}

static bool answers(struct db *db) {
  struct error ignored;
  int64_t one;
  return db_int(db, &one, NULL, &ignored, "SELECT 1", NULL) == STATUS_OK;
}

bool repeat_again(struct repeat *r, const struct op_call *call, bool told, enum status s) {
  if (s != STATUS_LOST || !r->possible || told || r->runs == REPEAT_MAX ||
      db_commits(store_db(call->engine->store)) != r->commits)
    return false;
  if (!r->until)
    r->until = clock_ticks_us() + AWAY_MAX_US;
  r->runs++;
  for (int wait = WAIT_FIRST_MS * r->runs;; wait = wait < WAIT_LAST_MS / 2 ? 2 * wait : WAIT_LAST_MS) {
    if (!nap(&call->hooks, wait))
      return false;
    if (answers(store_db(call->engine->store)))
      return true;
    if (clock_ticks_us() >= r->until)
      return false;
  }
}
