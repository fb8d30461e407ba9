/* feed.h: follows the event log for a server: what this or any other process commits reaches its subscribers, in the
 * order of the log, soon after the commit.
 *
 * One thread with a connection of its own; it begins with the first subscriber. A subscriber's function runs on that
 * thread and must not wait: it copies what it needs and returns. */
#pragma once

#include "op/access/authenticate.h"
#include "store/tables/events.h"

struct feed;
struct feed_subscriber;

/* Without an event: the token of who listens has expired or was revoked; nothing follows. */
typedef void (*feed_fn)(void *arg, const struct event *e);

/* The options' path is copied. Opens nothing yet. */
NODISCARD enum status feed_new(const struct engine_options *options, struct feed **ret_feed, struct error *err);
/* Events of `team` after `since`; -1: from now on. Those that the log has already come first. `who` listens, and hears
 * of what it may read, as long as its token is good; NULL: the process. Both are copied. */
NODISCARD enum status feed_subscribe(struct feed *feed, struct str team, const struct principal *who, int64_t since,
                                     feed_fn fn, void *arg, struct feed_subscriber **ret_subscriber, struct error *err);
/* Where the log of a team ends now, for who has to say that it listens before it can subscribe; -1: that cannot be
 * read, and the subscription will find it out. */
int64_t feed_now(const struct feed *feed, struct str team);
/* The function does not run any more once this has returned; not to be called from it. */
void feed_unsubscribe(struct feed *feed, struct feed_subscriber **subscriber);
void feed_close(struct feed **feed);

struct redactor;
/* What is secret in the team of the subscriber whose function asks, and asks from that function: an event may have been
 * written before a value became one. */
const struct redactor *feed_secrets(struct feed *feed, struct arena *a);

/* An event as one line of JSON, as `cairn events` prints it. */
struct str event_json(struct arena *a, const struct event *e);
