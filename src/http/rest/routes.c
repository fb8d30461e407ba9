/* routes.c: the routes of /api/v1: those of the table of operations, and a few that are more than one operation. */
#include "http/rest/rest.h"

#include <assert.h>
#include <pthread.h>

/* clang-format off */

#define END {0}
#define R(method_, path_, ...) {.method = method_, .path = path_, __VA_ARGS__}

static const char *const knowledge_types[] = {"entity", "claim", "task", "decision", "note", NULL};
static const struct param knowledge_params[] = {
  {"type", PARAM_TEXT, 0, NULL, NULL, knowledge_types, "only items of this type"},
  {"q", PARAM_TEXT, PARAM_NOISE, NULL, NULL, NULL, "only items that match this search, best first; the reply has one page"},
  {"limit", PARAM_INT, 0, NULL, NULL, NULL, "maximum number of items, 1 to 100 (default 50)"},
  {"cursor", PARAM_TEXT, 0, NULL, NULL, NULL, "continue after the page that returned this next_cursor"},
  END
};

static const char *const search_scopes[] = {"memory", "items", "sessions", "sources", NULL};
static const struct param memory_search_params[] = {
  {"q", PARAM_TEXT, PARAM_REQUIRED | PARAM_NOISE, NULL, NULL, NULL, "any text"},
  {"scope", PARAM_LIST, 0, NULL, NULL, search_scopes, "what to search (default memory); may be repeated"},
  {"project", PARAM_TEXT, 0, NULL, NULL, NULL, "project to search besides global memories"},
  {"limit", PARAM_INT, 0, NULL, NULL, NULL, "maximum number of results, 1 to 100 (default 10)"},
  END
};
static const struct param no_params[] = {END};

static const struct op_route own_routes[] = {
  R("GET", "", .run = rest_index, .params = no_params, .summary = "API overview"),
  R("GET", "/openapi.json", .run = rest_openapi, .params = no_params, .summary = "This document"),
  R("GET", "/projects/{id}/knowledge", .run = rest_knowledge, .params = knowledge_params, .page = "cursor", .result = "Knowledge",
   .summary = "A project's knowledge, as typed items with citations",
   .help = "Entities, claims, tasks, decisions and notes: the active memories of that project, newest first. Items extracted "
           "from the project's files have sourceFile and lineNumber; the others cite their memory."),
  R("GET", "/memory/search", .run = rest_memory_search, .params = memory_search_params, .result = "MemorySearch",
   .summary = "Search by scope", .help = "Same results as /search; 'searched' lists the scopes that are not empty."),
  R("POST", "/memory/search", .run = rest_memory_search, .params = memory_search_params, .result = "MemorySearch",
   .summary = "Search by scope", .help = "Same results as /search; 'searched' lists the scopes that are not empty."),
};
/* clang-format on */

enum { ROUTES_MAX = 200 };
static struct op_route all[ROUTES_MAX]; /* ends with method == NULL */

static void collect(void) {
  size_t n = 0;
  for (size_t i = 0; i < ARRAY_LEN(own_routes); i++)
    all[n++] = own_routes[i];
  EACH_OP(op)
    for (const struct op_route *r = op->routes; r && r->method; r++) {
      assert(n + 1 < ROUTES_MAX);
      assert(r->path[0] == '/' && !strchr(r->path, '{') == !r->to);
      assert((!r->to || op_param(op, str_from(r->to))) && (!r->with || op_param(op, str_from(r->with))));
      assert(!r->limit_max || (r->limit > 0 && r->limit <= r->limit_max && r->page));
      all[n] = *r;
      all[n++].op = op->name;
    }
}

const struct op_route *rest_routes(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, collect);
  return all;
}
