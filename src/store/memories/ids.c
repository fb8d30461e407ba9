/* ids.c: ids of memories by their first digits. */
#include "store/memories/memories.h"
#include "store/store_internal.h"

enum { DIGITS_MOST = 18 }; /* that are looked for; no store comes that far */

static enum status collect(struct store *st, struct sql *q, struct arena *a, struct memory_ids *list,
                           struct error *err) {
  struct rows r;
  db_query_sql(st->db, &r, err, q);
  while (rows_next(&r))
    list_push(a, list, rows_int(&r, 0));
  return rows_end(&r);
}

static enum status newest(struct store *st, const struct scope *scope, int64_t limit, struct arena *a,
                          struct memory_ids *list, struct error *err) {
  struct sql q = SQL(a);
  sql_add(&q, "SELECT m.id FROM memory m WHERE ");
  visible(&q, scope, STATES_LIVE);
  sql_add(&q, " ORDER BY m.created_at DESC, m.id DESC LIMIT ");
  sql_int(&q, limit);
  return collect(st, &q, a, list, err);
}

static enum status between(struct store *st, const struct scope *scope, int64_t low, int64_t high, int64_t limit,
                           struct arena *a, struct memory_ids *list, struct error *err) {
  struct sql q = SQL(a);
  sql_add(&q, "SELECT m.id FROM memory m WHERE ");
  visible(&q, scope, STATES_LIVE);
  sql_add(&q, " AND m.id BETWEEN ");
  sql_int(&q, low);
  sql_add(&q, " AND ");
  sql_int(&q, high);
  sql_add(&q, " ORDER BY m.id LIMIT ");
  sql_int(&q, limit);
  return collect(st, &q, a, list, err);
}

/* The largest id of the store: no number with more digits needs to be looked for. */
static enum status largest(struct store *st, int64_t *ret_id, struct error *err) {
  return db_int(st->db, ret_id, NULL, err,
                "/* all teams: how far numbers go */ SELECT coalesce(max(id), 0) FROM memory", NULL);
}

enum status memory_ids(struct store *st, const struct scope *scope, struct str digits, int64_t limit, struct arena *a,
                       struct memory_ids *ret_ids, struct error *err) {
  struct memory_ids list = {0};
  int64_t low, width = 1, last = 0;
  enum status s = STATUS_OK;
  if (digits.n == 0) {
    s = newest(st, scope, limit, a, &list, err);
  } else if (digits.n <= DIGITS_MOST && ascii_digit(digits.p[0]) && digits.p[0] != '0' && str_int64(digits, &low)) {
    s = largest(st, &last, err);
    /* 12, then 120 to 129, then 1200 to 1299: each is a piece of the index. */
    for (; s == STATUS_OK && low <= last && (int64_t)list.n < limit; low *= 10, width *= 10) {
      int64_t high = low > INT64_MAX - (width - 1) ? INT64_MAX : low + (width - 1);
      s = between(st, scope, low, high, limit - (int64_t)list.n, a, &list, err);
      if (low > INT64_MAX / 10)
        break;
    }
  }
  if (s == STATUS_OK)
    *ret_ids = list;
  return s;
}
