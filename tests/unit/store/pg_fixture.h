/* pg_fixture.h: driver connections to an empty PostgreSQL database of the test. */
#pragma once

#include "base/os/clock.h"
#include "store/db/db.h"
#include "support/harness.h"
#include "support/store.h"

static inline const char *pg_url(void) { return test_store_new("driver.db"); }

static inline struct db *pg_connect(const char *url) {
  struct db_options o = {.path = url, .busy_ms = 5000};
  struct db *db = NULL;
  struct error err;
  CHECK_OK(db_open(&o, &db, &err), &err);
  return db;
}

static inline struct db *pg_scratch(void) { return pg_connect(pg_url()); }
/* Opens another connection to the same database. */
static inline struct db *pg_again(void) { return pg_connect(pg_url()); }

static inline int64_t pg_count(struct db *db, const char *sql) {
  struct error err;
  int64_t n = -1;
  CHECK_OK(db_int(db, &n, NULL, &err, sql, NULL), &err);
  return n;
}
