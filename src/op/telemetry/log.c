/* log.c: appends to the log file of calls, and rotates it. */
#include "op/telemetry/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fs.h"

enum status telemetry_log_init(struct telemetry_log *log, const char *folder, struct error *err) {
  *log = (struct telemetry_log){0};
  if ((size_t)snprintf(log->path, sizeof(log->path) - 8, "%s/calls.jsonl", folder) >= sizeof(log->path) - 8)
    return error_set(err, STATUS_USAGE, "the path of the log is too long");
  return STATUS_OK;
}

/* Renames calls.jsonl to calls.jsonl.1, .1 to .2, and so on; overwrites the oldest. */
static void rotate(const char *path) {
  char from[TELEMETRY_PATH], to[TELEMETRY_PATH];
  for (int i = TELEMETRY_LOG_FILES - 2; i >= 0; i--) {
    if (i)
      snprintf(from, sizeof(from), "%.4080s.%d", path, i);
    else
      snprintf(from, sizeof(from), "%s", path);
    snprintf(to, sizeof(to), "%.4080s.%d", path, i + 1);
    rename(from, to);
  }
}

static int open_private(const char *path, int flags) {
  return open(path, flags | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static enum status append(const struct telemetry_log *log, struct str lines, struct error *err) {
  int64_t limit = log->limit ? log->limit : TELEMETRY_LOG_BYTES;
  struct stat st;
  if (lstat(log->path, &st) == 0 && st.st_size > 0 && st.st_size + (int64_t)lines.n > limit)
    rotate(log->path);
  int fd = open_private(log->path, O_WRONLY | O_APPEND);
  if (fd < 0)
    return error_errno(err, errno, "cannot open '%s'", log->path);
  enum status s = fs_write_all(fd, lines) ? STATUS_OK : error_errno(err, errno, "cannot write '%s'", log->path);
  close(fd);
  return s;
}

/* Opens the file for each batch, so a rotation by another process is noticed and a removed file is created again.
 */
enum status telemetry_log_add(struct telemetry_log *log, struct str lines, struct error *err) {
  char name[TELEMETRY_PATH];
  struct str folder = fs_dirname(str_from(log->path));
  snprintf(name, sizeof(name), "%.*s", STR_ARG(folder));
  TRY(fs_mkdirs(name, err));
  snprintf(name, sizeof(name), "%.4080s.lock", log->path);
  int lock = open_private(name, O_RDWR);
  if (lock < 0)
    return error_errno(err, errno, "cannot open '%s'", name);
  while (flock(lock, LOCK_EX) != 0 && errno == EINTR)
    continue;
  enum status s = append(log, lines, err);
  close(lock);
  return s;
}
