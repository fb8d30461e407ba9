/* events.c: the operation events: reads and follows the event log; events as JSON. */
#include "base/os/fs.h"
#include "op/admin/feed.h"
#include "op/handlers.h"
#include "op/run/common.h"
#include "op/run/scrub.h"

#include <time.h>

enum { FOLLOW_MS = 200 };

struct listing {
  struct op_call *call;
  struct arena *line; /* released after each line */
  int64_t last, count;
  struct strs newest; /* lines, newest first */
};

static void put_json(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, struct str json) {
  if (json.p)
    yyjson_mut_obj_add_val(doc, obj, name, yyjson_mut_rawncpy(doc, json.p, json.n));
}

/* The record of a memory has its trust; that of a link does not, but imported links are untrusted. */
static bool is_untrusted(struct arena *a, const struct event *e) {
  struct str record = e->after.p ? e->after : e->before;
  struct error ignored;
  yyjson_val *v = NULL;
  if (e->change && strcmp(e->change, "link") == 0)
    return str_is(e->op, "import");
  if (str_find(record, STR("\"trust\":"), 0) == SIZE_MAX || json_read(a, record, &v, &ignored) != STATUS_OK)
    return false;
  struct memory m = {.trust = json_str(v, "trust"), .suspect = json_str(v, "suspect")};
  return m.trust.p && !memory_is_trusted(&m);
}

/* Paths of the machine without their folders, as from call_path(). */
static struct str without_folders(struct arena *a, struct str detail) {
  struct error ignored;
  yyjson_val *v = NULL;
  if (str_find(detail, STR("\"path\":\"/"), 0) == SIZE_MAX || json_read(a, detail, &v, &ignored) != STATUS_OK)
    return detail;
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *copy = yyjson_val_mut_copy(doc, v);
  yyjson_mut_obj_remove_key(copy, "path");
  json_put(doc, copy, "path", fs_basename(json_str(v, "path")));
  return json_write(a, copy, false);
}

struct str event_json(struct arena *a, const struct event *e, const struct principal *who) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *v = yyjson_mut_obj(doc);
  char time[TIME_TEXT_SIZE];
  json_put_int(doc, v, "seq", e->seq);
  json_put(doc, v, "at", time_format(e->at, time));
  json_put(doc, v, "action", e->action);
  json_put_opt(doc, v, "change", str_from(e->change));
  json_put(doc, v, "op", e->op);
  if (e->txn)
    json_put_int(doc, v, "txn", e->txn);
  if (e->memory_id)
    json_put_int(doc, v, "id", e->memory_id);
  json_put_opt(doc, v, "uid", e->uid);
  json_put(doc, v, "project", e->project);
  json_put(doc, v, "source", e->source);
  json_put_opt(doc, v, "session", e->session);
  put_json(doc, v, "before", e->before);
  put_json(doc, v, "after", e->after);
  put_json(doc, v, "detail", who ? without_folders(a, e->detail) : e->detail);
  if (e->purged)
    json_put_bool(doc, v, "purged", true);
  if (is_untrusted(a, e))
    json_put_bool(doc, v, "untrusted", true);
  return json_write(a, v, false);
}

static enum status emit(struct listing *f, struct str line) {
  struct op_call *call = f->call;
  enum status s = call->hooks.emit ? call->hooks.emit(call->hooks.arg, line) : STATUS_OK;
  f->count++;
  if (s != STATUS_OK)
    error_set(call->err, s, "cannot write the output");
  return s;
}

static enum status show(void *arg, const struct event *e) {
  struct listing *f = arg;
  f->last = e->seq;
  enum status s = emit(f, event_json(f->line, e, f->call->caller.principal));
  arena_release(f->line);
  return s;
}

static void wait_for_poll(void) {
  struct timespec ts = {0, FOLLOW_MS * 1000000L};
  nanosleep(&ts, NULL);
}

static enum status collect(void *arg, const struct event *e) {
  struct listing *f = arg;
  struct str line = event_json(f->line, e, f->call->caller.principal);
  f->last = f->newest.n ? f->last : e->seq;
  strs_push(f->call->arena, &f->newest, arena_dup(f->call->arena, line));
  arena_release(f->line);
  return STATUS_OK;
}

/* The last `limit` events, oldest first. */
static enum status show_newest(struct listing *f, int64_t limit) {
  struct op_call *call = f->call;
  struct event_query q = {call->caller.team, 0, limit, json_str(call->args, "action"), .newest_first = true};
  TRY(events_walk(call->engine->store, &q, collect, f, call->err));
  for (size_t i = f->newest.n; i-- > 0;)
    TRY(emit(f, f->newest.v[i]));
  return STATUS_OK;
}

enum status op_events(struct op_call *call) {
  int64_t since, limit;
  bool follow = json_bool(call->args, "follow", false);
  struct listing f = {.call = call, .line = arena_child(call->arena)};
  TRY(call_int(call, "since", 0, 0, INT64_MAX, &since));
  TRY(call_int(call, "limit", follow ? 0 : 100, 0, INT64_MAX, &limit));
  f.last = since;
  reads_flush(call->engine->store); /* show the read events that this engine has queued */
  bool newest = !follow && limit && !yyjson_obj_get(call->args, "since");
  if (newest)
    TRY(show_newest(&f, limit));
  while (!newest) {
    struct event_query q = {call->caller.team, f.last, limit ? limit - f.count : 0, json_str(call->args, "action"),
                            false};
    TRY(events_walk(call->engine->store, &q, show, &f, call->err));
    if (!follow || cancelled(call) || (limit && f.count >= limit))
      break;
    wait_for_poll();
    scrub_refresh(call);
  }
  json_put_int(call->doc, call->result, "last_seq", f.last);
  json_put_int(call->doc, call->result, "count", f.count);
  return STATUS_OK;
}
