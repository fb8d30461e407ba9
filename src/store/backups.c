/* backups.c: automatic backups beside the store: naming, listing, keeping the newest. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/store_internal.h"

/* Splits the store's path into folder and file name. */
static struct str folder_of(struct arena *a, const char *path, const char **ret_name) {
  const char *slash = strrchr(path, '/');
  *ret_name = slash ? slash + 1 : path;
  return slash ? arena_dup(a, (struct str){path, (size_t)(slash - path) + 1}) : STR("./");
}

static int by_text(const void *x, const void *y) { return str_cmp(*(const struct str *)x, *(const struct str *)y); }

/* The time stands at the end of the name; the label before it must not decide the order. */
static int by_time(const void *x, const void *y) {
  struct str a = *(const struct str *)x, b = *(const struct str *)y;
  enum { STAMP = 20 };
  struct str ta = a.n > STAMP ? str_slice(a, a.n - STAMP, a.n) : a,
             tb = b.n > STAMP ? str_slice(b, b.n - STAMP, b.n) : b;
  int c = str_cmp(ta, tb);
  return c ? c : by_text(x, y);
}

void store_list_backups(struct store *st, struct arena *a, struct strs *ret_paths) {
  const char *name;
  struct str folder = folder_of(a, db_path(st->db), &name);
  struct str prefix = arena_printf(a, "%s.backup-", name);
  DIR *d = opendir(folder.p);
  if (!d)
    return;
  for (struct dirent *e; (e = readdir(d));) {
    struct str file = str_from(e->d_name);
    if (str_starts(file, prefix) && !str_ends(file, STR(".part")) && !str_ends(file, STR("-journal")))
      strs_push(a, ret_paths, arena_printf(a, "%s%s", folder.p, e->d_name));
  }
  closedir(d);
  if (ret_paths->n)
    qsort(ret_paths->v, ret_paths->n, sizeof(struct str), by_time);
}

enum status store_auto_backup(struct store *st, const char *label, int64_t now, struct arena *a, struct str *ret_path,
                              struct error *err) {
  char text[TIME_TEXT_SIZE], stamp[24];
  time_format(now, text);
  size_t n = 0;
  for (const char *p = text; *p && n < 19; p++) /* 20261115T114510.123Z, without what some file systems refuse */
    if (*p != '-' && *p != ':')
      stamp[n++] = *p;
  stamp[n] = 0;
  struct str path = arena_printf(a, "%s.backup-%s-%s", db_path(st->db), label, stamp);
  for (int again = 2; access(path.p, F_OK) == 0; again++)
    path = arena_printf(a, "%s.backup-%s.%d-%s", db_path(st->db), label, again, stamp);
  enum status s = db_backup_to(st->db, path.p, NULL, NULL, err);
  if (s != STATUS_OK)
    return s;
  struct strs all = {0};
  store_list_backups(st, a, &all);
  for (size_t i = 0; i + BACKUPS_KEPT < all.n; i++)
    unlink(all.v[i].p);
  *ret_path = path;
  return STATUS_OK;
}
