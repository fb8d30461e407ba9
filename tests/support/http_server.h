/* http_server.h: a small embedding endpoint for tests: a real HTTP server on the loopback, in a process of its own,
 * which answers right or misbehaves as its script says.
 *
 *   struct http_server *s = http_server_start(.dims = 8, HTTP_STEPS({.status = 500, .times = 2}, {0}));
 *   ... an embedder with http_server_url(s), or a program:
 *   proc_run(.argv = ARGS(CAIRN_BIN, "search", "cats"), .env = ARGS(http_server_env(s, "CAIRN_EMBEDDER_URL")));
 *   CHECK_INT(http_server_requests(s), 3);
 *   http_server_stop(s);
 *
 * It speaks both interfaces, by path: ".../embeddings" is OpenAI's, ".../api/embed" Ollama's. The vector of a text is
 * that of http_server_vector(), so that a test can tell which text got which vector. Each request takes the next step
 * of the script, and the last step goes on for ever; without a script every answer is right. One request is served at a
 * time, though many connections may be open. It ends with its test, or after a minute. */
#pragma once

#include <stddef.h>

#include "base/str.h"

enum http_act {
  HTTP_ACT_ANSWER,   /* the vectors; or, with a status, the given body */
  HTTP_ACT_SHUFFLED, /* OpenAI: the right vectors, the last text's first */
  HTTP_ACT_BARE,     /* OpenAI: the right vectors without "index" */
  HTTP_ACT_ECHO_KEY, /* the status, and a body that quotes the Authorization header */
  HTTP_ACT_DRIP,     /* the right answer, one byte every 20 ms */
  HTTP_ACT_CUT,      /* the header of the right answer and half of its body; then it hangs up */
  HTTP_ACT_HANG_UP,  /* reads the request and hangs up */
  HTTP_ACT_ENDLESS,  /* a body that does not end and says nothing about its length */
  HTTP_ACT_FUSSY,    /* 400 for a request with "dimensions", else the right answer */
};

struct http_step {
  enum http_act act;
  int status;          /* 0: 200 with vectors */
  const char *headers; /* more of them, each with its \r\n */
  const char *body;
  int delay_ms; /* before the answer; shorter when the client goes away */
  int dims;     /* of this answer's vectors; 0: the server's */
  int missing;  /* vectors too few; below zero: too many */
  int times;    /* 0: once */
};

struct http_server_spec {
  int dims; /* 0: 8 */
  const struct http_step *steps;
  size_t nsteps;
};
#define HTTP_STEPS(...)                                                                                                \
  .steps = (const struct http_step[]){__VA_ARGS__},                                                                    \
  .nsteps = sizeof((const struct http_step[]){__VA_ARGS__}) / sizeof(struct http_step)

/* What the server saw of one request; texts are cut to fit. */
struct http_seen {
  char path[64], authorization[128], model[64], first[128];
  size_t inputs;     /* texts in it */
  size_t text_bytes; /* their bytes, all together */
  int dimensions;    /* asked for; 0: not */
  bool float_format; /* "encoding_format": "float" */
};

struct http_server;
struct http_server *http_server_start_spec(const struct http_server_spec *spec);
#define http_server_start(...) http_server_start_spec(&(struct http_server_spec){__VA_ARGS__})
void http_server_stop(struct http_server *s);

/* "http://127.0.0.1:PORT"; lives as long as the server. */
const char *http_server_url(const struct http_server *s);
/* "NAME=http://127.0.0.1:PORT", for the environment of a program; lives as long as the test. */
const char *http_server_env(const struct http_server *s, const char *name);
/* An address where nobody listens; lives as long as the test. */
const char *http_server_nobody(void);

int http_server_requests(const struct http_server *s);
int http_server_connections(const struct http_server *s);
/* The nth request, from 0; the first 64 are kept. */
const struct http_seen *http_server_seen(const struct http_server *s, int nth);

/* The server's vector for a text: components from -1 to 1 that nothing but text and dims decides. */
void http_server_vector(struct str text, int dims, float *ret_vector);
