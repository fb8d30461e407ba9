/* links.h: rows of links between memories: supersedes, shadows, blocked_by, contradicts, relates, derived_from, cites.
 */
#pragma once

#include "core/memory/memory.h"
#include "store/store.h"

struct link {
  int64_t src, dst, at;
  struct str rel, reason;
  struct str prior; /* JSON: fields of dst before it was superseded */
  struct str src_uid, dst_uid;
  struct str other_headline, other_state; /* of the other end, in links_of() */
  bool other_untrusted;
};
struct links {
  struct link *v;
  size_t n, cap;
};

/* True for supersedes and shadows, whose reasons are indexed with the newer memory. */
bool link_is_replacement(struct str rel);

NODISCARD enum status link_add(struct txn *txn, struct arena *a, const struct link *link, struct error *err);
/* ret_found is false if there is no such link. */
NODISCARD enum status link_remove(struct txn *txn, struct arena *a, int64_t src, struct str rel, int64_t dst,
                                  bool *ret_found, struct error *err);

/* Links that start or end at a memory. */
NODISCARD enum status links_of(struct store *st, struct str team, int64_t id, struct arena *a, struct links *ret_links,
                               struct error *err);
/* The link that supersedes this memory; .src is the successor, 0 if there is none. */
NODISCARD enum status link_successor(struct store *st, struct str team, int64_t id, struct arena *a,
                                     struct link *ret_link, struct error *err);
/* The link to the memory that this one superseded; .dst is 0 if there is none. */
NODISCARD enum status link_predecessor(struct store *st, struct str team, int64_t id, struct arena *a,
                                       struct link *ret_link, struct error *err);
/* The newest version in the chain of a memory; the memory itself if it was never superseded. */
NODISCARD enum status link_head(struct store *st, struct str team, int64_t id, int64_t *ret_head, struct error *err);
/* The path "3 -> 7 -> 9" from `from` to `to` through blocked_by links; absent if there is none. */
NODISCARD enum status link_path(struct store *st, struct str team, int64_t from, int64_t to, struct arena *a,
                                struct str *ret_path, struct error *err);

/* Condition on alias b. A blocker counts until it is done; forgotten and pruned ones no longer block. */
#define OPEN_BLOCKER "b.state = 'active' AND b.status <> 'done'"
/* Ids of the open tasks that block this one: "3, 7"; absent if there are none. */
NODISCARD enum status task_open_blockers(struct store *st, struct str team, int64_t id, struct arena *a,
                                         struct str *ret_ids, struct error *err);

/* Adds "links" to a memory's record, with uids, which stay valid in another store. */
void links_put(yyjson_mut_doc *doc, yyjson_mut_val *obj, int64_t id, const struct links *links);
