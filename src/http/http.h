/* http.h: the request and reply interface for routes, independent of the HTTP library.
 *
 * A request is read completely, checked (Host, Origin, size) and handed to a worker, which calls the route's function
 * with a struct http_call. The function fills in a reply, or turns the exchange into an event stream that outlives the
 * call. To add a route, add a line in routes.c and a function in the file of its family. */
#pragma once

#include "mcp/mcp.h"
#include "op/access/authenticate.h"
#include "op/telemetry/telemetry.h"

enum { HTTP_BODY_MAX = 10 << 20, HTTP_HEADERS_MAX = 32 };

struct auth;
struct event;
struct mcp_hub;
struct http_route;

/* State shared by all routes. */
struct http_server {
  struct pool *pool;
  struct feed *feed;
  struct telemetry *telemetry;
  struct mcp_server *mcp;
  struct mcp_hub *hub;
  struct caller caller; /* default caller for local requests; without a source, the transport sets it */
  struct auth *auth;    /* NULL: every request runs as `caller` */
  struct strs hosts;    /* accepted host names besides those of loopback */
  int64_t started;
  bool bound;                      /* the process is bound to an agent, whose role limits the visible content */
  const struct http_route *routes; /* NULL: http_routes */
};

/* Adds an event of the server itself to the log of its team. An event that cannot be written is lost. */
void server_event(const struct http_server *server, const struct event *e);

struct http_pair {
  struct str name, value;
};

struct http_call {
  struct http_server *server;
  struct arena *arena;
  struct str method, path, body;
  struct str peer;                 /* client connection: "127.0.0.1:40212", "unix:81" */
  struct str network;              /* client network, for rate limits: see peer.h */
  bool local;                      /* connection from this machine */
  const struct http_pair *queries; /* decoded */
  size_t query_count;
  const struct http_pair *fields; /* request headers, trimmed; read them with http_header() */
  size_t field_count;
  struct http_exchange *exchange; /* NULL for a call without a connection (tests) */
  const struct http_route *route; /* set by http_dispatch() */
  struct caller caller;
  struct origin origin;       /* target of caller.origin */
  struct str token;           /* token to verify; absent: none was sent */
  struct principal principal; /* target of caller.principal, if set */
  struct str account;         /* of the principal, for limits */

  /* The reply. */
  int status; /* 0: not set, a bug */
  const char *type;
  struct str reply;
  struct http_pair headers[HTTP_HEADERS_MAX];
  size_t header_count;
  struct http_stream *stream; /* set by http_stream_begin() */

  /* For the record of calls: a refusal that nothing else has recorded is counted when it is sent. */
  int64_t began; /* ticks */
  bool recorded;
  struct error refusal; /* of a problem reply */
};

struct str http_header(const struct http_call *call, const char *name); /* absent if missing; trimmed */
struct str http_query(const struct http_call *call, const char *name);  /* first parameter with this name */
void http_add_header(struct http_call *call, const char *name, struct str value);

/* Replies. */
void http_reply_json(struct http_call *call, int status, struct str json);
void http_reply_text(struct http_call *call, int status, const char *type, struct str text);
/* application/problem+json: RFC 9457. */
void http_reply_problem(struct http_call *call, const struct error *err);
void http_reply_problem_status(struct http_call *call, int status, const char *title, const char *detail);

/* True if the client disconnected or the server is shutting down. Long calls poll it. */
bool http_client_gone(const struct http_call *call);
bool http_stopping(const struct http_call *call);

/* ---- event streams ---- */

/* Turns the exchange into text/event-stream and sends the reply head at once, with the headers added so far. The stream
 * outlives the call: its creator calls http_stream_end() exactly once, even if the client has disconnected, and does
 * not use it afterwards. Returns NULL, with a problem as the reply, if too many streams are open. */
struct http_stream *http_stream_begin(struct http_call *call);
/* Thread-safe; never blocks. Returns false if the client is gone, or is dropped because it lags too far behind. `id`
 * may be absent. */
bool http_stream_send(struct http_stream *stream, struct str id, struct str event, struct str data);
bool http_stream_gone(struct http_stream *stream);
/* Bytes queued for the client. */
size_t http_stream_pending(struct http_stream *stream);
/* `drained` runs once, when the queue is empty, on the thread that runs `closed` and never after it. Producers of large
 * streams pause and continue from there. */
void http_stream_on_drain(struct http_stream *stream, void (*drained)(void *arg), void *arg);
/* `closed` runs once, on any thread but never inside a call of these functions other than this one, when the client has
 * disconnected or everything sent before the end has been written. */
void http_stream_on_close(struct http_stream *stream, void (*closed)(void *arg), void *arg);
void http_stream_end(struct http_stream *stream);
/* Thread-safe and idempotent: accepts no more data and closes the stream once its queue is written. http_stream_end()
 * is still required. */
void http_stream_finish(struct http_stream *stream);

/* ---- routes ---- */

enum {
  HTTP_AT_ONCE = 1, /* uses no store and never blocks: runs on the network thread, even if all workers are busy */
  HTTP_OPEN = 2,    /* public: tokens are neither required nor read */
};

struct http_route {
  const char *method; /* NULL: any; GET also answers HEAD */
  const char *path;   /* segments; {name} matches one, * at the end matches the rest */
  void (*run)(struct http_call *call);
  unsigned flags;
};
extern const struct http_route http_routes[]; /* ends with path == NULL; the first match wins */
/* Path segment matched by {name}, percent-decoded; valid inside the route's function. */
struct str http_path_part(const struct http_call *call, const char *name);
/* Finds and runs the route. Replies 404 if no path matches, 405 if only the method differs; OPTIONS lists the methods.
 */
void http_dispatch(struct http_call *call);
/* The route table of the call's server. */
const struct http_route *http_routes_of(const struct http_call *call);
/* The route for a request, or NULL. */
const struct http_route *http_route_find(const struct http_route *routes, struct str method, struct str path);
