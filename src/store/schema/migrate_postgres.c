/* migrate_postgres.c: migrations of a store in PostgreSQL.
 *
 * Everything is in the schema `cairn`, so other programs can use the same database; the search path of every
 * connection begins with it. A migration is one transaction under the lock of the whole store: if several processes
 * find an empty database, one creates the store and the others wait. */
#include <stdio.h>

#include "store/engine.h"

EMBED_SQL(cairn_sql_postgres_0001, "postgres/0001_init.sql");
EMBED_SQL(cairn_sql_postgres_0009, "postgres/0009_documents.sql");
EMBED_SQL(cairn_sql_postgres_0010, "postgres/0010_agents.sql");
EMBED_SQL(cairn_sql_postgres_0011, "postgres/0011_security.sql");
EMBED_SQL(cairn_sql_postgres_0012, "postgres/0012_retention.sql");

/* The first is equivalent to SQLite's first eight; later migrations have the same number in both engines. */
static const char *const migrations[SCHEMA_VERSION] = {
    cairn_sql_postgres_0001, [8] = cairn_sql_postgres_0009, [9] = cairn_sql_postgres_0010,
    [10] = cairn_sql_postgres_0011, [11] = cairn_sql_postgres_0012};

enum { OLDEST_VECTOR = 8 /* 0.8 */ };

static enum status schema_version(struct store *st, int64_t *ret_version, struct error *err) {
  int64_t there, version = 0;
  TRY(db_int(st->db, &there, NULL, err,
             "SELECT CASE WHEN to_regclass('cairn.schema_version') IS NULL THEN 0 ELSE 1 END", NULL));
  if (there)
    TRY(db_int(st->db, &version, NULL, err, "SELECT version FROM cairn.schema_version", NULL));
  *ret_version = version;
  return STATUS_OK;
}

static enum status no_backup(struct store *st UNUSED, int64_t version UNUSED, int64_t last UNUSED, int64_t now UNUSED,
                             struct error *err UNUSED) {
  return STATUS_OK; /* A failed migration is rolled back completely, and server backups are the administrator's task. */
}

/* ---- database requirements ---- */

static enum status make_schema(struct store *st, struct error *err) {
  int64_t may;
  TRY(db_int(st->db, &may, NULL, err,
             "SELECT CASE WHEN n.oid IS NOT NULL THEN CASE WHEN has_schema_privilege(n.oid, 'CREATE') THEN"
             " 2 ELSE 0 END WHEN has_database_privilege(current_database(), 'CREATE') THEN 1 ELSE 0 END"
             " FROM (SELECT 1) one LEFT JOIN pg_namespace n ON n.nspname = 'cairn'",
             NULL));
  if (may == 0) {
    error_set(err, STATUS_READONLY, "this user may not create tables in %s", db_path(st->db));
    return error_fix(err, "ask an administrator to run, in that database: CREATE SCHEMA cairn AUTHORIZATION user;");
  }
  if (may == 1)
    return db_script(st->db, err, "CREATE SCHEMA cairn");
  return STATUS_OK;
}

struct extension {
  int64_t installed, available, may, minor;
  bool found;    /* its types are visible in the search path */
  char home[80]; /* schema that contains it */
};

static enum status read_extension(struct store *st, const char *name, const char *type, struct extension *ret,
                                  struct error *err) {
  struct rows r;
  struct extension e = {0};
  db_query(st->db, &r, err,
           "SELECT CASE WHEN e.oid IS NULL THEN 0 ELSE 1 END, CASE WHEN v.name IS NULL THEN 0 ELSE 1 END,"
           " CASE WHEN u.rolsuper OR (v.trusted AND has_database_privilege(current_database(), 'CREATE')) THEN 1"
           " ELSE 0 END,"
           " split_part(coalesce(e.extversion, v.version, '0.0'), '.', 1)::int * 1000"
           " + split_part(coalesce(e.extversion, v.version, '0.0'), '.', 2)::int,"
           " CASE WHEN to_regtype(?2) IS NULL THEN 0 ELSE 1 END, coalesce(n.nspname, '')"
           " FROM pg_roles u LEFT JOIN pg_extension e ON e.extname = ?1 LEFT JOIN pg_namespace n ON n.oid ="
           " e.extnamespace LEFT JOIN pg_available_extensions a ON a.name = ?1"
           " LEFT JOIN pg_available_extension_versions v ON v.name = ?1 AND v.version = a.default_version"
           " WHERE u.rolname = current_user",
           "ss", str_from(name), str_from(type));
  if (rows_next(&r)) {
    e = (struct extension){rows_int(&r, 0), rows_int(&r, 1), rows_int(&r, 2), rows_int(&r, 3), rows_int(&r, 4), {0}};
    snprintf(e.home, sizeof(e.home), "%.*s", STR_ARG(rows_text(&r, 5)));
  }
  TRY(rows_end(&r));
  *ret = e;
  return STATUS_OK;
}

/* Extensions are created in `public`, for the whole database, if this user may write there. */
static enum status create_extension(struct store *st, const char *name, struct error *err) {
  char sql[120];
  int64_t open;
  TRY(db_int(st->db, &open, NULL, err,
             "SELECT count(*) FROM pg_namespace WHERE nspname = 'public'"
             " AND has_schema_privilege(oid, 'CREATE')",
             NULL));
  snprintf(sql, sizeof(sql), "CREATE EXTENSION IF NOT EXISTS %s SCHEMA %s", name, open ? "public" : "cairn");
  return db_script(st->db, err, sql);
}

static enum status require_extension(struct store *st, const char *name, const char *title, const char *package,
                                     const char *type, struct extension *ret, struct error *err) {
  TRY(read_extension(st, name, type, ret, err));
  if (ret->installed)
    return STATUS_OK;
  if (!ret->available) {
    error_set(err, STATUS_UNAVAILABLE, "the server of %s has no %s", db_path(st->db), title);
    return error_fix(err, "install it on the server (package %s), then run CREATE EXTENSION %s; in that database",
                     package, name);
  }
  if (!ret->may) {
    error_set(err, STATUS_UNAVAILABLE, "%s has no extension %s, and this user may not create it", db_path(st->db),
              name);
    return error_fix(err, "ask an administrator to run, in that database: CREATE EXTENSION %s;", name);
  }
  TRY(create_extension(st, name, err));
  return read_extension(st, name, type, ret, err);
}

static enum status make_extensions(struct store *st, struct error *err) {
  struct extension e;
  TRY(require_extension(st, "vector", "pgvector", "postgresql-17-pgvector", "halfvec", &e, err));
  if (e.minor < OLDEST_VECTOR) {
    error_set(err, STATUS_UNAVAILABLE, "%s has pgvector %lld.%lld, Cairn needs 0.%d or newer", db_path(st->db),
              (long long)e.minor / 1000, (long long)e.minor % 1000, OLDEST_VECTOR);
    return error_fix(err, "install the newer one on the server, then ask an administrator to run, in that database:"
                          " ALTER EXTENSION vector UPDATE;");
  }
  if (!e.found) {
    error_set(err, STATUS_UNAVAILABLE,
              "the extension vector of %s is in the schema %s, which is not in the search path", db_path(st->db),
              e.home);
    return error_fix(err, "ask an administrator to run, in that database: ALTER EXTENSION vector SET SCHEMA public;");
  }
  return require_extension(st, "btree_gin", "btree_gin", "postgresql-contrib", "text", &e, err);
}

static enum status prepare(struct store *st, int64_t version, struct error *err) {
  TRY(db_script(st->db, err, "SET LOCAL statement_timeout = 0; SET LOCAL client_min_messages = warning"));
  if (version > 0)
    return STATUS_OK;
  TRY(make_schema(st, err));
  return make_extensions(st, err);
}

static enum status set_version(struct store *st, int64_t version, struct error *err) {
  TRY(db_script(st->db, err, "CREATE TABLE IF NOT EXISTS cairn.schema_version (version bigint NOT NULL)"));
  TRY(db_exec(st->db, err, "DELETE FROM cairn.schema_version", NULL));
  return db_exec(st->db, err, "INSERT INTO cairn.schema_version (version) VALUES (?1)", "i", version);
}

const struct migrator postgres_migrator = {schema_version, no_backup, prepare, set_version};

enum status postgres_migrate(struct store *st, int64_t now, struct error *err) {
  return migrate_with(st, migrations, SCHEMA_VERSION, now, err);
}
