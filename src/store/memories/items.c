/* items.c: the items of a project as they are stored. */
#include "store/memories/items.h"

#include <stdlib.h>

#include "store/store_internal.h"

static int by_place(const void *x, const void *y) {
  const struct stored_item *a = x, *b = y;
  int order = str_cmp(a->path, b->path);
  if (order == 0)
    order = (a->line > b->line) - (a->line < b->line);
  return order ? order : str_cmp(a->id, b->id);
}

enum status items_stored(struct store *st, struct str team, struct str project, struct arena *a,
                         struct stored_items *ret_items, struct error *err) {
  struct stored_items list = {0};
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT d.ref, m.type, m.headline, b.text, d.path, d.line, m.created_at, d.confidence FROM document d"
           " JOIN memory m ON m.team = d.team AND m.id = d.memory_id"
           " JOIN body b ON b.team = d.team AND b.memory_id = d.memory_id"
           " WHERE d.team = ?1 AND d.corpus = ?2 AND d.project = ?3",
           "sss", team, str_from(corpus_names[CORPUS_ITEMS]), project.p ? project : STR(""));
  while (rows_next(&r)) {
    struct stored_item item = {.id = rows_dup(&r, 0, a),
                               .type = rows_dup(&r, 1, a),
                               .title = rows_dup(&r, 2, a),
                               .content = rows_dup(&r, 3, a),
                               .path = rows_dup(&r, 4, a),
                               .line = rows_int(&r, 5),
                               .at = rows_int(&r, 6),
                               .confidence = rows_real(&r, 7)};
    list_push(a, &list, item);
  }
  TRY(rows_end(&r));
  /* Servers sort text by their locale. */
  if (list.n)
    qsort(list.v, list.n, sizeof(*list.v), by_place);
  *ret_items = list;
  return STATUS_OK;
}
