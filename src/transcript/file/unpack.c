/* unpack.c: verifying an archive of transcripts, and merging its sessions with the existing ones.
 *
 * Sessions are compared by their message lines without summaries of compactions, so a session that was compacted and
 * continued since is still recognised. */
#include <assert.h>
#include <fcntl.h>
#include <sodium.h>

#include "base/json.h"
#include "base/os/fs.h"
#include "core/gate/gate.h"
#include "transcript/file/internal.h"
#include "transcript/file/pack.h"

enum { PIECE = 1 << 16, SUMS_BYTES = 1 << 30, FILE_MODE = 0600, NAME_HASH = 16, DEEPEST = 4, FOLDERS_ABOVE = 3 };

#define RESTORED ".restored-"

/* ---- the archive ---- */

static bool cut_suffix(struct str *name, struct str ending) {
  if (!str_ends(*name, ending))
    return false;
  name->n -= ending.n;
  return true;
}

static bool cut_prefix(struct str *name, struct str start) {
  if (!str_starts(*name, start))
    return false;
  *name = str_slice(*name, start.n, name->n);
  return true;
}

/* Parses the session and the kind of file; false if it is not a transcript. */
static bool parse_path(struct str path, struct packed_session *ret_session, enum place_kind *ret_kind) {
  struct error ignored;
  struct str rest = path, team, agent;
  if (!str_next(&rest, '/', &team) || !str_next(&rest, '/', &agent))
    return false;
  *ret_kind = PLACE_LIVE;
  if (cut_prefix(&rest, STR("archive/")))
    *ret_kind = cut_prefix(&rest, STR("originals/")) ? PLACE_ORIGINALS : PLACE_ARCHIVED;
  else if (cut_suffix(&rest, STR(".torn")))
    *ret_kind = PLACE_TORN;
  if (*ret_kind != PLACE_TORN && !cut_suffix(&rest, STR(".jsonl")))
    return false;
  *ret_session = (struct packed_session){.team = team, .agent = agent, .session = rest};
  return gate_check_team(team, &ignored) == STATUS_OK && transcripts_agent_ok(agent) && transcript_id_ok(rest);
}

static struct tar_file *file_of(struct packed_session *s, enum place_kind kind) {
  switch (kind) {
  case PLACE_ARCHIVED:
    return &s->archived;
  case PLACE_ORIGINALS:
    return &s->originals;
  case PLACE_TORN:
    return &s->torn;
  default:
    assert(kind == PLACE_LIVE);
    return &s->live;
  }
}

static bool same_session(const struct packed_session *x, const struct packed_session *y) {
  return str_eq(x->session, y->session) && str_eq(x->agent, y->agent) && str_eq(x->team, y->team);
}

/* The files of a session are adjacent. */
static enum status note_file(struct unpacking *u, const struct tar_file *f, struct arena *a, struct error *err) {
  struct packed_session s;
  enum place_kind kind;
  if (!parse_path(f->path, &s, &kind))
    return tar_damaged(u->tar, "it contains a file that is not a transcript", err);
  if (u->sessions.n == 0 || !same_session(&u->sessions.v[u->sessions.n - 1], &s))
    list_push(a, &u->sessions, s);
  struct tar_file *place = file_of(&u->sessions.v[u->sessions.n - 1], kind);
  if (place->path.p)
    return tar_damaged(u->tar, "it contains a file twice", err);
  *place = *f;
  return STATUS_OK;
}

static enum status add_sum(const struct tar *t, const struct tar_file *f, char *piece, struct buf *sums,
                           struct error *err) {
  crypto_hash_sha256_state hash;
  uint8_t sum[HASH_BYTES];
  char text[HASH_TEXT_SIZE];
  crypto_hash_sha256_init(&hash);
  for (int64_t at = 0; at < f->bytes;) {
    size_t n = f->bytes - at < PIECE ? (size_t)(f->bytes - at) : PIECE;
    TRY(tar_read(t, f->at + at, piece, n, err));
    crypto_hash_sha256_update(&hash, (const unsigned char *)piece, n);
    at += (int64_t)n;
  }
  crypto_hash_sha256_final(&hash, sum);
  sodium_bin2hex(text, sizeof(text), sum, sizeof(sum));
  buf_addf(sums, "%s  %.*s\n", text, STR_ARG(f->path));
  return STATUS_OK;
}

static enum status load(const struct tar *t, const struct tar_file *f, struct arena *a, struct str *ret_text,
                        struct error *err) {
  if (!f->path.p) {
    *ret_text = STR_NONE;
    return STATUS_OK;
  }
  char *p = arena_alloc(a, (size_t)f->bytes + 1);
  TRY(tar_read(t, f->at, p, (size_t)f->bytes, err));
  *ret_text = (struct str){p, (size_t)f->bytes};
  return STATUS_OK;
}

static enum status check_sums(struct unpacking *u, const struct tar_file *f, struct str sums, struct arena *a,
                              struct error *err) {
  struct tar_file none;
  struct str text;
  bool more;
  if (f->bytes > SUMS_BYTES)
    return tar_damaged(u->tar, "SHA256SUMS is too large", err);
  TRY(load(u->tar, f, a, &text, err));
  TRY(tar_next(u->tar, a, &none, &more, err));
  if (more || !str_eq(text, sums))
    return tar_damaged(u->tar, "its files do not match SHA256SUMS", err);
  hash_text(text, u->id);
  return STATUS_OK;
}

enum status transcripts_check_pack(struct tar *in, struct arena *a, struct unpacking *ret_unpacking,
                                   struct error *err) {
  struct unpacking u = {.tar = in};
  struct buf sums = BUF(a);
  char *piece = arena_alloc(a, PIECE);
  for (;;) {
    struct tar_file f;
    bool more;
    TRY(tar_next(in, a, &f, &more, err));
    if (!more)
      return tar_damaged(in, "it has no SHA256SUMS", err);
    if (str_is(f.path, "SHA256SUMS")) {
      TRY(check_sums(&u, &f, buf_str(&sums), a, err));
      *ret_unpacking = u;
      return STATUS_OK;
    }
    TRY(note_file(&u, &f, a, err));
    TRY(add_sum(in, &f, piece, &sums, err));
  }
}

/* ---- comparing ---- */

/* A session, here or in the archive. */
struct copy_of {
  struct str text, originals, torn;
  bool archived;
};

static struct str whole_lines(struct str text) {
  while (text.n > 0 && text.p[text.n - 1] != '\n')
    text.n--;
  return text;
}

/* Valid bytes of the originals, if the line is a summary made by compaction; else -1. */
static int64_t compacted_bytes(struct arena *a, struct str line) {
  struct message m;
  struct error ignored;
  yyjson_val *extra;
  if (str_find(line, STR("\"archive\""), 0) == SIZE_MAX || message_read(a, line, &m, &ignored) != STATUS_OK ||
      m.role != SPEAKER_SUMMARY || !m.extra.p || json_read(a, m.extra, &extra, &ignored) != STATUS_OK)
    return -1;
  return json_int(yyjson_obj_get(extra, "archive"), "bytes", -1);
}

static void add_lines(struct arena *a, struct str text, struct strs *list) {
  struct str line;
  while (str_line(&text, &line))
    if (!str_empty(str_trim(line)) && compacted_bytes(a, line) < 0)
      strs_push(a, list, line);
}

/* All message lines ever written: originals and current ones. */
static struct strs all_lines(struct arena *a, const struct copy_of *c) {
  struct strs list = {0};
  struct str rest = c->text, first = STR("");
  while (str_empty(str_trim(first)) && str_line(&rest, &first))
    ;
  int64_t bytes = compacted_bytes(a, first);
  if (bytes > 0 && c->originals.p)
    add_lines(a,
              whole_lines(str_slice(c->originals, 0, (size_t)bytes < c->originals.n ? (size_t)bytes : c->originals.n)),
              &list);
  add_lines(a, whole_lines(c->text), &list);
  return list;
}

/* ---- one session ---- */

struct merging {
  const struct transcripts *t;
  struct arena *a;
  const struct copy_of *from;
  struct str session; /* its id here */
};

enum outcome { RESTORED_NEW, EXTENDED, KEPT, DIVERGED };

static enum status read_if_exists(const char *path, struct arena *a, struct str *ret_text, struct error *err) {
  struct str text = STR_NONE;
  /* The limit of the archive, not of transcripts, so anything it contains can be compared. */
  enum status s = fs_read(a, path, (size_t)TAR_FILE_BYTES, &text, err);
  if (s == STATUS_OK || s == STATUS_NOT_FOUND)
    *ret_text = text;
  return s == STATUS_NOT_FOUND ? STATUS_OK : s;
}

/* Needs the lock. Repairs the end of the file first, as every writer does. */
static enum status read_here(const struct merging *m, struct copy_of *ret_here, struct error *err) {
  const char *live = transcript_path(m->t, m->session, PLACE_LIVE, m->a);
  struct copy_of here = {0};
  struct open_file *f = NULL;
  struct repaired repaired;
  struct error missing;
  if (transcript_open(live, O_RDWR | O_APPEND, m->a, &f, &missing) == STATUS_OK) {
    enum status s = transcript_repair(m->t, m->session, f->fd, m->a, &repaired, err);
    transcript_close(f);
    TRY(s);
  }
  TRY(read_if_exists(live, m->a, &here.text, err));
  here.archived = !here.text.p;
  if (here.archived)
    TRY(read_if_exists(transcript_path(m->t, m->session, PLACE_ARCHIVED, m->a), m->a, &here.text, err));
  TRY(read_if_exists(transcript_path(m->t, m->session, PLACE_ORIGINALS, m->a), m->a, &here.originals, err));
  TRY(read_if_exists(transcript_path(m->t, m->session, PLACE_TORN, m->a), m->a, &here.torn, err));
  *ret_here = here;
  return STATUS_OK;
}

static enum status put_file(const struct merging *m, enum place_kind kind, struct str text, struct error *err) {
  const char *path = transcript_path(m->t, m->session, kind, m->a);
  TRY(fs_mkdirs(arena_cstr(m->a, fs_dirname(str_from(path))), err));
  TRY(fs_write(path, text, FILE_MODE, err));
  if (kind == PLACE_ORIGINALS)
    TRY(transcript_sync_folder(arena_cstr(m->a, fs_dirname(fs_dirname(str_from(path)))), err));
  return STATUS_OK;
}

/* Writes the originals first, so a visible session always has those its summary refers to. */
static enum status install(const struct merging *m, const struct copy_of *here, struct error *err) {
  const struct copy_of *from = m->from;
  if (from->originals.p && !str_starts(here->originals, from->originals))
    TRY(put_file(m, PLACE_ORIGINALS, from->originals, err));
  if (from->text.p)
    TRY(put_file(m, from->archived ? PLACE_ARCHIVED : PLACE_LIVE, from->text, err));
  return STATUS_OK;
}

/* True if installing would overwrite different originals that exist here. */
static bool originals_differ(const struct copy_of *here, const struct copy_of *from) {
  return here->originals.n && from->originals.n && !str_starts(from->originals, here->originals) &&
         !str_starts(here->originals, from->originals);
}

static enum status extend(const struct merging *m, const struct strs *lines, size_t have, struct error *err) {
  const char *live = transcript_path(m->t, m->session, PLACE_LIVE, m->a);
  struct buf text = BUF(m->a);
  struct repaired before;
  bool revived;
  assert(have < lines->n);
  for (size_t i = have; i < lines->n; i++) {
    buf_add(&text, lines->v[i]);
    buf_addc(&text, '\n');
  }
  TRY(transcript_revive(m->t, m->session, live, m->a, &revived, err));
  return transcript_write_lines(m->t, m->session, live, buf_str(&text), m->a, &before, err);
}

/* Adds the archive's torn lines unless they are here already. */
static enum status merge_torn(const struct merging *m, const struct copy_of *here, struct error *err) {
  struct str torn = m->from->torn;
  struct buf all = BUF(m->a);
  if (str_empty(torn) || str_find(here->torn.p ? here->torn : STR(""), torn, 0) != SIZE_MAX)
    return STATUS_OK;
  if (here->torn.p)
    buf_add(&all, here->torn);
  buf_add(&all, torn);
  return put_file(m, PLACE_TORN, buf_str(&all), err);
}

static enum status merge_locked(const struct merging *m, enum outcome *ret_outcome, struct error *err) {
  struct copy_of here;
  TRY(read_here(m, &here, err));
  struct strs mine = all_lines(m->a, &here), theirs = all_lines(m->a, m->from);
  size_t same = 0;
  while (same < mine.n && same < theirs.n && str_eq(mine.v[same], theirs.v[same]))
    same++;
  if (!here.text.p) /* no file here; an empty file is extended instead */
    *ret_outcome = originals_differ(&here, m->from) ? DIVERGED : RESTORED_NEW;
  else if (same == theirs.n)
    *ret_outcome = KEPT;
  else
    *ret_outcome = same == mine.n ? EXTENDED : DIVERGED;
  if (*ret_outcome == RESTORED_NEW)
    TRY(install(m, &here, err));
  if (*ret_outcome == EXTENDED)
    TRY(extend(m, &theirs, same, err));
  return *ret_outcome == DIVERGED ? STATUS_OK : merge_torn(m, &here, err);
}

static enum status merge(const struct merging *m, enum outcome *ret_outcome, struct error *err) {
  struct lock *lock;
  TRY(transcript_lock(m->t, m->session, m->a, &lock, err));
  index_invalidate(lock);
  enum status s = merge_locked(m, ret_outcome, err);
  transcript_unlock(lock);
  return s;
}

/* An id derived from the content, so a repeated restore finds the copy it made before. */
static struct str diverged_id(struct arena *a, struct str session, const struct copy_of *from) {
  char hash[HASH_TEXT_SIZE];
  struct buf all = BUF(a);
  buf_add(&all, from->text.p ? from->text : STR(""));
  buf_add(&all, from->originals.p ? from->originals : STR(""));
  hash_text(buf_str(&all), hash);
  size_t room = TRANSCRIPT_ID_BYTES - sizeof(RESTORED) + 1 - NAME_HASH;
  assert(session.n > 0);
  return arena_printf(a, "%.*s" RESTORED "%.*s", (int)(session.n < room ? session.n : room), session.p, (int)NAME_HASH,
                      hash);
}

/* ---- all sessions ---- */

struct restoring {
  const struct unpacking *from;
  struct transcripts_unpacked *done;
  struct arena *a;
  struct transcripts t; /* folder of the current session */
};

static enum status unpack_copy(struct restoring *r, const struct packed_session *p, const struct copy_of *copy,
                               struct arena *a, struct error *err) {
  struct merging m = {.t = &r->t, .a = a, .from = copy, .session = p->session};
  enum outcome outcome = DIVERGED;
  bool other = false;
  TRY(merge(&m, &outcome, err));
  for (int depth = 0; outcome == DIVERGED && depth < DEEPEST; depth++) {
    m.session = diverged_id(a, m.session, copy);
    other = true;
    TRY(merge(&m, &outcome, err));
  }
  if (outcome == DIVERGED)
    return error_set(err, STATUS_CONFLICT, "session '%.*s' exists in too many diverged copies", STR_ARG(p->session));
  if (other)
    list_push(r->a, &r->done->diverged, (struct diverged){p->team, p->agent, p->session, arena_dup(r->a, m.session)});
  else
    *(outcome == KEPT ? &r->done->kept : outcome == EXTENDED ? &r->done->extended : &r->done->restored) += 1;
  return STATUS_OK;
}

static enum status unpack_copies(struct restoring *r, const struct packed_session *p, struct arena *a,
                                 struct error *err) {
  struct copy_of copy = {.archived = !p->live.path.p}, second = {.archived = true};
  TRY(load(r->from->tar, copy.archived ? &p->archived : &p->live, a, &copy.text, err));
  TRY(load(r->from->tar, &p->originals, a, &copy.originals, err));
  TRY(load(r->from->tar, &p->torn, a, &copy.torn, err));
  TRY(unpack_copy(r, p, &copy, a, err));
  if (copy.archived || !p->archived.path.p)
    return STATUS_OK;
  /* Both live and archived: only manual changes can cause that. */
  TRY(load(r->from->tar, &p->archived, a, &second.text, err));
  return unpack_copy(r, p, &second, a, err);
}

static enum status unpack_session(struct restoring *r, const struct packed_session *p, struct error *err) {
  struct arena *a = arena_child(r->a);
  enum status s = unpack_copies(r, p, a, err);
  arena_release(a);
  return s;
}

/* Updates the index if possible; else the next reader does. Syncs the folder, and the folders above it, which may be
 * new. A parent that cannot be opened belongs to someone else and is not new. */
static enum status finish_folder(const struct restoring *r, struct error *err) {
  struct arena *a = arena_child(r->a);
  struct transcript_infos list;
  struct error ignored;
  bool rebuilt;
  struct str folder = r->t.folder;
  if (transcript_list(&r->t, a, &list, &rebuilt, &ignored) != STATUS_OK)
    rebuilt = false;
  enum status s = transcript_sync_folder(arena_cstr(a, folder), err);
  for (int i = 0; s == STATUS_OK && i < FOLDERS_ABOVE && folder.n > 1; i++) {
    folder = fs_dirname(folder);
    (void)fs_sync_dir(arena_cstr(a, folder));
  }
  arena_release(a);
  return s;
}

enum status transcripts_unpack(struct store *st, const struct unpacking *from, int64_t now, struct arena *a,
                               struct transcripts_unpacked *ret_done, struct error *err) {
  struct transcripts_unpacked done = {0};
  struct restoring r = {.from = from, .done = &done, .a = a};
  const struct packed_session *last = NULL;
  for (size_t i = 0; i < from->sessions.n; i++) {
    const struct packed_session *p = &from->sessions.v[i];
    if (!last || !str_eq(last->agent, p->agent) || !str_eq(last->team, p->team)) {
      struct str agent = str_is(p->agent, TRANSCRIPTS_SHARED) ? STR("admin") : p->agent;
      if (last)
        TRY(finish_folder(&r, err));
      TRY(transcripts_of_agent(st, p->team, agent, now, a, &r.t, err));
      last = p;
    }
    TRY(unpack_session(&r, p, err));
  }
  if (last)
    TRY(finish_folder(&r, err));
  *ret_done = done;
  return STATUS_OK;
}
