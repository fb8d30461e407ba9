/* migrate.c: brings the schema of a store up to date: numbered migrations, embedded in the program.
 *
 * Each runs in one transaction, under the write lock, after a backup when the store already holds something. A store
 * with a newer schema is refused before anything is touched. A new migration is a new file under sql/sqlite/ and one
 * more line in the two lists below. */
#include <stdio.h>

#include "base/id.h"
#include "core/types.h"
#include "store/engine.h"
#include "store/sqlite.h"
#include "store/store_internal.h"

#define EMBED(name, file)                                                                                              \
  __asm__(".pushsection .rodata\n.global " #name "\n" #name ":\n.incbin \"" CAIRN_SQL_DIR "/" file                     \
          "\"\n.byte 0\n.popsection\n");                                                                               \
  extern const char name[] __attribute__((visibility("hidden")))

EMBED(cairn_sql_sqlite_0001, "sqlite/0001_init.sql");
EMBED(cairn_sql_sqlite_0002, "sqlite/0002_embedding.sql");
EMBED(cairn_sql_sqlite_0003, "sqlite/0003_full_text.sql");
EMBED(cairn_sql_sqlite_0004, "sqlite/0004_vectors.sql");
EMBED(cairn_sql_sqlite_0005, "sqlite/0005_search.sql");
EMBED(cairn_sql_sqlite_0006, "sqlite/0006_sessions.sql");
EMBED(cairn_sql_sqlite_0007, "sqlite/0007_telemetry.sql");
EMBED(cairn_sql_sqlite_0008, "sqlite/0008_vault.sql");

static const char *const migrations[] = {cairn_sql_sqlite_0001, cairn_sql_sqlite_0002, cairn_sql_sqlite_0003,
                                         cairn_sql_sqlite_0004, cairn_sql_sqlite_0005, cairn_sql_sqlite_0006,
                                         cairn_sql_sqlite_0007, cairn_sql_sqlite_0008};

enum { APPLICATION_ID = 0x4341524e /* "CARN" */ };

int store_schema_version(void) { return ARRAY_LEN(migrations); }

struct plan {
  const char *const *sql;
  int n; /* the version that they lead to */
};

/* The tables are counted first: another process may create the store between these statements, and tables without the
 * mark of this program would look like somebody else's. */
static enum status versions(struct db *db, int64_t *ret_app, int64_t *ret_version, int64_t *ret_tables,
                            struct error *err) {
  enum status s = db_int(db, ret_tables, NULL, err, "SELECT count(*) FROM sqlite_schema", NULL);
  if (s == STATUS_OK)
    s = db_int(db, ret_app, NULL, err, "PRAGMA application_id", NULL);
  if (s == STATUS_OK)
    s = db_int(db, ret_version, NULL, err, "PRAGMA user_version", NULL);
  return s;
}

static enum status refuse(struct db *db, int known, int64_t app, int64_t version, int64_t tables, struct error *err) {
  if (tables > 0 && app != APPLICATION_ID) {
    error_set(err, STATUS_CORRUPT, "%s is a database of another program; it was left untouched", db_path(db));
    return error_fix(err, "name another file with --db; a new store is created there");
  }
  if (version > known) {
    error_set(err, STATUS_SCHEMA, "%s has schema %d, this program knows up to %d; it was left untouched", db_path(db),
              (int)version, known);
    return error_fix(err, "upgrade cairn to the version that wrote this store");
  }
  return STATUS_OK;
}

/* The table of types lives in the code; the schema needs it for its foreign key. */
static enum status fill_types(struct db *db, struct error *err) {
  enum status s = STATUS_OK;
  for (size_t i = 0; s == STATUS_OK && i < types_count(); i++) {
    const struct mem_type *t = types_at(i);
    if (!t->stored_as)
      s = db_exec(db, err, "INSERT INTO memory_type (name, kind) VALUES (?1, ?2) ON CONFLICT DO NOTHING", "ss",
                  str_from(t->name), str_from(kind_names[t->kind]));
  }
  return s;
}

static enum status first_facts(struct store *st, int64_t now, struct error *err) {
  char epoch[UUID_SIZE], time[TIME_TEXT_SIZE];
  uuid7_new(now, epoch);
  struct str at = time_format(now, time);
  enum status s = store_set_meta(st, "epoch", str_from(epoch), err);
  if (s == STATUS_OK)
    s = store_set_meta(st, "created_at", at, err);
  return s == STATUS_OK ? store_set_meta(st, "maintained_at", at, err) : s;
}

static enum status run_one(struct store *st, const char *sql, int64_t number, int64_t now, struct error *err) {
  enum status s = db_script(st->db, err, sql);
  if (s == STATUS_OK)
    s = fill_types(st->db, err);
  if (s == STATUS_OK && number == 0)
    s = first_facts(st, now, err);
  char mark[96];
  snprintf(mark, sizeof(mark), "PRAGMA user_version = %d; PRAGMA application_id = %d", (int)number + 1, APPLICATION_ID);
  return s == STATUS_OK ? db_script(st->db, err, mark) : s;
}

/* Another process may have migrated while this one waited for the lock: the version is read again under it. */
static enum status run_all(struct store *st, struct plan plan, int64_t now, struct error *err) {
  for (;;) {
    enum status s = db_begin(st->db, STR_NONE, false, err);
    int64_t app, version, tables;
    if (s == STATUS_OK)
      s = versions(st->db, &app, &version, &tables, err);
    if (s == STATUS_OK)
      s = refuse(st->db, plan.n, app, version, tables, err);
    if (s == STATUS_OK && version < plan.n)
      s = run_one(st, plan.sql[version], version, now, err);
    if (s == STATUS_OK)
      s = db_commit(st->db, err);
    if (s != STATUS_OK) {
      db_rollback(st->db);
      return s;
    }
    if (version >= plan.n - 1)
      return STATUS_OK;
  }
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

enum status migrate_with(struct store *st, const char *const *sql, int n, int64_t now, struct error *err) {
  struct plan plan = {sql, n};
  int64_t app, version, tables;
  enum status s = versions(st->db, &app, &version, &tables, err);
  if (s == STATUS_OK)
    s = refuse(st->db, plan.n, app, version, tables, err);
  /* A backup that was copied into the place of a store has another journal mode, which would make readers wait. */
  if (s == STATUS_OK && version == n && !db_read_only(st->db))
    return sqlite_use_wal(st->db, err);
  if (s != STATUS_OK || version == n)
    return s;
  if (db_read_only(st->db)) {
    error_set(err, STATUS_READONLY, "%s cannot be written, and its schema must be brought up to date first",
              db_path(st->db));
    return error_fix(err, "check the permissions of the file and of its folder, or name another store with --db");
  }
  s = sqlite_use_wal(st->db, err);
  if (s == STATUS_OK && version > 0)
    s = back_up_first(st, version, now, err);
  return s == STATUS_OK ? run_all(st, plan, now, err) : s;
}

enum status sqlite_migrate(struct store *st, int64_t now, struct error *err) {
  return migrate_with(st, migrations, ARRAY_LEN(migrations), now, err);
}
