/* scratch.c: scratch set, get, list: values that are deleted with their session. */
#include "op/handlers.h"
#include "op/session/session.h"

enum { KEY_MAX_BYTES = 200, VALUES_MAX = 1000, VALUES_MAX_BYTES = 1 << 20 };

static enum status check_key(struct op_call *call, struct str *ret_key) {
  struct str key = json_str(call->args, "key");
  if (str_empty(str_trim(key)) || key.n > KEY_MAX_BYTES) {
    error_set(call->err, STATUS_REFUSED, "a scratch key is 1 to %d bytes long", (int)KEY_MAX_BYTES);
    return error_fix(call->err, "use a short name, for example branch or last-error");
  }
  *ret_key = key;
  return STATUS_OK;
}

static enum status check_room(struct op_call *call, const struct session *session, struct str key, struct str value) {
  int64_t count, bytes;
  TRY(scratch_size(call->engine->store, session, key, &count, &bytes, call->err));
  if (count < VALUES_MAX && bytes + (int64_t)value.n <= VALUES_MAX_BYTES)
    return STATUS_OK;
  error_set(call->err, STATUS_TOO_LARGE, "a session can hold %d scratch values of %d bytes in total", (int)VALUES_MAX,
            (int)VALUES_MAX_BYTES);
  return error_fix(call->err, "shorten it, or write it to a file; store lasting knowledge as a memory");
}

enum status op_scratch_set(struct op_call *call) {
  struct str key = STR_NONE, value = json_str(call->args, "value");
  struct session session;
  struct txn who = call_author(call), txn;
  TRY(check_key(call, &key));
  TRY(session_required(call, &session));
  who.project = session.project;
  TRY(sessions_begin(call->engine->store, &who, &txn, call->err));
  TRY(check_room(call, &session, key, value));
  TRY(scratch_set(&txn, &session, key, value, call->err));
  json_put(call->doc, call->result, "session", session.handle);
  json_put(call->doc, call->result, "key", key);
  json_put_int(call->doc, call->result, "bytes", (int64_t)value.n);
  return txn_commit(&txn, call->err);
}

enum status op_scratch_get(struct op_call *call) {
  struct str key, value = STR_NONE;
  struct session session;
  TRY(check_key(call, &key));
  TRY(session_required(call, &session));
  TRY(scratch_get(call->engine->store, &session, key, call->arena, &value, call->err));
  json_put(call->doc, call->result, "session", session.handle);
  json_put(call->doc, call->result, "key", key);
  json_put_bool(call->doc, call->result, "found", value.p != NULL);
  json_put_opt(call->doc, call->result, "value", value);
  return STATUS_OK;
}

enum status op_scratch_list(struct op_call *call) {
  struct scratches list = {0};
  struct session session;
  char time[TIME_TEXT_SIZE];
  TRY(session_required(call, &session));
  TRY(scratch_list(call->engine->store, &session, call->arena, &list, call->err));
  json_put(call->doc, call->result, "session", session.handle);
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "values");
  for (size_t i = 0; i < list.n; i++) {
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
    json_put(call->doc, v, "key", list.v[i].key);
    json_put(call->doc, v, "value", list.v[i].value);
    json_put(call->doc, v, "updated_at", time_format(list.v[i].updated_at, time));
  }
  json_put_int(call->doc, call->result, "count", (int64_t)list.n);
  return STATUS_OK;
}
