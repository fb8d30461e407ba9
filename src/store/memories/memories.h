/* memories.h: rows of memories: insert, find, load, change, delete, with their lists, bodies, chunks and notes.
 *
 * Every change goes through these functions, which write its event in the same transaction. */
#pragma once

#include "core/memory/chunk.h"
#include "core/memory/memory.h"
#include "store/store.h"

struct chunk_text; /* lexical.h */

struct chunk_row {
  int64_t id;
  struct str headline, body, extra;
};
struct chunk_rows {
  struct chunk_row *v;
  size_t n, cap;
};

/* Stores a new memory with its body, lists and chunks. Uses m->id, or sets it if it is 0. */
NODISCARD enum status memory_insert(struct txn *txn, struct arena *a, struct memory *m, struct chunk_rows *ret_chunks,
                                    struct error *err);
/* For a caller that has called chunk_split() on the body already. Inserts the first `first` chunks. If there are more,
 * the memory is noted as unindexed, and memory_add_chunks() adds them in later, short transactions. */
NODISCARD enum status memory_insert_split(struct txn *txn, struct arena *a, struct memory *m,
                                          const struct chunks *parts, size_t first, struct chunk_rows *ret_chunks,
                                          struct error *err);
/* Chunk number i with its hash and terms, for memory_add_chunks(). Needs no lock. */
struct chunk_text memory_chunk_text(struct arena *a, const struct memory *m, const struct chunks *parts, size_t i);
/* Adds the next chunks of an unindexed memory, in order, except those that are already stored. `last`: the text ends
 * with them. *ret_missing is false if no chunk is missing, or if the memory is gone; then nothing is added. */
NODISCARD enum status memory_add_chunks(struct txn *txn, struct arena *a, const struct memory *m,
                                        const struct chunk_text *texts, size_t n, bool last,
                                        struct chunk_rows *ret_chunks, bool *ret_missing, struct error *err);

/* Writes the mutable fields in which `now` differs from `was`, and an event with both values. Does nothing if nothing
 * differs. `action` is the event's name. */
NODISCARD enum status memory_change(struct txn *txn, struct arena *a, const struct memory *was,
                                    const struct memory *now, const char *action, struct error *err);

/* Deletes a memory. The event holds the whole record, for undo. */
NODISCARD enum status memory_delete(struct txn *txn, struct arena *a, const struct memory *m, struct error *err);

struct purge_counts {
  int64_t chunks, labels, annotations, links, events;
};
/* Erases a memory: rows, vectors, snapshots in the event log, saved results. Leaves a tombstone. */
NODISCARD enum status memory_purge(struct txn *txn, struct arena *a, const struct memory *m,
                                   struct purge_counts *ret_counts, struct error *err);

/* Rebuilds the indexed extra text of a memory after its notes, or the reasons of its replacements, have changed. */
NODISCARD enum status memory_reindex(struct txn *txn, struct arena *a, int64_t id, struct error *err);

/* ---- reading: these load the fields; body and lists are loaded separately ---- */

struct memories {
  struct memory *v;
  size_t n, cap;
};

NODISCARD enum status memory_by_id(struct store *st, struct str team, int64_t id, struct arena *a,
                                   struct memory *ret_memory, bool *ret_found, struct error *err);
NODISCARD enum status memory_by_uid(struct store *st, struct str team, struct str uid, struct arena *a,
                                    struct memory *ret_memory, bool *ret_found, struct error *err);
/* The active memory with this key in exactly this project. */
NODISCARD enum status memory_by_key(struct store *st, struct str team, struct str project, struct str key,
                                    struct arena *a, struct memory *ret_memory, bool *ret_found, struct error *err);
/* The active memory with this skill name. */
NODISCARD enum status memory_by_skill(struct store *st, struct str team, struct str name, struct arena *a,
                                      struct memory *ret_memory, bool *ret_found, struct error *err);
/* By id, uid or key. A key finds the active memory in the project, else the active global one, else the newest that
 * ever had it. Fails if there is none, or if it is a document of a corpus outside the scope. */
NODISCARD enum status memory_find(struct store *st, const struct scope *scope, struct str ref, struct arena *a,
                                  struct memory *ret_memory, struct error *err);
struct body {
  int64_t id;
  struct str text;
};
struct bodies {
  struct body *v;
  size_t n, cap;
};
/* Up to `limit` texts of memories and documents with ids greater than `after`, by id. */
NODISCARD enum status memory_bodies(struct store *st, struct str team, int64_t after, int64_t limit, struct arena *a,
                                    struct bodies *ret_list, struct error *err);
NODISCARD enum status memory_load_body(struct store *st, struct arena *a, struct memory *m, struct error *err);
/* Size of the memory as a file, in bytes. */
NODISCARD enum status memory_file_size(struct store *st, struct str team, int64_t id, int64_t *ret_size,
                                       struct error *err);
/* A pruned memory: id, uid, type, project and session from the event log. */
NODISCARD enum status memory_pruned(struct store *st, struct str team, struct str ref, struct arena *a,
                                    struct memory *ret_memory, bool *ret_found, struct error *err);
/* The uid of a memory that was pruned or purged, by its id; absent if the store never had it. */
NODISCARD enum status memory_uid_of_deleted(struct store *st, struct str team, int64_t id, struct arena *a,
                                            struct str *ret_uid, struct error *err);
NODISCARD enum status memory_load_lists(struct store *st, struct arena *a, struct memory *m, struct error *err);
/* The same for several memories of a team, one query for each SQL_IDS of them. */
NODISCARD enum status memories_load_lists(struct store *st, struct str team, struct arena *a,
                                          struct memory *const *list, size_t n, struct error *err);
/* Loads the fields of several: list[i]->id names the memory, ret_found[i] tells if it exists. */
NODISCARD enum status memories_by_ids(struct store *st, struct str team, struct arena *a, struct memory *const *list,
                                      size_t n, bool *ret_found, struct error *err);

/* By priority, then oldest first. */
#define TASK_RANK "CASE m.priority WHEN 'high' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END"
#define TASK_ORDER TASK_RANK ", m.created_at, m.id"
/* For pages that cannot show all: blockers of persons, then other blockers and memories delivered at boot, then the
 * newest. */
#define PAGE_ORDER                                                                                                     \
  "CASE WHEN m.severity = 'blocker' AND m.trust = 'user' THEN 0"                                                       \
  " WHEN m.severity = 'blocker' OR m.delivery IN ('boot', 'pinned') THEN 1 ELSE 2 END, m.created_at DESC, m.id DESC"

/* Cursor: position of a memory in a list. Stays valid when others are added or removed. */
struct position {
  int64_t rank;   /* priority rank in lists in TASK_ORDER; else 0 */
  int64_t at, id; /* id 0: start of the list */
};

/* memory_is_trusted() in SQL, on alias m. */
#define SQL_TRUSTED SQL_TRUSTED_AS("m")
#define SQL_TRUSTED_AS(m) "(" m ".trust = 'user' OR (" m ".trust = 'agent' AND " m ".suspect IS NULL))"

struct spellings {
  struct strs *v;
  size_t n, cap;
};
struct filter {
  struct str kind, type, severity, delivery, status, milestone, skill_name;
  const char *states; /* SQL list; NULL = STATES_LIVE */
  struct strs tags;
  struct spellings people; /* each in any of its spellings */
  int64_t since, until;    /* creation time; 0 = unbounded */
  bool no_retired_tasks;   /* exclude done and stale tasks */
  bool no_blockers;        /* exclude rules of severity blocker */
  bool trusted;            /* only trusted memories: SQL_TRUSTED */
  bool untrusted;          /* only the others */
  bool by_person;          /* only what a person wrote */
  const char *order;       /* SQL; NULL = newest first */
  int64_t limit, offset;
  struct position after; /* continue after this one */
};
/* Adds "AND ..." for each filter that is set, on alias m. */
void filter_where(struct sql *q, const struct filter *f);
/* Adds a redundant condition on the first label, which lets the engine use the label index. filter_where() still tests
 * all of them. */
void filter_by_label(struct sql *q, struct str team, const char *field, const struct strs *any);
void filter_by_tag(struct sql *q, struct str team, const struct filter *f);
/* The stored spellings of a person's name, in any case, with or without '@'; the name itself if there are none. */
NODISCARD enum status people_spellings(struct store *st, struct str team, struct str name, struct arena *a,
                                       struct strs *ret_spellings, struct error *err);
NODISCARD enum status memory_list(struct store *st, const struct scope *scope, const struct filter *f, struct arena *a,
                                  struct memories *ret_list, struct error *err);
NODISCARD enum status memory_count(struct store *st, const struct scope *scope, const struct filter *f, struct arena *a,
                                   int64_t *ret_count, struct error *err);
struct memory_ids {
  int64_t *v;
  size_t n, cap;
};
/* Memories of the team that lack chunks. */
NODISCARD enum status memories_unindexed(struct store *st, struct str team, struct arena *a, struct memory_ids *ret_ids,
                                         struct error *err);
/* Ids of visible memories that start with these digits, shortest first. The newest for "", none for other text. */
NODISCARD enum status memory_ids(struct store *st, const struct scope *scope, struct str digits, int64_t limit,
                                 struct arena *a, struct memory_ids *ret_ids, struct error *err);
/* True if a skill, with its lists, is for the scope's project: one of another project must name this one, or all of
 * them with "*". `any`: if the scope has all projects, skills that are bound to some of them are for it, too. */
bool skill_is_for(const struct memory *m, const struct scope *scope, bool any);
/* Skills for the scope's project, with their lists: those it sees that are not bound to other projects, and those of
 * other projects that are meant for it. `any`: if the scope has all projects, include all skills. */
NODISCARD enum status skills_visible(struct store *st, const struct scope *scope, bool any, struct arena *a,
                                     struct memories *ret_list, struct error *err);
/* Tasks that are open, unclaimed and without open blockers, in TASK_ORDER. */
NODISCARD enum status tasks_ready(struct store *st, const struct scope *scope, int64_t limit, struct arena *a,
                                  struct memories *ret_list, struct error *err);
/* Memories of the scope's own project whose keys are paths below `dir`, at any depth, by path. */
NODISCARD enum status files_under(struct store *st, const struct scope *scope, struct str dir, struct arena *a,
                                  struct memories *ret_list, struct error *err);

/* "SELECT <fields> FROM memory m WHERE ", to be completed and run by memory_collect(). */
struct sql memory_select(struct arena *a);
/* The column list of alias m, and a row that starts with these columns; for scans that do not keep all rows. */
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
/* Replaces the notes of a memory and updates its full-text row. The event records both lists. */
NODISCARD enum status notes_set(struct txn *txn, struct arena *a, const struct memory *m, const struct notes *was,
                                const struct notes *now, struct error *err);
void notes_put(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct notes *notes);
void notes_get(struct arena *a, yyjson_val *obj, struct notes *ret_notes);

/* ---- exact duplicates, tombstones, idempotency keys ---- */

/* Hash of the normalised text, which finds exact duplicates. */
void body_hash(struct arena *a, struct str body, char out[65]);
/* m->body_hash if it is set. Hashing a long text takes milliseconds: a writer sets it before it takes the lock. */
struct str memory_body_hash(struct arena *a, const struct memory *m);
NODISCARD enum status tombstone_exists(struct store *st, struct str team, struct str uid, bool *ret_exists,
                                       struct error *err);
enum { IDEMPOTENCY_MS = 7 * 24 * 3600 * 1000 }; /* lifetime of a key */
/* The result saved under a key that has not expired, and the state of its memory; both absent if there is none. The key
 * includes the caller and the project: see write.c. */
NODISCARD enum status idempotency_find(struct store *st, struct str team, struct str key, int64_t now, struct arena *a,
                                       struct str *ret_result, struct str *ret_state, struct error *err);
/* Replaces an expired result. */
NODISCARD enum status idempotency_save(struct txn *txn, struct str key, int64_t memory_id, struct str result,
                                       struct error *err);
/* Deletes the expired keys of a team. */
NODISCARD enum status idempotency_prune(struct store *st, struct str team, int64_t now, struct error *err);
