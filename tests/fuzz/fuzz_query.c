/* fuzz_query.c: full-text search accepts any query. */
#include <stdlib.h>
#include <unistd.h>

#include "store/search/entities.h"
#include "store/search/lexical.h"
#include "support/fuzz.h"

static struct store *store;
static char folder[] = "/tmp/cairn-fuzz-XXXXXX";

static void clean_up(void) {
  static const char *const files[] = {"q.db", "q.db-wal", "q.db-shm"};
  store_close(&store);
  if (chdir(folder) != 0)
    return;
  for (size_t i = 0; i < ARRAY_LEN(files); i++)
    unlink(files[i]);
  rmdir(folder);
}

static void open_store(void) {
  struct error err;
  FUZZ_CHECK(mkdtemp(folder));
  char path[64];
  snprintf(path, sizeof(path), "%s/q.db", folder);
  struct store_options o = {.path = path, .now = 1763200000000};
  FUZZ_CHECK(store_open(&o, &store, &err) == STATUS_OK);
  atexit(clean_up);
  FUZZ_CHECK(
      db_script(store_db(store), &err,
                "PRAGMA foreign_keys = OFF;"
                "INSERT INTO chunk (team, memory_id, seq, hash, headline, body, extra, terms) VALUES"
                " ('default', 1, 0, 'h', 'some words', 'some words to search in, of 10 or 20', '', 'sear ch')") ==
      STATUS_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!store)
    open_store();
  struct arena a;
  struct error err;
  arena_init(&a);
  struct scope scope = {.team = STR("default"), .all_projects = true, .now = 1763200000000};
  struct filter any = {0};
  struct lexical_hits hits = {0}, entities = {0};
  struct chunk_query q = {.scope = &scope, .filter = &any, .text = {(const char *)data, size}, .limit = 10};
  FUZZ_CHECK(lexical_search(store, &q, &a, &hits, &err) == STATUS_OK && !hits.damaged);
  FUZZ_CHECK(entity_search(store, &q, &a, &entities, &err) == STATUS_OK && !entities.damaged);
  arena_release(&a);
  return 0;
}
