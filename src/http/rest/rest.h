/* rest.h: the REST API at /api/v1, driven by the table of operations.
 *
 * A route maps a method and path to an operation. Everything else comes from the operation's table: arguments with
 * their types and choices, and help. GET and DELETE take arguments from the query, POST and PUT from a JSON body; a
 * path variable is an argument, too. The OpenAPI document (openapi.c) is generated from the same two tables.
 *
 * Routes are a column of an operation's row (`routes`). An operation without one is available as POST /api/v1/ops/NAME
 * unless its row has `local`, the reason why remote callers may not run it. */
#pragma once

#include "http/http.h"

#define REST_ROOT "/api/v1"

/* All routes; the last one has no method. */
const struct op_route *rest_routes(void);

/* The route of an operation without one in the table: POST /ops/NAME. False if it has one, or is not available. */
bool rest_generic_route(struct arena *a, const struct op *op, struct op_route *ret_route);
/* The argument with this name if the route accepts it; not the one set from the path. */
const struct param *rest_param(const struct op_route *r, struct str name);
/* The i-th parameter that the route accepts, from 0; NULL at the end. */
const struct param *rest_param_at(const struct op_route *r, size_t i);

/* POST and PUT take arguments from a body. */
bool rest_has_body(const struct op_route *r);
/* True if it names a memory: a body may then give a number. */
bool rest_param_is_id(const struct param *p);

/* A request in progress. */
struct rest_call {
  struct http_call *http;
  const struct op_route *route;
  struct str variable; /* value of {name}, decoded; absent: the path has none */
  yyjson_mut_doc *doc;
  yyjson_mut_val *args;
  struct caller caller;
  struct strs *expect; /* hashes of If-Match; NULL: none or "*" */
  yyjson_mut_val *lines;
  bool ran; /* err comes from an operation, which has removed secrets from it */
  struct error err;
};

/* Runs an operation as the caller, for a route's own function. */
NODISCARD enum status rest_op(struct rest_call *rc, const char *op, yyjson_mut_val *args, yyjson_mut_val **ret_result);
/* Replies with a result: 200 or 201, ETag, Location, Link; 304 if the client has it already. */
void rest_answer(struct rest_call *rc, yyjson_mut_val *result);
/* Replies with rc->err. */
void rest_fail(struct rest_call *rc);
/* Records the call, unless its operation has: it was refused before, or is made of several operations. */
void rest_record(struct rest_call *rc);

/* ---- http/rest/advice.c: rewrites advice about the command line as requests ---- */

struct str rest_advice(struct arena *a, struct str text);
void rest_advise_error(struct arena *a, struct error *err);
/* Rewrites advice in a result of the operation; NULL: of none. */
void rest_advise_result(struct arena *a, const char *op, yyjson_mut_val *result);

/* ---- routes that do more than run an operation ---- */

void rest_index(struct rest_call *rc);         /* GET /: points to the OpenAPI document */
void rest_openapi(struct rest_call *rc);       /* GET /openapi.json */
void rest_knowledge(struct rest_call *rc);     /* GET /projects/{id}/knowledge */
void rest_memory_search(struct rest_call *rc); /* GET or POST /memory/search */

/* Entry point of /api/v1: finds the route, reads the arguments, runs it. */
void rest_run(struct http_call *call);

/* The OpenAPI 3.1 document; deterministic. */
struct str openapi_document(struct arena *a);
