/* pack.c: writing all transcripts of a store to a tar archive. */
#include "transcript/file/pack.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/os/fs.h"
#include "core/gate/gate.h"
#include "file/place.h"
#include "store/tables/teams.h"
#include "transcript/file/internal.h"

enum { PIECE = 1 << 16 };

struct packer {
  struct tar *out;
  struct arena *a; /* of the current session */
  struct buf sums;
  struct transcript_pack done;
  char piece[PIECE];
};

/* ---- teams ---- */

static int by_text(const void *x, const void *y) { return str_cmp(*(const struct str *)x, *(const struct str *)y); }

/* Sorted names in a folder; none if it does not exist. An unreadable folder is an error. */
static enum status list_folder(const char *folder, struct arena *a, struct strs *ret_names, struct error *err) {
  DIR **dir = arena_new(a, DIR *);
  struct strs names = {0};
  struct dirent *e = NULL;
  arena_defer(a, transcript_close_dir, dir);
  *dir = opendir(folder);
  if (!*dir && (errno == ENOENT || errno == ENOTDIR))
    return STATUS_OK;
  while (*dir && (errno = 0, e = readdir(*dir)))
    if (e->d_name[0] != '.')
      strs_push(a, &names, arena_dup(a, str_from(e->d_name)));
  if (errno)
    return error_errno(err, errno, "cannot read the folder '%s'", folder);
  transcript_close_dir(dir);
  if (names.n)
    qsort(names.v, names.n, sizeof(struct str), by_text);
  *ret_names = names;
  return STATUS_OK;
}

/* Teams that have rows, and teams that only have a folder of files: transcripts without memories. */
static enum status find_teams(struct store *st, struct arena *a, struct strs *ret_teams, struct error *err) {
  struct team_infos list = {0};
  struct strs folders = {0}, teams = {0};
  struct str admin;
  struct error ignored;
  TRY(teams_list(st, a, &list, err));
  for (size_t i = 0; i < list.n; i++)
    strs_push(a, &teams, list.v[i].name);
  if (agent_folder(st, STR("default"), STR(""), a, &admin, &ignored) == STATUS_OK)
    TRY(list_folder(arena_cstr(a, fs_dirname(fs_dirname(admin))), a, &folders, err));
  for (size_t i = 0; i < folders.n; i++)
    if (gate_check_team(folders.v[i], &ignored) == STATUS_OK && !strs_has(&teams, folders.v[i]))
      strs_push(a, &teams, folders.v[i]);
  *ret_teams = teams;
  return STATUS_OK;
}

/* ---- one file ---- */

struct part {
  struct open_file *file; /* NULL if there is none */
  const char *path;
  int64_t bytes; /* whole lines */
};

/* Whole lines of an open file do not change while the session's lock is held. O_NONBLOCK: do not block on a pipe. */
static enum status open_part(struct packer *p, const char *path, struct part *ret_part, struct error *err) {
  struct open_file *f = NULL;
  struct stat sb;
  *ret_part = (struct part){.path = path};
  enum status s = transcript_open(path, O_RDONLY | O_NONBLOCK, p->a, &f, err);
  if (s == STATUS_NOT_FOUND)
    return STATUS_OK;
  if (s != STATUS_OK)
    return s;
  if (fstat(f->fd, &sb) != 0)
    return error_errno(err, errno, "cannot read '%s'", path);
  if (!S_ISREG(sb.st_mode))
    return STATUS_OK;
  TRY(transcript_whole_bytes(f->fd, (int64_t)sb.st_size, p->a, path, &ret_part->bytes, err));
  ret_part->file = f;
  return STATUS_OK;
}

static enum status changed(const struct part *part, struct error *err) {
  error_set(err, STATUS_BUSY, "'%s' was truncated while it was read", part->path);
  return error_fix(err, "try again");
}

static enum status put_part(struct packer *p, struct str name, const struct part *part, struct error *err) {
  assert(part->file->fd >= 0 && part->bytes >= 0);
  struct tar from = {.fd = part->file->fd, .name = part->path};
  crypto_hash_sha256_state hash;
  uint8_t sum[HASH_BYTES];
  char text[HASH_TEXT_SIZE];
  crypto_hash_sha256_init(&hash);
  TRY(tar_begin(p->out, name, part->bytes, err));
  for (int64_t at = 0; at < part->bytes;) {
    size_t n = part->bytes - at < PIECE ? (size_t)(part->bytes - at) : PIECE;
    enum status s = tar_read(&from, at, p->piece, n, err);
    TRY(s == STATUS_CORRUPT ? changed(part, err) : s); /* a writer that ignores the lock */
    TRY(tar_put(p->out, (struct str){p->piece, n}, err));
    crypto_hash_sha256_update(&hash, (const unsigned char *)p->piece, n);
    at += (int64_t)n;
  }
  TRY(tar_end(p->out, err));
  crypto_hash_sha256_final(&hash, sum);
  sodium_bin2hex(text, sizeof(text), sum, sizeof(sum));
  buf_addf(&p->sums, "%s  %.*s\n", text, STR_ARG(name));
  p->done.files++;
  p->done.bytes += part->bytes;
  return STATUS_OK;
}

/* ---- one session ---- */

static const enum place_kind kinds[] = {PLACE_LIVE, PLACE_ARCHIVED, PLACE_ORIGINALS, PLACE_TORN};

/* Holds the lock until everything is written, since a compaction after a killed one rewrites the originals in place. */
static enum status pack_session(struct packer *p, const struct transcripts *t, struct str name, struct str session,
                                struct error *err) {
  struct part parts[ARRAY_LEN(kinds)] = {0};
  struct transcripts inside = {.folder = name}; /* gives the paths inside the archive */
  struct lock *lock = NULL;
  enum status s = transcript_lock(t, session, p->a, &lock, err);
  if (s == STATUS_READONLY) /* without the lock, opening the files in the order of `kinds` is still safe */
    s = STATUS_OK;
  for (size_t i = 0; s == STATUS_OK && i < ARRAY_LEN(kinds); i++)
    s = open_part(p, transcript_path(t, session, kinds[i], p->a), &parts[i], err);
  for (size_t i = 0; s == STATUS_OK && i < ARRAY_LEN(kinds); i++)
    if (parts[i].file)
      s = put_part(p, str_from(transcript_path(&inside, session, kinds[i], p->a)), &parts[i], err);
  if (lock)
    transcript_unlock(lock);
  p->done.sessions++;
  return s;
}

static enum status add_sessions(const char *folder, const char *ending, struct arena *a, struct strs *ids,
                                struct error *err) {
  struct strs names = {0};
  size_t n = strlen(ending);
  TRY(list_folder(folder, a, &names, err));
  for (size_t i = 0; i < names.n; i++) {
    struct str name = names.v[i];
    struct str id = str_ends(name, str_from(ending)) ? str_slice(name, 0, name.n - n) : STR("");
    if (transcript_id_ok(id))
      strs_push(a, ids, id);
  }
  return STATUS_OK;
}

/* Live sessions are listed again after the archive: one may be revived in between. */
static const struct {
  const char *folder, *ending;
} listed[] = {
    {"", ".jsonl"}, {"/archive", ".jsonl"}, {"/archive/originals", ".jsonl"}, {"", ".jsonl"}, {"", ".torn"},
};

static enum status pack_folder(struct packer *p, const struct transcripts *t, struct str name, struct arena *a,
                               struct error *err) {
  struct strs ids = {0};
  for (size_t i = 0; i < ARRAY_LEN(listed); i++)
    TRY(add_sessions(arena_printf(a, "%s%s", t->folder.p, listed[i].folder).p, listed[i].ending, a, &ids, err));
  if (ids.n)
    qsort(ids.v, ids.n, sizeof(struct str), by_text);
  for (size_t i = 0; i < ids.n; i++) {
    if (i > 0 && str_eq(ids.v[i], ids.v[i - 1]))
      continue;
    p->a = arena_child(a);
    enum status s = pack_session(p, t, name, ids.v[i], err);
    arena_release(p->a);
    TRY(s);
  }
  return STATUS_OK;
}

/* ---- all teams ---- */

bool transcripts_agent_ok(struct str agent) {
  bool ok = agent.n > 0 && agent.n < 256 && agent.p[0] != '.';
  for (size_t i = 0; ok && i < agent.n; i++)
    ok = agent.p[i] != '/' && (unsigned char)agent.p[i] >= ' ' && agent.p[i] != 0x7f;
  return ok;
}

static enum status bad_name(const struct transcripts *t, struct error *err) {
  error_set(err, STATUS_USAGE, "the folder '%s' has a name that cannot be stored in a backup", t->folder.p);
  return error_fix(err, "rename it: use letters, digits, and . _ - except at the start");
}

static enum status pack_team(struct packer *p, struct store *st, struct str team, struct strs *done, struct arena *a,
                             struct error *err) {
  struct transcripts_list folders = {0};
  enum status s = transcripts_all(st, team, 0, a, &folders, err);
  if (s == STATUS_USAGE) /* no folder for files is set, so there are none */
    return STATUS_OK;
  TRY(s);
  for (size_t i = 0; i < folders.n; i++) {
    struct str agent = str_empty(folders.v[i].agent) ? STR(TRANSCRIPTS_SHARED) : folders.v[i].agent;
    if (strs_has(done, folders.v[i].folder))
      continue; /* shared with another team */
    strs_push(a, done, folders.v[i].folder);
    if (!transcripts_agent_ok(agent))
      return bad_name(&folders.v[i], err);
    TRY(pack_folder(p, &folders.v[i], arena_printf(a, "%.*s/%.*s", STR_ARG(team), STR_ARG(agent)), a, err));
  }
  return STATUS_OK;
}

static enum status put_sums(struct packer *p, struct error *err) {
  struct str text = buf_str(&p->sums);
  hash_text(text, p->done.id);
  TRY(tar_begin(p->out, STR("SHA256SUMS"), (int64_t)text.n, err));
  TRY(tar_put(p->out, text, err));
  TRY(tar_end(p->out, err));
  return tar_finish(p->out, err);
}

enum status transcripts_pack(struct store *st, struct tar *out, struct arena *a, struct transcript_pack *ret_pack,
                             struct error *err) {
  struct packer *p = arena_new(a, struct packer);
  struct strs teams = {0}, done = {0};
  p->out = out;
  p->sums = BUF(a);
  TRY(find_teams(st, a, &teams, err));
  for (size_t i = 0; i < teams.n; i++)
    TRY(pack_team(p, st, teams.v[i], &done, a, err));
  TRY(put_sums(p, err));
  *ret_pack = p->done;
  return STATUS_OK;
}
