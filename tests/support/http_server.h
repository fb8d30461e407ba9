/* http_server.h: a small embedding endpoint for tests: an HTTP server on loopback, in its own process, which answers
 * correctly or misbehaves as scripted.
 *
 *   struct http_server *s = http_server_start(.dims = 8, HTTP_STEPS({.status = 500, .times = 2}, {0}));
 *   ... an embedder with http_server_url(s), or a program:
 *   proc_run(.argv = ARGS(CAIRN_BIN, "search", "cats"), .env = ARGS(http_server_env(s, "CAIRN_EMBEDDER_URL")));
 *   CHECK_INT(http_server_requests(s), 3);
 *   http_server_stop(s);
 *
 * It supports both APIs, by path: ".../embeddings" is OpenAI's, ".../api/embed" Ollama's. The vector of a text is
 * that of http_server_vector(), so a test can tell which text got which vector. Each request uses the next step of
 * the script, and the last step repeats for ever; without a script every response is correct. Requests are served
 * one at a time, though many connections may be open. The server ends with its test, or after a minute. */
#pragma once

#include <stddef.h>

#include "base/str.h"

enum http_act {
  HTTP_ACT_ANSWER,   /* the vectors, or the given body if there is a status */
  HTTP_ACT_SHUFFLED, /* OpenAI: correct vectors in reverse order */
  HTTP_ACT_BARE,     /* OpenAI: correct vectors without "index" */
  HTTP_ACT_ECHO_KEY, /* the status, and a body that quotes the Authorization header */
  HTTP_ACT_DRIP,     /* the correct response, one byte every 20 ms */
  HTTP_ACT_CUT,      /* the headers of the correct response and half of its body, then a disconnect */
  HTTP_ACT_HANG_UP,  /* reads the request and disconnects */
  HTTP_ACT_ENDLESS,  /* an endless body without a length */
  HTTP_ACT_FUSSY,    /* 400 for a request with "dimensions", otherwise the correct response */
};

struct http_step {
  enum http_act act;
  int status;          /* 0: 200 with vectors */
  const char *headers; /* additional headers, each with its \r\n */
  const char *body;
  int delay_ms; /* before the response; ends early if the client disconnects */
  int dims;     /* of this response's vectors; 0: the server's */
  int missing;  /* number of missing vectors; negative: extra vectors */
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

/* One request as the server saw it; texts are truncated to fit. */
struct http_seen {
  char path[64], authorization[128], model[64], first[128];
  size_t inputs;     /* number of texts */
  size_t text_bytes; /* total bytes of the texts */
  int dimensions;    /* requested dimensions; 0: none */
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
/* A URL where nothing listens; lives as long as the test. */
const char *http_server_nobody(void);

int http_server_requests(const struct http_server *s);
int http_server_connections(const struct http_server *s);
/* The nth request, from 0; only the first 64 are stored. */
const struct http_seen *http_server_seen(const struct http_server *s, int nth);

/* The server's vector for a text: components from -1 to 1 that depend only on text and dims. */
void http_server_vector(struct str text, int dims, float *ret_vector);
