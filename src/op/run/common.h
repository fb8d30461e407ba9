/* common.h: helpers of the handlers: the caller's scope, transactions, arguments, and memories as JSON. */
#pragma once

#include "op/op.h"
#include "store/memories/links.h"
#include "store/memories/memories.h"
#include "store/tables/events.h"
#include "store/tables/settings.h"

enum { SNIPPET_BYTES = 400 };

struct scope call_scope(const struct op_call *call);
/* Author of transactions and read events. */
struct txn call_author(const struct op_call *call);
/* Sets the fields of a new memory that come from the caller (team, project, source, session, trust), and its weight. */
void call_set_author(const struct op_call *call, struct memory *m);
NODISCARD enum status call_begin(struct op_call *call, struct txn *ret_txn);
/* Commits and adds the transaction id to the result. */
NODISCARD enum status call_commit(struct op_call *call, struct txn *txn);
/* If hooks.return_hash is set, adds the new hash of the memory that the result names. */
NODISCARD enum status call_put_hash(struct op_call *call);

/* The memory named by argument `name` (id, uid or key). */
/* True for a server's client. */
bool is_from_network(const struct caller *c);
/* True for a server's client that names no project, so that what it stores is global. */
bool call_lacks_project(const struct op_call *call);
#define NO_PROJECT_CODE "no_project"
#define NO_PROJECT_MESSAGE "stored globally, visible in every project: the call names no project"
#define NO_PROJECT_FIX                                                                                                 \
  "if it belongs to a project, undo it and repeat the call with that project; clients name their project in the URL "  \
  "(/mcp?project=NAME) or the header Cairn-Project"
/* Adds this warning to the result if the call stored something globally for that reason. */
void put_no_project(struct op_call *call, struct str project);
NODISCARD enum status call_find(struct op_call *call, const char *name, struct memory *ret_memory);
/* "7d" (relative to now, in the direction of sign) or a timestamp; 0 if the argument is missing. */
NODISCARD enum status call_time(struct op_call *call, const char *name, int sign, int64_t *ret_ms);
/* Integer argument, or `missing`; an error outside low..high. */
NODISCARD enum status call_int(struct op_call *call, const char *name, int64_t missing, int64_t low, int64_t high,
                               int64_t *ret_value);
/* kind, type, tags, people, since, until, delivery, ... if the operation has them. */
NODISCARD enum status call_filter(struct op_call *call, struct filter *ret_filter);

/* Parses the argument `cursor`, made by put_cursor(); *ret_position is unchanged if it is missing. */
NODISCARD enum status call_cursor(struct op_call *call, struct position *ret_position);
/* The list was queried for limit + 1 memories: drops the extra one and adds next_cursor to the result. */
void put_cursor(struct op_call *call, struct memories *list, int64_t limit, bool by_priority);

/* Absolute path of the existing folder that the argument `dir` names. */
NODISCARD enum status call_folder(struct op_call *call, struct str *ret_path);
/* STATUS_NOT_FOUND for a folder. */
enum status call_no_folder(struct op_call *call, struct str dir);
/* Refuses the path of the store or of one of its side files: writing there would destroy it, and even reading it would
 * drop this process's POSIX locks. */
NODISCARD enum status call_refuse_store_path(struct op_call *call, struct str path);

/* True for a person at the command line: no agent, no token. */
bool call_is_by_person(const struct op_call *call);

/* Refuses an agent that would change a setting in the store that only a person may change. */
NODISCARD enum status call_check_setting(struct op_call *call, enum setting_id id);
/* A path of the server's machine as the caller may see it: callers with a token see only its last part. */
struct str call_path(const struct op_call *call, struct str path);
/* The same for the paths in an error: see paths.h. op_run() applies it to the error of the call. */
void call_shorten_paths(const struct op_call *call, struct error *err);
/* The message of another error, for a result. */
struct str call_message(const struct op_call *call, const char *message);

/* Refuses PARAM_SHOWN arguments that read like instructions to a model, unless a person calls. */
NODISCARD enum status call_check_shown(struct op_call *call);

/* id, uid, headline and the fields that a list shows. */
void put_brief(struct op_call *call, yyjson_mut_val *obj, const struct memory *m);
/* `untrusted`, if the memory must not be shown unasked. */
void put_untrusted(struct op_call *call, yyjson_mut_val *obj, const struct memory *m);
/* Also writes the reasons: `trust` and `suspect`. */
void put_trust(struct op_call *call, yyjson_mut_val *obj, const struct memory *m);
/* Headline for use in a message; says if it is untrusted. */
struct str quote_headline(struct arena *a, const struct memory *m);
/* Everything: fields, body, lists, notes, links, and the hash of all these; a banner if it is superseded. */
NODISCARD enum status put_full(struct op_call *call, yyjson_mut_val *obj, struct memory *m);
/* Sets the state to expired if the time to live has ended but maintenance has not marked the memory. */
void show_expired(const struct op_call *call, struct memory *m);
/* Votes and notes of agents. */
NODISCARD enum status put_signals(struct op_call *call, yyjson_mut_val *obj, const struct memory *m);
/* Queues a read event and counts the access. */
void note_read(struct op_call *call, const struct memory *m);
/* Logs that a result with several memories was read: one event for all. ids: the memories, NULL if not known; `used`:
 * they count as used. */
void note_result_read(struct op_call *call, const char *type, struct str path, const struct memory_ids *ids, bool used);

/* An agent that changes more than 10 memories at once must pass `confirm`, on behalf of its user; otherwise
 * STATUS_CONFIRM, with `what` as the start of the message. Does not apply to people at the command line. */
NODISCARD enum status call_confirm_many(struct op_call *call, const char *what, size_t count);

void progress(struct op_call *call, const char *what, int64_t done, int64_t total);
bool cancelled(struct op_call *call);
