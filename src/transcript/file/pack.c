/* pack.c: writing all transcripts of a store into one archive. */
#include "transcript/file/pack.h"

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
  struct arena *a; /* of the session at hand */
  struct buf sums;
  struct transcript_pack done;
  char piece[PIECE];
};

/* ---- which teams ---- */

static int by_text(const void *x, const void *y) { return str_cmp(*(const struct str *)x, *(const struct str *)y); }

static void close_dir(void *arg) {
  DIR **dir = arg;
  if (*dir)
    closedir(*dir);
  *dir = NULL;
}

/* Names of a folder's entries, in order; none when it is not there. One that cannot be read is no empty one. */
static enum status names_in(const char *folder, struct arena *a, struct strs *ret_names, struct error *err) {
  DIR **dir = arena_new(a, DIR *);
  struct strs names = {0};
  struct dirent *e = NULL;
  arena_defer(a, close_dir, dir);
  *dir = opendir(folder);
  if (!*dir && (errno == ENOENT || errno == ENOTDIR))
    return STATUS_OK;
  while (*dir && (errno = 0, e = readdir(*dir)))
    if (e->d_name[0] != '.')
      strs_push(a, &names, arena_dup(a, str_from(e->d_name)));
  if (errno)
    return error_errno(err, errno, "cannot read the folder '%s'", folder);
  close_dir(dir);
  if (names.n)
    qsort(names.v, names.n, sizeof(struct str), by_text);
  *ret_names = names;
  return STATUS_OK;
}

/* Those that have rows, and those that have a folder where files usually are: a team may have said much and remembered
 * nothing. */
static enum status find_teams(struct store *st, struct arena *a, struct strs *ret_teams, struct error *err) {
  struct team_infos list = {0};
  struct strs folders = {0}, teams = {0};
  struct str admin;
  struct error ignored;
  enum status s = teams_list(st, a, &list, err);
  if (s != STATUS_OK)
    return s;
  for (size_t i = 0; i < list.n; i++)
    strs_push(a, &teams, list.v[i].name);
  if (place_agent(st, STR("default"), STR(""), a, &admin, &ignored) == STATUS_OK)
    s = names_in(arena_cstr(a, fs_dirname(fs_dirname(admin))), a, &folders, err);
  if (s != STATUS_OK)
    return s;
  for (size_t i = 0; i < folders.n; i++)
    if (gate_check_team(folders.v[i], &ignored) == STATUS_OK && !strs_has(&teams, folders.v[i]))
      strs_push(a, &teams, folders.v[i]);
  *ret_teams = teams;
  return STATUS_OK;
}

/* ---- one file ---- */

struct part {
  struct open_file *file; /* NULL: there is none */
  const char *path;
  int64_t bytes; /* whole lines */
};

/* What stands before a line end does not change in an open file while the session's lock is held. What is no file is
 * opened without waiting for somebody at its other end. */
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
  TRY(transcript_whole(f->fd, (int64_t)sb.st_size, p->a, path, &ret_part->bytes, err));
  ret_part->file = f;
  return STATUS_OK;
}

static enum status changed(const struct part *part, struct error *err) {
  error_set(err, STATUS_BUSY, "'%s' has become shorter while it was read", part->path);
  return error_fix(err, "try again");
}

static enum status put_part(struct packer *p, struct str name, const struct part *part, struct error *err) {
  struct tar from = {.fd = part->file->fd, .name = part->path};
  crypto_hash_sha256_state hash;
  uint8_t sum[HASH_BYTES];
  char text[HASH_TEXT_SIZE];
  crypto_hash_sha256_init(&hash);
  enum status s = tar_begin(p->out, name, part->bytes, err);
  for (int64_t at = 0; s == STATUS_OK && at < part->bytes;) {
    size_t n = part->bytes - at < PIECE ? (size_t)(part->bytes - at) : PIECE;
    s = tar_read(&from, at, p->piece, n, err);
    if (s == STATUS_CORRUPT) /* somebody does not heed the lock */
      s = changed(part, err);
    if (s == STATUS_OK)
      s = tar_put(p->out, (struct str){p->piece, n}, err);
    crypto_hash_sha256_update(&hash, (const unsigned char *)p->piece, n);
    at += (int64_t)n;
  }
  if (s == STATUS_OK)
    s = tar_end(p->out, err);
  if (s != STATUS_OK)
    return s;
  crypto_hash_sha256_final(&hash, sum);
  sodium_bin2hex(text, sizeof(text), sum, sizeof(sum));
  buf_addf(&p->sums, "%s  %.*s\n", text, STR_ARG(name));
  p->done.files++;
  p->done.bytes += part->bytes;
  return STATUS_OK;
}

/* ---- one session ---- */

static const enum place_kind kinds[] = {PLACE_LIVE, PLACE_ARCHIVED, PLACE_ORIGINALS, PLACE_TORN};

/* The lock is kept until all is written: a compaction after one that was killed rewrites the originals in place. */
static enum status pack_session(struct packer *p, const struct transcripts *t, struct str name, struct str session,
                                struct error *err) {
  struct part parts[ARRAY_LEN(kinds)] = {0};
  struct transcripts inside = {.folder = name}; /* the same names below another folder */
  struct lock *lock = NULL;
  enum status s = transcript_lock(t, session, p->a, &lock, err);
  if (s == STATUS_READONLY) /* who may not lock it may still read it; the order of the files is right for that, too */
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
  enum status s = names_in(folder, a, &names, err);
  for (size_t i = 0; i < names.n; i++) {
    struct str name = names.v[i];
    struct str id = str_ends(name, str_from(ending)) ? str_slice(name, 0, name.n - n) : STR("");
    if (transcript_id_ok(id))
      strs_push(a, ids, id);
  }
  return s;
}

/* Where sessions are. The live ones are listed once more behind the archive: one may leave it in between. */
static const struct {
  const char *folder, *ending;
} listed[] = {
    {"", ".jsonl"}, {"/archive", ".jsonl"}, {"/archive/originals", ".jsonl"}, {"", ".jsonl"}, {"", ".torn"},
};

static enum status pack_folder(struct packer *p, const struct transcripts *t, struct str name, struct arena *a,
                               struct error *err) {
  struct strs ids = {0};
  enum status s = STATUS_OK;
  for (size_t i = 0; s == STATUS_OK && i < ARRAY_LEN(listed); i++)
    s = add_sessions(arena_printf(a, "%s%s", t->folder.p, listed[i].folder).p, listed[i].ending, a, &ids, err);
  if (ids.n)
    qsort(ids.v, ids.n, sizeof(struct str), by_text);
  for (size_t i = 0; s == STATUS_OK && i < ids.n; i++) {
    if (i > 0 && str_eq(ids.v[i], ids.v[i - 1]))
      continue;
    p->a = arena_child(a);
    s = pack_session(p, t, name, ids.v[i], err);
    arena_release(p->a);
  }
  return s;
}

/* ---- all ---- */

bool transcripts_agent_ok(struct str agent) {
  bool ok = agent.n > 0 && agent.n < 256 && agent.p[0] != '.';
  for (size_t i = 0; ok && i < agent.n; i++)
    ok = agent.p[i] != '/' && (unsigned char)agent.p[i] >= ' ' && agent.p[i] != 0x7f;
  return ok;
}

static enum status bad_name(const struct transcripts *t, struct error *err) {
  error_set(err, STATUS_USAGE, "the folder '%s' has a name that no backup can hold", t->folder.p);
  return error_fix(err, "give it a name of letters, digits and . _ - inside");
}

static enum status pack_team(struct packer *p, struct store *st, struct str team, struct strs *done, struct arena *a,
                             struct error *err) {
  struct transcripts_list folders = {0};
  enum status s = transcripts_all(st, team, 0, a, &folders, err);
  if (s == STATUS_USAGE) /* there is no place for files, hence none */
    return STATUS_OK;
  for (size_t i = 0; s == STATUS_OK && i < folders.n; i++) {
    struct str agent = str_empty(folders.v[i].agent) ? STR(TRANSCRIPTS_SHARED) : folders.v[i].agent;
    if (strs_has(done, folders.v[i].folder))
      continue; /* teams that share a folder share what is in it */
    strs_push(a, done, folders.v[i].folder);
    if (!transcripts_agent_ok(agent))
      return bad_name(&folders.v[i], err);
    s = pack_folder(p, &folders.v[i], arena_printf(a, "%.*s/%.*s", STR_ARG(team), STR_ARG(agent)), a, err);
  }
  return s;
}

static enum status put_sums(struct packer *p, struct error *err) {
  struct str text = buf_str(&p->sums);
  enum status s = tar_begin(p->out, STR("SHA256SUMS"), (int64_t)text.n, err);
  if (s == STATUS_OK)
    s = tar_put(p->out, text, err);
  if (s == STATUS_OK)
    s = tar_end(p->out, err);
  hash_text(text, p->done.id);
  return s == STATUS_OK ? tar_finish(p->out, err) : s;
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
