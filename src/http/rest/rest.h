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

struct rest_call;

struct rest_route {
  const char *method;
  const char *path;                  /* below REST_ROOT; {name} matches one segment */
  const char *op;                    /* operation; NULL: `run` handles the request */
  const char *to;                    /* argument set from {name}; a list gets it as its only element */
  unsigned flags;                    /* ROUTE_* */
  const char *without;               /* arguments not accepted here, separated by spaces */
  const char *with;                  /* boolean argument that is always set */
  int limit, limit_max;              /* default and maximum of the argument `limit`; 0: those of the operation */
  const char *lines;                 /* member for the lines of a streaming operation */
  const char *page;                  /* argument that continues after a page: "cursor"; NULL: not paged */
  const char *result;                /* OpenAPI schema of the reply, for a route without an operation; may be NULL */
  const char *summary, *help;        /* NULL: those of the operation */
  const struct param *params;        /* NULL: those of the operation, and common_params */
  void (*run)(struct rest_call *rc); /* runs after the arguments were read, and sets the reply */
};
/* All routes; the last one has no method. */
const struct rest_route *rest_routes(void);

/* The route of an operation without one in the table: POST /ops/NAME. False if it has one, or is not available. */
bool rest_generic_route(struct arena *a, const struct op *op, struct rest_route *ret_route);
/* The argument with this name if the route accepts it; not the one set from the path. */
const struct param *rest_param(const struct rest_route *r, struct str name);
/* The i-th parameter that the route accepts, from 0; NULL at the end. */
const struct param *rest_param_at(const struct rest_route *r, size_t i);

/* POST and PUT take arguments from a body. */
bool rest_has_body(const struct rest_route *r);
/* True if it names a memory: a body may then give a number. */
bool rest_param_is_id(const struct param *p);

/* A request in progress. */
struct rest_call {
  struct http_call *http;
  const struct rest_route *route;
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

/* ---- http/rest/advice.c: rewrites advice about the command line as requests ---- */

struct str rest_advice(struct arena *a, struct str text);
void rest_advise_error(struct arena *a, struct error *err);
/* Rewrites advice in a result: warnings, dropped items, reasons for degraded results. */
void rest_advise_result(struct arena *a, yyjson_mut_val *result);

/* ---- routes that do more than run an operation ---- */

void rest_index(struct rest_call *rc);         /* GET /: points to the OpenAPI document */
void rest_openapi(struct rest_call *rc);       /* GET /openapi.json */
void rest_knowledge(struct rest_call *rc);     /* GET /projects/{id}/knowledge */
void rest_memory_search(struct rest_call *rc); /* GET or POST /memory/search */

/* Entry point of /api/v1: finds the route, reads the arguments, runs it. */
void rest_run(struct http_call *call);

/* The OpenAPI 3.1 document; deterministic. */
struct str openapi_document(struct arena *a);
