/* documents.h: texts that search finds but that are no memories: items extracted from files, messages of transcripts,
 * sources.
 *
 * A document is a row of the table of memories whose corpus is not 'memory'. Nothing that lists, boots, corrects,
 * counts or maintains memories sees it: visible() leaves it out unless scope->corpora asks for it. Documents are
 * written by their own pipelines alone, through here, a group (a file, a session) at a time, without an event for each
 * row: one event tells of the whole run. Who writes many groups in one transaction calls lexical_hold() before them and
 * lexical_release() behind them (lexical.h): the full-text index is then filled once. */
#pragma once

#include "store/store.h"

enum corpus { CORPUS_MEMORY, CORPUS_ITEMS, CORPUS_SESSIONS, CORPUS_SOURCES, CORPUS_COUNT };
extern const char *const corpus_names[CORPUS_COUNT]; /* "memory", "items", "sessions", "sources" */
bool corpus_parse(struct str name, enum corpus *ret_corpus);

struct document {
  struct str ref;  /* names it in its group: an item's id, a message's id, the number of a piece */
  struct str type; /* of core/memory/types.h */
  struct str headline, text;
  struct str session; /* of a message; absent elsewhere. Messages of a session lend score to their neighbours. */
  int64_t line;       /* in its file, from 1; 0: none */
  double confidence;  /* of an item, 0 to 1 */
  int64_t at;         /* when it was said or found, ms */
};
struct documents {
  struct document *v;
  size_t n, cap;
};

/* A file or a session, with what tells whether it has changed. */
struct document_group {
  struct str path;
  struct str hash; /* of its content; may be empty */
  int64_t size, changed_at;
};
struct document_groups {
  struct document_group *v;
  size_t n, cap;
};

struct document_counts {
  int64_t added, changed, same, removed;
};

/* Makes these the documents of the group: what is the same stays (with its vectors), the rest is written or removed.
 * Team and project are the transaction's. Texts come without secrets already. The counts are added to. */
NODISCARD enum status documents_replace(struct txn *txn, struct arena *a, enum corpus corpus,
                                        const struct document_group *group, const struct documents *list,
                                        struct document_counts *counts, struct error *err);
/* Adds to the group; what is there already, by its ref, stays. */
NODISCARD enum status documents_append(struct txn *txn, struct arena *a, enum corpus corpus,
                                       const struct document_group *group, const struct documents *list,
                                       struct document_counts *counts, struct error *err);
NODISCARD enum status documents_remove(struct txn *txn, struct arena *a, enum corpus corpus, struct str path,
                                       struct document_counts *counts, struct error *err);
/* The groups of a project, by path. */
NODISCARD enum status documents_groups(struct store *st, struct str team, struct str project, enum corpus corpus,
                                       struct arena *a, struct document_groups *ret_groups, struct error *err);

/* Where a found document stands; corpus is CORPUS_MEMORY for what is a memory. */
struct document_place {
  enum corpus corpus;
  struct str path, ref;
  int64_t line;
  double confidence;
};
/* ret_places[n], for rows that a search has found. */
NODISCARD enum status documents_places(struct store *st, struct str team, const int64_t *memory_ids, size_t n,
                                       struct arena *a, struct document_place *ret_places, struct error *err);

/* ---- folders that are indexed as sources ---- */

struct source_root {
  struct str project, path;
  int64_t added_at;
};
struct source_roots {
  struct source_root *v;
  size_t n, cap;
};
NODISCARD enum status source_root_add(struct txn *txn, struct str path, struct error *err);
NODISCARD enum status source_root_remove(struct txn *txn, struct str path, bool *ret_found, struct error *err);
NODISCARD enum status source_roots(struct store *st, struct str team, struct str project, struct arena *a,
                                   struct source_roots *ret_roots, struct error *err);
/* Those of all projects of a team. */
NODISCARD enum status source_roots_all(struct store *st, struct str team, struct arena *a,
                                       struct source_roots *ret_roots, struct error *err);
/* Their folders. */
NODISCARD enum status source_root_paths(struct store *st, struct str team, struct arena *a, struct strs *ret_paths,
                                        struct error *err);
