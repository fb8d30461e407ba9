/* brain_session.c: sessions and scratch values of openbrain and openbrain2. */
#include "mcp/profiles/openbrain/brain.h"

/* ---- scratch ---- */

static void put_entries(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *result) {
  yyjson_mut_val *entries = json_put_obj(run->doc, to, "entries"), *v;
  size_t i, n;
  yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "values"), i, n, v) {
    struct str key = result_text(v, "key"), value = result_text(v, "value");
    yyjson_mut_obj_add(entries, yyjson_mut_strncpy(run->doc, key.p, key.n),
                       yyjson_mut_strncpy(run->doc, value.p ? value.p : "", value.n));
  }
}

const struct shape brain_scratch_set_shape[] = {SUCCESS, COPY("key"), FIXED("\"stored\":true"), {0}};
const struct shape brain_scratch_get_shape[] = {COPY("key"), NULLABLE("value"), BOOLEAN("found"), {0}};
const struct shape brain_scratch_list_shape[] = {COUNT("count=values"), CALL(put_entries), {0}};

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

const struct shape brain_session_shape[] = {
    COPY("id=session_id"),
    NULLABLE("source project cwd pid host"),
    TEXT_OR_EMPTY("current_task=task"),
    COPY("started_at=booted_at heartbeat_at"),
    FIXED("\"status\":\"active\""),
    WHEN("client", OBJECT("metadata", OBJECT("client", COPY("name=client version=client_version")))),
    {0},
};
const struct shape brain_sessions_shape[] = {
    SUCCESS,
    COUNT("count=sessions"),
    EACH_OF("sessions", brain_session_shape),
    NULLABLE("registry_staleness_seconds=staleness_s"),
    BOOLEAN("registry_trustworthy=trustworthy"),
    {0},
};
const struct shape brain_task_shape[] = {SUCCESS, COPY("session_id task heartbeat_at"), {0}};
const struct shape brain_end_shape[] = {
    SUCCESS, COPY("session_id"), NOT("ended=already"), NULLABLE("handoff_written=handoff"), {0}};

enum status brain_reminder(struct tool_run *run, const char *title, const char *message) {
  yyjson_mut_val *to = run->result = yyjson_mut_obj(run->doc);
  json_put(run->doc, to, "type", STR("system_message"));
  json_put(run->doc, to, "level", STR("mandatory"));
  json_put(run->doc, to, "title", str_from(title));
  json_put(run->doc, to, "message", str_from(message));
  json_put(run->doc, to, "action", STR("display_at_session_start"));
  return STATUS_OK;
}
