/* compact.c: compacting sessions and moving them to the archive. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/id.h"
#include "base/json.h"
#include "base/os/fs.h"
#include "transcript/file/internal.h"

enum { FILE_MODE = 0600 };

/* ---- where to cut ---- */

static bool same_tool(const struct message *call, const struct message *result) {
  return call->role == SPEAKER_TOOL_CALL && result->role == SPEAKER_TOOL_RESULT && call->id.p &&
         str_eq(call->id, result->id);
}

/* Index of the call of the result at `i`, or `i` itself. A result without an id belongs to the previous message. */
static size_t find_call(const struct messages *list, size_t i) {
  assert(i < list->n && list->v[i].role == SPEAKER_TOOL_RESULT);
  for (size_t k = i; k-- > 0;)
    if (same_tool(&list->v[k], &list->v[i]))
      return k;
  return !list->v[i].id.p && i > 0 ? i - 1 : i;
}

size_t transcript_cut(const struct messages *list, int64_t keep) {
  size_t cut = list->n > (size_t)keep ? list->n - (size_t)keep : 0;
  /* A kept result needs its call. Between the call and the result there may be other results that need theirs. */
  for (size_t i = list->n; i-- > cut && cut > 0;) {
    if (list->v[i].role != SPEAKER_TOOL_RESULT || list->v[i].damaged)
      continue;
    size_t call = find_call(list, i);
    if (call < cut)
      cut = call;
  }
  assert(cut <= list->n);
  return cut;
}

/* ---- compaction ---- */

/* Length of the first c->count messages in the file, including newlines and blank lines; 0 if they differ. */
static size_t prefix_length(struct str text, const struct compaction *c) {
  assert(c->count > 0 && c->count <= c->seen->list.n);
  struct str rest = text, line;
  for (size_t i = 0; i < c->count; i++) {
    do {
      if (!str_line(&rest, &line))
        return 0;
    } while (str_empty(str_trim(line)));
    if (!str_eq(line, c->seen->list.v[i].raw))
      return 0;
  }
  return text.n - rest.n;
}

/* Appends the lines to the originals, overwriting what a killed compaction may have left after the valid bytes. */
static enum status save_originals(const struct transcripts *t, const struct transcript *seen, struct str lines,
                                  struct arena *a, int64_t *ret_bytes, struct error *err) {
  const char *path = transcript_path(t, seen->session, PLACE_ORIGINALS, a);
  const char *folder = arena_cstr(a, fs_dirname(str_from(path)));
  struct open_file *f = NULL;
  struct stat sb;
  TRY(fs_mkdirs(folder, err));
  TRY(transcript_open(path, O_RDWR | O_CREAT, a, &f, err));
  if (fstat(f->fd, &sb) != 0)
    return error_errno(err, errno, "cannot read '%s'", path);
  int64_t at = seen->originals < (int64_t)sb.st_size ? seen->originals : (int64_t)sb.st_size;
  if (ftruncate(f->fd, at) != 0 || lseek(f->fd, at, SEEK_SET) != at)
    return error_errno(err, errno, "cannot write '%s'", path);
  enum status s = transcript_write_all(f->fd, lines, path, err);
  if (s == STATUS_OK && fsync(f->fd) != 0)
    s = error_errno(err, errno, "cannot write '%s'", path);
  transcript_close(f);
  if (s != STATUS_OK)
    return s;
  *ret_bytes = at + (int64_t)lines.n;
  TRY(transcript_sync_folder(folder, err));
  return transcript_sync_folder(arena_cstr(a, fs_dirname(str_from(folder))), err);
}

static struct message summary_message(const struct transcripts *t, const struct compaction *c, int64_t bytes,
                                      struct arena *a) {
  const struct transcript *seen = c->seen;
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *extra = yyjson_mut_obj(doc);
  yyjson_mut_val *archive = json_put_obj(doc, extra, "archive");
  char id[UUID_SIZE];
  int64_t taken = 0;
  for (size_t i = 0; i < c->count; i++)
    taken += seen->list.v[i].role != SPEAKER_SUMMARY || seen->list.v[i].damaged;
  uuid7_new(t->now, id);
  json_put(doc, archive, "file", arena_printf(a, "archive/originals/%.*s.jsonl", STR_ARG(seen->session)));
  json_put_int(doc, archive, "bytes", bytes);
  json_put_int(doc, archive, "messages", seen->compacted + taken);
  json_put_int(doc, archive, "compactions", seen->compactions + 1);
  json_put_bool(doc, extra, "extractive", c->extractive);
  struct message m = {.id = arena_printf(a, "sum_%s", id),
                      .role = SPEAKER_SUMMARY,
                      .content = c->summary,
                      .at = t->now,
                      .extra = json_write(a, extra, false)};
  (void)message_redact(a, t->secrets, &m);
  return m;
}

static enum status changed(const struct transcript *seen, struct error *err) {
  error_set(err, STATUS_CONFLICT, "session '%.*s' was just compacted by another process", STR_ARG(seen->session));
  return error_fix(err, "read it again: 'cairn transcript read %.*s'", STR_ARG(seen->session));
}

static enum status compact_locked(const struct transcripts *t, const struct compaction *c, struct arena *a,
                                  struct transcript_compacted *done, struct error *err) {
  const struct transcript *seen = c->seen;
  const char *path = transcript_path(t, seen->session, PLACE_LIVE, a);
  struct open_file *f = NULL;
  struct str text = STR_NONE;
  struct buf now = BUF(a);
  struct repaired repaired;
  int64_t bytes = 0;
  enum status s = transcript_open(path, O_RDWR | O_APPEND, a, &f, err);
  if (s == STATUS_OK)
    s = transcript_repair(t, seen->session, f->fd, a, &repaired, err);
  if (s == STATUS_OK)
    s = fs_read(a, path, TRANSCRIPT_FILE_BYTES, &text, err);
  if (s == STATUS_NOT_FOUND)
    return changed(seen, err);
  if (s != STATUS_OK)
    return s;
  transcript_close(f);
  size_t prefix = prefix_length(text, c);
  if (prefix == 0)
    return changed(seen, err);
  assert(prefix <= text.n);
  TRY(save_originals(t, seen, str_slice(text, 0, prefix), a, &bytes, err));
  struct message m = summary_message(t, c, bytes, a);
  buf_add(&now, message_line(a, &m));
  buf_addc(&now, '\n');
  buf_add(&now, str_slice(text, prefix, text.n));
  done->summary_id = m.id;
  done->path = str_from(path);
  done->originals = str_from(transcript_path(t, seen->session, PLACE_ORIGINALS, a));
  return fs_write(path, buf_str(&now), FILE_MODE, err);
}

enum status transcript_compact(const struct transcripts *t, const struct compaction *c, struct arena *a,
                               struct transcript_compacted *ret_done, struct error *err) {
  const struct transcript *seen = c->seen;
  struct transcript_compacted done = {
      .before = seen->tokens, .messages_before = (int64_t)seen->list.n, .taken = (int64_t)c->count};
  struct transcript_info info;
  struct lock *lock;
  if (c->count == 0 || c->count > seen->list.n || seen->archived)
    return error_set(err, STATUS_CONFLICT, "there is nothing to compact in session '%.*s'", STR_ARG(seen->session));
  TRY(transcript_lock(t, seen->session, a, &lock, err));
  index_invalidate(lock);
  enum status s = compact_locked(t, c, a, &done, err);
  if (s == STATUS_OK)
    s = index_update(t, seen->session, lock, a, &info, err);
  transcript_unlock(lock);
  if (s != STATUS_OK)
    return s;
  done.after = info.tokens;
  done.messages_after = info.messages;
  *ret_done = done;
  return STATUS_OK;
}

/* ---- the archive ---- */

/* Moves a session to the archive unless it has a message since `before`. Needs the lock. */
static enum status archive_locked(const struct transcripts *t, struct str session, struct lock *lock, int64_t before,
                                  struct arena *a, bool *ret_moved, struct error *err) {
  assert(lock->fd >= 0);
  const char *live = transcript_path(t, session, PLACE_LIVE, a);
  const char *archived = transcript_path(t, session, PLACE_ARCHIVED, a);
  const char *folder = arena_cstr(a, fs_dirname(str_from(archived)));
  struct transcript_info info;
  *ret_moved = false;
  TRY(transcript_find(t, session, a, &info, err));
  if (info.archived || info.updated >= before)
    return STATUS_OK;
  TRY(fs_mkdirs(folder, err));
  if (access(archived, F_OK) == 0) {
    error_set(err, STATUS_CONFLICT, "'%s' exists already", archived);
    return error_fix(err, "move it away; nothing was changed");
  }
  if (rename(live, archived) != 0)
    return error_errno(err, errno, "cannot move '%s'", live);
  TRY(transcript_sync_folder(folder, err));
  TRY(transcript_sync_folder(t->folder.p, err));
  TRY(index_update(t, session, lock, a, &info, err));
  *ret_moved = true;
  return STATUS_OK;
}

static enum status archive_one(const struct transcripts *t, struct str session, int64_t before, struct arena *a,
                               bool *ret_moved, struct error *err) {
  struct lock *lock;
  TRY(transcript_lock(t, session, a, &lock, err));
  enum status s = archive_locked(t, session, lock, before, a, ret_moved, err);
  transcript_unlock(lock);
  return s;
}

enum status transcript_archive(const struct transcripts *t, struct str session, struct arena *a, struct error *err) {
  struct transcript_info info;
  bool moved;
  TRY(transcript_find(t, session, a, &info, err)); /* creates no lock file if there is no such session */
  return info.archived ? STATUS_OK : archive_one(t, session, INT64_MAX, a, &moved, err);
}

enum status transcript_archive_old(const struct transcripts *t, int64_t before, bool dry_run, struct arena *a,
                                   struct strs *ret_sessions, struct error *err) {
  struct transcript_infos list;
  struct strs sessions = {0};
  bool rebuilt;
  TRY(transcript_list(t, a, &list, &rebuilt, err));
  for (size_t i = 0; i < list.n; i++) {
    bool moved = true;
    if (list.v[i].archived || list.v[i].updated >= before)
      continue;
    if (!dry_run)
      TRY(archive_one(t, list.v[i].id, before, a, &moved, err));
    if (moved)
      strs_push(a, &sessions, list.v[i].id);
  }
  *ret_sessions = sessions;
  return STATUS_OK;
}
