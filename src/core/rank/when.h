/* when.h: time expressions in queries ("last week", "in March 2023") as a soft preference, never a filter.
 *
 * Days, weeks (starting on Monday) and months are in UTC. The slack, at least a day, compensates for the unknown time
 * zone. Only English, and only unambiguous expressions: "may", "march", "second" or "5 days" by themselves are not
 * times, and neither is a question about a duration ("how many days between ..."). */
#pragma once

#include "base/str.h"

/* Times are ms in UTC: from <= t < until. */
struct when {
  int64_t from, until;
  double slack_ms; /* distance from the window at which the preference reaches 0 */
};

/* Finds the time expression with the shortest window, the first of equals; false if there is none. A month, day or
 * season without a year is the latest one that began before `now`. Reads the first 2,000 bytes. */
bool when_find(struct str query, int64_t now, struct when *ret_when);

/* Closeness of a time to the window: 1 inside, falling smoothly to 0 over the slack on both sides. */
double when_closeness(const struct when *w, int64_t at);
