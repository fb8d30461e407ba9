/* common.h: what handlers share: the caller's scope, transactions, arguments, and memories as JSON. */
#pragma once

#include "op/op.h"
#include "store/memories/links.h"
#include "store/memories/memories.h"
#include "store/tables/events.h"

enum { SNIPPET_BYTES = 400 };

struct scope scope_of(const struct op_call *call);
/* Names the caller, for transactions and read events. */
struct txn who_of(const struct op_call *call);
NODISCARD enum status call_begin(struct op_call *call, struct txn *ret_txn);
/* Commits and puts the transaction's number into the result. */
NODISCARD enum status call_commit(struct op_call *call, struct txn *txn);
/* Where the door wants it: the hash of the memory that the result names, as the transaction leaves it. */
NODISCARD enum status call_tell_hash(struct op_call *call);

/* The memory named by argument `name` (id, uid or key). */
NODISCARD enum status call_find(struct op_call *call, const char *name, struct memory *ret_memory);
/* "7d" or a timestamp, in the direction of sign; 0 when the argument is missing. */
NODISCARD enum status call_time(struct op_call *call, const char *name, int sign, int64_t *ret_ms);
/* An integer argument within bounds. */
NODISCARD enum status call_int(struct op_call *call, const char *name, int64_t missing, int64_t low, int64_t high,
                               int64_t *ret_value);
/* kind, type, tags, people, since, until, delivery, ... as far as the operation has them. */
NODISCARD enum status call_filter(struct op_call *call, struct filter *ret_filter);

/* The argument `cursor`, as put_cursor() made it; no place when it is missing. */
NODISCARD enum status call_cursor(struct op_call *call, struct position *ret_position);
/* Of a list that was asked for one memory more than `limit`: takes that one off, and says where to go on. */
void put_cursor(struct op_call *call, struct memories *list, int64_t limit, bool by_priority);

/* Refuses a path that is the store itself, or one of its side files: writing there would destroy it, and even reading
 * it would drop this process's locks. */
NODISCARD enum status call_not_the_store(struct op_call *call, struct str path);

/* Whether a person calls: at the command line, bound to no agent. */
bool call_by_person(const struct op_call *call);

/* Refuses arguments with PARAM_SHOWN that read like instructions to the model that will be shown them, unless a person
 * says them. */
NODISCARD enum status call_check_shown(struct op_call *call);

/* id, uid, headline and the fields that a list shows. */
void put_brief(struct op_call *call, yyjson_mut_val *obj, const struct memory *m);
/* The mark `untrusted` of what is never shown unasked. */
void put_untrusted(struct op_call *call, yyjson_mut_val *obj, const struct memory *m);
/* The same with what it follows from: `trust` and `suspect`. */
void put_trust(struct op_call *call, yyjson_mut_val *obj, const struct memory *m);
/* A headline inside of a sentence of ours, which says when nobody vouches for it. */
struct str quote_headline(struct arena *a, const struct memory *m);
/* Everything: fields, body, lists, notes, links, and the hash of all these; a banner when it is superseded. */
NODISCARD enum status put_full(struct op_call *call, yyjson_mut_val *obj, struct memory *m);
/* Its time is over, although no maintenance has noted it yet: it is shown as expired. */
void show_expired(const struct op_call *call, struct memory *m);
/* Votes and notes: what agents said about a memory. */
NODISCARD enum status put_signals(struct op_call *call, yyjson_mut_val *obj, const struct memory *m);
/* Queues the event of a read and counts the access. */
void note_read(struct op_call *call, const struct memory *m);

/* An agent that changes many memories at once needs its user's word for it (argument `confirm`): STATUS_CONFIRM, with
 * `what` as the beginning of the sentence. A person at the command line has typed it. */
NODISCARD enum status call_confirm_many(struct op_call *call, const char *what, size_t count);

void progress(struct op_call *call, const char *what, int64_t done, int64_t total);
bool cancelled(struct op_call *call);
