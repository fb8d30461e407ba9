/* retry.c: decides whether an operation can be run again after its connection was lost, and waits for the server. */
#include "op/run/retry.h"

#include <time.h>

#include "store/store.h"

/* A server that restarts is back within seconds; after this time the caller gets the error. */
enum { AWAY_MAX_US = 15 * 1000 * 1000, WAIT_FIRST_MS = 20, WAIT_LAST_MS = 1000, NAP_MS = 100 };

void retry_begin(struct retry *ret_retry, struct op_call *call) {
  struct store *st = call->engine->store;
  *ret_retry = (struct retry){.is_server = st && db_engine(store_db(st)) != DB_SQLITE};
  if (ret_retry->is_server)
    ret_retry->commits = db_commits(store_db(st));
}

static bool is_cancelled(const struct op_hooks *h) { return h->cancelled && h->cancelled(h->arg); }

/* False if the caller cancelled. */
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

bool retry_wait(struct retry *r, const struct op_call *call, bool has_output, enum status s) {
  if (s != STATUS_LOST || !r->is_server || has_output || r->runs == RETRY_MAX ||
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
