/* feed.h: delivers the events that this or any other process commits to the subscribers of a server, in log order.
 *
 * One thread with its own connection, started by the first subscriber. A subscriber's function runs on that thread and
 * must not block: it copies what it needs and returns. */
#pragma once

#include "op/access/authenticate.h"
#include "store/tables/events.h"

struct feed;
struct feed_subscriber;

/* `e` is NULL if the subscriber's token has expired or was revoked; no more events follow. */
typedef void (*feed_fn)(void *arg, const struct event *e);

/* The options' path is copied. Opens nothing yet. */
NODISCARD enum status feed_new(const struct engine_options *options, struct feed **ret_feed, struct error *err);
struct subscription {
  struct str team;
  const struct principal *who; /* gets only what it may read, until its token expires; NULL: the process's own access */
  int64_t since;               /* sequence number of the last event seen; -1: new events only */
  feed_fn fn;
  void *arg;
};
/* Copies team and principal. */
NODISCARD enum status feed_subscribe(struct feed *feed, const struct subscription *what,
                                     struct feed_subscriber **ret_subscriber, struct error *err);
/* Current end of the team's log, for a caller that must confirm a subscription before it subscribes; -1: unreadable, so
 * that feed_subscribe() looks it up. */
int64_t feed_now(const struct feed *feed, struct str team);
/* When this returns, the function is not running and will not be called again. Must not be called from the function. */
void feed_unsubscribe(struct feed *feed, struct feed_subscriber **subscriber);
void feed_close(struct feed **feed);

struct redactor;
/* Redactor for the subscriber's team: an event may hold a value that was added to the vault later. Call it only from
 * the subscriber's function. */
const struct redactor *feed_secrets(struct feed *feed, struct arena *a);

/* One line of JSON, as printed by `cairn events`. A caller with a token gets paths of the machine without folders. */
struct str event_json(struct arena *a, const struct event *e, const struct principal *who);
