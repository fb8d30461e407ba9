/* searchable.h: stores for the search benchmark, and the same content for sqlite-vec and FTS5. */
#pragma once

#include <sqlite3.h>

#include "store/store.h"
#include "store/vectors/vectors.h"
#include "support/topics.h"

/* An open store of the benchmark with its topics and the current index. */
struct searchable {
  struct store *store;
  struct topics topics;
  struct vec_model model;
  struct arena arena;
  struct error err;
  int64_t size;
};

void searchable_open(struct searchable *s, const char *path, int64_t size);
void searchable_close(struct searchable *s);

/* A connection with sqlite-vec loaded; `extension` is the path of vec0.so. */
sqlite3 *peer_open(const char *path, const char *extension);
