/* searchable.c: opens the stores of the search benchmark. */
#include "support/searchable.h"

#include <string.h>

#include "support/measure.h"

/* The topics are the first memories, embedded by the current embedder through the library. */
static void load_topics(struct searchable *s) {
  static int8_t vectors[TOPICS * TOPICS_DIMS_MAX];
  static bool found[TOPICS];
  int64_t chunks[TOPICS], n = 0;
  struct rows r;
  db_query(store_db(s->store), &r, &s->err, "SELECT id FROM chunk WHERE seq = 0 ORDER BY memory_id LIMIT ?1", "i",
           (int64_t)TOPICS);
  while (rows_next(&r))
    chunks[n++] = rows_int(&r, 0);
  if (rows_end(&r) != STATUS_OK || n != TOPICS)
    fail("the store has no topics");
  s->topics.dims = s->model.dims;
  s->topics.vectors = vectors;
  if (vec_fetch(s->store, &s->model, chunks, TOPICS, vectors, found, &s->err) != STATUS_OK)
    fail("%s", s->err.message);
  for (size_t i = 0; i < TOPICS; i++)
    if (!found[i])
      fail("topic %zu has no vector", i);
}

void searchable_open(struct searchable *s, const char *path, int64_t size) {
  *s = (struct searchable){.size = size};
  arena_init(&s->arena);
  topics_start(&s->topics);
  struct store_options o = {.path = path, .now = 1770000000000};
  if (store_open(&o, &s->store, &s->err) != STATUS_OK)
    fail("%s", s->err.message);
  struct rows r;
  db_query(store_db(s->store), &r, &s->err, "SELECT model, dims FROM vec_block ORDER BY id LIMIT 1", NULL);
  if (!rows_next(&r))
    fail("%s has no vectors", path);
  s->model = (struct vec_model){STR("default"), rows_dup(&r, 0, &s->arena), (int)rows_int(&r, 1)};
  if (rows_end(&r) != STATUS_OK || s->model.dims > TOPICS_DIMS_MAX)
    fail("%s", s->err.message);
  load_topics(s);
}

void searchable_close(struct searchable *s) {
  store_close(&s->store);
  arena_release(&s->arena);
}

sqlite3 *peer_open(const char *path, const char *extension) {
  sqlite3 *db = NULL;
  char *why = NULL;
  if (sqlite3_open(path, &db) != SQLITE_OK)
    fail("%s: %s", path, sqlite3_errmsg(db));
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
  if (sqlite3_load_extension(db, extension, NULL, &why) != SQLITE_OK)
    fail("%s: %s", extension, why);
  return db;
}
