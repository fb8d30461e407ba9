/* migrate_sqlite.c: migrations of a store in an SQLite file.
 *
 * A non-empty store is backed up first. */
#include <stdio.h>

#include "store/engine.h"
#include "store/sqlite/sqlite.h"

EMBED_SQL(cairn_sql_sqlite_0001, "sqlite/0001_init.sql");
EMBED_SQL(cairn_sql_sqlite_0002, "sqlite/0002_embedding.sql");
EMBED_SQL(cairn_sql_sqlite_0003, "sqlite/0003_full_text.sql");
EMBED_SQL(cairn_sql_sqlite_0004, "sqlite/0004_vectors.sql");
EMBED_SQL(cairn_sql_sqlite_0005, "sqlite/0005_search.sql");
EMBED_SQL(cairn_sql_sqlite_0006, "sqlite/0006_sessions.sql");
EMBED_SQL(cairn_sql_sqlite_0007, "sqlite/0007_telemetry.sql");
EMBED_SQL(cairn_sql_sqlite_0008, "sqlite/0008_vault.sql");
EMBED_SQL(cairn_sql_sqlite_0009, "sqlite/0009_documents.sql");
EMBED_SQL(cairn_sql_sqlite_0010, "sqlite/0010_agents.sql");
EMBED_SQL(cairn_sql_sqlite_0011, "sqlite/0011_security.sql");
EMBED_SQL(cairn_sql_sqlite_0012, "sqlite/0012_retention.sql");

static const char *const migrations[SCHEMA_VERSION] = {
    cairn_sql_sqlite_0001, cairn_sql_sqlite_0002, cairn_sql_sqlite_0003, cairn_sql_sqlite_0004,
    cairn_sql_sqlite_0005, cairn_sql_sqlite_0006, cairn_sql_sqlite_0007, cairn_sql_sqlite_0008,
    cairn_sql_sqlite_0009, cairn_sql_sqlite_0010, cairn_sql_sqlite_0011, cairn_sql_sqlite_0012};

enum { APPLICATION_ID = 0x4341524e /* "CARN" */ };

/* The tables are counted first: another process may create the store between these statements, and tables without our
 * application id would look like those of another program. */
static enum status file_version(struct store *st, int64_t *ret_version, struct error *err) {
  int64_t tables, app;
  TRY(db_int(st->db, &tables, NULL, err, "SELECT count(*) FROM sqlite_schema", NULL));
  TRY(db_int(st->db, &app, NULL, err, "PRAGMA application_id", NULL));
  TRY(db_int(st->db, ret_version, NULL, err, "PRAGMA user_version", NULL));
  if (tables == 0 || app == APPLICATION_ID)
    return STATUS_OK;
  error_set(err, STATUS_CORRUPT, "%s belongs to another program; it was left untouched", db_path(st->db));
  return error_fix(err, "name another file with --db; a new store is created there");
}

static enum status back_up_first(struct store *st, int64_t version, int64_t now, struct error *err) {
  struct arena a;
  arena_init(&a);
  jmp_buf oom;
  enum status s;
  if (ARENA_BOUNDARY(&a, oom)) {
    s = error_set(err, STATUS_NOMEM, "out of memory");
  } else {
    char label[16];
    struct str path;
    snprintf(label, sizeof(label), "v%d", (int)version);
    s = store_auto_backup(st, label, now, &a, &path, err);
  }
  arena_release(&a);
  return s;
}

/* Applies to every writable store: a backup copied over a store has another journal mode, in which readers would block.
 */
static enum status make_ready(struct store *st, int64_t version, int64_t last, int64_t now, struct error *err) {
  TRY(sqlite_use_wal(st->db, err));
  if (version > 0 && version < last)
    return back_up_first(st, version, now, err);
  return STATUS_OK;
}

static enum status prepare(struct store *st UNUSED, int64_t version UNUSED, struct error *err UNUSED) {
  return STATUS_OK;
}

static enum status set_version(struct store *st, int64_t version, struct error *err) {
  char sql[96];
  snprintf(sql, sizeof(sql), "PRAGMA user_version = %d; PRAGMA application_id = %d", (int)version, APPLICATION_ID);
  return db_script(st->db, err, sql);
}

const struct migrator sqlite_migrator = {file_version, make_ready, prepare, set_version};

/* A new store is moved from its log into its file: without its epoch, a store that lost its log would look like a new
 * one, and the mark of another. */
enum status sqlite_migrate(struct store *st, int64_t now, struct error *err) {
  int64_t before;
  TRY(file_version(st, &before, err));
  TRY(migrate_with(st, migrations, SCHEMA_VERSION, now, err));
  return before == 0 ? db_checkpoint(st->db, false, NULL, err) : STATUS_OK;
}
