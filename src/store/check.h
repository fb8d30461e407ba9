/* check.h: counts and health checks over a whole store. */
#pragma once

#include "base/json.h"
#include "store/store.h"

/* Counts the team's memories: by_kind, by_type, by_project and by_delivery of active ones, by_state of all. Each is an
 * object of names and counts, ordered by name. */
NODISCARD enum status count_groups(struct store *st, struct str team, struct arena *a, yyjson_mut_doc *doc,
                                   yyjson_mut_val *obj, struct error *err);
/* Counts documents by corpus; the other counts exclude them. */
NODISCARD enum status count_documents(struct store *st, struct str team, yyjson_mut_doc *doc, yyjson_mut_val *obj,
                                      struct error *err);
NODISCARD enum status count_since(struct store *st, struct str team, int64_t since, int64_t *ret_count,
                                  struct error *err);
/* Number of all memories, and of those created since two times, the earlier one first. */
struct counts_since {
  int64_t all, since, since_later;
};
NODISCARD enum status count_recent(struct store *st, struct str team, int64_t since, int64_t later,
                                   struct counts_since *ret_counts, struct error *err);
/* Most corrected memories: [{id, headline, versions, kind, project}], chains of at least two versions, at most 10. */
NODISCARD enum status most_corrected(struct store *st, struct str team, yyjson_mut_doc *doc, yyjson_mut_val *arr,
                                     struct error *err);

/* A check returns an empty text if it passes, else a description of the fault. */
typedef enum status (*store_check)(struct store *st, struct arena *a, struct str *ret_fault, struct error *err);
struct named_check {
  const char *name, *fix;
  store_check run;
};
/* Checks of the store's engine; the list ends with name == NULL. */
const struct named_check *store_checks(const struct store *st);

/* Shared checks of check.c, for the engines' lists. */
NODISCARD enum status check_full_text(struct store *st, struct arena *a, struct str *ret_fault, struct error *err);
NODISCARD enum status check_vectors(struct store *st, struct arena *a, struct str *ret_fault, struct error *err);
NODISCARD enum status check_chunks(struct store *st, struct arena *a, struct str *ret_fault, struct error *err);
NODISCARD enum status check_chains(struct store *st, struct arena *a, struct str *ret_fault, struct error *err);
/* Check by a query that counts faults in the whole store. */
NODISCARD enum status check_count(struct store *st, const char *sql, const char *what, struct arena *a,
                                  struct str *ret_fault, struct error *err);

/* Recomputes the hashes of all texts; the fault names the ids of changed ones. Works on both engines. */
NODISCARD enum status check_texts(struct store *st, db_progress progress, void *arg, struct arena *a,
                                  struct str *ret_fault, struct error *err);
