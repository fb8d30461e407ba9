/* http.h: embedders behind HTTP: any endpoint with OpenAI's interface, and Ollama.
 *
 * Opening sends nothing. The dimensions of the vectors are known from the configuration, or else from
 * http_embedder_probe(), which asks the endpoint once; the caller stores what it learned and configures it from then
 * on. The model is named "openai:NAME" or "ollama:NAME": the same model behind another address gives the same vectors.
 *
 * The key is sent to the configured address and nowhere else, over TLS or to this machine; no message ever holds it.
 * Every call ends within its time limit, whatever the other side does. */
#pragma once

#include "embed/embed.h"

enum http_api { HTTP_OPENAI, HTTP_OLLAMA };

/* A member that is zero takes its default; all texts are copied. */
struct http_embedder_config {
  enum http_api api;
  struct str url;   /* https://api.openai.com/v1, or http://127.0.0.1:11434; "/embeddings" or "/api/embed" is added */
  struct str model; /* required */
  /* What the vectors have; 0: not known, see http_embedder_probe(). OpenAI's interface is also asked for so many; an
   * endpoint that objects to the question is asked without it, and what it then gives must still fit. */
  int dims;
  struct str key;                       /* sent as "Authorization: Bearer KEY" */
  struct str query_prefix, text_prefix; /* "search_query: " and the like, where a model wants them */
  /* 10,000: a query, and 3 times that: a batch of texts; each with all its tries and waits. While another try is left,
   * one takes at most two thirds of the time that remains. */
  int timeout_ms, text_timeout_ms;
  int connect_timeout_ms; /* 3,000 */
  int retries;            /* tries after the first: 2; -1 for none */
  int backoff_ms;         /* 200: the wait before the second try; four times as long before each later one */
  int batch;              /* 64: texts in one request, which also holds at most 256 KiB of text */
  size_t response_max;    /* 64 MiB: larger answers are refused */
  bool allow_plain_http;  /* the key may travel unencrypted to another machine */
  const struct calibration *calibration; /* outlives the embedder; NULL: a careful guess */
};

/* STATUS_USAGE for a configuration that cannot work, STATUS_NOMEM. */
NODISCARD enum status http_embedder_open(const struct http_embedder_config *config, struct embedder **ret_embedder,
                                         struct error *err);
/* Sets e->dims when it is 0, by embedding a short text; otherwise does nothing. Before any other thread uses e. Until
 * the dimensions are known, embed() fails with STATUS_UNAVAILABLE. */
NODISCARD enum status http_embedder_probe(struct embedder *e, struct arena *a, struct error *err);
