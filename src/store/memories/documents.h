/* documents.h: searchable texts that are not memories: items extracted from files, transcript messages, source files.
 *
 * A document is a row of the memory table whose corpus is not 'memory'. visible() excludes it unless scope->corpora
 * includes its corpus, so listing, boot, correction, counts and maintenance never see documents. Only the pipelines of
 * the corpora write documents, one group (a file, a session) at a time. Rows get no events of their own: one event
 * describes the run. A caller that writes many groups in one transaction calls lexical_hold() before and
 * lexical_release() after them (lexical.h), which fills the full-text index once. */
#pragma once

#include "store/store.h"

enum corpus { CORPUS_MEMORY, CORPUS_ITEMS, CORPUS_SESSIONS, CORPUS_SOURCES, CORPUS_COUNT };
extern const char *const corpus_names[CORPUS_COUNT]; /* "memory", "items", "sessions", "sources" */
bool corpus_parse(struct str name, enum corpus *ret_corpus);

struct document {
  struct str ref;  /* unique in the group: item id, message id or chunk number */
  struct str type; /* see core/memory/types.h */
  struct str headline, text;
  struct str session; /* only messages; neighbours in a session raise each other's score */
  int64_t line;       /* from 1; 0 if none */
  double confidence;  /* only items: 0 to 1 */
  int64_t at;         /* time of the message or extraction, ms */
};
struct documents {
  struct document *v;
  size_t n, cap;
};

/* A file or session. Hash, size and time tell whether it has changed. */
struct document_group {
  struct str path;
  struct str hash; /* content hash; may be empty */
  int64_t size, changed_at;
};
struct document_groups {
  struct document_group *v;
  size_t n, cap;
};

struct document_counts {
  int64_t added, changed, same, removed;
};

/* Replaces the documents of a group. Unchanged ones stay, with their vectors; others are inserted or deleted.
 * Team and project come from the transaction. Texts must already be redacted. Adds to `counts`. */
NODISCARD enum status documents_replace(struct txn *txn, struct arena *a, enum corpus corpus,
                                        const struct document_group *group, const struct documents *list,
                                        struct document_counts *counts, struct error *err);
/* Adds documents to the group; existing refs are left unchanged. */
NODISCARD enum status documents_append(struct txn *txn, struct arena *a, enum corpus corpus,
                                       const struct document_group *group, const struct documents *list,
                                       struct document_counts *counts, struct error *err);
NODISCARD enum status documents_remove(struct txn *txn, struct arena *a, enum corpus corpus, struct str path,
                                       struct document_counts *counts, struct error *err);
/* The groups of a project, by path. */
NODISCARD enum status documents_groups(struct store *st, struct str team, struct str project, enum corpus corpus,
                                       struct arena *a, struct document_groups *ret_groups, struct error *err);
/* The group with that path; NULL if there is none. */
const struct document_group *document_group_find(const struct document_groups *groups, struct str path);

/* Location of a document; corpus is CORPUS_MEMORY if the row is a memory. */
struct document_place {
  enum corpus corpus;
  struct str path, ref;
  int64_t line;
  double confidence;
};
/* Fills ret_places[n]. */
NODISCARD enum status documents_places(struct store *st, struct str team, const int64_t *memory_ids, size_t n,
                                       struct arena *a, struct document_place *ret_places, struct error *err);

/* ---- folders indexed as sources ---- */

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
/* Source folders of all projects of a team. */
NODISCARD enum status source_roots_all(struct store *st, struct str team, struct arena *a,
                                       struct source_roots *ret_roots, struct error *err);
/* The distinct paths of these folders. */
NODISCARD enum status source_root_paths(struct store *st, struct str team, struct arena *a, struct strs *ret_paths,
                                        struct error *err);

/* ---- stored items: documents of the corpus `items` with their texts ---- */

struct stored_item {
  struct str id, type; /* type: see core/memory/types.h */
  struct str title, content, path;
  int64_t line, at;
  double confidence;
};
struct stored_items {
  struct stored_item *v;
  size_t n, cap;
};

/* Sorted by path, line and id, bytewise on every engine. */
NODISCARD enum status items_stored(struct store *st, struct str team, struct str project, struct arena *a,
                                   struct stored_items *ret_items, struct error *err);
