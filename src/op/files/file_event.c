/* file_event.c: events about an agent's files. */
#include "op/files/file_event.h"

#include "store/tables/sessions.h"

static enum status write_event(struct op_call *call, const struct event *e, struct error *err) {
  struct txn who = call_author(call), txn;
  TRY(sessions_begin(call->engine->store, &who, &txn, err));
  TRY(event_add(&txn, e, err));
  return txn_commit(&txn, err);
}

void file_event(struct op_call *call, const char *action, const yyjson_mut_val *detail) {
  struct error err;
  struct event e = {.action = str_from(action), .detail = json_write(call->arena, detail, false)};
  if (write_event(call, &e, &err) == STATUS_OK)
    return;
  store_rollback(call->engine->store);
  json_put(
      call->doc, call->result, "degraded",
      arena_printf(call->arena, "the event log could not be written: %.*s", STR_ARG(call_message(call, err.message))));
}

static yyjson_mut_val *detail_of(yyjson_mut_doc *doc, const char *type, struct str path, const char *name, int64_t n) {
  yyjson_mut_val *detail = yyjson_mut_obj(doc);
  json_put(doc, detail, "type", str_from(type));
  json_put(doc, detail, "path", path);
  json_put_int(doc, detail, name, n);
  return detail;
}

void file_event_write(struct op_call *call, const char *type, struct str path, int64_t delta) {
  file_event(call, "memory:write", detail_of(json_new(call->arena), type, path, "delta", delta));
}

void file_event_read(struct op_call *call, const char *type, struct str path, int64_t size) {
  struct txn who = call_author(call);
  const yyjson_mut_val *detail = detail_of(json_new(call->arena), type, path, "size", size);
  reads_queue(call->engine->store, &who, STR("memory:read"), 0, STR_NONE, json_write(call->arena, detail, false));
}
