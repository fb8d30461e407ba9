/* rest.h: /api/v1 over the table of operations.
 *
 * A route says by which method and path an operation is reached; everything else comes from the operation's own table:
 * arguments, their forms and choices, help. GET and DELETE take arguments from the query, POST and PUT from a JSON
 * body; what the path names is an argument, too. The OpenAPI document (openapi.c) is made from the same two tables.
 *
 * A new route is one line in http/rest/routes.c. An operation without a route is reached as POST /api/v1/ops/NAME,
 * unless its row says why remote callers may not have it (`local`). */
#pragma once

#include "http/http.h"

#define REST_ROOT "/api/v1"

enum {
  REST_CREATES = 1, /* 201 with Location, unless nothing was stored */
  REST_GUARDED = 2, /* changes the memory that the path names: takes If-Match */
};

struct rest_call;

struct rest_route {
  const char *method;
  const char *path; /* below REST_ROOT; {name} takes one segment */
  const char *op;   /* operation; NULL: `run` does it all */
  const char *to;   /* argument that the path's {name} fills; a list gets it as its only element */
  unsigned flags;
  const char *without; /* arguments that are not offered here, separated by blanks */
  const char *lines;   /* of a streaming operation: the member that gets its lines */
  const char *page;    /* argument that goes on behind a page: "cursor"; NULL: there are no pages */
  const char *result;  /* of a route without an operation: schema of the answer in the OpenAPI document, or NULL */
  const char *summary, *help; /* NULL: the operation's */
  const struct param *params; /* NULL: the operation's and the common ones */
  enum status (*prepare)(struct rest_call *rc);
  void (*run)(struct rest_call *rc); /* after the arguments were read; answers */
};
extern const struct rest_route rest_routes[]; /* ends with method == NULL; literal segments before {name} */

/* The route of an operation that has none in the table: POST /ops/NAME. False: it has one, or is not offered. */
bool rest_other(struct arena *a, const struct op *op, struct rest_route *ret_route);
/* The argument of that name, when the route offers it; not the one that the path fills. */
const struct param *rest_param(const struct rest_route *r, struct str name);
/* The parameters of a route, in order, those left out that it does not offer; i from 0, NULL at the end. */
const struct param *rest_param_at(const struct rest_route *r, size_t i);

/* POST and PUT: arguments come in a body. */
bool rest_has_body(const struct rest_route *r);
/* Does it name a memory? Then a body may give a number. */
bool rest_param_is_id(const struct param *p);

/* One request on its way. */
struct rest_call {
  struct http_call *http;
  const struct rest_route *route;
  struct str variable; /* what {name} took, decoded; absent: the path has none */
  yyjson_mut_doc *doc;
  yyjson_mut_val *args;
  struct caller caller;
  struct strs *expect; /* hashes of If-Match; NULL: none, or "*" */
  yyjson_mut_val *lines;
  bool ran; /* what is in err comes from an operation, and holds no secrets */
  struct error err;
};

/* For the functions of a route: runs an operation as the caller. */
NODISCARD enum status rest_op(struct rest_call *rc, const char *op, yyjson_mut_val *args, yyjson_mut_val **ret_result);
/* Answers with a result: 200 or 201, ETag, Location, Link; 304 when the client has it already. */
void rest_answer(struct rest_call *rc, yyjson_mut_val *result);
/* Answers with rc->err. */
void rest_fail(struct rest_call *rc);

/* Percent-encoded, for a path or a query. */
void rest_add_encoded(struct buf *b, struct str s);

/* ---- http/rest/advice.c: what operations say of the command line, as requests ---- */

struct str rest_words(struct arena *a, struct str text);
void rest_error_words(struct arena *a, struct error *err);
/* What a result advises: warnings, what was dropped, why it is degraded. */
void rest_result_words(struct arena *a, yyjson_mut_val *result);

/* ---- routes that are more than an operation ---- */

void rest_index(struct rest_call *rc);   /* GET /: where the document is */
void rest_openapi(struct rest_call *rc); /* GET /openapi.json */
enum status rest_prepare_events(struct rest_call *rc);
enum status rest_prepare_clear(struct rest_call *rc);
enum status rest_prepare_register(struct rest_call *rc);
void rest_knowledge(struct rest_call *rc);     /* GET /projects/{id}/knowledge */
void rest_memory_search(struct rest_call *rc); /* GET or POST /memory/search */

/* The whole of /api/v1: finds the route, reads the arguments, runs it. */
void rest_run(struct http_call *call);

/* The OpenAPI 3.1 document: the same bytes every time. */
struct str openapi_document(struct arena *a);
