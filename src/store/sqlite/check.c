/* check.c: doctor's checks of a store in a file. */
#include <sys/stat.h>

#include "store/engine.h"

static enum status check_integrity(struct store *st, struct arena *a, struct str *ret_fault, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "PRAGMA integrity_check(5)", NULL);
  struct buf b = BUF(a);
  while (rows_next(&r))
    if (!str_is(rows_text(&r, 0), "ok"))
      buf_addf(&b, "%s%.*s", b.n ? "; " : "", STR_ARG(rows_text(&r, 0)));
  *ret_fault = buf_str(&b);
  return rows_end(&r);
}

static enum status check_foreign_keys(struct store *st, struct arena *a, struct str *ret_fault, struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "PRAGMA foreign_key_check", NULL);
  int64_t n = 0;
  while (rows_next(&r))
    n++;
  *ret_fault =
      n ? arena_printf(a, "%lld %s to missing rows", (long long)n, n == 1 ? "row refers" : "rows refer") : STR("");
  return rows_end(&r);
}

static enum status check_private(struct store *st, struct arena *a, struct str *ret_fault, struct error *err UNUSED) {
  struct stat sb;
  *ret_fault = STR("");
  if (stat(db_path(st->db), &sb) == 0 && (sb.st_mode & 077))
    *ret_fault = arena_printf(a, "other users can open the store (mode %03o)", (unsigned)(sb.st_mode & 0777));
  return STATUS_OK;
}

static enum status check_missing(struct store *st, struct arena *a, struct str *ret_fault, struct error *err) {
  int64_t n;
  TRY(mark_check(st, &n, err));
  *ret_fault =
      n ? arena_printf(a,
                       "%lld committed transaction%s missing: the log (-wal) was lost, or an older copy of the "
                       "file was put in its place",
                       (long long)n, n == 1 ? " is" : "s are")
        : STR("");
  return STATUS_OK;
}

const struct named_check sqlite_checks[] = {
    {"integrity", "restore a backup with 'cairn restore FILE'", check_integrity},
    {"foreign_keys", "restore a backup with 'cairn restore FILE'", check_foreign_keys},
    {"full_text", "run 'cairn doctor --repair' to rebuild the index from the texts", check_full_text},
    {"vectors", "run 'cairn doctor --repair' to repair it; 'cairn maintain' embeds lost vectors again", check_vectors},
    {"texts", "restore a backup with 'cairn restore FILE'", check_chunks},
    {"chains", "restore a backup with 'cairn restore FILE'", check_chains},
    {"transactions",
     "look for the newer file and its log, or restore a backup with 'cairn restore FILE'; a person can accept "
     "the loss: 'cairn doctor --repair'",
     check_missing},
    {"private", "chmod 600 the file", check_private},
    {0},
};
