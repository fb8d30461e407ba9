/* export.c: the export operation: a team's memories as JSON Lines, in an order that depends only on their content. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fs.h"
#include "op/handlers.h"
#include "op/run/common.h"
#include "op/run/scrub.h"
#include "op/transfer/record.h"
#include "store/db/place.h"

enum { WRITE_BUFFER = 64 * 1024, RECORDS_PER_CHECK = 64, EXPORT_MODE = 0600 };

struct export {
  struct op_call *call;
  struct arena *scratch; /* released after each record */
  int64_t total, counts[RECORD_KINDS], written;
  /* only for an export to a file: */
  const char *path, *folder;
  char target[PATH_MAX], temp[PATH_MAX + sizeof(".XXXXXX")]; /* temp is empty if the target is written directly */
  int fd;
  char *buffer;
  size_t used;
};

/* ---- the file ---- */

static void abandon(void *arg) {
  struct export *x = arg;
  if (x->fd >= 0)
    close(x->fd);
  if (x->fd >= 0 && x->temp[0])
    unlink(x->temp);
  x->fd = -1;
}

static enum status write_failed(struct export *x) {
  error_errno(x->call->err, errno, "cannot write the export to %s", x->path);
  return error_fix(x->call->err, "check the folder and the space on its disk, or name another file");
}

static bool flush(struct export *x) {
  if (!fs_write_all(x->fd, (struct str){x->buffer, x->used}))
    return false;
  x->used = 0;
  return true;
}

static bool put_bytes(struct export *x, struct str s) {
  while (s.n) {
    assert(x->used < WRITE_BUFFER);
    size_t n = WRITE_BUFFER - x->used < s.n ? WRITE_BUFFER - x->used : s.n;
    memcpy(x->buffer + x->used, s.p, n);
    x->used += n;
    s = str_slice(s, n, s.n);
    if (x->used == WRITE_BUFFER && !flush(x))
      return false;
  }
  return true;
}

/* A regular file is written to a temporary file and renamed when it is complete; a pipe or device is written directly.
 * A symbolic link is kept and its target replaced. */
static enum status open_file(struct export *x) {
  struct stat st;
  if (db_is_url(x->path))
    return call_refuse_store_path(x->call, str_from(x->path));
  bool exists = stat(x->path, &st) == 0;
  if (exists && S_ISDIR(st.st_mode)) {
    error_set(x->call->err, STATUS_USAGE, "%s is a folder", x->path);
    return error_fix(x->call->err, "name a file, for example %s/memories.jsonl", x->path);
  }
  if (exists && store_is_file(x->call->engine->store, &st)) {
    error_set(x->call->err, STATUS_USAGE, "%s is the store itself", x->path);
    return error_fix(x->call->err, "name another file, for example memories.jsonl");
  }
  if (exists && !S_ISREG(st.st_mode)) {
    x->fd = open(x->path, O_WRONLY | O_CLOEXEC);
    return x->fd >= 0 ? STATUS_OK : write_failed(x);
  }
  if (exists && !json_bool(x->call->args, "force", false)) {
    error_set(x->call->err, STATUS_CONFLICT, "%s already exists", x->path);
    return error_fix(x->call->err, "name a new file, or replace this one with --force");
  }
  if (exists ? !realpath(x->path, x->target)
             : (size_t)snprintf(x->target, sizeof(x->target), "%s", x->path) >= sizeof(x->target))
    return write_failed(x);
  x->folder = arena_cstr(x->call->arena, fs_dirname(str_from(x->target)));
  snprintf(x->temp, sizeof(x->temp), "%s.XXXXXX", x->target);
  x->fd = mkostemp(x->temp, O_CLOEXEC); /* mode 0600 from the first byte on */
  return x->fd >= 0 ? STATUS_OK : write_failed(x);
}

static enum status close_file(struct export *x) {
  if (!flush(x))
    return write_failed(x);
  if (!x->temp[0]) {
    int fd = x->fd;
    x->fd = -1;
    return close(fd) == 0 ? STATUS_OK : write_failed(x);
  }
  if (fchmod(x->fd, EXPORT_MODE) != 0 || fsync(x->fd) != 0 || rename(x->temp, x->target) != 0)
    return write_failed(x);
  close(x->fd);
  x->fd = -1;
  return fs_sync_dir(x->folder) ? STATUS_OK : write_failed(x);
}

/* ---- lines ---- */

static enum status put_line(struct export *x, struct str line) {
  if (x->path)
    return put_bytes(x, scrub_line(x->call->secrets, x->scratch, line)) && put_bytes(x, STR("\n")) ? STATUS_OK
                                                                                                   : write_failed(x);
  enum status s = x->call->hooks.emit(x->call->hooks.arg, line);
  if (s != STATUS_OK) {
    error_set(x->call->err, s, "the reader stopped before the end of the export");
    error_fix(x->call->err, "repeat it, or write it to a file: cairn export FILE");
  }
  return s;
}

static enum status put(struct export *x, const struct record *r) {
  TRY(put_line(x, record_write(x->scratch, r)));
  x->counts[r->kind]++;
  if (++x->written % RECORDS_PER_CHECK)
    return STATUS_OK;
  if (r->kind == RECORD_MEMORY)
    progress(x->call, "export", x->counts[RECORD_MEMORY], x->total);
  return cancelled(x->call) ? error_set(x->call->err, STATUS_INTERRUPTED, "stopped; the export is not complete")
                            : STATUS_OK;
}

static enum status put_memory(void *arg, struct memory *m, const struct notes *notes) {
  return put(arg, &(struct record){.kind = RECORD_MEMORY, .m = *m, .notes = *notes});
}

static enum status put_link(void *arg, const struct link *l) {
  return put(arg, &(struct record){.kind = RECORD_LINK, .link = *l});
}

static enum status put_tombstone(void *arg, const struct tombstone *t) {
  return put(arg, &(struct record){.kind = RECORD_TOMBSTONE, .tombstone = *t});
}

static enum status put_txn(void *arg, const struct txn_record *t) {
  return put(arg, &(struct record){.kind = RECORD_TXN, .txn = *t});
}

static enum status put_event(void *arg, const struct event_record *e) {
  return put(arg, &(struct record){.kind = RECORD_EVENT, .event = *e});
}

/* ---- the operation ---- */

static enum status put_all(struct export *x, bool events) {
  const struct caller *caller = &x->call->caller;
  struct transfer t = {.store = x->call->engine->store,
                       .team = caller->team,
                       .project = caller->project,
                       .one_project = caller->project_given && !caller->all_projects,
                       .scratch = x->scratch,
                       .err = x->call->err};
  struct record header = {.kind = RECORD_HEADER, .version = EXPORT_VERSION, .schema = store_schema_version()};
  TRY(transfer_begin(t.store, t.err));
  TRY(transfer_count(&t, &x->total));
  TRY(put(x, &header));
  TRY(transfer_memories(&t, put_memory, x));
  TRY(transfer_links(&t, put_link, x));
  TRY(transfer_tombstones(&t, put_tombstone, x));
  if (events) {
    TRY(transfer_txns(&t, put_txn, x));
    TRY(transfer_events(&t, put_event, x));
  }
  if (t.one_project)
    json_put(x->call->doc, x->call->result, "project", caller->project);
  return transfer_end(t.store, t.err);
}

static void put_result(struct export *x) {
  yyjson_mut_doc *doc = x->call->doc;
  yyjson_mut_val *result = x->call->result;
  json_put_int(doc, result, "memories", x->counts[RECORD_MEMORY]);
  json_put_int(doc, result, "links", x->counts[RECORD_LINK]);
  json_put_int(doc, result, "tombstones", x->counts[RECORD_TOMBSTONE]);
  json_put_int(doc, result, "transactions", x->counts[RECORD_TXN]);
  json_put_int(doc, result, "events", x->counts[RECORD_EVENT]);
  if (x->path)
    json_put(doc, result, "file", str_from(x->path));
}

static enum status write_export(struct export *x) {
  if (x->path)
    TRY(open_file(x));
  TRY(put_all(x, json_bool(x->call->args, "events", false)));
  put_result(x);
  /* From here on nothing allocates: once the file is in its place, the call has succeeded. */
  return x->path ? close_file(x) : STATUS_OK;
}

enum status op_export(struct op_call *call) {
  struct str file = json_str(call->args, "file");
  struct export *x = arena_new(call->arena, struct export);
  x->call = call;
  x->scratch = arena_child(call->arena);
  x->fd = -1;
  if (file.n && !str_is(file, "-"))
    x->path = arena_cstr(call->arena, file);
  if (!x->path && ((file.p && file.n == 0) || !call->hooks.emit)) {
    error_set(call->err, STATUS_USAGE, "export: there is no file to write to");
    return error_fix(call->err, "name one in the argument 'file'");
  }
  TRY(call_refuse_store_path(call, file));
  if (x->path) {
    x->buffer = arena_alloc(call->arena, WRITE_BUFFER);
    arena_defer(call->arena, abandon, x);
  }
  enum status s = write_export(x);
  if (s != STATUS_OK)
    abandon(x);
  return s;
}
