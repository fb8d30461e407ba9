/* budget.c: bytes and processor time of tokens and their teams. */
#include "http/access/budget.h"

#include <assert.h>
#include <pthread.h>

#include "base/alloc.h"
#include "base/limit.h"
#include "base/os/clock.h"
#include "base/os/thread.h"

/* What may be used at once, before the rates apply; twice as much for a team. */
enum { BURST_BYTES = 32 << 20, BURST_CPU_US = 10 * 1000 * 1000 };

enum { OWN_BYTES, OWN_CPU, TEAM_BYTES_USED, TEAM_CPU, KINDS };

struct budget {
  struct limits limits;
  int64_t per_second, burst; /* per_second 0: unlimited */
  const char *what;
};

struct budgets {
  pthread_mutex_t lock;
  struct budget of[KINDS];
};

static void init(struct budget *b, int64_t per_second, int64_t burst, const char *what) {
  limits_init(&b->limits);
  b->per_second = per_second;
  b->burst = burst;
  b->what = what;
}

struct budgets *budgets_new(int64_t kilobytes, int64_t cpu_percent) {
  struct budgets *b = mem_zalloc(sizeof(*b));
  assert(kilobytes >= 0 && cpu_percent >= 0 && cpu_percent <= 100);
  if (!b)
    return NULL;
  int64_t percent = (int64_t)thread_cores() * 1000000 / 100, team = cpu_percent ? (cpu_percent + 100) / 2 : 0;
  pthread_mutex_init(&b->lock, NULL);
  init(&b->of[OWN_BYTES], kilobytes * 1000, BURST_BYTES, "this token has sent too many bytes");
  init(&b->of[TEAM_BYTES_USED], kilobytes * 2000, BURST_BYTES * 2, "this team has sent too many bytes");
  init(&b->of[OWN_CPU], cpu_percent * percent, BURST_CPU_US, "this token has used too much processor time");
  init(&b->of[TEAM_CPU], team * percent, BURST_CPU_US * 2, "this team has used too much processor time");
  return b;
}

void budgets_free(struct budgets **budgets) {
  if (*budgets)
    pthread_mutex_destroy(&(*budgets)->lock);
  mem_free(*budgets);
  *budgets = NULL;
}

/* ---- with the lock ---- */

static int64_t bucket_us(const struct budget *b, int64_t amount) { return amount * 1000000 / b->per_second; }

static void spend(struct budget *b, struct str who, int64_t amount) {
  if (b->per_second)
    limit_spend(&b->limits, who, bucket_us(b, amount), clock_ticks_us());
}

static bool is_exhausted(struct budget *b, struct str who, struct budget_refusal *ret_refusal) {
  int64_t wait = b->per_second ? limit_excess(&b->limits, who, bucket_us(b, b->burst), clock_ticks_us()) : 0;
  if (wait == 0)
    return false;
  ret_refusal->wait_us = wait;
  ret_refusal->what = b->what;
  return true;
}

static bool refuse(struct budgets *b, int first, struct str who, struct budget_refusal *ret_refusal) {
  ret_refusal->cpu = !is_exhausted(&b->of[first], who, ret_refusal);
  return !ret_refusal->cpu || is_exhausted(&b->of[first + 1], who, ret_refusal);
}

/* ---- for callers ---- */

bool budgets_refuse(struct budgets *b, struct str account, struct str team, int64_t bytes,
                    struct budget_refusal *ret_refusal) {
  pthread_mutex_lock(&b->lock);
  bool refused = refuse(b, OWN_BYTES, account, ret_refusal) || refuse(b, TEAM_BYTES_USED, team, ret_refusal);
  spend(&b->of[OWN_BYTES], account, bytes);
  if (!refused)
    spend(&b->of[TEAM_BYTES_USED], team, bytes);
  pthread_mutex_unlock(&b->lock);
  return refused;
}

void budgets_charge_cpu(struct budgets *b, struct str account, struct str team, int64_t cpu_us) {
  pthread_mutex_lock(&b->lock);
  spend(&b->of[OWN_CPU], account, cpu_us);
  spend(&b->of[TEAM_CPU], team, cpu_us);
  pthread_mutex_unlock(&b->lock);
}
