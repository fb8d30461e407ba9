/* owner.c: owner of the files and folders that Cairn keeps. */
#include "file/owner.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/id.h"
#include "base/os/fs.h"

enum { STORE_DIGITS = 8, MARK_MAX = 4096 };

/* Percent-encodes characters that could end a comment or a word in it. */
static void add_name(struct buf *b, struct str name) {
  for (size_t i = 0; i < name.n; i++)
    if (ascii_alnum(name.p[i]) || name.p[i] == '_' || name.p[i] == '.')
      buf_addc(b, name.p[i]);
    else
      buf_addf(b, "%%%02X", (unsigned)(uint8_t)name.p[i]);
}

/* A store is known by the moment of its creation, which backups, restored and migrated copies share. */
enum status owner_find(struct store *st, struct str team, struct str project, struct arena *a, struct str *ret_owner,
                       struct error *err) {
  struct buf b = BUF(a);
  struct str created;
  char hash[HASH_TEXT_SIZE];
  TRY(store_meta(st, "created_at", a, &created, err));
  hash_text(created, hash);
  add_name(&b, team);
  buf_addc(&b, '/');
  add_name(&b, project);
  buf_addf(&b, "@%.*s", STORE_DIGITS, hash);
  *ret_owner = buf_str(&b);
  return STATUS_OK;
}

/* Team and project. */
static struct str without_store(struct str mark) {
  size_t at = str_find(mark, STR("@"), 0);
  return at == SIZE_MAX ? mark : str_slice(mark, 0, at);
}

bool owner_may_write(struct str mark, struct str owner) {
  return !mark.p || str_eq(mark, owner) || str_eq(mark, without_store(owner));
}

bool owner_is_other_store(struct str mark, struct str owner) {
  return !owner_may_write(mark, owner) && str_eq(without_store(mark), without_store(owner));
}

void owner_refuse(struct str path, struct str mark, struct str owner, struct error *err) {
  struct str theirs = without_store(mark), ours = without_store(owner);
  if (str_eq(theirs, ours))
    error_set(err, STATUS_CONFLICT, "%.*s belongs to %.*s of another store", STR_ARG(path), STR_ARG(theirs));
  else
    error_set(err, STATUS_CONFLICT, "%.*s belongs to %.*s, not to %.*s", STR_ARG(path), STR_ARG(theirs), STR_ARG(ours));
}

/* ---- folders ---- */

struct str owner_of_folder(struct arena *a, struct str folder) {
  struct str text;
  struct error ignored;
  struct str path = arena_printf(a, "%.*s/" OWNER_FILE, STR_ARG(folder));
  if (fs_read(a, path.p, MARK_MAX, &text, &ignored) != STATUS_OK || str_empty(str_trim(text)))
    return STR_NONE;
  return str_trim(text);
}

/* Does not replace a mark that another process has written meanwhile. */
static enum status write_mark(struct arena *a, struct str folder, struct str owner, struct error *err) {
  struct str path = arena_printf(a, "%.*s/" OWNER_FILE, STR_ARG(folder));
  int fd = open(path.p, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 && errno == EEXIST)
    return STATUS_OK;
  bool ok = fd >= 0 && fs_write_all(fd, arena_printf(a, "%.*s\n", STR_ARG(owner))) && fsync(fd) == 0;
  int why = errno;
  if (fd >= 0)
    close(fd);
  return ok ? STATUS_OK : error_errno(err, why, "cannot write '%s'", path.p);
}

enum status owner_claim(struct arena *a, struct str folder, struct str owner, struct error *err) {
  assert(owner.n && owner.p);
  struct str mark = owner_of_folder(a, folder);
  if (!mark.p) {
    TRY(fs_mkdirs(arena_cstr(a, folder), err));
    TRY(write_mark(a, folder, owner, err));
    mark = owner_of_folder(a, folder);
  }
  if (owner_may_write(mark, owner))
    return STATUS_OK;
  owner_refuse(folder, mark, owner, err);
  return error_fix(err, "set files.root to a folder of this store");
}
