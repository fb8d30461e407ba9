/* links.h: links between memories, as rows: supersedes, shadows, blocked_by, contradicts, relates, derived_from, cites.
 */
#pragma once

#include "core/memory/memory.h"
#include "store/store.h"

struct link {
  int64_t src, dst, at;
  struct str rel, reason;
  struct str prior; /* JSON: what superseding changed on dst */
  struct str src_uid, dst_uid;
  struct str other_headline, other_state; /* of the end that is not asked about, in links_of() */
  bool other_untrusted;
};
struct links {
  struct link *v;
  size_t n, cap;
};

NODISCARD enum status link_add(struct txn *txn, struct arena *a, const struct link *link, struct error *err);
/* False in ret_found when there was no such link. */
NODISCARD enum status link_remove(struct txn *txn, struct arena *a, int64_t src, struct str rel, int64_t dst,
                                  bool *ret_found, struct error *err);

/* Links that start or end at a memory. */
NODISCARD enum status links_of(struct store *st, struct str team, int64_t id, struct arena *a, struct links *ret_links,
                               struct error *err);
/* The link that supersedes this memory: its successor is .src, 0 when there is none. */
NODISCARD enum status link_successor(struct store *st, struct str team, int64_t id, struct arena *a,
                                     struct link *ret_link, struct error *err);
/* The memory that this one superseded; 0 when there is none. */
NODISCARD enum status link_predecessor(struct store *st, struct str team, int64_t id, struct arena *a,
                                       struct link *ret_link, struct error *err);
/* The newest version in the chain of a memory (itself when it was never superseded). */
NODISCARD enum status link_head(struct store *st, struct str team, int64_t id, int64_t *ret_head, struct error *err);
/* Whether to depends on from through blocked_by links already; the path of ids, from `from` to `to`, when it does. */
NODISCARD enum status link_path(struct store *st, struct str team, int64_t from, int64_t to, struct arena *a,
                                struct str *ret_path, struct error *err);

/* "links" of a memory's record: by uid, so that they survive a change of store. */
void links_put(yyjson_mut_doc *doc, yyjson_mut_val *obj, int64_t id, const struct links *links);
