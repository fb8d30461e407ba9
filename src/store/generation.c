/* generation.c: has anybody changed the memories of a store? */
#include "store/generation.h"

#include "store/engine.h"

enum status sqlite_store_generation(struct store *st, struct str team UNUSED, struct generation *ret_generation,
                                    struct error *err) {
  struct generation g = {0};
  enum status s = db_int(st->db, &g.txn, NULL, err, "SELECT coalesce(max(id), 0) FROM txn", NULL);
  if (s == STATUS_OK)
    s = db_int(st->db, &g.vectors, NULL, err, "SELECT coalesce(sum(live), 0) FROM vec_block", NULL);
  if (s == STATUS_OK)
    s = events_epoch(st, g.epoch, err);
  if (s == STATUS_OK)
    *ret_generation = g;
  return s;
}

bool generation_same(const struct generation *a, const struct generation *b) {
  return a->txn == b->txn && a->vectors == b->vectors && memcmp(a->epoch, b->epoch, sizeof(a->epoch)) == 0;
}

enum status store_next_expiry(struct store *st, struct str team, int64_t now, int64_t *ret_at, struct error *err) {
  return db_int(st->db, ret_at, NULL, err,
                "SELECT coalesce(min(expires_at), 9223372036854775807) FROM memory"
                " WHERE state = 'active' AND expires_at IS NOT NULL AND expires_at > ?1 AND team = ?2",
                "is", now, team);
}
