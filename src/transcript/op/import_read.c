/* import_read.c: importing the new lines of one transcript of Claude Code or Codex.
 *
 * Messages of a file are written in batches. The progress advances only after they are written. */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/id.h"
#include "base/os/fs.h"
#include "base/os/project.h"
#include "base/utf8.h"
#include "core/gate/gate.h"
#include "op/transfer/import.h"
#include "transcript/op/import.h"

enum {
  FLUSH_BYTES = 32 << 20, /* size of the lines read before their messages are written */
  TAIL_BYTES = 1024,
  GUESS_LINES = 64, /* lines in which the format must be recognised */
};

/* Pending messages of one session. */
struct batch {
  struct str session;
  size_t target;
  struct messages list;
};

/* A file that is being read. */
struct reading {
  struct import_run *run;
  struct arena *arena, *pending; /* of the file; of the pending messages */
  struct import_file file;
  struct import_state state;
  struct source source;
  struct lines lines;
  LIST(struct batch) batches;
  int64_t held;
  bool stop; /* the error ends the whole import, not only this file */
  struct error *err;
};

/* ---- the project of a session ---- */

/* The nearest existing ancestor. */
static bool find_existing(struct arena *a, struct str path, struct str *ret_folder) {
  char real[PATH_MAX];
  if (!str_starts(path, STR("/")) || memchr(path.p, 0, path.n))
    return false;
  while (!realpath(arena_cstr(a, path), real)) {
    if (path.n <= 1)
      return false;
    path = fs_dirname(path);
  }
  *ret_folder = arena_dup(a, path);
  return true;
}

static bool is_usable(struct str name) {
  struct error ignored;
  return name.n && utf8_check(name) == name.n && gate_check_project(name, &ignored) == STATUS_OK;
}

/* The project of a call from the working directory. If that is gone, an ancestor may still be in a repository (a
 * worktree); else the transcript may name its repository, or record that there was one. */
static struct str find_project(struct reading *rd, struct str cwd) {
  struct arena *a = rd->arena;
  struct str folder, name;
  bool found = cwd.n && find_existing(a, cwd, &folder);
  if (found && project_find(a, folder.p, &name) && is_usable(name))
    return name;
  if (found && str_eq(folder, cwd))
    return STR("");
  if (is_usable(rd->file.repository))
    return rd->file.repository;
  bool named = rd->file.versioned && str_starts(cwd, STR("/")) && is_usable(fs_basename(cwd));
  return named ? fs_basename(cwd) : STR("");
}

static enum status find_target(struct import_run *r, struct str project, size_t *ret_index, struct error *err) {
  struct op_call *call = r->call;
  struct import_target target = {0};
  for (size_t i = 0; i < r->targets.n; i++)
    if (str_eq(r->targets.v[i].project, project)) {
      *ret_index = i;
      return STATUS_OK;
    }
  target.project = arena_dup(call->arena, project);
  TRY(transcripts_at(call->engine->store, call->caller.team, target.project, call->now, call->arena, &target.folder,
                     err));
  target.folder.index_later = true;
  target.folder.secrets = call->secrets;
  *ret_index = r->targets.n;
  list_push(call->arena, &r->targets, target);
  return STATUS_OK;
}

static enum status find_batch(struct reading *rd, const struct import_line *line, struct batch **ret_batch) {
  struct import_run *r = rd->run;
  struct batch batch = {.session = transcript_id_safe(rd->pending, line->session)};
  struct str project = r->call->caller.project;
  for (size_t i = 0; i < rd->batches.n; i++)
    if (str_eq(rd->batches.v[i].session, batch.session)) {
      *ret_batch = &rd->batches.v[i];
      return STATUS_OK;
    }
  rd->stop = true; /* an error here would occur for every file */
  if (!import_has_project(r->call) && !import_place_find(&r->states, batch.session, &project)) {
    project = find_project(rd, line->cwd);
    import_place_put(r->call->arena, &r->states, batch.session, project);
  }
  TRY(find_target(r, project, &batch.target, rd->err));
  rd->stop = false;
  list_push(rd->pending, &rd->batches, batch);
  *ret_batch = &rd->batches.v[rd->batches.n - 1];
  return STATUS_OK;
}

/* ---- writing ---- */

static enum status write_batch(struct reading *rd, struct batch *batch) {
  struct import_run *r = rd->run;
  assert(batch->target < r->targets.n);
  struct import_target *target = &r->targets.v[batch->target];
  struct transcript_appended done;
  TRY(transcript_append(&target->folder, batch->session, &batch->list, true, rd->pending, &done, rd->err));
  r->messages += done.added;
  r->already += done.known;
  r->redacted += done.redacted;
  target->messages += done.added;
  target->bytes += done.bytes;
  if (done.added && !strs_has(&r->sessions, batch->session))
    strs_push(r->call->arena, &r->sessions, arena_dup(r->call->arena, batch->session));
  return STATUS_OK;
}

/* Hash of the last bytes before `offset`; empty if there are none. */
static enum status hash_tail(struct reading *rd, int64_t offset, struct str *ret_tail) {
  assert(offset >= 0);
  char bytes[TAIL_BYTES], *text = arena_alloc(rd->arena, HASH_TEXT_SIZE);
  size_t n = offset < TAIL_BYTES ? (size_t)offset : TAIL_BYTES;
  ssize_t got;
  do
    got = pread(rd->source.fd, bytes, n, offset - (int64_t)n);
  while (got < 0 && errno == EINTR);
  if (got < 0)
    return error_errno(rd->err, errno, "cannot read %s", rd->source.name);
  hash_text((struct str){bytes, (size_t)got}, text);
  *ret_tail = got ? str_from(text) : STR("");
  return STATUS_OK;
}

/* Writes the pending messages, then advances the progress to `offset`. */
static enum status flush(struct reading *rd, int64_t offset, int64_t lines) {
  struct import_state *m = &rd->state;
  assert(offset >= m->offset && lines >= m->lines);
  rd->stop = true;
  for (size_t i = 0; i < rd->batches.n; i++)
    TRY(write_batch(rd, &rd->batches.v[i]));
  rd->stop = false;
  m->offset = offset;
  m->lines = lines;
  TRY(hash_tail(rd, offset, &m->tail));
  m->session = rd->file.session;
  m->cwd = rd->file.cwd;
  m->repository = rd->file.repository;
  m->versioned = rd->file.versioned;
  m->header = rd->file.header;
  m->at = rd->file.at;
  import_state_put(rd->run->call->arena, &rd->run->states, m);
  rd->run->changed = true;
  memset(&rd->batches, 0, sizeof(rd->batches));
  rd->held = 0;
  arena_release(rd->pending);
  return STATUS_OK;
}

/* ---- reading ---- */

/* True if the line is complete, even if its newline has not been written yet. */
static bool is_whole(struct reading *rd, struct str line) {
  yyjson_val *root;
  struct error ignored;
  const struct lines *l = &rd->lines;
  return l->too_long || (l->start && l->buffer[l->start - 1] == '\n') || str_empty(str_trim(line)) ||
         json_read(rd->pending, str_trim(line), &root, &ignored) == STATUS_OK;
}

static enum status read_line(struct reading *rd, struct str line) {
  struct import_line out = {0};
  struct batch *batch;
  if (rd->lines.too_long) {
    import_skipped(&rd->file, IMPORT_TOO_LONG);
    return STATUS_OK;
  }
  import_read_line(rd->pending, &rd->file, line, rd->lines.number, &out);
  rd->held += (int64_t)line.n;
  if (out.list.n == 0)
    return STATUS_OK;
  TRY(find_batch(rd, &out, &batch));
  for (size_t i = 0; i < out.list.n; i++)
    list_push(rd->pending, &batch->list, out.list.v[i]);
  return STATUS_OK;
}

static int64_t read_up_to(const struct lines *l) {
  assert(l->start <= l->end);
  return l->offset - (int64_t)(l->end - l->start);
}

static enum status read_lines(struct reading *rd) {
  struct lines *l = &rd->lines;
  struct str line;
  bool more;
  int64_t end = rd->state.offset, number = rd->state.lines;
  for (;;) {
    TRY(lines_next(l, &line, &more, rd->err));
    if (more && !is_whole(rd, line)) {
      rd->run->torn++;
      more = false;
    }
    if (!more)
      return flush(rd, end, number);
    TRY(read_line(rd, line));
    end = read_up_to(l);
    number = l->number;
    if (rd->held >= FLUSH_BYTES)
      TRY(flush(rd, end, number));
    if (cancelled(rd->run->call)) {
      rd->stop = true;
      return error_set(rd->err, STATUS_INTERRUPTED, "interrupted; imported messages stay, the next import continues");
    }
  }
}

/* Recognises the format from the first lines. */
static enum status guess(struct reading *rd, enum import_from *ret_from) {
  struct lines lines;
  struct str line;
  bool more = true;
  enum import_from from = IMPORT_UNKNOWN;
  lines_open(&lines, &rd->source, rd->pending, 0, 1);
  for (int i = 0; i < GUESS_LINES && more && from == IMPORT_UNKNOWN; i++) {
    TRY(lines_next(&lines, &line, &more, rd->err));
    if (more && !lines.too_long)
      from = import_guess_line(rd->pending, str_trim(line));
  }
  arena_release(rd->pending);
  *ret_from = from;
  return STATUS_OK;
}

/* Continues after the lines read before, if the file still starts with them; else starts again. */
static enum status resume(struct reading *rd, const struct import_state *old) {
  struct str tail;
  if (!old || old->from != rd->state.from || old->offset > (int64_t)rd->source.st.st_size)
    return STATUS_OK;
  TRY(hash_tail(rd, old->offset, &tail));
  if (!str_eq(tail, old->tail))
    return STATUS_OK;
  rd->state.offset = old->offset;
  rd->state.lines = old->lines;
  rd->file.session = old->session;
  rd->file.cwd = old->cwd;
  rd->file.repository = old->repository;
  rd->file.versioned = old->versioned;
  rd->file.header = old->header;
  rd->file.at = old->at;
  return STATUS_OK;
}

static enum status read_file(struct reading *rd, const struct import_path *path, const struct import_state *old) {
  struct op_call own = *rd->run->call; /* closes the file with rd->arena instead of the call's arena */
  own.arena = rd->arena;
  own.err = rd->err;
  enum import_from from = path->from != IMPORT_UNKNOWN ? path->from : old ? old->from : IMPORT_UNKNOWN;
  TRY(call_refuse_store_path(&own, path->path));
  TRY(source_open(&own, path->path, &rd->source));
  if (from == IMPORT_UNKNOWN)
    TRY(guess(rd, &from));
  if (from == IMPORT_UNKNOWN) {
    rd->run->unknown++;
    return STATUS_OK;
  }
  rd->state = (struct import_state){
      .path = path->path, .from = from, .size = path->size, .changed_at = path->changed_at, .tail = STR("")};
  import_file_open(rd->arena, from, path->path, &rd->file);
  TRY(resume(rd, old));
  lines_open(&rd->lines, &rd->source, rd->arena, rd->state.offset, rd->state.lines + 1);
  enum status s = read_lines(rd);
  for (size_t i = 0; i < IMPORT_SKIP_COUNT; i++)
    rd->run->skipped[i] += rd->file.skipped[i];
  return s;
}

/* ---- one file ---- */

static void add_problem(struct import_run *r, struct str path, const struct error *err) {
  yyjson_mut_doc *doc = r->call->doc;
  if (r->problems++ >= IMPORT_PROBLEMS)
    return;
  yyjson_mut_val *row = yyjson_mut_arr_add_obj(doc, r->failed);
  json_put(doc, row, "file", path);
  json_put(doc, row, "error", str_from(err->message));
}

enum status import_read_file(struct import_run *r, const struct import_path *path) {
  const struct import_state *old = import_state_find(&r->states, path->path);
  struct error err = {0};
  r->files++;
  if (old && old->size == path->size && old->changed_at == path->changed_at &&
      (path->from == IMPORT_UNKNOWN || path->from == old->from)) {
    r->unchanged++;
    return STATUS_OK;
  }
  struct arena *a = arena_child(r->call->arena);
  struct reading *rd = arena_alloc(a, sizeof(*rd));
  *rd = (struct reading){.run = r, .arena = a, .pending = arena_child(a), .err = &err};
  enum status s = read_file(rd, path, old);
  bool stop = rd->stop;
  arena_release(a);
  if (s != STATUS_OK && !stop) {
    add_problem(r, path->path, &err);
    s = STATUS_OK;
  }
  if (s != STATUS_OK)
    *r->call->err = err;
  return s;
}
