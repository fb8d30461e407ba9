/* rpc.h: JSON-RPC 2.0 as MCP uses it: no batches; ids are echoed unchanged. */
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
  yyjson_val *id;         /* of requests and responses, and of bad messages if it is valid; else NULL */
  struct str method;      /* of requests and notifications */
  yyjson_val *params;     /* an object, or NULL */
  yyjson_val *meta;       /* params._meta, an object, or NULL */
  int code;               /* error code of a bad message */
  atomic_bool *cancelled; /* set by a transport that queues the message; NULL: not cancellable while queued */
  char why[160];
};

/* Never fails: an invalid message has kind RPC_BAD. */
void rpc_read(struct arena *a, struct str text, struct rpc_message *ret_message);

/* Texts without a newline. id may be NULL. */
struct str rpc_result(struct arena *a, yyjson_mut_doc *doc, yyjson_val *id, yyjson_mut_val *result);
struct str rpc_error(struct arena *a, yyjson_mut_doc *doc, yyjson_val *id, int code, struct str message,
                     yyjson_mut_val *data);
/* A request with an id, else a notification. */
struct str rpc_send(struct arena *a, yyjson_mut_doc *doc, struct str id, const char *method, yyjson_mut_val *params);

/* True if type and value are equal. */
bool rpc_same_id(yyjson_val *a, yyjson_val *b);
