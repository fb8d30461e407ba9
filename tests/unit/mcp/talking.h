/* talking.h: dispatcher for tests, and the messages that it sends. */
#pragma once

#include "mcp/protocol/server.h"
#include "support/cli.h"

enum { SAID_MAX = 512 };

/* Messages of one exchange or one stream; thread-safe. */
struct said {
  pthread_mutex_t lock;
  pthread_cond_t more;
  struct str lines[SAID_MAX];
  size_t n;
  bool last;  /* the last message was the response */
  bool ended; /* a stream ended without a final message */
  bool gone;  /* the transport reports the client as disconnected */
  struct mcp_out out;
  struct mcp_reply reply;
};

/* A server with a pool and a feed on a new store, hashed features as vectors, and the profile `full`. */
struct mcp_server *talking_server(bool one_connection, bool conformance);
void talking_stop(struct mcp_server **server);
/* A sender with team "default" and project "web". */
struct mcp_sender talking_sender(void);

void said_init(struct said *s);
/* Waits until there are n lines; only the test's time limit ends the wait. */
void said_wait(struct said *s, size_t n);
size_t said_count(struct said *s);
/* A line as JSON. */
yyjson_val *said_line(struct said *s, size_t i);

/* Runs one message to its end. */
void say(struct mcp_server *server, const struct mcp_head *head, const char *message, struct said *ret_said);
/* Runs a message and returns its only line; a NULL head means stdio. */
yyjson_val *ask(struct mcp_server *server, const struct mcp_head *head, const char *message);

/* {"jsonrpc","id":1,"method","params"} with the _meta of a modern request; params are members, "" for none. */
const char *modern(const char *method, const char *params);
const char *modern_with(const char *capabilities, const char *method, const char *params);
const char *legacy(const char *method, const char *params);
/* A member of the protocol in _meta of "params" or "result". */
yyjson_val *meta_of(yyjson_val *message, const char *where, const char *name);
/* HTTP headers of a modern request. */
struct mcp_head http_head(const char *version, const char *method, const char *name, const char *session);
