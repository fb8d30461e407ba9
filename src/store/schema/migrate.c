/* migrate.c: schema migrations: numbered, embedded in the program.
 *
 * Each runs in one transaction, under the write lock of the whole store. A store with a newer schema is refused before
 * anything is changed. To add a migration, add a file of the same number for each engine under sql/, a line in
 * migrate_sqlite.c and in migrate_postgres.c, and increase SCHEMA_VERSION. */
#include <assert.h>

#include "base/id.h"
#include "core/memory/types.h"
#include "store/copy/move.h"
#include "store/store_internal.h"

struct plan {
  const struct migrator *by;
  const char *const *sql;
  int n; /* version that they lead to */
};

int store_schema_version(void) { return SCHEMA_VERSION; }

/* Reads the version of the store, and fails if this program does not support it. */
static enum status known_version(struct store *st, const struct plan *plan, int64_t *ret_version, struct error *err) {
  enum status s = plan->by->version(st, ret_version, err);
  if (s != STATUS_OK)
    return s;
  if (*ret_version < 0 || (*ret_version < plan->n && !plan->sql[*ret_version])) {
    error_set(err, STATUS_CORRUPT, "%s has schema %lld, which no version of Cairn writes: it is damaged",
              db_path(st->db), (long long)*ret_version);
    return error_fix(err, "it was left untouched; try one of its backups with --db BACKUP");
  }
  if (*ret_version <= plan->n)
    return s;
  error_set(err, STATUS_SCHEMA, "%s has schema %d, this program knows up to %d; it was left untouched", db_path(st->db),
            (int)*ret_version, plan->n);
  return error_fix(err, "upgrade cairn to the version that wrote this store");
}

/* The types are defined in the code; the table exists for the foreign key. */
static enum status fill_types(struct db *db, struct error *err) {
  for (size_t i = 0; i < types_count(); i++) {
    const struct mem_type *t = types_at(i);
    if (!t->stored_as)
      TRY(db_exec(db, err, "INSERT INTO memory_type (name, kind) VALUES (?1, ?2) ON CONFLICT DO NOTHING", "ss",
                  str_from(t->name), str_from(kind_names[t->kind])));
  }
  return STATUS_OK;
}

/* A newer program may have added types that are unknown here; they are kept. */
static enum status is_type_missing(struct db *db, bool *ret_missing, struct error *err) {
  struct rows r;
  size_t wanted = 0, found = 0;
  for (size_t i = 0; i < types_count(); i++)
    wanted += !types_at(i)->stored_as;
  db_query(db, &r, err, "SELECT name, kind FROM memory_type", NULL);
  while (rows_next(&r)) {
    const struct mem_type *t = type_find(rows_text(&r, 0));
    found += t && !t->stored_as && str_is(rows_text(&r, 0), t->name) && str_is(rows_text(&r, 1), kind_names[t->kind]);
  }
  *ret_missing = found < wanted;
  return rows_end(&r);
}

enum status store_update_types(struct store *st, struct error *err) {
  bool missing = false;
  st->lacks_types = false;
  if (db_read_only(st->db))
    return STATUS_OK;
  TRY(is_type_missing(st->db, &missing, err));
  if (!missing)
    return STATUS_OK;
  enum status s = db_begin(st->db, STR_NONE, false, err);
  if (s == STATUS_OK)
    s = fill_types(st->db, err);
  if (s == STATUS_OK)
    s = db_commit(st->db, err);
  if (s == STATUS_OK)
    return s;
  db_rollback(st->db);
  /* A role without INSERT on the table can still read, and can write memories of the other types. */
  st->lacks_types = s == STATUS_READONLY;
  return st->lacks_types ? STATUS_OK : s;
}

/* The foreign key would refuse it too, but without advice. */
enum status store_check_type(struct store *st, struct str type, struct str kind, struct error *err) {
  int64_t one;
  bool found = true;
  if (st->lacks_types)
    TRY(db_int(st->db, &one, &found, err, "SELECT 1 FROM memory_type WHERE name = ?1 AND kind = ?2", "ss", type, kind));
  if (found)
    return STATUS_OK;
  error_set(err, STATUS_READONLY, "%s does not have the type '%.*s' yet, and this role may not add it", db_path(st->db),
            STR_ARG(type));
  return error_fix(err,
                   "run any command once as the role that owns the tables, such as 'cairn stats': it adds the type");
}

static enum status init_meta(struct store *st, int64_t now, struct error *err) {
  char epoch[UUID_SIZE], time[TIME_TEXT_SIZE];
  uuid7_new(now, epoch);
  struct str at = time_format(now, time);
  TRY(store_set_meta(st, "epoch", str_from(epoch), err));
  TRY(store_set_meta(st, "created_at", at, err));
  if (st->unfinished)
    TRY(store_set_meta(st, MOVE_NOTE, STR(MOVE_NEW), err));
  return store_set_meta(st, "maintained_at", at, err);
}

static enum status run_one(struct store *st, const struct plan *plan, int64_t version, int64_t now,
                           int64_t *ret_version, struct error *err) {
  assert(version >= 0 && version < plan->n && plan->sql[version]);
  enum status s = plan->by->prepare(st, version, err);
  if (s == STATUS_OK)
    s = db_script(st->db, err, plan->sql[version]);
  if (s == STATUS_OK)
    s = fill_types(st->db, err);
  if (s == STATUS_OK && version == 0)
    s = init_meta(st, now, err);
  int64_t next = version + 1;
  while (next < plan->n && !plan->sql[next])
    next++;
  if (s == STATUS_OK)
    s = plan->by->set_version(st, next, err);
  if (s == STATUS_OK)
    *ret_version = next;
  return s;
}

/* Another process may have migrated while this one waited for the lock, so the version is read again. */
static enum status run_all(struct store *st, const struct plan *plan, int64_t now, struct error *err) {
  for (;;) {
    enum status s = db_begin(st->db, STR_NONE, false, err);
    int64_t version = 0;
    if (s == STATUS_OK)
      s = known_version(st, plan, &version, err);
    if (s == STATUS_OK && version < plan->n)
      s = run_one(st, plan, version, now, &version, err);
    if (s == STATUS_OK)
      s = db_commit(st->db, err);
    if (s != STATUS_OK) {
      db_rollback(st->db);
      return s;
    }
    if (version >= plan->n)
      return STATUS_OK;
  }
}

enum status migrate_with(struct store *st, const char *const *sql, int n, int64_t now, struct error *err) {
  assert(n > 0);
  struct plan plan = {db_engine(st->db) == DB_SQLITE ? &sqlite_migrator : &postgres_migrator, sql, n};
  int64_t version;
  TRY(known_version(st, &plan, &version, err));
  if (version == 0 && st->must_exist && db_engine(st->db) != DB_SQLITE) {
    error_set(err, STATUS_NOT_FOUND, "there is no store in %s", db_path(st->db));
    return error_fix(err, "check the name of the database; the first memory that is written creates a store");
  }
  if (db_read_only(st->db)) {
    if (version == n)
      return STATUS_OK;
    error_set(err, STATUS_READONLY, "%s cannot be written, and its schema needs a migration first", db_path(st->db));
    return error_fix(err, "check the permissions of the store, or name another one with --db");
  }
  TRY(plan.by->before(st, version, n, now, err));
  if (version < n)
    return run_all(st, &plan, now, err);
  return STATUS_OK;
}
