/* http.h: embedders over HTTP: Ollama, and any endpoint with OpenAI's interface.
 *
 * Opening sends nothing. The dimensions come from the configuration, or else from http_embedder_probe(), which asks the
 * endpoint once; the caller stores the result and passes it from then on. The model is named "openai:NAME" or
 * "ollama:NAME", because the same model at another address gives the same vectors.
 *
 * The key is sent only to the configured address, over TLS or to this machine, and never appears in a message. Every
 * call ends within its time limit, whatever the endpoint does. */
#pragma once

#include "embed/embed.h"

enum http_api { HTTP_OPENAI, HTTP_OLLAMA };

/* A zero member means its default. Strings are copied. */
struct http_embedder_config {
  enum http_api api;
  /* Default: https://api.openai.com/v1 or http://127.0.0.1:11434; "/embeddings" or "/api/embed" is appended. */
  struct str url;
  struct str model; /* required */
  /* Dimensions of the vectors; 0: unknown, see http_embedder_probe(). With OpenAI's interface they are also requested.
   * If the endpoint rejects that parameter, it is omitted; the response must still match. */
  int dims;
  struct str key;                       /* sent as "Authorization: Bearer KEY" */
  struct str query_prefix, text_prefix; /* such as "search_query: ", if the model expects them */
  /* Time limits of a query (default 10,000) and of a batch of texts (default 3 times that of a query), including all
   * retries and waits. Each try but the last takes at most two thirds of the remaining time. */
  int timeout_ms, text_timeout_ms;
  int connect_timeout_ms; /* default 3,000 */
  int retries;            /* default 2; -1: none */
  int backoff_ms;         /* wait before the first retry, default 200; each later one is 4 times longer */
  int batch;              /* texts per request, default 64; a request has at most 256 KiB of text */
  size_t response_max;    /* maximum bytes of a response, default 64 MiB */
  bool allow_plain_http;  /* allow to send the key unencrypted to another machine */
  const struct calibration *calibration; /* must outlive the embedder; NULL: calibration_conservative() */
};

/* STATUS_USAGE for an invalid configuration, or STATUS_NOMEM. */
NODISCARD enum status http_embedder_open(const struct http_embedder_config *config, struct embedder **ret_embedder,
                                         struct error *err);
/* Sets e->dims by embedding a short text, if it is 0. Must be called before other threads use e. Until the dimensions
 * are known, embed() fails with STATUS_UNAVAILABLE. */
NODISCARD enum status http_embedder_probe(struct embedder *e, struct arena *a, struct error *err);
