/* rpc.h: JSON-RPC 2.0 as MCP uses it: one message at a time, ids echoed as they came. */
#pragma once

#include <stdatomic.h>

#include "base/json.h"

enum {
  RPC_PARSE = -32700,
  RPC_INVALID = -32600,
  RPC_NO_METHOD = -32601,
  RPC_PARAMS = -32602,
  RPC_INTERNAL = -32603,
};

enum rpc_kind { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESPONSE, RPC_BAD };

struct rpc_message {
  enum rpc_kind kind;
  yyjson_val *root;
  yyjson_val *id;         /* of requests and responses; of a bad message when it could be read, else NULL */
  struct str method;      /* of requests and notifications */
  yyjson_val *params;     /* an object, or NULL */
  yyjson_val *meta;       /* params._meta, an object, or NULL */
  int code;               /* of a bad message, with why */
  atomic_bool *cancelled; /* set by a transport that keeps it waiting; NULL: it cannot be */
  char why[160];
};

/* Never fails: what is wrong with a message is a part of the result. */
void rpc_read(struct arena *a, struct str text, struct rpc_message *ret_message);

/* Texts without a newline. id may be NULL. */
struct str rpc_result(struct arena *a, yyjson_mut_doc *doc, yyjson_val *id, yyjson_mut_val *result);
struct str rpc_error(struct arena *a, yyjson_mut_doc *doc, yyjson_val *id, int code, struct str message,
                     yyjson_mut_val *data);
/* With an id: a request; without: a notification. */
struct str rpc_send(struct arena *a, yyjson_mut_doc *doc, struct str id, const char *method, yyjson_mut_val *params);

/* Equal ids: the same type and value. */
bool rpc_same_id(yyjson_val *a, yyjson_val *b);
