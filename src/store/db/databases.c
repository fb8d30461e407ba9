/* databases.c: creates and drops databases on a PostgreSQL server. */
#include "store/db/databases.h"

#include <stdio.h>

#include "store/db/db.h"

/* scheme://user@host:port/NAME?options; the part before the name ends at the first slash after the host. */
struct str database_url(struct arena *a, struct str url, struct str name) {
  size_t host = str_find(url, STR("://"), 0);
  host = host == SIZE_MAX ? 0 : host + 3;
  size_t options = str_find(url, STR("?"), host), slash = str_find(url, STR("/"), host);
  options = options == SIZE_MAX ? url.n : options;
  slash = slash < options ? slash : options;
  return arena_printf(a, "%.*s/%.*s%.*s", STR_ARG(str_slice(url, 0, slash)), STR_ARG(name),
                      STR_ARG(str_slice(url, options, url.n)));
}

static enum status run(const char *url, const char *what, struct str name, const char *how, struct error *err) {
  char sql[128];
  struct db *db;
  struct db_options options = {.path = url, .busy_ms = 60000};
  if (!db_is_url(url)) {
    error_set(err, STATUS_USAGE, "not an address of a PostgreSQL server");
    return error_fix(err, "postgresql://USER@HOST/DATABASE");
  }
  for (size_t i = 0; i < name.n; i++)
    if (!ascii_alnum(name.p[i]) && name.p[i] != '_')
      return error_set(err, STATUS_USAGE, "not a valid database name: %.*s", STR_ARG(name));
  int n = snprintf(sql, sizeof(sql), "%s %.*s%s", what, STR_ARG(name), how);
  if (n < 0 || (size_t)n >= sizeof(sql))
    return error_set(err, STATUS_USAGE, "the database name is too long");
  TRY(db_open(&options, &db, err));
  enum status s = db_script(db, err, sql);
  db_close(&db);
  return s;
}

enum status database_create(const char *url, struct str name, struct error *err) {
  enum status s = run(url, "CREATE DATABASE", name, "", err);
  return s == STATUS_OK ? s : error_fix(err, "ALTER ROLE ... CREATEDB allows a role to create databases");
}

enum status database_drop(const char *url, struct str name, struct error *err) {
  return run(url, "DROP DATABASE IF EXISTS", name, " WITH (FORCE)", err);
}
