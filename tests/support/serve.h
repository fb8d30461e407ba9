/* serve.h: a running `cairn serve` on the store of the test, and a raw HTTP client.
 *
 *   struct serve *s = serve_start(NULL);
 *   struct answer a = serve_get(s, "/healthz");
 *   CHECK_INT(a.status, 200);
 *   serve_stop(s);   sends SIGTERM and checks for exit code 0
 *
 * Results live as long as the test. A read that times out fails the test. */
#pragma once

#include "base/json.h"
#include "support/cli.h"

struct serve;

/* Runs `serve --port 0`, or `serve` if the arguments name a socket, with these arguments; NULL: none. */
struct serve *serve_start(const char *const *args);
const char *serve_address(const struct serve *s);
int serve_port(const struct serve *s); /* 0 for a socket */
pid_t serve_pid(const struct serve *s);
void serve_stop(struct serve *s);
/* For a server that wrote to standard error: stops it and returns that text. */
struct str serve_end(struct serve *s);

/* ---- a client ---- */

struct wire {
  int fd;
  bool ended; /* closed by the server */
  struct buf in;
  size_t at; /* bytes of `in` already read */
  struct buf events;
  size_t event_at;
};

struct answer {
  int status;      /* 0: the server disconnected instead */
  struct str head; /* status line and headers */
  struct str body; /* absent for a stream: sse_next() reads it */
};

struct wire *wire_open(const struct serve *s);
struct wire *wire_to(int port);                  /* on loopback */
void wire_send(struct wire *w, struct str text); /* ignores data that cannot be sent because the server disconnected */
/* The next response; `head` if it is for a HEAD request and has no body. */
struct answer wire_answer(struct wire *w, bool head);
/* True if the server closes the connection within this many milliseconds. Skips the data it still sent. */
bool wire_closed(struct wire *w, int ms);
void wire_close(struct wire *w);
/* The value of a header; absent if there is none. */
struct str answer_header(const struct answer *a, const char *name);

/* One request on a new connection; `headers` each with "\r\n", or NULL; Content-Length is added. */
struct answer serve_do(const struct serve *s, const char *method, const char *path, const char *headers,
                       struct str body);
struct answer serve_get(const struct serve *s, const char *path);
/* The text of such a request. */
struct str request_text(const char *method, const char *path, const char *headers, struct str body);

struct sse {
  struct str id, event, data; /* absent if the event has none */
};
/* The next event of a stream, without comments; false if there is none within this many milliseconds or the stream
 * has ended. */
bool sse_next(struct wire *w, int ms, struct sse *ret_event);
bool sse_ended(struct wire *w, int ms);
