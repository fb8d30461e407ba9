/* retry.c: decides whether an operation can be retried after a lost connection, and waits for the server. */
#include "op/run/retry.h"

#include <time.h>

#include "store/store.h"

/* A restarting server is back within seconds; after that it is better to report the error. */
enum { AWAY_MAX_US = 15 * 1000 * 1000, WAIT_FIRST_MS = 20, WAIT_LAST_MS = 1000, NAP_MS = 100 };

static enum status emit(void *arg, struct str line) {
  struct retry *r = arg;
  r->has_output = true;
  return r->hooks.emit(r->hooks.arg, line);
}

static void tell_progress(void *arg, const char *what, int64_t done, int64_t total) {
  struct retry *r = arg;
  r->has_output = true;
  r->hooks.progress(r->hooks.arg, what, done, total);
}

static bool ask(void *arg, const char *prompt, struct arena *a, struct str *ret_text) {
  struct retry *r = arg;
  return r->hooks.ask(r->hooks.arg, prompt, a, ret_text);
}

static bool ask_cancelled(void *arg) {
  struct retry *r = arg;
  return r->hooks.cancelled(r->hooks.arg);
}

void retry_begin(struct retry *ret_retry, struct op_call *call) {
  struct store *st = call->engine->store;
  *ret_retry = (struct retry){.is_server = st && db_engine(store_db(st)) != DB_SQLITE};
  if (!ret_retry->is_server)
    return;
  ret_retry->commits = db_commits(store_db(st));
  struct op_hooks *h = &call->hooks;
  ret_retry->hooks = *h;
  h->arg = ret_retry;
  h->emit = h->emit ? emit : NULL;
  h->progress = h->progress ? tell_progress : NULL;
  h->ask = h->ask ? ask : NULL;
  h->cancelled = h->cancelled ? ask_cancelled : NULL;
}

static bool is_cancelled(const struct retry *r) { return r->hooks.cancelled && r->hooks.cancelled(r->hooks.arg); }

/* False if the caller cancelled. */
static bool nap(const struct retry *r, int ms) {
  for (; ms > 0; ms -= NAP_MS) {
    int part = ms < NAP_MS ? ms : NAP_MS;
    struct timespec ts = {0, part * 1000000L};
    nanosleep(&ts, NULL);
    if (is_cancelled(r))
      return false;
  }
  return true;
}

static bool answers(struct db *db) {
  struct error ignored;
  int64_t one;
  return db_int(db, &one, NULL, &ignored, "SELECT 1", NULL) == STATUS_OK;
}

bool retry_wait(struct retry *r, const struct op_call *call, enum status s) {
  if (s != STATUS_LOST || !r->is_server || r->has_output || r->runs == RETRY_MAX ||
      db_commits(store_db(call->engine->store)) != r->commits)
    return false;
  if (!r->until)
    r->until = clock_ticks_us() + AWAY_MAX_US;
  r->runs++;
  for (int wait = WAIT_FIRST_MS * r->runs;; wait = wait < WAIT_LAST_MS / 2 ? 2 * wait : WAIT_LAST_MS) {
    if (!nap(r, wait))
      return false;
    if (answers(store_db(call->engine->store)))
      return true;
    if (clock_ticks_us() >= r->until)
      return false;
  }
}
