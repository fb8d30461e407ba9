/* http.h: what a route sees of HTTP, and nothing of the library below it.
 *
 * A request is read whole, checked (Host, Origin, size), and handed to a worker, which calls the route's function with
 * a struct http_call; the function fills in a reply, or turns the exchange into a stream of events that lives on. A new
 * route is one line in routes.c and one function in the file of its family. */
#pragma once

#include "mcp/mcp.h"
#include "op/access/authenticate.h"
#include "op/telemetry/telemetry.h"

enum { HTTP_BODY_MAX = 10 << 20, HTTP_HEADERS_MAX = 32 };

struct auth;
struct mcp_hub;
struct http_route;

/* What the routes share. */
struct http_server {
  struct pool *pool;
  struct feed *feed;
  struct telemetry *telemetry;
  struct mcp_server *mcp;
  struct mcp_hub *hub;
  struct caller caller; /* who calls from this machine when nobody says otherwise; without a source, the door is it */
  struct auth *auth;    /* NULL: everybody is that one */
  struct strs hosts;    /* what the server may be called, besides the names of this machine */
  int64_t started;
  bool bound;                      /* the process is an agent, whose role decides what it may show */
  const struct http_route *routes; /* NULL: http_routes */
};

struct http_pair {
  struct str name, value;
};

struct http_call {
  struct http_server *server;
  struct arena *arena;
  struct str method, path, body;
  struct str peer;                 /* the client's connection: "127.0.0.1:40212", "unix:81" */
  struct str network;              /* where it is, for limits: see peer.h */
  bool local;                      /* on this machine */
  const struct http_pair *queries; /* decoded */
  size_t query_count;
  const struct http_pair *fields; /* of the request's head, trimmed; for http_header() */
  size_t field_count;
  struct http_exchange *exchange; /* of the server; NULL: a call without a connection, in tests */
  const struct http_route *route; /* set by http_dispatch() */
  struct caller caller;
  struct origin origin;       /* what caller.origin points to */
  struct str token;           /* to be verified; absent: there is none */
  struct principal principal; /* what caller.principal points to, if it does */

  /* The reply. */
  int status; /* 0: not set, a bug */
  const char *type;
  struct str reply;
  struct http_pair headers[HTTP_HEADERS_MAX];
  size_t header_count;
  struct http_stream *stream; /* set by http_stream_begin() */
};

struct str http_header(const struct http_call *call, const char *name); /* absent when there is none; trimmed */
struct str http_query(const struct http_call *call, const char *name);  /* the first of that name */
void http_add_header(struct http_call *call, const char *name, struct str value);

/* Replies. */
void http_reply_json(struct http_call *call, int status, struct str json);
void http_reply_text(struct http_call *call, int status, const char *type, struct str text);
/* application/problem+json: RFC 9457. */
void http_reply_problem(struct http_call *call, const struct error *err);
void http_reply_problem_status(struct http_call *call, int status, const char *title, const char *detail);

/* Has the client hung up, or is the server about to stop? For calls that may take long. */
bool http_client_gone(const struct http_call *call);
bool http_stopping(const struct http_call *call);

/* ---- streams of events ---- */

/* Turns the exchange into text/event-stream; the head of the reply goes out at once, with the headers added so far. The
 * stream outlives the call: whoever began it calls http_stream_end() once, also when the client has gone, and does not
 * use it afterwards. NULL, with a problem as the reply, when there are too many streams. */
struct http_stream *http_stream_begin(struct http_call *call);
/* From any thread; never waits. False when the client is gone, or so far behind that it is dropped. `id` may be absent.
 */
bool http_stream_send(struct http_stream *stream, struct str id, struct str event, struct str data);
bool http_stream_gone(struct http_stream *stream);
/* Bytes that wait for the client. */
size_t http_stream_waiting(struct http_stream *stream);
/* `drained` runs once, on the thread of `closed` and never after it, when nothing waits any more: who has much to say
 * stops, and goes on then. */
void http_stream_on_drain(struct http_stream *stream, void (*drained)(void *arg), void *arg);
/* `closed` runs once, on any thread but never inside a call of these functions other than this one, when the client has
 * gone or what was sent before the end has been written. */
void http_stream_on_close(struct http_stream *stream, void (*closed)(void *arg), void *arg);
void http_stream_end(struct http_stream *stream);
/* From any thread, and any number of times: nothing is added any more, and the stream closes when what waits has been
 * written. Its end is still due. */
void http_stream_finish(struct http_stream *stream);

/* ---- routes ---- */

enum {
  HTTP_AT_ONCE = 1, /* no store and no waiting: runs on the thread that reads, even when all workers are busy */
  HTTP_OPEN = 2,    /* for everybody: nobody is asked for a token, and none is looked at */
};

struct http_route {
  const char *method; /* NULL: any; GET answers HEAD, too */
  const char *path;   /* segments; {name} takes one, * at the end takes the rest */
  void (*run)(struct http_call *call);
  unsigned flags;
};
extern const struct http_route http_routes[]; /* ends with path == NULL; the first that fits */
/* What {name} took, percent-decoded; valid inside the route's function. */
struct str http_path_part(const struct http_call *call, const char *name);
/* Finds the route and runs it: 404 without one, 405 when the path has others, OPTIONS says which. */
void http_dispatch(struct http_call *call);
/* Those of the call's server. */
const struct http_route *http_routes_of(const struct http_call *call);
/* The route that a request would run; NULL when there is none. */
const struct http_route *http_route_find(const struct http_route *routes, struct str method, struct str path);
