/* http.h: what a route sees of HTTP, and nothing of the library below it.
 *
 * A request is read whole, checked (Host, Origin, size), and handed to a worker, which calls the route's function with
 * a struct http_call; the function fills in a reply, or turns the exchange into a stream of events that lives on. A new
 * route is one line in routes.c and one function in the file of its family. */
#ifndef CAIRN_HTTP_HTTP_H
#define CAIRN_HTTP_HTTP_H

#include "mcp/mcp.h"
#include "op/telemetry.h"

enum { HTTP_BODY_MAX = 10 << 20, HTTP_HEADERS_MAX = 32 };

/* What the routes share. */
struct http_server {
  struct pool *pool;
  struct feed *feed;
  struct telemetry *telemetry;
  struct mcp_server *mcp;
  struct caller caller; /* who calls from this machine when nobody says otherwise */
  int64_t started;
};

struct http_pair {
  struct str name, value;
};

struct http_call {
  struct http_server *server;
  struct arena *arena;
  struct str method, path, body;
  struct str peer;                 /* the client's connection, for messages */
  const struct http_pair *queries; /* decoded */
  size_t query_count;
  const void *connection; /* for http_header() */
  struct caller caller;

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

/* ---- streams of events ---- */

/* Turns the exchange into text/event-stream. The stream outlives the call: http_stream_end() ends it. */
struct http_stream *http_stream_begin(struct http_call *call);
/* From any thread; never waits. False when the client is gone, or so far behind that it is dropped. `id` may be absent.
 */
bool http_stream_send(struct http_stream *stream, struct str id, struct str event, struct str data);
bool http_stream_gone(struct http_stream *stream);
/* `closed` runs once, on any thread, when the client has gone or the stream was ended. */
void http_stream_on_close(struct http_stream *stream, void (*closed)(void *arg), void *arg);
void http_stream_end(struct http_stream *stream);

/* ---- routes ---- */

struct http_route {
  const char *method; /* NULL: any */
  const char *path;   /* segments; {name} takes one, * at the end takes the rest */
  void (*run)(struct http_call *call);
};
extern const struct http_route http_routes[]; /* ends with path == NULL; the first that fits */
/* What {name} took, percent-decoded; valid inside the route's function. */
struct str http_path_part(const struct http_call *call, const char *name);

#endif
