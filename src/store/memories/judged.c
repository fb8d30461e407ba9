/* judged.c: progress of re-screening stored memories for prompt injection. */
#include "store/memories/judged.h"

#include "store/store_internal.h"

/* Stored with the settings but not settable: `cairn config` knows only those of its table. */
static const struct str name = STR_INIT("suspect.judged");

/* Value: "2 1734" (rules version 2, last memory 1734) or "2 done". */
enum status judged_get(struct store *st, struct str team, struct arena *a, struct judged *ret_judged,
                       struct error *err) {
  struct rows r;
  struct judged j = {0};
  db_query(st->db, &r, err, "SELECT value FROM setting WHERE team = ?1 AND name = ?2", "ss", team, name);
  struct str rest = rows_next(&r) ? rows_dup(&r, 0, a) : STR(""), version;
  TRY(rows_end(&r));
  bool known = str_next(&rest, ' ', &version) && str_int64(version, &j.version);
  j.done = known && str_is(rest, "done");
  if (known && !j.done && !str_int64(rest, &j.last))
    j.last = 0;
  *ret_judged = j;
  return STATUS_OK;
}

enum status judged_set(struct store *st, struct str team, struct arena *a, const struct judged *judged,
                       struct error *err) {
  struct str value = judged->done ? arena_printf(a, "%lld done", (long long)judged->version)
                                  : arena_printf(a, "%lld %lld", (long long)judged->version, (long long)judged->last);
  return db_exec(st->db, err,
                 "INSERT INTO setting (team, name, value) VALUES (?1, ?2, ?3)"
                 " ON CONFLICT (team, name) DO UPDATE SET value = excluded.value",
                 "sss", team, name, value);
}

enum status judged_candidates(struct store *st, struct str team, int64_t after, int64_t limit, struct arena *a,
                              struct memories *ret_list, struct error *err) {
  struct sql q = memory_select(a);
  sql_add(&q, "m.team = ");
  sql_text(&q, team);
  sql_add(&q, " AND m.corpus = 'memory' AND m.suspect IS NULL AND m.id > ");
  sql_int(&q, after);
  sql_add(&q, " ORDER BY m.id LIMIT ");
  sql_int(&q, limit);
  return memory_collect(st, &q, a, ret_list, err);
}

enum status judged_count_left(struct store *st, struct str team, int64_t after, int64_t *ret_count, struct error *err) {
  return db_int(st->db, ret_count, NULL, err,
                "SELECT count(*) FROM memory WHERE team = ?1 AND corpus = 'memory' AND suspect IS NULL AND id > ?2",
                "si", team, after);
}

/* A memory that maintenance once flagged and that is not flagged now was cleared by a person. Promotion by an agent
 * does not clear: the memory becomes the agent's own text, which is screened like any other. */
enum status judged_is_cleared(struct store *st, const struct memory *m, bool *ret_cleared, struct error *err) {
  int64_t n;
  TRY(db_int(st->db, &n, NULL, err,
             "SELECT count(*) FROM event WHERE team = ?1 AND memory_id = ?2 AND (action = 'memory:suspect'"
             " OR (action = 'memory:promote' AND ?3 = 'user'))",
             "sis", m->team, m->id, m->trust));
  *ret_cleared = n > 0;
  return STATUS_OK;
}
