/* fixture.c: a store in the test's folder. */
#include "fixture.h"

#include "base/id.h"

enum { NOON = 1763208000 };

struct store *fixture_open(const char *name) {
  struct store_options o = {.path = test_store(name), .now = NOON * INT64_C(1000)};
  struct store *st = NULL;
  struct error err;
  CHECK_OK(store_open(&o, &st, &err), &err);
  return st;
}

struct fixture fixture_new(void) {
  struct fixture f = {.now = NOON * INT64_C(1000)};
  arena_init(&f.arena);
  f.store = fixture_open("store.db");
  f.scope = (struct scope){.team = STR("default"), .project = STR(""), .now = f.now};
  return f;
}

void fixture_close(struct fixture *f) {
  store_close(&f->store);
  arena_release(&f->arena);
}

struct txn fixture_begin(struct fixture *f) {
  struct txn who = {.team = STR("default"), .project = STR(""), .source = STR("test"), .op = "test", .now = f->now};
  struct txn txn;
  CHECK_OK(txn_begin(f->store, &who, 0, &txn, &f->err), &f->err);
  return txn;
}

void fixture_commit(struct fixture *f, struct txn *txn) { CHECK_OK(txn_commit(txn, &f->err), &f->err); }

struct memory fixture_fact(struct fixture *f, struct txn *txn, struct str project, struct str text,
                           int64_t *ret_chunk) {
  char *uid = arena_alloc(&f->arena, UUID_SIZE);
  uuid7_new(f->now, uid);
  struct memory m = {.uid = str_from(uid),
                     .team = STR("default"),
                     .project = project,
                     .kind = STR("fact"),
                     .type = STR("fact"),
                     .headline = STR("A fact"),
                     .body = text,
                     .delivery = STR("on_demand"),
                     .trust = STR("user"),
                     .state = STR("active"),
                     .weight = 1.0,
                     .valid_from = f->now,
                     .created_at = f->now,
                     .updated_at = f->now,
                     .source = STR("test")};
  struct chunk_rows chunks = {0};
  CHECK_OK(memory_insert(txn, &f->arena, &m, &chunks, &f->err), &f->err);
  CHECK(chunks.n >= 1);
  if (ret_chunk)
    *ret_chunk = chunks.v[0].id;
  return m;
}
