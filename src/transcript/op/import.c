/* import.c: operation transcript import, for transcripts of Claude Code and Codex.
 *
 * Each file is read from the end of the last import to its last whole line. Messages keep their original ids, so
 * nothing is stored twice even if imports.json is lost. A session goes to the project whose repository contains its
 * working directory. */
#include "transcript/op/import.h"
#include "op/files/file_event.h"
#include "op/handlers.h"

enum { SAVE_FILES = 64 }; /* files after which imports.json is saved */

/* ---- all files ---- */

static enum status import_all(struct import_run *r, const struct import_paths *paths) {
  struct op_call *call = r->call;
  for (size_t i = 0; i < paths->n; i++) {
    TRY(import_read_file(r, &paths->v[i]));
    progress(call, "import", (int64_t)i + 1, (int64_t)paths->n);
    if (r->changed && (i + 1) % SAVE_FILES == 0)
      TRY(import_states_write(r->folder, &r->states, call->arena, call->err));
  }
  return STATUS_OK;
}

/* Indexes the messages for search, if that is enabled. They are already stored, so a failure is only reported. */
static void index_target(struct import_run *r, struct op_call own, const struct import_target *target) {
  struct error err = {0};
  int64_t sessions = 0, added = 0;
  bool on = false;
  own.err = &err;
  enum status s = transcript_is_indexed(&own, &on);
  if (s == STATUS_OK && on)
    s = transcript_index_changed(&own, &target->folder, STR_NONE, &sessions, &added);
  r->indexed += added;
  if (s == STATUS_OK && !on)
    r->not_indexed =
        STR("sessions.indexed is off, so searches do not find them; run 'cairn config sessions.indexed on' "
            "and 'cairn transcript index'");
  if (s == STATUS_OK)
    return;
  store_rollback(own.engine->store);
  r->not_indexed = arena_printf(own.arena, "%s; run 'cairn transcript index' to index them", err.message);
}

/* Updates sessions.json and the search index, and adds one event for all new messages. */
static enum status close_target(struct import_run *r, const struct import_target *target, struct error *err) {
  struct op_call own = *r->call;
  struct transcript_infos list;
  bool rebuilt;
  own.caller.project = target->project;
  file_event_write(&own, FILE_EPISODIC, target->folder.folder, target->bytes);
  TRY(transcript_list(&target->folder, own.arena, &list, &rebuilt, err));
  index_target(r, own, target);
  return STATUS_OK;
}

/* Saves the progress and updates the indexes, also after a failure, since stored messages stay. */
static enum status finish(struct import_run *r, enum status s) {
  struct op_call *call = r->call;
  struct error first = *call->err;
  struct error *err = s == STATUS_OK ? call->err : &(struct error){0};
  enum status last = r->changed ? import_states_write(r->folder, &r->states, call->arena, err) : STATUS_OK;
  for (size_t i = 0; i < r->targets.n && last == STATUS_OK; i++)
    if (r->targets.v[i].messages)
      last = close_target(r, &r->targets.v[i], err);
  if (s == STATUS_OK)
    return last;
  *call->err = first;
  return s;
}

/* ---- the operation ---- */

static enum status unknown_format(struct op_call *call, struct str path) {
  error_set(call->err, STATUS_USAGE, "%.*s is not a transcript of Claude Code or Codex", STR_ARG(path));
  return error_fix(call->err,
                   "name their files or folders; for other messages: cairn transcript append SESSION --role ROLE "
                   "--content TEXT");
}

/* The named files, else those in the default folders. */
static enum status find_all(struct op_call *call, enum import_from from, struct import_paths *paths,
                            struct strs *looked) {
  struct strs named = {0};
  json_strs(call->arena, call->args, "paths", &named);
  for (size_t i = 0; i < named.n; i++) {
    TRY(call_refuse_store_path(call, named.v[i]));
    TRY(import_find(named.v[i], from, call->arena, paths, call->err));
  }
  for (int k = IMPORT_CLAUDE; named.n == 0 && k < IMPORT_FROM_COUNT; k++) {
    struct strs folders = {0};
    if (from != IMPORT_UNKNOWN && from != (enum import_from)k)
      continue;
    import_folders((enum import_from)k, call->arena, &folders);
    for (size_t i = 0; i < folders.n; i++) {
      strs_push(call->arena, looked, folders.v[i]);
      enum status s = import_find(folders.v[i], (enum import_from)k, call->arena, paths, call->err);
      if (s != STATUS_NOT_FOUND) /* not found: the program is not used here */
        TRY(s);
    }
  }
  return STATUS_OK;
}

static void put_counts(struct import_run *r) {
  yyjson_mut_doc *doc = r->call->doc;
  yyjson_mut_val *out = r->call->result;
  json_put_int(doc, out, "messages", r->messages);
  json_put_int(doc, out, "sessions", (int64_t)r->sessions.n);
  json_put_int(doc, out, "already", r->already);
  json_put_int(doc, out, "redacted", r->redacted);
  json_put_int(doc, out, "files", r->files);
  json_put_int(doc, out, "unchanged", r->unchanged);
  json_put_int(doc, out, "unknown", r->unknown);
  json_put_int(doc, out, "torn", r->torn);
  yyjson_mut_val *skipped = json_put_obj(doc, out, "skipped");
  for (size_t i = 0; i < IMPORT_SKIP_COUNT; i++)
    if (r->skipped[i])
      json_put_int(doc, skipped, import_skip_names[i], r->skipped[i]);
  yyjson_mut_val *projects = json_put_obj(doc, out, "projects");
  for (size_t i = 0; i < r->targets.n; i++)
    if (r->targets.v[i].messages)
      json_put_int(doc, projects, arena_cstr(r->call->arena, r->targets.v[i].project), r->targets.v[i].messages);
  if (r->indexed)
    json_put_int(doc, out, "indexed", r->indexed);
  json_put_opt(doc, out, "not_indexed", r->not_indexed);
  if (r->problems) {
    json_put_int(doc, out, "failed_count", r->problems);
    yyjson_mut_obj_add_val(doc, out, "failed", r->failed);
  }
}

enum status op_transcript_import(struct op_call *call) {
  struct import_run r = {.call = call, .failed = yyjson_mut_arr(call->doc)};
  struct import_paths paths = {0};
  struct strs looked = {0};
  struct transcripts home;
  struct str from = json_str(call->args, "from");
  enum import_from wanted = str_is(from, "claude")  ? IMPORT_CLAUDE
                            : str_is(from, "codex") ? IMPORT_CODEX
                                                    : IMPORT_UNKNOWN;
  struct str project = import_has_project(call) ? call->caller.project : STR("");
  TRY(find_all(call, wanted, &paths, &looked));
  TRY(transcripts_at(call->engine->store, call->caller.team, project, call->now, call->arena, &home, call->err));
  r.folder = home.folder;
  import_states_read(r.folder, call->arena, &r.states);
  TRY(finish(&r, import_all(&r, &paths)));
  if (r.unknown && r.unknown == r.files && r.files == 1 && !looked.n)
    return unknown_format(call, paths.v[0].path);
  put_counts(&r);
  if (looked.n)
    json_put_strs(call->doc, call->result, "looked_in", &looked);
  return STATUS_OK;
}
