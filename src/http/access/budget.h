/* budget.h: bytes and processor time of tokens and their teams. Thread-safe. */
#pragma once

#include "base/str.h"

struct budgets;

/* Kilobytes per second, and percent of the processor time of all cores, for a token; 0: unlimited. A team gets twice
 * the bytes, and half of the remaining processor time besides. NULL on out of memory. */
struct budgets *budgets_new(int64_t kilobytes, int64_t cpu_percent);
void budgets_free(struct budgets **budgets);

struct budget_refusal {
  bool cpu; /* processor time; else bytes */
  int64_t wait_us;
  const char *what;
};
/* True if the account or the team has used too much. Charges `bytes` to both; to the account even if it is refused, but
 * not to the team: the team's other tokens must not pay. */
bool budgets_refuse(struct budgets *b, struct str account, struct str team, int64_t bytes,
                    struct budget_refusal *ret_refusal);
void budgets_charge_cpu(struct budgets *b, struct str account, struct str team, int64_t cpu_us);
