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

static void add_store(struct buf *b, char sign, struct str created) {
  char hash[HASH_TEXT_SIZE];
  hash_text(created, hash);
  buf_addf(b, "%c%.*s", sign, STORE_DIGITS, hash);
}

/* A store is known by the moment of its creation, which backups, restored and migrated copies share. */
enum status owner_find(struct store *st, struct str team, struct str project, struct arena *a, struct str *ret_owner,
                       struct error *err) {
  struct buf b = BUF(a);
  struct str created, replaced, word;
  TRY(store_meta(st, "created_at", a, &created, err));
  TRY(store_meta(st, META_REPLACED, a, &replaced, err));
  add_name(&b, team);
  buf_addc(&b, '/');
  add_name(&b, project);
  add_store(&b, '@', created);
  while (str_next(&replaced, ' ', &word))
    add_store(&b, '+', word);
  *ret_owner = buf_str(&b);
  return STATUS_OK;
}

/* Text before a character; all of it if it has none. */
static struct str up_to(struct str s, const char *end) {
  size_t at = str_find(s, str_from(end), 0);
  return at == SIZE_MAX ? s : str_slice(s, 0, at);
}

/* Team and project. */
static struct str without_store(struct str mark) { return up_to(mark, "@"); }

struct str owner_mark(struct str owner) { return up_to(owner, "+"); }

bool owner_is_foreign(struct str mark, struct str owner) {
  struct str stores = str_slice(owner, without_store(owner).n, owner.n);
  struct str store = str_slice(mark, without_store(mark).n, mark.n), one;
  if (str_empty(store)) /* of 0.1.0 */
    return false;
  stores = str_slice(stores, 1, stores.n);
  store = str_slice(store, 1, store.n);
  while (str_next(&stores, '+', &one))
    if (str_eq(one, store))
      return false;
  return true;
}

bool owner_may_write(struct str mark, struct str owner) {
  return !mark.p || (str_eq(without_store(mark), without_store(owner)) && !owner_is_foreign(mark, owner));
}

bool owner_is_other_store(struct str mark, struct str owner) {
  return mark.p && str_eq(without_store(mark), without_store(owner)) && owner_is_foreign(mark, owner);
}

void owner_refuse(struct str path, struct str mark, struct str owner, struct error *err) {
  struct str theirs = without_store(mark), ours = without_store(owner);
  if (str_eq(theirs, ours))
    error_set(err, STATUS_CONFLICT, "'%.*s' belongs to %.*s of another store", STR_ARG(path), STR_ARG(theirs));
  else
    error_set(err, STATUS_CONFLICT, "'%.*s' belongs to %.*s, not to %.*s", STR_ARG(path), STR_ARG(theirs),
              STR_ARG(ours));
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
  bool ok = fd >= 0 && fs_write_all(fd, arena_printf(a, "%.*s\n", STR_ARG(owner_mark(owner)))) && fsync(fd) == 0;
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
  return error_fix(err,
                   "set files.root or files.sessions_path to a folder of this store; to give it this one, write '%.*s' "
                   "into '%.*s/" OWNER_FILE "'",
                   STR_ARG(owner_mark(owner)), STR_ARG(folder));
}
