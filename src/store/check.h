/* check.h: counts and health checks over a whole store. */
#pragma once

#include "base/json.h"
#include "store/store.h"

/* The team's memories counted: by_kind, by_type, by_project and by_delivery of those that are active, by_state of all,
 * each an object of names and numbers, in the order of the names. */
NODISCARD enum status count_groups(struct store *st, struct str team, struct arena *a, yyjson_mut_doc *doc,
                                   yyjson_mut_val *obj, struct error *err);
/* Documents by corpus: they are counted nowhere else. */
NODISCARD enum status count_documents(struct store *st, struct str team, yyjson_mut_doc *doc, yyjson_mut_val *obj,
                                      struct error *err);
NODISCARD enum status count_since(struct store *st, struct str team, int64_t since, int64_t *ret_count,
                                  struct error *err);
/* All memories, and those since two moments, the earlier one first. */
struct counts_since {
  int64_t all, since, since_later;
};
NODISCARD enum status count_recent(struct store *st, struct str team, int64_t since, int64_t later,
                                   struct counts_since *ret_counts, struct error *err);
/* The most corrected memories: [{id, headline, versions}], chains of two versions and more, at most 10. */
NODISCARD enum status most_corrected(struct store *st, struct str team, yyjson_mut_doc *doc, yyjson_mut_val *arr,
                                     struct error *err);

/* One check each: an empty text means that all is well, else it says what is wrong. */
typedef enum status (*store_check)(struct store *st, struct arena *a, struct str *ret_fault, struct error *err);
struct named_check {
  const char *name, *fix;
  store_check run;
};
/* Those of the store's engine; the list ends with name == NULL. */
const struct named_check *store_checks(const struct store *st);

/* Checks of check.c, for the lists of the engines. */
NODISCARD enum status check_full_text(struct store *st, struct arena *a, struct str *ret_fault, struct error *err);
NODISCARD enum status check_vectors(struct store *st, struct arena *a, struct str *ret_fault, struct error *err);
NODISCARD enum status check_chunks(struct store *st, struct arena *a, struct str *ret_fault, struct error *err);
NODISCARD enum status check_chains(struct store *st, struct arena *a, struct str *ret_fault, struct error *err);
/* A check by a question that counts what is wrong in the whole store. */
NODISCARD enum status check_count(struct store *st, const char *sql, const char *what, struct arena *a,
                                  struct str *ret_fault, struct error *err);
