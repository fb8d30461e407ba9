/* generation.c: detects changes of a store's memories. */
#include "store/generation.h"

#include "store/engine.h"

enum status sqlite_store_generation(struct store *st, struct str team UNUSED, struct generation *ret_generation,
                                    struct error *err) {
  struct generation g = {0};
  TRY(db_int(st->db, &g.txn, NULL, err,
             "/* all teams: a counter, compared and not shown */ SELECT coalesce(max(id), 0) FROM txn", NULL));
  TRY(db_int(st->db, &g.vectors, NULL, err, "/* all teams: the same */ SELECT coalesce(sum(live), 0) FROM vec_block",
             NULL));
  TRY(db_int(st->db, &g.chunks, NULL, err, "/* all teams: the same */ SELECT coalesce(sum(n), 0) FROM chunk_count",
             NULL));
  TRY(events_epoch(st, g.epoch, err));
  *ret_generation = g;
  return STATUS_OK;
}

/* A single query, because it runs before every search. */
enum status postgres_store_generation(struct store *st, struct str team, struct generation *ret_generation,
                                      struct error *err) {
  struct generation g = {0};
  struct rows r;
  db_query(st->db, &r, err,
           "SELECT (SELECT max(id) FROM txn WHERE team = ?1),"
           " (SELECT CAST(sum(n) AS bigint) FROM vec_count WHERE team = ?1),"
           " (SELECT value FROM meta WHERE name = 'epoch'),"
           " (SELECT n FROM chunk_count WHERE team = ?1)",
           "s", team);
  if (rows_next(&r)) {
    struct str epoch = rows_text(&r, 2);
    g.txn = rows_int(&r, 0);
    g.vectors = rows_int(&r, 1);
    g.chunks = rows_int(&r, 3);
    if (epoch.n)
      memcpy(g.epoch, epoch.p, epoch.n < sizeof(g.epoch) ? epoch.n : sizeof(g.epoch) - 1);
  }
  TRY(rows_end(&r));
  *ret_generation = g;
  return STATUS_OK;
}

bool generation_same(const struct generation *a, const struct generation *b) {
  return a->txn == b->txn && a->vectors == b->vectors && a->chunks == b->chunks &&
         memcmp(a->epoch, b->epoch, sizeof(a->epoch)) == 0;
}

enum status store_next_expiry(struct store *st, struct str team, int64_t now, int64_t *ret_at, struct error *err) {
  return db_int(st->db, ret_at, NULL, err,
                "SELECT coalesce(min(expires_at), 9223372036854775807) FROM memory"
                " WHERE state = 'active' AND expires_at IS NOT NULL AND expires_at > ?1 AND team = ?2",
                "is", now, team);
}
