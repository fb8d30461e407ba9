/* items.h: the items of a project as they are stored: documents of the corpus `items` with their texts. */
#pragma once

#include "store/memories/documents.h"

struct stored_item {
  struct str id, type; /* type: of core/memory/types.h */
  struct str title, content, path;
  int64_t line, at;
  double confidence;
};
struct stored_items {
  struct stored_item *v;
  size_t n, cap;
};

/* By path, line and id, in the order of bytes on every engine. */
NODISCARD enum status items_stored(struct store *st, struct str team, struct str project, struct arena *a,
                                   struct stored_items *ret_items, struct error *err);
