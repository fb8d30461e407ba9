/* key_file.c: reading the key file and adding keys to it. */
#include "file/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "base/os/fs.h"

enum { KEY_FILE_MAX = 64 * 1024, KEY_FILE_MODE = 0600 };

static const char HEAD[] = "# Keys of Cairn's vault, the newest last. Without them nobody can read its secrets: keep a "
                           "copy in a safe place.\n";

/* ---- reading ---- */

static enum status bad_line(const char *name, int line, struct error *err) {
  error_set(err, STATUS_CORRUPT, "line %d of %s is not a key of the vault", line, name);
  return error_fix(err, "a line is an id of 16 hex digits, a blank, and 64 hex digits: restore your copy of the file");
}

enum status key_file_parse(struct arena *a, struct str text, const char *name, struct master_keys *ret_keys,
                           struct error *err) {
  struct str line, id;
  for (int number = 1; str_line(&text, &line); number++) {
    struct master_key key;
    line = str_trim(line);
    if (str_empty(line) || line.p[0] == '#')
      continue;
    /* The id is derived from the key, which detects damaged lines. */
    if (!str_next(&line, ' ', &id) || !master_parse(line, &key) || !str_is(id, key.id))
      return bad_line(name, number, err);
    list_push(a, ret_keys, key);
    sodium_memzero(&key, sizeof(key));
  }
  return STATUS_OK;
}

static enum status refuse_file(const char *path, const char *why, struct error *err) {
  error_set(err, STATUS_REFUSED, "the key file '%s' %s", path, why);
  return error_fix(err, "make it a regular file that you own, with mode 0600: chmod 600 '%s'", path);
}

static enum status check_file(const char *path, int fd, struct error *err) {
  struct stat st;
  if (fstat(fd, &st) != 0)
    return error_errno(err, errno, "cannot look at '%s'", path);
  if (!S_ISREG(st.st_mode))
    return refuse_file(path, "is not a regular file", err);
  if (st.st_uid != geteuid())
    return refuse_file(path, "belongs to another user", err);
  return st.st_mode & 077 ? refuse_file(path, "can be read by others", err) : STATUS_OK;
}

/* ret_text is absent if there is no such file. */
static enum status read_text(struct arena *a, const char *path, struct str *ret_text, struct error *err) {
  int *fd = fs_descriptor(a);
  *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (*fd < 0 && errno == ENOENT) {
    *ret_text = STR_NONE;
    return STATUS_OK;
  }
  if (*fd < 0)
    return error_errno(err, errno, "cannot open the key file '%s'", path);
  enum status s = check_file(path, *fd, err);
  if (s == STATUS_OK)
    s = fs_read_fd(a, *fd, path, KEY_FILE_MAX, ret_text, err);
  fs_close(fd);
  return s;
}

enum status key_file_read(struct arena *a, const char *path, struct master_keys *ret_keys, struct error *err) {
  struct str text;
  TRY(read_text(a, path, &text, err));
  return key_file_parse(a, text, path, ret_keys, err);
}

/* ---- writing ---- */

/* Locks the folder, so of two processes that add keys at once, neither overwrites the other's key. */
static enum status lock_folder(struct arena *a, const char *path, struct error *err) {
  const char *folder = arena_cstr(a, fs_dirname(str_from(path)));
  int *fd = fs_descriptor(a);
  TRY(fs_mkdirs(folder, err));
  *fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (*fd < 0)
    return error_errno(err, errno, "cannot open the folder '%s'", folder);
  while (flock(*fd, LOCK_EX) != 0)
    if (errno != EINTR)
      return error_errno(err, errno, "cannot lock the folder '%s'", folder);
  return STATUS_OK;
}

static enum status write_key(struct arena *a, const char *path, struct str text, struct master_key *ret_key,
                             struct error *err) {
  struct buf b = BUF(a);
  char hex[2 * MASTER_BYTES + 1];
  struct master_key key;
  master_random(&key);
  sodium_bin2hex(hex, sizeof(hex), key.bytes, MASTER_BYTES);
  buf_add(&b, text.p ? text : str_from(HEAD));
  if (b.n && b.p[b.n - 1] != '\n')
    buf_addc(&b, '\n');
  buf_addf(&b, "%s %s\n", key.id, hex);
  sodium_memzero(hex, sizeof(hex));
  enum status s = fs_write(path, buf_str(&b), KEY_FILE_MODE, err);
  if (s == STATUS_OK)
    *ret_key = key;
  sodium_memzero(&key, sizeof(key));
  return s;
}

static enum status extend(struct arena *a, const char *path, bool only_first, struct master_key *ret_key,
                          struct error *err) {
  struct master_keys keys = {0};
  struct str text;
  struct arena *locked = arena_child(a);
  enum status s = lock_folder(locked, path, err);
  if (s == STATUS_OK)
    s = read_text(a, path, &text, err);
  if (s == STATUS_OK)
    s = key_file_parse(a, text, path, &keys, err);
  if (s == STATUS_OK && only_first && keys.n)
    *ret_key = keys.v[keys.n - 1];
  else if (s == STATUS_OK)
    s = write_key(a, path, text, ret_key, err);
  arena_release(locked);
  return s;
}

enum status key_file_first(struct arena *a, const char *path, struct master_key *ret_key, struct error *err) {
  return extend(a, path, true, ret_key, err);
}

enum status key_file_add(struct arena *a, const char *path, struct master_key *ret_key, struct error *err) {
  return extend(a, path, false, ret_key, err);
}
