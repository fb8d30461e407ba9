/* mcp.h: the Model Context Protocol, apart from how bytes travel: both eras, one dispatcher.
 *
 * A transport (mcp/protocol/stdio.c, http/mcp/stream.c) hands in one message after the other and gets back what is to
 * be sent. mcp_handle() runs a message to its end on the calling thread, so that a transport decides how many run at
 * once; what stays open longer than a call (subscriptions, the stream of a legacy session) becomes a stream, which the
 * dispatcher feeds from then on until either side closes it. */
#pragma once

#include "mcp/tools/tool.h"
#include "op/admin/feed.h"
#include "op/run/pool.h"

enum {
  MCP_MESSAGE_MAX = 10 << 20,
  MCP_GUARDED_MAX = 2 << 20, /* no message with a value for the vault is larger, unless it is written in escapes */
  MCP_DEPTH_MAX = 64,
  MCP_SESSION_SIZE = 48
};

struct mcp_server;
struct mcp_stream;

struct mcp_options {
  struct pool *pool;
  struct feed *feed; /* NULL: no change notifications */
  const struct profile *profile;
  bool conformance;    /* offers the fixtures of the official test suite */
  bool one_connection; /* stdio: the legacy handshake belongs to the process, not to a session id */
  bool no_maintain;    /* stdio: no maintenance while nobody calls */
};
NODISCARD enum status mcp_new(const struct mcp_options *options, struct mcp_server **ret_server, struct error *err);
/* Asks running calls to stop and ends the streams, each with its last message, before a transport closes its
 * connections; new streams are refused. mcp_hang_up() is still due for each. */
void mcp_stop(struct mcp_server *server);
/* No call may be running. Streams that were not hung up are gone. */
void mcp_close(struct mcp_server **server);

/* Who sends a message: the transport knows. Valid during the call; copied where it is needed longer. */
struct mcp_sender {
  struct caller caller;          /* no source: the client's name; no trust: "agent" */
  const struct profile *profile; /* NULL: the server's */
};

/* What HTTP says beside the body; all absent on stdio. */
struct mcp_head {
  bool http;
  struct str version; /* MCP-Protocol-Version */
  struct str method;  /* Mcp-Method */
  struct str name;    /* Mcp-Name, as it stands */
  struct str session; /* Mcp-Session-Id */
};

/* Where the messages of one exchange go. The functions may be called from any thread, but never two at a time. What is
 * not last turns the exchange into a stream, which is over when mcp_handle() returns without one. The struct is copied;
 * `arg` is used until mcp_handle() returns or, with a stream, until mcp_hang_up() does. */
struct mcp_out {
  void *arg;
  /* One JSON text without a newline. `last`: the answer to the message; nothing follows. Absent, and `last`: a stream
   * ends without a word. */
  void (*send)(void *arg, struct str json, bool last);
  bool (*gone)(void *arg); /* the client has hung up; NULL: never */
  /* Before an answer that holds a secret: it must lie in no memory that can reach a disk, and is kept for nobody;
   * whoever comes back for it gets `instead`. NULL: the transport keeps nothing. */
  void (*secret)(void *arg, struct str instead);
};

struct mcp_reply {
  int status;                     /* HTTP status, when nothing was sent before the answer; 202: nothing to answer */
  char session[MCP_SESSION_SIZE]; /* of a new legacy session, else "" */
  struct mcp_stream *stream;      /* the exchange stays open: the transport calls mcp_hang_up() when the client goes */
};

void mcp_handle(struct mcp_server *server, const struct mcp_sender *sender, const struct mcp_head *head,
                struct str message, struct mcp_out *out, struct mcp_reply *ret_reply);
/* GET of a legacy session: its notifications from now on. Statuses as HTTP needs them: 200 with a stream, 400, 404. */
void mcp_listen(struct mcp_server *server, const struct mcp_sender *sender, const struct mcp_head *head,
                struct mcp_out *out, struct mcp_reply *ret_reply);
/* Whether there is a legacy session of this id that is the sender's: else it gets nothing of it. */
bool mcp_has_session(struct mcp_server *server, const struct mcp_sender *sender, struct str id);
/* DELETE: 200, 400 or 404. */
int mcp_end_session(struct mcp_server *server, const struct mcp_sender *sender, const struct mcp_head *head);
/* The client of a stream is gone; `out` is not used once this has returned. */
void mcp_hang_up(struct mcp_server *server, struct mcp_stream *stream);

/* ---- stdio ---- */

/* Serves standard input and output until the input ends. Returns the exit code. */
int mcp_stdio(struct mcp_server *server, const struct mcp_sender *sender);
