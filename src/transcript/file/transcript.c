/* transcript.c: appending to and reading transcripts: locks, crash repair. */
#include "transcript/file/transcript.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/id.h"
#include "base/json.h"
#include "base/os/fs.h"
#include "file/owner.h"
#include "file/place.h"
#include "transcript/file/internal.h"

enum { FILE_MODE = 0600, WAIT_MS = 30000, POLL_MS = 5, TAIL_BYTES = 1 << 16 };

/* ---- paths and ids ---- */

static struct str without_slash(struct str folder) {
  while (folder.n > 1 && folder.p[folder.n - 1] == '/')
    folder.n--;
  return folder;
}

bool transcripts_are_shared(struct arena *a, struct str parent, struct str team, struct str owner) {
  struct str mark = owner_of_folder(a, parent);
  if (access(arena_printf(a, "%.*s/" TRANSCRIPT_INDEX, STR_ARG(parent)).p, F_OK) != 0)
    return false;
  return mark.p ? owner_may_write(mark, owner) : str_is(team, "default");
}

/* Below an absolute path each team and project has a folder. */
static enum status separate(struct store *st, struct str team, struct str project, struct str parent, struct arena *a,
                            struct transcripts *t, struct error *err) {
  TRY(agent_folder_in(st, parent, team, project, a, &t->folder, err));
  t->home = t->folder;
  if (access(arena_cstr(a, t->folder), F_OK) != 0 && transcripts_are_shared(a, parent, team, t->owner))
    t->home = t->folder = parent;
  return STATUS_OK;
}

enum status transcripts_at(struct store *st, struct str team, struct str project, int64_t now, struct arena *a,
                           struct transcripts *ret_folder, struct error *err) {
  struct transcripts t = {.now = now};
  struct setting_value path;
  TRY(setting_get(st, team, SET_SESSIONS_PATH, a, &path, err));
  TRY(owner_find(st, team, project, a, &t.owner, err));
  if (str_starts(path.value, STR("/"))) {
    TRY(separate(st, team, project, without_slash(path.value), a, &t, err));
  } else {
    TRY(agent_folder(st, team, project, a, &t.home, err));
    TRY(agent_path(st, team, project, SET_SESSIONS_PATH, a, &t.folder, err));
  }
  t.folder = arena_dup(a, without_slash(t.folder));
  *ret_folder = t;
  return STATUS_OK;
}

static bool is_id_char(char c, size_t at) { return ascii_alnum(c) || (at > 0 && (c == '.' || c == '_' || c == '-')); }

bool transcript_id_ok(struct str session) {
  bool ok = session.n > 0 && session.n <= TRANSCRIPT_ID_BYTES;
  for (size_t i = 0; ok && i < session.n; i++)
    ok = is_id_char(session.p[i], i);
  return ok;
}

struct str transcript_id_safe(struct arena *a, struct str any) {
  if (transcript_id_ok(any))
    return any;
  struct buf b = BUF(a);
  buf_adds(&b, "s");
  for (size_t i = 0; i < any.n && i < 80; i++)
    buf_addc(&b, is_id_char(any.p[i], i + 1) ? any.p[i] : '-');
  buf_addf(&b, "-%016llx", (unsigned long long)str_hash(STR_HASH, any));
  assert(transcript_id_ok(buf_str(&b)));
  return buf_str(&b);
}

const char *transcript_path(const struct transcripts *t, struct str session, enum place_kind kind, struct arena *a) {
  static const struct {
    const char *folder, *ending;
  } places[] = {
      [PLACE_LIVE] = {"", ".jsonl"},
      [PLACE_ARCHIVED] = {"archive/", ".jsonl"},
      [PLACE_ORIGINALS] = {"archive/originals/", ".jsonl"},
      [PLACE_TORN] = {"", ".torn"},
      [PLACE_LOCK] = {"", ".lock"},
  };
  assert((unsigned)kind < ARRAY_LEN(places) && transcript_id_ok(session));
  return arena_printf(a, "%.*s/%s%.*s%s", STR_ARG(t->folder), places[kind].folder, STR_ARG(session),
                      places[kind].ending)
      .p;
}

/* ---- files and locks ---- */

static void close_file(void *arg) {
  struct open_file *f = arg;
  if (f->fd >= 0)
    close(f->fd);
  f->fd = -1;
}

enum status transcript_open(const char *path, int flags, struct arena *a, struct open_file **ret_file,
                            struct error *err) {
  struct open_file *f = arena_new(a, struct open_file);
  f->fd = -1;
  arena_defer(a, close_file, f);
  f->fd = open(path, flags | O_CLOEXEC, FILE_MODE);
  if (f->fd < 0)
    return error_errno(err, errno, "cannot open '%s'", path);
  *ret_file = f;
  return STATUS_OK;
}

void transcript_close(struct open_file *f) { close_file(f); }

enum status transcript_write_all(int fd, struct str text, const char *path, struct error *err) {
  return fs_write_all(fd, text) ? STATUS_OK : error_errno(err, errno, "cannot write '%s'", path);
}

enum status transcript_sync_folder(const char *path, struct error *err) {
  return fs_sync_dir(path) ? STATUS_OK : error_errno(err, errno, "cannot sync the folder '%s'", path);
}

void transcript_close_dir(void *dir) {
  DIR **d = dir;
  if (*d)
    closedir(*d);
  *d = NULL;
}

static void unlock(void *arg) {
  struct lock *lock = arg;
  if (lock->fd >= 0)
    close(lock->fd);
  lock->fd = -1;
}

/* The lock file is never removed: processes that wait for it would lock different files. */
static enum status take_lock(const struct transcripts *t, const char *path, const char *what, struct arena *a,
                             struct lock **ret_lock, struct error *err) {
  if (t->home.p)
    TRY(owner_claim(a, t->home, t->owner, err));
  TRY(fs_mkdirs(t->folder.p, err));
  struct lock *lock = arena_new(a, struct lock);
  lock->fd = -1;
  arena_defer(a, unlock, lock);
  lock->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
  if (lock->fd < 0)
    return error_errno(err, errno, "cannot open '%s'", path);
  int64_t end = clock_ticks_us() + (int64_t)(t->wait_ms ? t->wait_ms : WAIT_MS) * 1000;
  while (flock(lock->fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return error_errno(err, errno, "cannot lock '%s'", path);
    if (clock_ticks_us() >= end) {
      error_set(err, STATUS_BUSY, "another process has kept %s locked for too long", what);
      return error_fix(err, "try again; 'fuser %s' shows the process", path);
    }
    poll(NULL, 0, POLL_MS);
  }
  *ret_lock = lock;
  return STATUS_OK;
}

enum status transcript_lock(const struct transcripts *t, struct str session, struct arena *a, struct lock **ret_lock,
                            struct error *err) {
  return take_lock(t, transcript_path(t, session, PLACE_LOCK, a), "the session", a, ret_lock, err);
}

/* The name cannot clash: session ids do not start with a dot. */
enum status transcript_lock_index(const struct transcripts *t, struct arena *a, struct lock **ret_lock,
                                  struct error *err) {
  const char *path = arena_printf(a, "%.*s/.index.lock", STR_ARG(t->folder)).p;
  return take_lock(t, path, "the index of the sessions", a, ret_lock, err);
}

void transcript_unlock(struct lock *lock) { unlock(lock); }

/* ---- crash repair ---- */

enum status transcript_whole_bytes(int fd, int64_t size, struct arena *a, const char *path, int64_t *ret_end,
                                   struct error *err) {
  char *piece = arena_alloc(a, TAIL_BYTES);
  assert(size >= 0);
  for (int64_t end = size; end > 0;) {
    int64_t from = end > TAIL_BYTES ? end - TAIL_BYTES : 0;
    ssize_t n = pread(fd, piece, (size_t)(end - from), from);
    if (n != end - from)
      return error_errno(err, n < 0 ? errno : EIO, "cannot read '%s'", path);
    while (n > 0 && piece[n - 1] != '\n')
      n--;
    if (n > 0) {
      *ret_end = from + n;
      return STATUS_OK;
    }
    end = from;
  }
  *ret_end = 0;
  return STATUS_OK;
}

static enum status set_aside(const struct transcripts *t, struct str session, struct str tail, struct arena *a,
                             struct error *err) {
  const char *path = transcript_path(t, session, PLACE_TORN, a);
  struct open_file *f = NULL;
  TRY(transcript_open(path, O_WRONLY | O_CREAT | O_APPEND, a, &f, err));
  assert(f);
  TRY(transcript_write_all(f->fd, tail, path, err));
  TRY(transcript_write_all(f->fd, STR("\n"), path, err));
  if (fsync(f->fd) != 0)
    return error_errno(err, errno, "cannot write '%s'", path);
  TRY(transcript_sync_folder(t->folder.p, err));
  transcript_close(f);
  return STATUS_OK;
}

/* Repairs the bytes of the file from `whole` on. */
static enum status repair_tail(const struct transcripts *t, struct str session, int fd, int64_t whole, struct arena *a,
                               struct repaired *m, struct error *err) {
  const char *path = transcript_path(t, session, PLACE_LIVE, a);
  assert(whole >= 0 && whole <= m->size);
  size_t n = (size_t)(m->size - whole);
  char *p = arena_alloc(a, n + 1);
  struct message message;
  struct error ignored;
  if (pread(fd, p, n, whole) != (ssize_t)n)
    return error_errno(err, EIO, "cannot read '%s'", path);
  struct str tail = {p, n};
  if (message_read(a, tail, &message, &ignored) == STATUS_OK) { /* only the newline is missing */
    m->size++;
    return transcript_write_all(fd, STR("\n"), path, err);
  }
  TRY(set_aside(t, session, tail, a, err));
  if (ftruncate(fd, whole) != 0 || fsync(fd) != 0)
    return error_errno(err, errno, "cannot write '%s'", path);
  *m = (struct repaired){.size = whole, .torn = (int64_t)n};
  return STATUS_OK;
}

enum status transcript_repair(const struct transcripts *t, struct str session, int fd, struct arena *a,
                              struct repaired *ret_repaired, struct error *err) {
  const char *path = transcript_path(t, session, PLACE_LIVE, a);
  struct stat sb;
  char last = '\n';
  int64_t whole = 0;
  if (fstat(fd, &sb) != 0)
    return error_errno(err, errno, "cannot read '%s'", path);
  int64_t size = (int64_t)sb.st_size;
  if (size > 0 && pread(fd, &last, 1, size - 1) != 1)
    return error_errno(err, EIO, "cannot read '%s'", path);
  *ret_repaired = (struct repaired){.size = size};
  if (last == '\n')
    return STATUS_OK;
  TRY(transcript_whole_bytes(fd, size, a, path, &whole, err));
  return repair_tail(t, session, fd, whole, a, ret_repaired, err);
}

/* ---- reading ---- */

/* Reads the record of the compaction from its summary. */
static void read_compaction(struct arena *a, const struct message *m, struct transcript *tr) {
  struct error ignored;
  yyjson_val *extra;
  if (m->damaged || m->role != SPEAKER_SUMMARY || !m->extra.p || json_read(a, m->extra, &extra, &ignored) != STATUS_OK)
    return;
  yyjson_val *archive = yyjson_obj_get(extra, "archive");
  tr->compacted = json_int(archive, "messages", 0);
  tr->originals = json_int(archive, "bytes", 0);
  tr->compactions = json_int(archive, "compactions", 0);
}

static void read_lines(struct arena *a, struct str text, struct transcript *tr) {
  struct error ignored;
  struct str line;
  while (str_line(&text, &line)) {
    struct message m = {0};
    if (str_empty(str_trim(line)))
      continue;
    if (message_read(a, line, &m, &ignored) != STATUS_OK) {
      m = (struct message){.raw = line, .damaged = true};
      tr->damaged++;
    }
    tr->tokens += (int64_t)message_tokens(&m);
    list_push(a, &tr->list, m);
  }
}

enum status transcript_missing(struct str session, struct error *err) {
  error_set(err, STATUS_NOT_FOUND, "there is no transcript of a session '%.*s'", STR_ARG(session));
  return error_fix(err, "'cairn transcript list' shows all transcripts");
}

enum status transcript_load(const struct transcripts *t, struct str session, struct arena *a,
                            struct transcript *ret_transcript, struct error *err) {
  struct transcript tr = {.session = session};
  struct str text = STR_NONE;
  const char *path = transcript_path(t, session, PLACE_LIVE, a);
  enum status s = fs_read(a, path, TRANSCRIPT_FILE_BYTES, &text, err);
  if (s == STATUS_NOT_FOUND) {
    path = transcript_path(t, session, PLACE_ARCHIVED, a);
    tr.archived = true;
    s = fs_read(a, path, TRANSCRIPT_FILE_BYTES, &text, err);
  }
  if (s == STATUS_NOT_FOUND)
    return transcript_missing(session, err);
  if (s != STATUS_OK)
    return s;
  size_t whole = text.n;
  while (whole > 0 && text.p[whole - 1] != '\n')
    whole--;
  tr.path = str_from(path);
  tr.size = (int64_t)text.n;
  tr.torn = (int64_t)(text.n - whole);
  read_lines(a, str_slice(text, 0, whole), &tr);
  if (tr.list.n)
    read_compaction(a, &tr.list.v[0], &tr);
  *ret_transcript = tr;
  return STATUS_OK;
}

static enum status check_id(struct str session, struct error *err) {
  if (transcript_id_ok(session))
    return STATUS_OK;
  error_set(err, STATUS_USAGE, "'%.*s' is not a valid session id", STR_ARG(session));
  return error_fix(err, "use 1 to %d letters, digits, and . _ - except at the start: 2026-02-05-release",
                   (int)TRANSCRIPT_ID_BYTES);
}

/* Prepends the lines that were replaced by summaries. */
static enum status add_originals(const struct transcripts *t, struct transcript *tr, struct arena *a,
                                 struct error *err) {
  struct transcript before = {0};
  struct str text = STR_NONE;
  TRY(fs_read(a, transcript_path(t, tr->session, PLACE_ORIGINALS, a), TRANSCRIPT_FILE_BYTES, &text, err));
  if (text.n < (size_t)tr->originals) {
    error_set(err, STATUS_CORRUPT, "the originals of session '%.*s' are truncated: %zu of %lld bytes",
              STR_ARG(tr->session), text.n, (long long)tr->originals);
    return error_fix(err, "restore archive/originals/%.*s.jsonl from a backup", STR_ARG(tr->session));
  }
  read_lines(a, str_slice(text, 0, (size_t)tr->originals), &before);
  for (size_t i = 0; i < tr->list.n; i++)
    list_push(a, &before.list, tr->list.v[i]);
  tr->list = before.list;
  tr->tokens += before.tokens;
  tr->damaged += before.damaged;
  return STATUS_OK;
}

enum status transcript_read(const struct transcripts *t, struct str session, bool originals, struct arena *a,
                            struct transcript *ret_transcript, struct error *err) {
  struct transcript tr = {0};
  TRY(check_id(session, err));
  TRY(transcript_load(t, session, a, &tr, err));
  if (originals && tr.originals > 0)
    TRY(add_originals(t, &tr, a, err));
  *ret_transcript = tr;
  return STATUS_OK;
}

size_t transcript_prune(struct messages *list, int64_t keep) {
  int64_t results = 0;
  size_t n = 0;
  for (size_t i = 0; i < list->n; i++)
    results += list->v[i].role == SPEAKER_TOOL_RESULT && !list->v[i].damaged;
  int64_t drop = results > keep ? results - keep : 0, dropped = 0;
  for (size_t i = 0; i < list->n; i++) {
    if (list->v[i].role == SPEAKER_TOOL_RESULT && !list->v[i].damaged && dropped < drop)
      dropped++;
    else
      list->v[n++] = list->v[i];
  }
  assert(n + (size_t)dropped == list->n);
  list->n = n;
  return (size_t)dropped;
}

/* ---- appending ---- */

/* Hash table of ids and roles, with open addressing. */
struct known {
  const struct message **slots;
  size_t mask;
};

static void known_init(struct arena *a, struct known *k, size_t most) {
  size_t n = 16;
  while (n < most * 2)
    n *= 2;
  k->slots = arena_array(a, const struct message *, n);
  k->mask = n - 1;
}

/* False if it is in the table already. */
static bool known_add(struct known *k, const struct message *m) {
  if (!m->id.p || m->damaged)
    return true;
  assert((k->mask & (k->mask + 1)) == 0);
  size_t at = (size_t)str_hash(STR_HASH + m->role, m->id) & k->mask;
  for (; k->slots[at]; at = (at + 1) & k->mask)
    if (k->slots[at]->role == m->role && str_eq(k->slots[at]->id, m->id))
      return false;
  k->slots[at] = m;
  return true;
}

static enum status skip_known_messages(const struct transcripts *t, struct str session, struct messages *list,
                                       struct arena *a, int64_t *ret_known, struct error *err) {
  struct transcript tr = {0};
  struct known k;
  size_t n = 0;
  enum status s = transcript_read(t, session, true, a, &tr, err);
  if (s != STATUS_OK && s != STATUS_NOT_FOUND)
    return s;
  known_init(a, &k, tr.list.n + list->n);
  for (size_t i = 0; i < tr.list.n; i++)
    (void)known_add(&k, &tr.list.v[i]);
  struct message *kept = arena_array(a, struct message, list->n ? list->n : 1);
  for (size_t i = 0; i < list->n; i++) {
    kept[n] = list->v[i];
    if (known_add(&k, &kept[n]))
      n++;
  }
  *ret_known = (int64_t)(list->n - n);
  *list = (struct messages){kept, n, n};
  return STATUS_OK;
}

/* Completes and redacts the messages, and makes their lines. */
static enum status make_lines(const struct transcripts *t, struct messages *list, struct arena *a,
                              struct transcript_appended *done, struct buf *lines, struct error *err) {
  for (size_t i = 0; i < list->n; i++) {
    struct message *m = &list->v[i];
    char id[UUID_SIZE];
    if (str_empty(m->id)) {
      uuid7_new(t->now, id);
      m->id = arena_printf(a, "msg_%s", id);
    }
    if (!m->at)
      m->at = t->now;
    done->redacted += message_redact(a, t->secrets, m);
    m->raw = message_line(a, m);
    if (m->raw.n > TRANSCRIPT_LINE_BYTES) {
      error_set(err, STATUS_TOO_LARGE, "a message of %zu bytes is over the limit of %d", m->raw.n,
                (int)TRANSCRIPT_LINE_BYTES);
      return error_fix(err, "store the content in a file, and its path in the message");
    }
    buf_add(lines, m->raw);
    buf_addc(lines, '\n');
    done->tokens += (int64_t)message_tokens(m);
  }
  done->added = (int64_t)list->n;
  done->bytes = (int64_t)lines->n;
  return STATUS_OK;
}

enum status transcript_revive(const struct transcripts *t, struct str session, const char *live, struct arena *a,
                              bool *ret_revived, struct error *err) {
  const char *archived = transcript_path(t, session, PLACE_ARCHIVED, a);
  if (access(live, F_OK) == 0 || access(archived, F_OK) != 0)
    return STATUS_OK;
  if (rename(archived, live) != 0)
    return error_errno(err, errno, "cannot move '%s'", archived);
  *ret_revived = true;
  return transcript_sync_folder(t->folder.p, err);
}

enum status transcript_write_lines(const struct transcripts *t, struct str session, const char *path, struct str lines,
                                   struct arena *a, struct repaired *ret_before, struct error *err) {
  assert(lines.n > 0 && lines.p[lines.n - 1] == '\n');
  struct open_file *f;
  bool fresh = access(path, F_OK) != 0;
  TRY(transcript_open(path, O_RDWR | O_CREAT | O_APPEND, a, &f, err));
  TRY(transcript_repair(t, session, f->fd, a, ret_before, err));
  enum status s = transcript_write_all(f->fd, lines, path, err);
  if (s == STATUS_OK && fsync(f->fd) != 0)
    s = error_errno(err, errno, "cannot write '%s'", path);
  /* On a full disk: remove the partial write, so the caller can retry. */
  if (s != STATUS_OK && ftruncate(f->fd, ret_before->size) == 0)
    (void)fsync(f->fd);
  if (s == STATUS_OK && fresh)
    s = transcript_sync_folder(t->folder.p, err);
  transcript_close(f);
  return s;
}

static enum status append_locked(const struct transcripts *t, struct str session, struct lock *lock,
                                 struct messages *list, struct arena *a, struct transcript_appended *done,
                                 struct error *err) {
  assert(lock->fd >= 0);
  struct buf lines = BUF(a);
  struct transcript_info added = {0}, now = {0};
  struct repaired before;
  const char *path = transcript_path(t, session, PLACE_LIVE, a);
  done->path = str_from(path);
  if (list->n == 0)
    return STATUS_OK;
  TRY(make_lines(t, list, a, done, &lines, err));
  TRY(transcript_revive(t, session, path, a, &done->revived, err));
  TRY(transcript_write_lines(t, session, path, buf_str(&lines), a, &before, err));
  done->torn = before.torn;
  added = (struct transcript_info){.id = session,
                                   .messages = done->added,
                                   .tokens = done->tokens,
                                   .size = done->bytes,
                                   .created = list->v[0].at,
                                   .updated = list->v[list->n - 1].at};
  /* The messages are on disk. If the index cannot be updated now, the next reader does it. */
  struct error ignored;
  if (index_append(t, lock, before.size, &added, a, &now, &ignored) == STATUS_OK) {
    done->total_messages = now.messages;
    done->total_tokens = now.tokens;
  }
  return STATUS_OK;
}

enum status transcript_append(const struct transcripts *t, struct str session, struct messages *list, bool skip_known,
                              struct arena *a, struct transcript_appended *ret_done, struct error *err) {
  struct transcript_appended done = {0};
  struct messages kept = *list;
  struct lock *lock;
  TRY(check_id(session, err));
  TRY(transcript_lock(t, session, a, &lock, err));
  enum status s = skip_known ? skip_known_messages(t, session, &kept, a, &done.known, err) : STATUS_OK;
  if (s == STATUS_OK)
    s = append_locked(t, session, lock, &kept, a, &done, err);
  transcript_unlock(lock);
  if (s != STATUS_OK)
    return s;
  *list = kept;
  *ret_done = done;
  return STATUS_OK;
}
