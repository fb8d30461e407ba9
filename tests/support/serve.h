/* serve.h: a running `cairn serve` on the store of the test, and a client that speaks raw HTTP to it.
 *
 *   struct serve *s = serve_start(NULL);
 *   struct answer a = serve_get(s, "/healthz");
 *   CHECK_INT(a.status, 200);
 *   serve_stop(s);   asks it to end by SIGTERM and checks that it does, with exit code 0
 *
 * What is returned lives as long as the test. Reads end after a time limit, which fails the test. */
#pragma once

#include "base/json.h"
#include "support/cli.h"

struct serve;

/* With these arguments behind `serve --port 0`, or, when they name a socket, behind `serve`; NULL: none. */
struct serve *serve_start(const char *const *args);
const char *serve_address(const struct serve *s);
int serve_port(const struct serve *s); /* 0: a socket */
pid_t serve_pid(const struct serve *s);
void serve_stop(struct serve *s);
/* The same for one that had something to say on standard error, which is returned. */
struct str serve_end(struct serve *s);

/* ---- a client ---- */

struct wire {
  int fd;
  bool ended; /* the server has closed it */
  struct buf in;
  size_t at; /* read so far of in */
  struct buf events;
  size_t event_at;
};

struct answer {
  int status;      /* 0: the server hung up instead */
  struct str head; /* status line and headers */
  struct str body; /* absent for a stream: sse_next() reads it */
};

struct wire *wire_open(const struct serve *s);
struct wire *wire_to(int port);                  /* on loopback */
void wire_send(struct wire *w, struct str text); /* what cannot be sent, because the server hung up, is left out */
/* The next answer; `head` for one to HEAD, which has no body. */
struct answer wire_answer(struct wire *w, bool head);
/* Has the server closed the connection, within so many milliseconds? What it still sent is skipped. */
bool wire_closed(struct wire *w, int ms);
void wire_close(struct wire *w);
/* The value of a header; absent when there is none. */
struct str answer_header(const struct answer *a, const char *name);

/* One request on a connection of its own; `headers` each with "\r\n", or NULL; a body gets its length. */
struct answer serve_do(const struct serve *s, const char *method, const char *path, const char *headers,
                       struct str body);
struct answer serve_get(const struct serve *s, const char *path);
/* The text of such a request. */
struct str request_text(const char *method, const char *path, const char *headers, struct str body);

struct sse {
  struct str id, event, data; /* absent when the event has none */
};
/* The next event of a stream, comments skipped; false: none within so many milliseconds, or the stream has ended. */
bool sse_next(struct wire *w, int ms, struct sse *ret_event);
bool sse_ended(struct wire *w, int ms);
