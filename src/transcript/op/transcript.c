/* transcript.c: operations on transcripts: append, read, list, archive. */
#include "transcript/op/transcript.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "op/files/file_event.h"
#include "op/handlers.h"
#include "store/tables/sessions.h"
#include "store/tables/settings.h"

/* STREAM_BYTES: the lines of one read become one write, so many lines cost one sync. */
enum { STREAM_BYTES = 1 << 18, LIST_MOST = 10000 };

/* ---- shared by the operations ---- */

enum status transcript_of_call(struct op_call *call, struct transcripts *ret_folder, struct str *ret_session) {
  struct str session = json_str(call->args, "session");
  if (str_empty(session))
    session = call->caller.session;
  if (str_empty(session)) {
    error_set(call->err, STATUS_USAGE, "%s needs a session", call->op->name);
    return error_fix(call->err, "name one with --session; 'cairn transcript list' shows the sessions");
  }
  *ret_session = session;
  TRY(transcripts_at(call->engine->store, call->caller.team, call->caller.project, call->now, call->arena, ret_folder,
                     call->err));
  ret_folder->secrets = call->secrets;
  return STATUS_OK;
}

enum status transcript_limits(struct op_call *call, struct transcript_limits *ret_limits) {
  static const enum setting_id ids[] = {SET_FLUSH_THRESHOLD, SET_COMPACTION_THRESHOLD, SET_COMPACTION_KEEP_RECENT,
                                        SET_TOOL_RESULTS};
  double values[ARRAY_LEN(ids)] = {0};
  struct setting_value enabled;
  TRY(setting_get(call->engine->store, call->caller.team, SET_FLUSH_ENABLED, call->arena, &enabled, call->err));
  for (size_t i = 0; i < ARRAY_LEN(ids); i++)
    TRY(setting_number(call->engine->store, call->caller.team, ids[i], call->arena, &values[i], call->err));
  *ret_limits = (struct transcript_limits){.flush = str_is(enabled.value, "on") ? (int64_t)values[0] : 0,
                                           .compact = (int64_t)values[1],
                                           .keep = (int64_t)values[2],
                                           .results = (int64_t)values[3]};
  return STATUS_OK;
}

static void put_time(struct op_call *call, yyjson_mut_val *v, const char *name, int64_t at) {
  char time[TIME_TEXT_SIZE];
  if (at)
    json_put(call->doc, v, name, time_format(at, time));
}

/* ---- append ---- */

struct appending {
  struct op_call *call;
  struct arena *arena; /* of the whole call; in a stream, call->arena is that of a group */
  struct transcripts folder;
  struct str session;
  struct transcript_limits limits; /* read first, since nothing may fail after the messages are stored */
  struct transcript_appended done; /* totals of all groups */
  int64_t failed;
  bool indexed;
  struct str not_indexed; /* reason; absent if indexing succeeded */
};

static enum status message_of_args(struct op_call *call, struct message *ret_message) {
  struct str role = json_str(call->args, "role"), at = json_str(call->args, "timestamp");
  struct message m = {.role = SPEAKER_USER,
                      .id = json_str(call->args, "id"),
                      .name = json_str(call->args, "name"),
                      .input = json_str(call->args, "input"),
                      .content = json_str(call->args, "content")};
  yyjson_val *parsed;
  if (role.p)
    (void)speaker_parse(role, &m.role); /* the table of operations has checked it */
  if (at.p && !time_parse(at, &m.at)) {
    error_set(call->err, STATUS_USAGE, "timestamp '%.*s' is not a time", STR_ARG(at));
    return error_fix(call->err, "use a timestamp such as 2026-03-31T12:00:00Z, or none for now");
  }
  if (m.input.p && json_read(call->arena, m.input, &parsed, call->err) != STATUS_OK)
    return error_fix(call->err, "input is JSON, for example --input '{\"path\": \"README.md\"}'");
  if (!m.content.p && !m.name.p && !m.input.p) {
    error_set(call->err, STATUS_USAGE, "transcript append needs a message");
    return error_fix(call->err, "give one: cairn transcript append SESSION --role ROLE --content TEXT");
  }
  *ret_message = m;
  return STATUS_OK;
}

static enum status append_group(struct appending *p, struct messages *list, struct arena *a) {
  struct transcript_appended done;
  bool known = json_bool(p->call->args, "skip_known", false);
  TRY(transcript_append(&p->folder, p->session, list, known, a, &done, p->call->err));
  p->done.added += done.added;
  p->done.known += done.known;
  p->done.redacted += done.redacted;
  p->done.bytes += done.bytes;
  p->done.tokens += done.tokens;
  p->done.torn += done.torn;
  p->done.revived |= done.revived;
  p->done.path = arena_dup(p->arena, done.path);
  struct str why = p->indexed ? transcript_index_added(p->call, &p->folder, p->session, list) : STR_NONE;
  if (why.p)
    p->not_indexed = arena_dup(p->arena, why);
  return STATUS_OK;
}

static bool is_flush_due(const struct appending *p, int64_t tokens, bool flushed) {
  return p->limits.flush && tokens >= p->limits.flush && !flushed;
}

static bool is_compact_due(const struct appending *p, int64_t tokens) { return tokens >= p->limits.compact; }

static void put_appended(struct appending *p) {
  struct op_call *call = p->call;
  const struct transcript_appended *d = &p->done;
  struct transcript_info info = {0};
  struct error ignored;
  bool counted = transcript_find(&p->folder, p->session, call->arena, &info, &ignored) == STATUS_OK;
  json_put(call->doc, call->result, "session", p->session);
  json_put_opt(call->doc, call->result, "path", d->path.p ? call_path(call, d->path) : STR_NONE);
  json_put_int(call->doc, call->result, "added", d->added);
  if (d->known)
    json_put_int(call->doc, call->result, "known", d->known);
  if (d->redacted)
    json_put_int(call->doc, call->result, "redacted", d->redacted);
  if (d->torn)
    json_put_int(call->doc, call->result, "torn_bytes", d->torn);
  if (d->revived)
    json_put_bool(call->doc, call->result, "revived", true);
  if (counted) {
    json_put_int(call->doc, call->result, "messages", info.messages);
    json_put_int(call->doc, call->result, "tokens", info.tokens);
    json_put_bool(call->doc, call->result, "flush_due", is_flush_due(p, info.tokens, info.flushed));
    json_put_bool(call->doc, call->result, "compact_due", is_compact_due(p, info.tokens));
  }
  json_put_opt(call->doc, call->result, "not_indexed", p->not_indexed);
  if (d->added)
    file_event_write(call, FILE_EPISODIC, d->path, d->bytes);
}

/* ---- a stream of lines ---- */

struct stream {
  struct appending *p;
  int fd;
  struct buf pending; /* bytes after the last newline */
  int64_t line;
  struct transcript_info before; /* the transcript when the stream began */
  enum status first_failure;
};

static void stream_close(void *arg) {
  struct stream *in = arg;
  if (in->fd >= 0)
    close(in->fd);
  in->fd = -1;
}

static enum status emit(struct op_call *call, yyjson_mut_val *v) {
  struct str line = json_write(call->arena, v, false);
  return call->hooks.emit ? call->hooks.emit(call->hooks.arg, line) : STATUS_OK;
}

static enum status emit_error(struct stream *in, const struct error *err, int64_t line) {
  struct op_call *call = in->p->call;
  in->p->failed++;
  if (in->first_failure == STATUS_OK) {
    in->first_failure = err->code;
    *call->err = *err;
  }
  yyjson_mut_val *v = op_error_json(call->doc, err);
  json_put_int(call->doc, v, "line", line);
  return emit(call, v);
}

/* With --json a stream has no summary, so the line of the last stored message tells. */
static void put_due(const struct stream *in, yyjson_mut_val *v) {
  const struct appending *p = in->p;
  int64_t tokens = in->before.tokens + p->done.tokens;
  if (is_flush_due(p, tokens, in->before.flushed))
    json_put_bool(p->call->doc, v, "flush_due", true);
  if (is_compact_due(p, tokens))
    json_put_bool(p->call->doc, v, "compact_due", true);
}

/* Stores the lines of a text, and emits a result for each line once they are on disk. */
static enum status stream_lines(struct stream *in, struct str text) {
  struct op_call *call = in->p->call;
  struct messages list = {0};
  LIST(int64_t) lines = {0};
  struct str line;
  while (str_line(&text, &line)) {
    struct message m;
    struct error err = {0};
    in->line++;
    if (str_empty(str_trim(line)))
      continue;
    if (message_read(call->arena, line, &m, &err) == STATUS_OK) {
      list_push(call->arena, &list, m);
      list_push(call->arena, &lines, in->line);
    } else {
      TRY(emit_error(in, &err, in->line));
    }
  }
  if (list.n)
    TRY(append_group(in->p, &list, call->arena));
  for (size_t i = 0; i < list.n; i++) {
    yyjson_mut_val *v = yyjson_mut_obj(call->doc);
    if (list.n == lines.n) /* if known messages were skipped, the line numbers no longer match */
      json_put_int(call->doc, v, "line", lines.v[i]);
    json_put(call->doc, v, "id", list.v[i].id);
    json_put(call->doc, v, "role", str_from(speaker_names[list.v[i].role]));
    if (i + 1 == list.n)
      put_due(in, v);
    TRY(emit(call, v));
  }
  return STATUS_OK;
}

/* Processes the whole lines of the buffer in a temporary arena and keeps the rest. */
static enum status stream_some(struct stream *in, struct arena *group, bool end) {
  struct op_call *call = in->p->call;
  struct arena *arena = call->arena;
  yyjson_mut_doc *doc = call->doc;
  size_t whole = in->pending.n;
  while (!end && whole > 0 && in->pending.p[whole - 1] != '\n')
    whole--;
  if (whole == 0)
    return STATUS_OK;
  call->arena = group;
  call->doc = json_new(group);
  enum status s = stream_lines(in, arena_dup(group, (struct str){in->pending.p, whole}));
  call->arena = arena;
  call->doc = doc;
  arena_release(group);
  in->pending.n -= whole;
  memmove(in->pending.p, in->pending.p + whole, in->pending.n);
  return s;
}

static enum status stream_open(struct op_call *call, struct stream *in) {
  struct str path = json_str(call->args, "batch");
  TRY(call_refuse_store_path(call, path));
  arena_defer(call->arena, stream_close, in);
  in->fd = str_is(path, "-") ? dup(STDIN_FILENO) : open(arena_cstr(call->arena, path), O_RDONLY | O_CLOEXEC);
  if (in->fd >= 0)
    return STATUS_OK;
  error_errno(call->err, errno, "cannot read %.*s", STR_ARG(path));
  return error_fix(call->err, "name a file of JSON Lines, or '-' for standard input");
}

static enum status append_stream(struct appending *p) {
  struct op_call *call = p->call;
  struct arena *group = arena_child(call->arena);
  struct stream *in = arena_new(call->arena, struct stream);
  char *piece = arena_alloc(call->arena, STREAM_BYTES);
  *in = (struct stream){.p = p, .fd = -1, .pending = BUF(call->arena)};
  p->folder.index_later = true; /* update the index once, at the end */
  TRY(stream_open(call, in));
  struct error ignored;
  if (transcript_find(&p->folder, p->session, call->arena, &in->before, &ignored) != STATUS_OK)
    in->before = (struct transcript_info){0};
  bool end = false;
  while (!end && !cancelled(call)) {
    ssize_t n = read(in->fd, piece, STREAM_BYTES);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return error_errno(call->err, errno, "cannot read the messages");
    end = n == 0;
    buf_add(&in->pending, (struct str){piece, (size_t)n});
    TRY(stream_some(in, group, end));
    if (in->pending.n > (size_t)TRANSCRIPT_LINE_BYTES * 2)
      return error_set(call->err, STATUS_TOO_LARGE, "line %lld is longer than the limit of a message",
                       (long long)in->line + 1);
    progress(call, "append", p->done.added, 0);
  }
  p->folder.index_later = false;
  if (p->done.added)
    transcript_refresh_index(&p->folder, call->arena);
  json_put_int(call->doc, call->result, "failed", p->failed);
  put_appended(p);
  return in->first_failure;
}

static enum status append_lines(struct appending *p, yyjson_val *lines) {
  struct op_call *call = p->call;
  struct messages list = {0};
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(lines, i, n, v) {
    struct message m;
    TRY(message_read(call->arena, json_val_str(v), &m, call->err));
    list_push(call->arena, &list, m);
  }
  TRY(append_group(p, &list, call->arena));
  put_appended(p);
  return STATUS_OK;
}

enum status op_transcript_append(struct op_call *call) {
  struct appending p = {.call = call, .arena = call->arena};
  struct message m;
  yyjson_val *lines = yyjson_obj_get(call->args, "lines");
  TRY(transcript_of_call(call, &p.folder, &p.session));
  TRY(transcript_limits(call, &p.limits));
  TRY(transcript_is_indexed(call, &p.indexed));
  if (json_str(call->args, "batch").p)
    return append_stream(&p);
  if (yyjson_arr_size(lines))
    return append_lines(&p, lines);
  TRY(message_of_args(call, &m));
  struct messages list = {&m, 1, 1};
  TRY(append_group(&p, &list, call->arena));
  if (list.n)
    json_put(call->doc, call->result, "id", list.v[0].id);
  put_appended(&p);
  return STATUS_OK;
}

/* ---- read ---- */

static void put_message(struct op_call *call, yyjson_mut_val *arr, const struct message *m) {
  if (m->damaged) {
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
    json_put_bool(call->doc, v, "damaged", true);
    json_put(call->doc, v, "raw", m->raw);
    return;
  }
  yyjson_mut_arr_append(arr, yyjson_mut_rawncpy(call->doc, m->raw.p, m->raw.n));
}

enum status op_transcript_read(struct op_call *call) {
  struct transcripts folder;
  struct transcript tr;
  struct transcript_limits limits;
  struct str session;
  int64_t last;
  bool originals = json_bool(call->args, "archived", false), all = originals || json_bool(call->args, "all", false);
  TRY(call_int(call, "last", INT64_MAX, 1, INT64_MAX, &last));
  TRY(transcript_of_call(call, &folder, &session));
  TRY(transcript_limits(call, &limits));
  TRY(transcript_read(&folder, session, originals, call->arena, &tr, call->err));
  size_t pruned = all ? 0 : transcript_prune(&tr.list, limits.results);
  size_t from = tr.list.n > (uint64_t)last ? tr.list.n - (size_t)last : 0;
  json_put(call->doc, call->result, "session", session);
  json_put(call->doc, call->result, "path", call_path(call, tr.path));
  json_put_bool(call->doc, call->result, "archived", tr.archived);
  json_put_bool(call->doc, call->result, "untrusted", true); /* transcripts are not screened */
  json_put_int(call->doc, call->result, "count", (int64_t)(tr.list.n - from));
  json_put_int(call->doc, call->result, "left_out", (int64_t)from);
  json_put_int(call->doc, call->result, "pruned", (int64_t)pruned);
  json_put_int(call->doc, call->result, "compacted", originals ? 0 : tr.compacted);
  int64_t tokens = 0;
  for (size_t i = from; i < tr.list.n; i++)
    tokens += (int64_t)message_tokens(&tr.list.v[i]);
  json_put_int(call->doc, call->result, "tokens", tokens);
  if (tr.damaged)
    json_put_int(call->doc, call->result, "damaged", tr.damaged);
  if (tr.torn)
    json_put_int(call->doc, call->result, "torn_bytes", tr.torn);
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "messages");
  for (size_t i = from; i < tr.list.n; i++)
    put_message(call, arr, &tr.list.v[i]);
  file_event_read(call, FILE_EPISODIC, tr.path, tr.size);
  return STATUS_OK;
}

/* ---- list, archive ---- */

static void put_info(struct op_call *call, yyjson_mut_val *v, const struct transcript_info *info) {
  json_put(call->doc, v, "id", info->id);
  json_put(call->doc, v, "status", info->archived ? STR("archived") : STR("active"));
  put_time(call, v, "created", info->created);
  put_time(call, v, "updated", info->updated);
  json_put_int(call->doc, v, "messages", info->messages);
  json_put_int(call->doc, v, "tokens", info->tokens);
  json_put_int(call->doc, v, "compacted", info->compacted);
  json_put_int(call->doc, v, "compactions", info->compactions);
}

enum status op_transcript_list(struct op_call *call) {
  struct transcripts folder;
  struct transcript_infos list;
  bool rebuilt = false, archived = json_bool(call->args, "archived", false);
  int64_t limit, shown = 0, total = 0, left_out = 0;
  TRY(call_int(call, "limit", 50, 1, LIST_MOST, &limit));
  TRY(transcripts_at(call->engine->store, call->caller.team, call->caller.project, call->now, call->arena, &folder,
                     call->err));
  TRY(transcript_list(&folder, call->arena, &list, &rebuilt, call->err));
  json_put(call->doc, call->result, "folder", call_path(call, folder.folder));
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "sessions");
  for (size_t i = 0; i < list.n; i++) {
    if (list.v[i].archived && !archived) {
      left_out++;
      continue;
    }
    total++;
    if (shown < limit) {
      put_info(call, yyjson_mut_arr_add_obj(call->doc, arr), &list.v[i]);
      shown++;
    }
  }
  json_put_int(call->doc, call->result, "count", shown);
  json_put_int(call->doc, call->result, "total", total);
  if (left_out)
    json_put_int(call->doc, call->result, "archived", left_out);
  if (rebuilt)
    json_put_bool(call->doc, call->result, "rebuilt", true);
  return STATUS_OK;
}

static enum status archive_named(struct op_call *call, const struct transcripts *folder, struct str session,
                                 struct strs *ret_sessions) {
  struct transcript_info info;
  TRY(transcript_find(folder, session, call->arena, &info, call->err));
  if (info.archived)
    return STATUS_OK;
  if (!json_bool(call->args, "dry_run", false))
    TRY(transcript_archive(folder, session, call->arena, call->err));
  strs_push(call->arena, ret_sessions, session);
  return STATUS_OK;
}

enum status op_transcript_archive(struct op_call *call) {
  struct transcripts folder;
  struct strs sessions = {0};
  struct str session = json_str(call->args, "session");
  double days;
  TRY(transcripts_at(call->engine->store, call->caller.team, call->caller.project, call->now, call->arena, &folder,
                     call->err));
  TRY(setting_number(call->engine->store, call->caller.team, SET_SESSION_RETENTION_DAYS, call->arena, &days,
                     call->err));
  bool dry = json_bool(call->args, "dry_run", false);
  TRY(session.p ? archive_named(call, &folder, session, &sessions)
                : transcript_archive_old(&folder, call->now - (int64_t)(days * (double)MS_PER_DAY), dry, call->arena,
                                         &sessions, call->err));
  json_put_bool(call->doc, call->result, "dry_run", dry);
  json_put_int(call->doc, call->result, "archived", (int64_t)sessions.n);
  json_put_strs(call->doc, call->result, "sessions", &sessions);
  return STATUS_OK;
}
