/* atomic.h: one idea per memory: finds texts into which several statements were merged. Pure. */
#pragma once

#include "base/arena.h"

/* Lines that begin with "Update:" or a dated GUARDRAIL. Two or more are always an error. */
size_t atomic_count_lines(struct str body);

/* Markers of an update anywhere in the text: "GUARDRAIL (2026-03-31)" or "31 March GUARDRAIL", and "Update:". */
size_t atomic_count_markers(struct arena *a, struct str body);

enum stacking {
  STACKED_NONE,
  STACKED_UPDATES, /* "... Update: ...", "GUARDRAIL (2026-03-31): ... GUARDRAIL (2 April): ..." */
  STACKED_TOPICS,  /* "... Also ... Also ..." of statements that share no word */
};
/* Also finds statements that were merged within a line. `timeline`: dates without a label may lead several entries, as
 * in the course of an incident. */
enum stacking atomic_check(struct arena *a, struct str body, bool timeline);
