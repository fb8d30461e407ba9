/* store_postgres.c: has anybody changed the memories of a store on a server? */
#include "store/engine.h"

/* One question, for it is asked before every search. */
enum status postgres_store_generation(struct store *st, struct str team, struct generation *ret_generation,
                                      struct error *err) {
  struct generation g = {0};
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT (SELECT max(id) FROM txn WHERE team = ?1),"
           " (SELECT CAST(sum(n) AS bigint) FROM vec_count WHERE team = ?1),"
           " (SELECT value FROM meta WHERE name = 'epoch')",
           "s", team);
  if (rows_next(&r)) {
    struct str epoch = rows_text(&r, 2);
    g.txn = rows_int(&r, 0);
    g.vectors = rows_int(&r, 1);
    if (epoch.n)
      memcpy(g.epoch, epoch.p, epoch.n < sizeof(g.epoch) ? epoch.n : sizeof(g.epoch) - 1);
  }
  enum status s = rows_end(&r);
  if (s == STATUS_OK)
    *ret_generation = g;
  return s;
}
