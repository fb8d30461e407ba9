/* when.h: the time that a query speaks of ("last week", "in March 2023") as a soft preference, never a filter.
 *
 * Days, weeks (which begin on Monday) and months are those of UTC; the slack, never less than a day, makes up for the
 * time zone that nobody told us. Only English, and only what can hardly mean anything else: "may", "march", "second" or
 * "5 days" alone say nothing about when, and a question for a length of time ("how many days between ...") has none. */
#pragma once

#include "base/str.h"

/* Times are in ms UTC, the window is half open: from <= t < until. */
struct when {
  int64_t from, until;
  double slack_ms; /* the preference has fallen to nothing this far outside the window */
};

/* The time expression of the query with the shortest window, the first of equals; false when there is none. A month, a
 * day or a season without a year is its latest that began before `now`. Reads the first 2,000 bytes. */
bool when_find(struct str query, int64_t now, struct when *ret_when);

/* How near a time is to the window: 1 inside, falling smoothly to 0 over the slack on both sides. */
double when_near(const struct when *w, int64_t at);
