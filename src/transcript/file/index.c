/* index.c: sessions.json, the index of transcripts.
 *
 * The index can be rebuilt from the files, except for the state of the last flush. An entry whose size differs from the
 * file is out of date, and the file is scanned again.
 *
 * Each session also has its entry as a note in its lock file. Appends update only the note, since rewriting an index of
 * thousands of sessions for each message would be slow. A note is valid if its size matches the file. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/id.h"
#include "base/json.h"
#include "base/os/clock.h"
#include "base/os/fs.h"
#include "transcript/file/internal.h"

enum {
  INDEX_VERSION = 1,
  INDEX_BYTES = 256 << 20,
  INDEX_MODE = 0600,
  NOTE_BYTES = 1024,
  STALE_S = 5,         /* minimum seconds between two writes of the index by appends ... */
  STALE_BYTES = 20000, /* ... plus one second for each STALE_BYTES of the index */
};

#define ENDING ".jsonl"

static const char *index_path(const struct transcripts *t, struct arena *a) {
  return arena_printf(a, "%.*s/" TRANSCRIPT_INDEX, STR_ARG(t->folder)).p;
}

/* ---- the file ---- */

static int64_t get_time(yyjson_val *v, const char *name) {
  int64_t at = 0;
  return time_parse(json_str(v, name), &at) ? at : 0;
}

static void get_info(yyjson_val *v, struct transcript_info *info) {
  *info = (struct transcript_info){.id = json_str(v, "id"),
                                   .created = get_time(v, "created"),
                                   .updated = get_time(v, "updated"),
                                   .messages = json_int(v, "messages", 0),
                                   .tokens = json_int(v, "tokens", 0),
                                   .compacted = json_int(v, "compacted", 0),
                                   .compactions = json_int(v, "compactions", 0),
                                   .size = json_int(v, "size", -1),
                                   .flushed = json_int(v, "flushed", 0),
                                   .answered = json_bool(v, "answered", false),
                                   .archived = json_bool(v, "archived", false)};
}

/* False if the index is missing or unreadable. */
static bool read_index(const struct transcripts *t, struct arena *a, struct transcript_infos *list) {
  struct error ignored;
  struct str text;
  yyjson_val *root, *v;
  size_t i, n;
  if (fs_read(a, index_path(t, a), INDEX_BYTES, &text, &ignored) != STATUS_OK ||
      json_read(a, text, &root, &ignored) != STATUS_OK || !yyjson_is_arr(yyjson_obj_get(root, "sessions")) ||
      json_int(root, "version", 0) != INDEX_VERSION)
    return false;
  yyjson_arr_foreach(yyjson_obj_get(root, "sessions"), i, n, v) {
    struct transcript_info info;
    get_info(v, &info);
    if (transcript_id_ok(info.id))
      list_push(a, list, info);
  }
  return true;
}

static void put_time(yyjson_mut_doc *doc, yyjson_mut_val *v, const char *name, int64_t at) {
  char time[TIME_TEXT_SIZE];
  json_put(doc, v, name, time_format(at, time));
}

static void put_info(yyjson_mut_doc *doc, yyjson_mut_val *v, const struct transcript_info *s) {
  json_put(doc, v, "id", s->id);
  json_put(doc, v, "status", s->archived ? STR("archived") : STR("active"));
  put_time(doc, v, "created", s->created);
  put_time(doc, v, "updated", s->updated);
  json_put_int(doc, v, "messages", s->messages);
  json_put_int(doc, v, "tokens", s->tokens);
  json_put_int(doc, v, "compacted", s->compacted);
  json_put_int(doc, v, "compactions", s->compactions);
  json_put_int(doc, v, "size", s->size);
  if (s->flushed) {
    json_put_int(doc, v, "flushed", s->flushed);
    json_put_bool(doc, v, "answered", s->answered);
  }
  json_put_bool(doc, v, "archived", s->archived);
}

static enum status write_index(const struct transcripts *t, const struct transcript_infos *list, struct arena *a,
                               struct error *err) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  json_put_int(doc, root, "version", INDEX_VERSION);
  put_time(doc, root, "updatedAt", t->now);
  yyjson_mut_val *arr = json_put_arr(doc, root, "sessions");
  for (size_t i = 0; i < list->n; i++)
    put_info(doc, yyjson_mut_arr_add_obj(doc, arr), &list->v[i]);
  return fs_write(index_path(t, a), json_write(a, root, true), INDEX_MODE, err);
}

/* True if an append should write the index: every few seconds, less often if it is large. Readers do not depend on it.
 */
static bool is_stale(const struct transcripts *t, struct arena *a) {
  struct stat sb;
  time_t now = time(NULL);
  if (stat(index_path(t, a), &sb) != 0)
    return true;
  return sb.st_mtime > now || now - sb.st_mtime > STALE_S + (time_t)(sb.st_size / STALE_BYTES);
}

/* ---- the note of a session ---- */

/* Readers take no lock: the checksum at the end detects a partially written note. */
static bool parse_note(struct str text, struct str session, struct arena *a, struct transcript_info *ret_info) {
  struct error ignored;
  struct transcript_info info;
  struct str json, sum;
  yyjson_val *v;
  if (!str_line(&text, &json) || !str_line(&text, &sum) || json_read(a, json, &v, &ignored) != STATUS_OK)
    return false;
  char wanted[HASH_TEXT_SIZE];
  hash_text(json, wanted);
  get_info(v, &info);
  if (!str_is(sum, wanted) || !str_eq(info.id, session))
    return false;
  info.id = session;
  *ret_info = info;
  return true;
}

static bool read_note(const struct transcripts *t, struct str session, struct arena *a,
                      struct transcript_info *ret_info) {
  char text[NOTE_BYTES];
  int fd = open(transcript_path(t, session, PLACE_LOCK, a), O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text), 0);
  if (fd >= 0)
    close(fd);
  return n > 0 && parse_note((struct str){text, (size_t)n}, session, a, ret_info);
}

/* Not synced: after a crash the checksum or the size does not match. */
static void write_note(struct lock *lock, const struct transcript_info *info, struct arena *a) {
  assert(lock->fd >= 0);
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *v = yyjson_mut_obj(doc);
  struct buf b = BUF(a);
  char sum[HASH_TEXT_SIZE];
  put_info(doc, v, info);
  buf_add(&b, json_write(a, v, false));
  hash_text(buf_str(&b), sum);
  buf_addf(&b, "\n%s\n", sum);
  if (b.n > NOTE_BYTES || pwrite(lock->fd, b.p, b.n, 0) != (ssize_t)b.n || ftruncate(lock->fd, (off_t)b.n) != 0)
    index_invalidate(lock);
}

void index_invalidate(struct lock *lock) {
  assert(lock->fd >= 0);
  (void)!ftruncate(lock->fd, 0);
}

/* ---- the files ---- */

struct found {
  struct str id;
  int64_t size;
  bool archived;
};
struct found_list {
  struct found *v;
  size_t n, cap;
};

static void find_files(const struct transcripts *t, bool archived, struct arena *a, struct found_list *list) {
  const char *folder = archived ? arena_printf(a, "%.*s/archive", STR_ARG(t->folder)).p : t->folder.p;
  DIR **dir = arena_new(a, DIR *);
  struct dirent *e;
  struct stat sb;
  arena_defer(a, transcript_close_dir, dir);
  *dir = opendir(folder);
  while (*dir && (e = readdir(*dir))) {
    struct str name = str_from(e->d_name);
    int fd = dirfd(*dir);
    if (!str_ends(name, STR(ENDING)) || fd < 0 || fstatat(fd, e->d_name, &sb, 0) != 0 || !S_ISREG(sb.st_mode))
      continue;
    struct str id = str_slice(name, 0, name.n - sizeof(ENDING) + 1);
    if (!transcript_id_ok(id))
      continue;
    list_push(a, list, (struct found){arena_dup(a, id), (int64_t)sb.st_size, archived});
  }
  transcript_close_dir(dir);
}

static int by_found(const void *x, const void *y) {
  const struct found *p = x, *q = y;
  int c = str_cmp(p->id, q->id);
  return c ? c : (int)p->archived - (int)q->archived;
}

static int by_id(const void *x, const void *y) {
  return str_cmp(((const struct transcript_info *)x)->id, ((const struct transcript_info *)y)->id);
}

static int by_newest(const void *x, const void *y) {
  const struct transcript_info *p = x, *q = y;
  return p->updated != q->updated ? (p->updated < q->updated ? 1 : -1) : str_cmp(p->id, q->id);
}

/* Time of the first message, which may be among the originals. */
static int64_t first_time(const struct transcripts *t, const struct transcript *tr, struct arena *a) {
  struct transcript all;
  struct error ignored;
  const struct messages *list = &tr->list;
  if (tr->originals > 0 && transcript_read(t, tr->session, true, a, &all, &ignored) == STATUS_OK)
    list = &all.list;
  for (size_t i = 0; i < list->n; i++)
    if (list->v[i].at)
      return list->v[i].at;
  return t->now;
}

static enum status scan(const struct transcripts *t, struct str session, struct arena *keep,
                        struct transcript_info *info, struct error *err) {
  struct arena *a = arena_child(keep);
  struct transcript tr;
  enum status s = transcript_load(t, session, a, &tr, err);
  if (s == STATUS_OK) {
    int64_t created = first_time(t, &tr, a), updated = 0;
    for (size_t i = 0; i < tr.list.n; i++)
      if (tr.list.v[i].at > updated && tr.list.v[i].role != SPEAKER_SUMMARY)
        updated = tr.list.v[i].at;
    bool same_cycle = info->compactions == tr.compactions;
    *info = (struct transcript_info){.id = session,
                                     .created = created,
                                     .updated = updated ? updated : created,
                                     .messages = (int64_t)tr.list.n - tr.damaged,
                                     .tokens = tr.tokens,
                                     .compacted = tr.compacted,
                                     .compactions = tr.compactions,
                                     .size = tr.size,
                                     .flushed = same_cycle ? info->flushed : 0,
                                     .answered = same_cycle && info->answered,
                                     .archived = tr.archived};
  }
  arena_release(a);
  return s;
}

/* ---- one session ---- */

static struct transcript_info *find_or_add(struct arena *a, struct transcript_infos *list, struct str session) {
  for (size_t i = 0; i < list->n; i++)
    if (str_eq(list->v[i].id, session))
      return &list->v[i];
  list_push(a, list, (struct transcript_info){.id = session, .size = -1});
  return &list->v[list->n - 1];
}

static enum status update(const struct transcripts *t, struct transcript_info *e, int64_t before,
                          const struct transcript_info *added, struct arena *a, struct error *err) {
  if (before == 0 && e->size < 0) { /* a new session */
    *e = (struct transcript_info){.id = e->id, .created = added->created};
    e->size = 0;
  }
  if (before < 0 || e->size != before || e->archived)
    return scan(t, e->id, a, e, err);
  e->messages += added->messages;
  e->tokens += added->tokens;
  e->size += added->size;
  if (added->updated > e->updated)
    e->updated = added->updated;
  return STATUS_OK;
}

static enum status note_locked(const struct transcripts *t, struct str session, struct arena *a,
                               struct transcript_info *ret_info, struct error *err) {
  struct transcript_infos list = {0};
  (void)read_index(t, a, &list);
  struct transcript_info *e = find_or_add(a, &list, session);
  (void)read_note(t, session, a, e); /* may be out of date, but has the state of the flush */
  TRY(scan(t, session, a, e, err));
  TRY(write_index(t, &list, a, err));
  *ret_info = *e;
  return STATUS_OK;
}

enum status index_update(const struct transcripts *t, struct str session, struct lock *lock, struct arena *a,
                         struct transcript_info *ret_info, struct error *err) {
  struct lock *index;
  assert(!lock || lock->fd >= 0);
  TRY(transcript_lock_index(t, a, &index, err));
  enum status s = note_locked(t, session, a, ret_info, err);
  transcript_unlock(index);
  if (s == STATUS_OK && lock)
    write_note(lock, ret_info, a);
  return s;
}

void transcript_refresh_index(const struct transcripts *t, struct arena *a) {
  struct transcript_infos list = {0};
  struct error ignored;
  bool rebuilt;
  if (is_stale(t, a) && transcript_list(t, a, &list, &rebuilt, &ignored) != STATUS_OK)
    rebuilt = false; /* the next reader updates it */
}

enum status index_append(const struct transcripts *t, struct lock *lock, int64_t before,
                         const struct transcript_info *added, struct arena *a, struct transcript_info *ret_info,
                         struct error *err) {
  struct transcript_infos list = {0};
  struct transcript_info e = {.id = added->id, .size = -1};
  assert(before >= 0 && added->size > 0 && added->messages > 0);
  if (!read_note(t, added->id, a, &e) && before > 0) {
    (void)read_index(t, a, &list);
    e = *find_or_add(a, &list, added->id);
  }
  TRY(update(t, &e, before, added, a, err));
  write_note(lock, &e, a);
  if (!t->index_later)
    transcript_refresh_index(t, a);
  *ret_info = e;
  return STATUS_OK;
}

enum status transcript_set_flushed(const struct transcripts *t, struct str session, bool answered, struct arena *a,
                                   struct error *err) {
  struct transcript_infos list = {0};
  struct transcript_info now = {0};
  struct lock *own, *lock;
  TRY(transcript_find(t, session, a, &now, err)); /* creates no lock file if there is no such session */
  TRY(transcript_lock(t, session, a, &own, err));
  TRY(transcript_find(t, session, a, &now, err));
  TRY(transcript_lock_index(t, a, &lock, err));
  (void)read_index(t, a, &list);
  struct transcript_info *e = find_or_add(a, &list, session);
  *e = now;
  e->flushed = now.tokens ? now.tokens : 1;
  e->answered |= answered;
  enum status s = write_index(t, &list, a, err);
  if (s == STATUS_OK)
    write_note(own, e, a);
  transcript_unlock(lock);
  transcript_unlock(own);
  return s;
}

enum status transcript_find(const struct transcripts *t, struct str session, struct arena *a,
                            struct transcript_info *ret_info, struct error *err) {
  struct transcript_infos list = {0};
  struct error ignored;
  struct stat sb;
  if (!transcript_id_ok(session))
    return transcript_missing(session, err);
  bool live = stat(transcript_path(t, session, PLACE_LIVE, a), &sb) == 0;
  if (!live && stat(transcript_path(t, session, PLACE_ARCHIVED, a), &sb) != 0)
    return transcript_missing(session, err);
  struct transcript_info e;
  bool known = read_note(t, session, a, &e) && e.size == (int64_t)sb.st_size && e.archived != live;
  if (!known) {
    (void)read_index(t, a, &list);
    e = *find_or_add(a, &list, session);
    known = e.size == (int64_t)sb.st_size && e.archived != live;
  }
  if (known) {
    *ret_info = e;
    return STATUS_OK;
  }
  if (index_update(t, session, NULL, a, ret_info, &ignored) == STATUS_OK)
    return STATUS_OK;
  /* The index cannot be written: answer from the file. */
  TRY(scan(t, session, a, &e, err));
  *ret_info = e;
  return STATUS_OK;
}

/* ---- all sessions ---- */

static enum status refresh(const struct transcripts *t, struct arena *a, struct transcript_infos *list,
                           bool *ret_changed, struct error *err) {
  struct found_list files = {0};
  struct transcript_infos now = {0};
  find_files(t, false, a, &files);
  find_files(t, true, a, &files);
  if (files.n)
    qsort(files.v, files.n, sizeof(*files.v), by_found);
  if (list->n)
    qsort(list->v, list->n, sizeof(*list->v), by_id);
  *ret_changed = false;
  for (size_t i = 0; i < files.n; i++) {
    if (i > 0 && str_eq(files.v[i].id, files.v[i - 1].id))
      continue; /* in both folders: the live one wins */
    struct transcript_info e = {.id = files.v[i].id, .size = -1}, *old = NULL;
    if (list->n)
      old = bsearch(&e, list->v, list->n, sizeof(e), by_id);
    if (old)
      e = *old;
    if (e.size != files.v[i].size || e.archived != files.v[i].archived) {
      struct transcript_info note;
      *ret_changed = true;
      if (read_note(t, files.v[i].id, a, &note)) /* current, or out of date with the state of the flush */
        e = note;
      if (e.size != files.v[i].size || e.archived != files.v[i].archived) {
        enum status s = scan(t, files.v[i].id, a, &e, err);
        if (s == STATUS_NOT_FOUND) /* deleted in the meantime */
          continue;
        TRY(s);
      }
    }
    list_push(a, &now, e);
  }
  *ret_changed |= now.n != list->n;
  *list = now;
  return STATUS_OK;
}

static enum status list_locked(const struct transcripts *t, struct arena *a, struct transcript_infos *ret_list,
                               bool *ret_rebuilt, struct error *err) {
  struct transcript_infos list = {0};
  bool changed;
  bool whole = read_index(t, a, &list);
  TRY(refresh(t, a, &list, &changed, err));
  if ((changed || !whole) && (list.n || whole))
    TRY(write_index(t, &list, a, err));
  if (list.n)
    qsort(list.v, list.n, sizeof(*list.v), by_newest);
  *ret_rebuilt = !whole && list.n > 0;
  *ret_list = list;
  return STATUS_OK;
}

enum status transcript_list(const struct transcripts *t, struct arena *a, struct transcript_infos *ret_list,
                            bool *ret_rebuilt, struct error *err) {
  struct lock *lock;
  struct stat sb;
  if (stat(t->folder.p, &sb) != 0 && errno == ENOENT) { /* nothing has been written yet */
    *ret_list = (struct transcript_infos){0};
    *ret_rebuilt = false;
    return STATUS_OK;
  }
  TRY(transcript_lock_index(t, a, &lock, err));
  enum status s = list_locked(t, a, ret_list, ret_rebuilt, err);
  transcript_unlock(lock);
  return s;
}
