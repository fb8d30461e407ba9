/* before_boot.c: buffer file of calls made before boot. */
#include "op/telemetry/before_boot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/id.h"
#include "base/json.h"
#include "base/os/fs.h"

enum { FILE_MAX_BYTES = 8 << 20, BUSY_MS = 100 };

void before_boot_path(const char *store, char ret_path[BEFORE_BOOT_PATH]) {
  place_side(store, ".before-boot.jsonl", ret_path);
}

struct str before_boot_line(struct arena *a, const struct call_row *row, struct str from) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *v = yyjson_mut_obj(doc);
  struct buf line = BUF(a);
  json_put(doc, v, "event_id", row->event_id);
  json_put(doc, v, "from", from);
  json_put_int(doc, v, "at", row->at);
  json_put(doc, v, "team", row->team);
  json_put(doc, v, "tool", row->tool);
  json_put(doc, v, "op", row->op);
  json_put(doc, v, "project", row->project);
  json_put(doc, v, "source", row->source);
  json_put_int(doc, v, "duration_us", row->duration_us);
  json_put_opt(doc, v, "error", row->error);
  json_put_opt(doc, v, "message", row->message);
  buf_add(&line, json_write(a, v, false));
  buf_addc(&line, '\n');
  return buf_str(&line);
}

/* False for lines that are not calls, or were cut off by a crash. */
static bool parse_line(struct arena *a, struct str line, struct call_row *ret_row, struct str *ret_from) {
  yyjson_val *v;
  struct error ignored;
  if (json_read(a, line, &v, &ignored) != STATUS_OK || !yyjson_is_obj(v))
    return false;
  *ret_row = (struct call_row){.event_id = json_str(v, "event_id"),
                               .team = json_str(v, "team"),
                               .tool = json_str(v, "tool"),
                               .op = json_str(v, "op"),
                               .project = json_str(v, "project"),
                               .source = json_str(v, "source"),
                               .at = json_int(v, "at", 0),
                               .duration_us = json_int(v, "duration_us", -1),
                               .error = json_str(v, "error"),
                               .message = json_str(v, "message")};
  *ret_from = json_str(v, "from");
  return uuid_is_valid(ret_row->event_id) && ret_row->team.n && ret_row->tool.n && ret_row->tool.n <= 64 &&
         ret_row->op.p && ret_row->project.p && ret_row->source.p && ret_row->at > 0 && ret_row->duration_us >= 0 &&
         ret_row->message.n <= 500 && (ret_row->error.p || !ret_row->message.p);
}

/* ---- the file ---- */

/* -1 with errno on failure. Closing the descriptor releases the lock. Retries if another process removed the file while
 * this one waited for the lock. */
static int open_locked(const char *path, int flags) {
  for (;;) {
    struct stat locked, named;
    int fd = open(path, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
      return fd;
    while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
      continue;
    if (fstat(fd, &locked) == 0 && lstat(path, &named) == 0 && locked.st_ino == named.st_ino &&
        locked.st_dev == named.st_dev)
      return fd;
    close(fd);
  }
}

static enum status rewrite(int fd, const char *path, struct str text, struct error *err) {
  bool ok = ftruncate(fd, 0) == 0;
  for (size_t done = 0; ok && done < text.n;) {
    ssize_t n = pwrite(fd, text.p + done, text.n - done, (off_t)done);
    ok = n > 0 || (n < 0 && errno == EINTR);
    done += n > 0 ? (size_t)n : 0;
  }
  return ok ? STATUS_OK : error_errno(err, errno, "cannot write '%s'", path);
}

static size_t count_lines(struct str text) {
  size_t n = 0;
  for (size_t i = 0; i < text.n; i++)
    n += text.p[i] == '\n';
  return n;
}

/* Closes the descriptor, which holds the lock, even if the call is left by an out-of-memory jump. */
struct locked_file {
  int fd;
};

static void close_locked(void *p) {
  struct locked_file *f = p;
  if (f->fd >= 0)
    close(f->fd);
  f->fd = -1;
}

static struct locked_file *locked_file(struct arena *a) {
  struct locked_file *f = arena_new(a, struct locked_file);
  f->fd = -1;
  arena_defer(a, close_locked, f);
  return f;
}

static enum status append_lines(int fd, const char *path, struct arena *a, struct str lines, struct error *err) {
  struct str text, line;
  struct buf all = BUF(a);
  TRY(fs_read_fd(a, fd, path, FILE_MAX_BYTES, &text, err));
  buf_add(&all, text);
  if (text.n && text.p[text.n - 1] != '\n')
    buf_addc(&all, '\n'); /* the last line was cut off by a crash */
  buf_add(&all, lines);
  struct str rest = buf_str(&all);
  for (size_t n = count_lines(rest); n > BEFORE_BOOT_LINES; n--)
    str_line(&rest, &line);
  return rewrite(fd, path, rest, err);
}

enum status before_boot_add(const char *path, struct arena *a, struct str lines, struct error *err) {
  struct locked_file *f = locked_file(a);
  f->fd = open_locked(path, O_CREAT);
  if (f->fd < 0)
    return error_errno(err, errno, "cannot open '%s'", path);
  enum status s = append_lines(f->fd, path, a, lines, err);
  close_locked(f);
  return s;
}

/* ---- moving into the store ---- */

static bool is_own(const struct before_boot_move *m, struct str from) {
  return m->from.n && (str_ends(m->from, STR("/")) ? str_starts(from, m->from) : str_eq(from, m->from));
}

/* Stores lines, keeps them for the file, or drops them. */
static enum status sort_lines(struct store *st, struct arena *a, const struct before_boot_move *m, struct str text,
                              struct buf *remaining, int64_t *ret_moved, struct error *err) {
  struct str line, from;
  struct call_row row;
  int64_t moved = 0;
  while (str_line(&text, &line)) {
    if (!parse_line(a, line, &row, &from) || row.at < m->now - MS_PER_DAY)
      continue;
    bool own = is_own(m, from);
    if (!own && row.at >= m->older) {
      buf_add(remaining, line);
      buf_addc(remaining, '\n');
      continue;
    }
    row.session = own ? m->session : STR_NONE;
    TRY(calls_add(st, &row, err));
    moved++;
  }
  *ret_moved = moved;
  return STATUS_OK;
}

/* The store first: after a crash in between, the calls are moved again, and their ids prevent duplicates. */
static enum status move_all(struct store *st, const char *path, struct arena *a, int fd,
                            const struct before_boot_move *m, int64_t *ret_moved, struct error *err) {
  struct str text;
  struct buf remaining = BUF(a);
  TRY(fs_read_fd(a, fd, path, FILE_MAX_BYTES, &text, err));
  /* Short, because other processes wait for the file and calls for the engine; the caller tries again. */
  int busy = db_set_busy(store_db(st), BUSY_MS);
  enum status s = db_begin(store_db(st), STR_NONE, true, err);
  db_set_busy(store_db(st), busy);
  if (s != STATUS_OK)
    return s;
  s = sort_lines(st, a, m, text, &remaining, ret_moved, err);
  if (s == STATUS_OK)
    s = db_commit(store_db(st), err);
  if (s != STATUS_OK) {
    db_rollback(store_db(st));
    return s;
  }
  if (remaining.n)
    return rewrite(fd, path, buf_str(&remaining), err);
  return unlink(path) == 0 ? STATUS_OK : error_errno(err, errno, "cannot remove '%s'", path);
}

enum status before_boot_move(struct store *st, const char *path, struct arena *a, const struct before_boot_move *move,
                             int64_t *ret_moved, struct error *err) {
  struct locked_file *f = locked_file(a);
  int64_t moved = 0;
  f->fd = open_locked(path, 0);
  if (f->fd < 0 && errno != ENOENT)
    return error_errno(err, errno, "cannot open '%s'", path);
  enum status s = f->fd < 0 ? STATUS_OK : move_all(st, path, a, f->fd, move, &moved, err);
  close_locked(f);
  if (s == STATUS_OK && ret_moved)
    *ret_moved = moved;
  return s;
}
