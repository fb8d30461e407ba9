/* memories.h: memories as rows: insert, find, load, change, delete; lists, bodies, chunks and notes with them.
 *
 * Every change goes through here and writes its event in the same transaction. */
#pragma once

#include "core/memory/chunk.h"
#include "core/memory/memory.h"
#include "store/store.h"

struct chunk_row {
  int64_t id;
  struct str headline, body, extra;
};
struct chunk_rows {
  struct chunk_row *v;
  size_t n, cap;
};

/* Stores a new memory with its body, lists and chunks; m->id is set when it was 0, else that id is used. */
NODISCARD enum status memory_insert(struct txn *txn, struct arena *a, struct memory *m, struct chunk_rows *ret_chunks,
                                    struct error *err);
/* For a caller that has called chunk_split() on the body already. */
NODISCARD enum status memory_insert_split(struct txn *txn, struct arena *a, struct memory *m,
                                          const struct chunks *parts, struct chunk_rows *ret_chunks, struct error *err);

/* Writes the mutable fields in which `now` differs from `was`; an event records both. Nothing differs: nothing
 * happens. `action` is the event's name. */
NODISCARD enum status memory_change(struct txn *txn, struct arena *a, const struct memory *was,
                                    const struct memory *now, const char *action, struct error *err);

/* Deletes a memory; the event holds the whole record, so that it can be undone. */
NODISCARD enum status memory_delete(struct txn *txn, struct arena *a, const struct memory *m, struct error *err);

/* Removes every trace: rows, vectors, snapshots of the event log, remembered results; leaves a tombstone. */
struct purge_counts {
  int64_t chunks, labels, annotations, links, events;
};
NODISCARD enum status memory_purge(struct txn *txn, struct arena *a, const struct memory *m,
                                   struct purge_counts *ret_counts, struct error *err);

/* ---- reading: fields and headline; body and lists are loaded when asked for ---- */

struct memories {
  struct memory *v;
  size_t n, cap;
};

NODISCARD enum status memory_by_id(struct store *st, struct str team, int64_t id, struct arena *a,
                                   struct memory *ret_memory, bool *ret_found, struct error *err);
NODISCARD enum status memory_by_uid(struct store *st, struct str team, struct str uid, struct arena *a,
                                    struct memory *ret_memory, bool *ret_found, struct error *err);
/* The active memory of that key in exactly that project. */
NODISCARD enum status memory_by_key(struct store *st, struct str team, struct str project, struct str key,
                                    struct arena *a, struct memory *ret_memory, bool *ret_found, struct error *err);
/* The active memory that is the skill of that name. */
NODISCARD enum status memory_by_skill(struct store *st, struct str team, struct str name, struct arena *a,
                                      struct memory *ret_memory, bool *ret_found, struct error *err);
/* By id, uid or key as a person names it: the key's active memory in the project, else the global one, else the
 * newest that ever had it. Not found is an error that says what to do, and so is a document of a corpus that the scope
 * does not ask for. */
NODISCARD enum status memory_find(struct store *st, const struct scope *scope, struct str ref, struct arena *a,
                                  struct memory *ret_memory, struct error *err);
/* The texts of the team's memories and documents behind the id `after`, by id, at most `limit`: for what goes through
 * all of them. */
struct body {
  int64_t id;
  struct str text;
};
struct bodies {
  struct body *v;
  size_t n, cap;
};
NODISCARD enum status memory_bodies(struct store *st, struct str team, int64_t after, int64_t limit, struct arena *a,
                                    struct bodies *ret_list, struct error *err);
NODISCARD enum status memory_load_body(struct store *st, struct arena *a, struct memory *m, struct error *err);
/* One that was pruned: its id, uid, type, project and session, as the event log remembers them. */
NODISCARD enum status memory_pruned(struct store *st, struct str team, struct str ref, struct arena *a,
                                    struct memory *ret_memory, bool *ret_found, struct error *err);
NODISCARD enum status memory_load_lists(struct store *st, struct arena *a, struct memory *m, struct error *err);
/* The same for several of a team, by one statement for some dozens of them. */
NODISCARD enum status memories_load_lists(struct store *st, struct str team, struct arena *a,
                                          struct memory *const *list, size_t n, struct error *err);
/* The rows of several: list[i] gets the fields of the memory with list[i]->id, and ret_found[i] says whether there is
 * one. */
NODISCARD enum status memories_by_ids(struct store *st, struct str team, struct arena *a, struct memory *const *list,
                                      size_t n, bool *ret_found, struct error *err);

/* High, medium, low; then the oldest first. */
#define TASK_RANK "CASE m.priority WHEN 'high' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END"
#define TASK_ORDER TASK_RANK ", m.created_at, m.id"
/* Of a page that has not room for all: what comes by itself at boot and what forbids, then the newest. */
#define PAGE_ORDER                                                                                                     \
  "CASE WHEN m.severity = 'blocker' OR m.delivery IN ('boot', 'pinned') THEN 0 ELSE 1 END, m.created_at DESC, m.id "   \
  "DESC"

/* The place of a memory in a list, by which a later call goes on behind it, whatever was added or removed since. */
struct position {
  int64_t rank;   /* of its priority, in lists in TASK_ORDER; else 0 */
  int64_t at, id; /* id 0: no place */
};

/* As memory_trusted() says it, on alias m. */
#define SQL_TRUSTED SQL_TRUSTED_AS("m")
#define SQL_TRUSTED_AS(m) "(" m ".trust = 'user' OR (" m ".trust = 'agent' AND " m ".suspect IS NULL))"

struct filter {
  struct str kind, type, severity, delivery, status, milestone, skill_name;
  const char *states; /* SQL list; NULL = STATES_LIVE */
  struct strs tags, people;
  int64_t since, until;  /* creation time; 0 = open */
  bool no_retired_tasks; /* leave out done and stale tasks */
  bool trusted;          /* SQL_TRUSTED: only what may be shown to whoever did not ask for it */
  const char *order;     /* SQL; NULL = newest first */
  int64_t limit, offset;
  bool own;              /* of the scope's project alone, without the global ones */
  struct position after; /* go on behind this one */
};
/* Adds "AND ..." for each filter that is set, on alias m. */
void filter_where(struct sql *q, const struct filter *f);
/* Adds what leads to the few memories with the first of these labels without a look at the others; beside
 * filter_where(), which decides. */
void filter_by_label(struct sql *q, struct str team, const char *field, const struct strs *values);
NODISCARD enum status memory_list(struct store *st, const struct scope *scope, const struct filter *f, struct arena *a,
                                  struct memories *ret_list, struct error *err);
NODISCARD enum status memory_count(struct store *st, const struct scope *scope, const struct filter *f, struct arena *a,
                                   int64_t *ret_count, struct error *err);
/* Ids of visible memories that begin with these digits, the shortest first; for "" the newest; for other text none. */
struct memory_ids {
  int64_t *v;
  size_t n, cap;
};
NODISCARD enum status memory_ids(struct store *st, const struct scope *scope, struct str digits, int64_t limit,
                                 struct arena *a, struct memory_ids *ret_ids, struct error *err);
/* "SELECT <fields> FROM memory m WHERE ", for statements of this folder; memory_collect() runs one. */
struct sql memory_select(struct arena *a);
/* The column list of alias m, and one row that begins with it; for walks that must not keep them all. */
void memory_columns(struct buf *b);
void memory_row(const struct rows *r, struct arena *a, struct memory *ret_memory);
NODISCARD enum status memory_collect(struct store *st, const struct sql *q, struct arena *a, struct memories *ret_list,
                                     struct error *err);

/* ---- notes ---- */

struct note {
  int64_t at;
  struct str by, text;
};
struct notes {
  struct note *v;
  size_t n, cap;
};
NODISCARD enum status notes_load(struct store *st, struct arena *a, const struct memory *m, struct notes *ret_notes,
                                 struct error *err);
/* Replaces the notes of a memory; the event records both lists, and the full-text row follows. */
NODISCARD enum status notes_set(struct txn *txn, struct arena *a, const struct memory *m, const struct notes *was,
                                const struct notes *now, struct error *err);
void notes_put(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct notes *notes);
void notes_get(struct arena *a, yyjson_val *obj, struct notes *ret_notes);

/* ---- exact duplicates, remembered results, tombstones ---- */

/* The hash by which exact restatements are found. */
void body_hash(struct arena *a, struct str body, char out[65]);
NODISCARD enum status tombstone_exists(struct store *st, struct str team, struct str uid, bool *ret_exists,
                                       struct error *err);
NODISCARD enum status idempotency_find(struct store *st, struct str team, struct str key, struct arena *a,
                                       struct str *ret_result, struct error *err);
NODISCARD enum status idempotency_save(struct txn *txn, struct arena *a, struct str key, int64_t memory_id,
                                       struct str result, struct error *err);
