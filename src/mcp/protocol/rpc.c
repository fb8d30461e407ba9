/* rpc.c: JSON-RPC reader and writer. */
#include "mcp/protocol/rpc.h"

#include "mcp/mcp.h"

static void bad(struct rpc_message *m, int code, const char *why) {
  m->kind = RPC_BAD;
  m->code = code;
  snprintf(m->why, sizeof(m->why), "%s", why);
}

static bool is_id(yyjson_val *v) { return yyjson_is_str(v) || yyjson_is_num(v); }

static void read_parts(struct rpc_message *m) {
  yyjson_val *id = yyjson_obj_get(m->root, "id"), *method = yyjson_obj_get(m->root, "method");
  bool outcome = yyjson_obj_get(m->root, "result") || yyjson_obj_get(m->root, "error");
  m->id = is_id(id) ? id : NULL;
  if (!str_is(json_str(m->root, "jsonrpc"), "2.0")) {
    bad(m, RPC_INVALID, "Invalid request: jsonrpc must be \"2.0\"");
  } else if (id && !m->id) {
    bad(m, RPC_INVALID, "Invalid request: id must be a string or a number");
  } else if (!method && outcome && m->id) {
    m->kind = RPC_RESPONSE;
  } else if (!yyjson_is_str(method)) {
    bad(m, RPC_INVALID, "Invalid request: method must be a string");
  } else {
    m->kind = m->id ? RPC_REQUEST : RPC_NOTIFICATION;
    m->method = json_val_str(method);
  }
}

static void read_params(struct rpc_message *m) {
  yyjson_val *params = yyjson_obj_get(m->root, "params");
  if (!params)
    return;
  yyjson_val *meta = yyjson_obj_get(params, "_meta");
  const char *why = !yyjson_is_obj(params)         ? "Invalid params: params must be an object"
                    : meta && !yyjson_is_obj(meta) ? "Invalid params: _meta must be an object"
                                                   : NULL;
  if (why && m->kind == RPC_REQUEST)
    bad(m, RPC_PARAMS, why);
  if (why) /* a notification gets no response, even if it is invalid */
    return;
  m->params = params;
  m->meta = meta;
}

void rpc_read(struct arena *a, struct str text, struct rpc_message *ret_message) {
  struct rpc_message m = {0};
  struct error err;
  if (text.n > MCP_MESSAGE_MAX) {
    bad(&m, RPC_INVALID, "Invalid request: a message holds at most 10 MB");
  } else if (json_read(a, text, &m.root, &err) != STATUS_OK) {
    bad(&m, RPC_PARSE, "");
    snprintf(m.why, sizeof(m.why), "Parse error: %.140s", err.message);
  } else if (yyjson_is_arr(m.root)) {
    bad(&m, RPC_INVALID, "Invalid request: batches are not supported; send one message at a time");
  } else if (!yyjson_is_obj(m.root)) {
    bad(&m, RPC_INVALID, "Invalid request: a message is an object");
  } else {
    read_parts(&m);
    if (m.kind == RPC_REQUEST || m.kind == RPC_NOTIFICATION)
      read_params(&m);
  }
  *ret_message = m;
}

static yyjson_mut_val *envelope(yyjson_mut_doc *doc, yyjson_val *id) {
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  json_put(doc, root, "jsonrpc", STR("2.0"));
  if (id)
    yyjson_mut_obj_add_val(doc, root, "id", yyjson_val_mut_copy(doc, id));
  return root;
}

struct str rpc_result(struct arena *a, yyjson_mut_doc *doc, yyjson_val *id, yyjson_mut_val *result) {
  yyjson_mut_val *root = envelope(doc, id);
  yyjson_mut_obj_add_val(doc, root, "result", result);
  return json_write(a, root, false);
}

struct str rpc_error(struct arena *a, yyjson_mut_doc *doc, yyjson_val *id, int code, struct str message,
                     yyjson_mut_val *data) {
  yyjson_mut_val *root = envelope(doc, id);
  yyjson_mut_val *error = json_put_obj(doc, root, "error");
  json_put_int(doc, error, "code", code);
  json_put(doc, error, "message", message);
  if (data)
    yyjson_mut_obj_add_val(doc, error, "data", data);
  return json_write(a, root, false);
}

struct str rpc_send(struct arena *a, yyjson_mut_doc *doc, struct str id, const char *method, yyjson_mut_val *params) {
  yyjson_mut_val *root = envelope(doc, NULL);
  json_put_opt(doc, root, "id", id);
  json_put(doc, root, "method", str_from(method));
  if (params)
    yyjson_mut_obj_add_val(doc, root, "params", params);
  return json_write(a, root, false);
}

bool rpc_same_id(yyjson_val *a, yyjson_val *b) {
  if (yyjson_is_str(a) || yyjson_is_str(b))
    return yyjson_is_str(a) && yyjson_is_str(b) && str_eq(json_val_str(a), json_val_str(b));
  return yyjson_is_num(a) && yyjson_is_num(b) && yyjson_equals(a, b);
}
