/* talking.h: a dispatcher for tests, and what it says. */
#pragma once

#include "mcp/protocol/server.h"
#include "support/cli.h"

enum { SAID_MAX = 512 };

/* What was sent for one exchange or one stream; safe from several threads. */
struct said {
  pthread_mutex_t lock;
  pthread_cond_t more;
  struct str lines[SAID_MAX];
  size_t n;
  bool last;  /* the last one was the answer */
  bool ended; /* a stream ended without a word */
  bool gone;  /* what the transport says of the client */
  struct mcp_out out;
  struct mcp_reply reply;
};

/* With a pool and a feed on a store of the test's own, hashed features for vectors, and the profile `full`. */
struct mcp_server *talking_server(bool one_connection, bool conformance);
void talking_stop(struct mcp_server **server);
/* Who sends: team "default", project "web". */
struct mcp_sender talking_sender(void);

void said_init(struct said *s);
/* Waits until there are so many lines; the test's time limit is the limit. */
void said_wait(struct said *s, size_t n);
size_t said_count(struct said *s);
/* A line as JSON. */
yyjson_val *said_line(struct said *s, size_t i);

/* One message, run to its end. */
void say(struct mcp_server *server, const struct mcp_head *head, const char *message, struct said *ret_said);
/* The one line that it says; NULL head is stdio. */
yyjson_val *ask(struct mcp_server *server, const struct mcp_head *head, const char *message);

/* {"jsonrpc","id":1,"method","params"} with the _meta of a modern request; params are members, "" for none. */
const char *modern(const char *method, const char *params);
const char *modern_with(const char *capabilities, const char *method, const char *params);
const char *legacy(const char *method, const char *params);
/* A member of the protocol in _meta of "params" or "result". */
yyjson_val *meta_of(yyjson_val *message, const char *where, const char *name);
/* HTTP headers of a modern request. */
struct mcp_head http_head(const char *version, const char *method, const char *name, const char *session);
