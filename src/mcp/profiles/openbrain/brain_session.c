/* brain_session.c: sessions and scratch values of openbrain and openbrain2. */
#include "mcp/profiles/openbrain/brain.h"

/* ---- scratch ---- */

enum status brain_finish_scratch_set(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *to = brain_success(run);
  brain_copy(run, to, "key", result, "key");
  json_put_bool(run->doc, to, "stored", true);
  return STATUS_OK;
}

enum status brain_finish_scratch_get(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *to = run->result = yyjson_mut_obj(run->doc);
  brain_copy(run, to, "key", result, "key");
  if (brain_str(result, "value").p)
    brain_copy(run, to, "value", result, "value");
  else
    brain_null(run, to, "value");
  json_put_bool(run->doc, to, "found", brain_bool(result, "found"));
  return STATUS_OK;
}

enum status brain_finish_scratch_list(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *to = run->result = yyjson_mut_obj(run->doc), *v;
  json_put_int(run->doc, to, "count", (int64_t)brain_count(result, "values"));
  yyjson_mut_val *entries = json_put_obj(run->doc, to, "entries");
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "values"), i, n, v) {
    struct str key = brain_str(v, "key"), value = brain_str(v, "value");
    yyjson_mut_obj_add(entries, yyjson_mut_strncpy(run->doc, key.p, key.n),
                       yyjson_mut_strncpy(run->doc, value.p ? value.p : "", value.n));
  }
  return STATUS_OK;
}

/* ---- sessions ---- */

static enum status prepare(struct tool_run *run, yyjson_mut_val *args, bool with_source) {
  enum status s = brain_source(run, with_source);
  brain_session(run);
  brain_drop_empty(args);
  return s;
}

enum status brain_prepare_session(struct tool_run *run, yyjson_mut_val *args) { return prepare(run, args, false); }
enum status brain_prepare_session_signed(struct tool_run *run, yyjson_mut_val *args) {
  return prepare(run, args, true);
}

void brain_boot_args(struct tool_run *run, yyjson_mut_val *args) {
  static const char *const texts[] = {"task", "cwd", "host"};
  const struct origin *o = run->caller.origin;
  bool known = o && (o->pid > 0 || o->connection.p);
  for (size_t i = 0; i < (known ? 2 : ARRAY_LEN(texts)); i++)
    if (!str_empty(json_str(run->args, texts[i])))
      json_put(run->doc, args, texts[i], json_str(run->args, texts[i]));
  if (!known && json_int(run->args, "pid", 0) > 0)
    json_put_int(run->doc, args, "pid", json_int(run->args, "pid", 0));
}

enum status brain_finish_task(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *to = brain_success(run);
  brain_copy(run, to, "session_id", result, "session_id");
  brain_copy(run, to, "task", result, "task");
  brain_copy(run, to, "heartbeat_at", result, "heartbeat_at");
  return STATUS_OK;
}

void brain_put_sessions(struct tool_run *run, yyjson_mut_val *to, const char *name, yyjson_mut_val *from,
                        const char *member) {
  yyjson_mut_val *list = json_put_arr(run->doc, to, name), *s;
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(from, member), i, n, s) {
    static const char *const same[] = {"source", "project", "cwd", "pid", "host"};
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(run->doc, list);
    brain_copy(run, v, "id", s, "session_id");
    for (size_t k = 0; k < ARRAY_LEN(same); k++)
      if (yyjson_mut_obj_get(s, same[k]))
        brain_copy(run, v, same[k], s, same[k]);
      else
        brain_null(run, v, same[k]);
    if (brain_str(s, "task").p)
      brain_copy(run, v, "current_task", s, "task");
    else
      json_put(run->doc, v, "current_task", STR(""));
    brain_copy(run, v, "started_at", s, "booted_at");
    brain_copy(run, v, "heartbeat_at", s, "heartbeat_at");
    json_put(run->doc, v, "status", STR("active"));
    if (brain_str(s, "client").p) {
      yyjson_mut_val *client = json_put_obj(run->doc, json_put_obj(run->doc, v, "metadata"), "client");
      brain_copy(run, client, "name", s, "client");
      brain_copy(run, client, "version", s, "client_version");
    }
  }
}

enum status brain_finish_sessions(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *to = brain_success(run);
  json_put_int(run->doc, to, "count", (int64_t)brain_count(result, "sessions"));
  brain_put_sessions(run, to, "sessions", result, "sessions");
  if (yyjson_mut_is_num(yyjson_mut_obj_get(result, "staleness_s")))
    brain_copy(run, to, "registry_staleness_seconds", result, "staleness_s");
  else
    brain_null(run, to, "registry_staleness_seconds");
  json_put_bool(run->doc, to, "registry_trustworthy", brain_bool(result, "trustworthy"));
  return STATUS_OK;
}

enum status brain_finish_end(struct tool_run *run, yyjson_mut_val *result) {
  yyjson_mut_val *to = brain_success(run);
  brain_copy(run, to, "session_id", result, "session_id");
  json_put_bool(run->doc, to, "ended", !brain_bool(result, "already"));
  if (yyjson_mut_obj_get(result, "handoff"))
    brain_copy(run, to, "handoff_written", result, "handoff");
  else
    brain_null(run, to, "handoff_written");
  return STATUS_OK;
}

enum status brain_reminder(struct tool_run *run, const char *title, const char *message) {
  yyjson_mut_val *to = run->result = yyjson_mut_obj(run->doc);
  json_put(run->doc, to, "type", STR("system_message"));
  json_put(run->doc, to, "level", STR("mandatory"));
  json_put(run->doc, to, "title", str_from(title));
  json_put(run->doc, to, "message", str_from(message));
  json_put(run->doc, to, "action", STR("display_at_session_start"));
  return STATUS_OK;
}
