/* mcp.h: Model Context Protocol server, independent of the transport; one dispatcher for both protocol eras.
 *
 * A transport (mcp/protocol/stdio.c, http/mcp/stream.c) passes in messages one at a time and gets back the messages to
 * send. mcp_handle() runs a message to completion on the calling thread, so the transport decides how many run
 * concurrently. Anything that outlives a call (subscriptions, the stream of a legacy session) becomes a stream, which
 * the dispatcher feeds until either side closes it. */
#pragma once

#include "mcp/tools/tool.h"
#include "op/admin/feed.h"
#include "op/run/pool.h"

enum {
  MCP_MESSAGE_MAX = 10 << 20,
  MCP_GUARDED_MAX = 2 << 20, /* upper bound of a message with a secret value, unless it is written in escapes */
  MCP_SESSION_SIZE = 48
};

struct mcp_server;
struct mcp_stream;

struct mcp_options {
  struct pool *pool;
  struct feed *feed; /* NULL: no change notifications */
  const struct profile *profile;
  bool conformance;    /* also serve the fixtures of the official conformance suite; see server.h */
  bool one_connection; /* stdio: the legacy handshake belongs to the process, not to a session id */
  bool no_maintain;    /* stdio: no maintenance while idle */
};
/* The option --conformance, the last row of a table. Only builds with tests have it; else the row is a terminator. */
#ifdef CAIRN_CONFORMANCE
#define CONFORMANCE_PARAM                                                                                              \
  {"conformance", PARAM_BOOL, 0, NULL, NULL, NULL, "also offer the fixtures of the MCP conformance suite"}
#else
#define CONFORMANCE_PARAM {0}
#endif

NODISCARD enum status mcp_new(const struct mcp_options *options, struct mcp_server **ret_server, struct error *err);
/* Called before a transport closes its connections: cancels running calls, ends each stream with its last message, and
 * refuses new streams. The transport must still call mcp_hang_up() for each stream. */
void mcp_stop(struct mcp_server *server);
/* No call may be running. Frees streams that were not hung up. */
void mcp_close(struct mcp_server **server);

/* The sender of a message, as the transport knows it. Valid during the call; copied if needed longer. */
struct mcp_sender {
  struct caller caller;          /* default source: the client's name; default trust: "agent" */
  bool project_named;            /* by the request: the client's roots are not asked for */
  const struct profile *profile; /* NULL: the server's */
};

/* HTTP headers of a message; all absent on stdio. */
struct mcp_head {
  bool http;
  struct str version; /* MCP-Protocol-Version */
  struct str method;  /* Mcp-Method */
  struct str name;    /* Mcp-Name, not decoded */
  struct str session; /* Mcp-Session-Id */
};

/* Receiver of the messages of one exchange. The functions may be called from any thread, but never concurrently. A
 * message that is not the last turns the exchange into a stream, which ends when mcp_handle() returns without an
 * mcp_stream. The struct is copied; `arg` is used until mcp_handle() returns or, with a stream, until mcp_hang_up()
 * does. */
struct mcp_out {
  void *arg;
  /* One JSON text without a newline. `last`: the response; nothing follows. Absent with `last`: a stream ends without
   * a final message. */
  void (*send)(void *arg, struct str json, bool last);
  bool (*gone)(void *arg); /* true once the client has disconnected; NULL: never */
  /* Announces a response with a secret: the transport must hold it only in locked memory and must not store it for
   * replay; a client that asks for a replay gets `instead`. NULL: the transport stores nothing. */
  void (*secret)(void *arg, struct str instead);
};

struct mcp_reply {
  int status;                     /* HTTP status if nothing was sent before the response; 202: no response */
  char session[MCP_SESSION_SIZE]; /* id of a new legacy session, else "" */
  struct mcp_stream
      *stream; /* set if the exchange stays open: the transport calls mcp_hang_up() when the client disconnects */
};

void mcp_handle(struct mcp_server *server, const struct mcp_sender *sender, const struct mcp_head *head,
                struct str message, struct mcp_out *out, struct mcp_reply *ret_reply);
/* GET of a legacy session: streams its notifications. The status is 200 with a stream, 400 or 404. */
void mcp_listen(struct mcp_server *server, const struct mcp_sender *sender, const struct mcp_head *head,
                struct mcp_out *out, struct mcp_reply *ret_reply);
/* True if the sender owns a legacy session with this id. */
bool mcp_has_session(struct mcp_server *server, const struct mcp_sender *sender, struct str id);
/* DELETE: 200, 400 or 404. */
int mcp_end_session(struct mcp_server *server, const struct mcp_sender *sender, const struct mcp_head *head);
/* Frees a stream whose client has disconnected; `out` is not used after this returns. */
void mcp_hang_up(struct mcp_server *server, struct mcp_stream *stream);

/* ---- stdio ---- */

/* Serves standard input and output until the input ends. Returns the exit code. */
int mcp_stdio(struct mcp_server *server, const struct mcp_sender *sender);
