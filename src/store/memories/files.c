/* files.c: finding memories by paths. */
#include "store/memories/files.h"

#include "core/files/memfile.h"
#include "store/store_internal.h"

enum status files_under(struct store *st, const struct scope *scope, struct str dir, struct arena *a,
                        struct memories *ret_list, struct error *err) {
  struct scope own = *scope;
  own.all_projects = false;
  struct sql q = memory_select(a);
  visible(&q, &own, STATES_LIVE);
  sql_add(&q, " AND m.project = ");
  sql_text(&q, own.project);
  /* '0' follows '/': keys are compared by their bytes. */
  sql_add(&q, " AND m.key IS NOT NULL AND m.key > ");
  sql_text(&q, arena_printf(a, "%.*s/", STR_ARG(dir)));
  sql_add(&q, " AND m.key < ");
  sql_text(&q, arena_printf(a, "%.*s0", STR_ARG(dir)));
  sql_add(&q, " ORDER BY m.key");
  return memory_collect(st, &q, a, ret_list, err);
}

/* The first engine has no name for the number of bytes, and the second no such cast. */
#define SIZE(bytes)                                                                                                    \
  "SELECT " bytes " - CASE WHEN EXISTS (SELECT 1 FROM label l WHERE l.team = ?1 AND l.memory_id = ?2"                  \
  " AND l.field = 'tags' AND l.value = ?3) THEN ?4 ELSE 0 END FROM body b WHERE b.team = ?1 AND b.memory_id = ?2"

enum status file_size(struct store *st, struct str team, int64_t id, int64_t *ret_size, struct error *err) {
  return db_int(st->db, ret_size, NULL, err,
                db_engine(st->db) == DB_SQLITE ? SIZE("length(CAST(b.text AS BLOB))") : SIZE("octet_length(b.text)"),
                "sisi", team, id, STR(MEMFILE_BLANK_TAG), (int64_t)(sizeof(MEMFILE_BLANK) - 1));
}
