/* routes.c: table of the routes of /api/v1. */
#include "http/rest/rest.h"

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

const struct rest_route rest_routes[] = {
  R("GET", "", .run = rest_index, .params = no_params, .summary = "API overview"),
  R("GET", "/openapi.json", .run = rest_openapi, .params = no_params, .summary = "This document"),

  R("GET", "/memories", .op = "list", .page = "cursor"),
  R("POST", "/memories", .op = "remember", .flags = REST_CREATES),
  R("GET", "/memories/{id}", .op = "get", .to = "id"),
  R("DELETE", "/memories/{id}", .op = "forget", .to = "ids", .flags = REST_GUARDED),
  R("GET", "/memories/{id}/history", .op = "history", .to = "id"),
  R("GET", "/memories/{id}/annotations", .op = "annotate", .to = "id", .without = "note clear", .summary = "Show the notes on a memory"),
  R("POST", "/memories/{id}/annotations", .op = "annotate", .to = "id", .flags = REST_GUARDED, .without = "clear", .summary = "Add a note to a memory"),
  R("DELETE", "/memories/{id}/annotations", .op = "annotate", .to = "id", .flags = REST_GUARDED, .without = "note clear", .prepare = rest_prepare_clear,
   .summary = "Remove the notes on a memory"),
  R("POST", "/memories/{id}/supersede", .op = "supersede", .to = "id", .flags = REST_GUARDED | REST_CREATES),
  R("POST", "/memories/{id}/unsupersede", .op = "unsupersede", .to = "id", .flags = REST_GUARDED),
  R("POST", "/memories/{id}/rate", .op = "rate", .to = "id", .flags = REST_GUARDED),
  R("POST", "/memories/{id}/pin", .op = "pin", .to = "id", .flags = REST_GUARDED),
  R("POST", "/memories/{id}/unpin", .op = "unpin", .to = "id", .flags = REST_GUARDED),
  R("POST", "/memories/{id}/promote", .op = "promote", .to = "id", .flags = REST_GUARDED),
  R("POST", "/memories/{id}/link", .op = "link", .to = "id", .flags = REST_GUARDED),
  R("POST", "/memories/{id}/unlink", .op = "unlink", .to = "id", .flags = REST_GUARDED),
  R("POST", "/memories/{id}/forget", .op = "forget", .to = "ids", .flags = REST_GUARDED),
  R("POST", "/memories/{id}/purge", .op = "purge", .to = "ids", .flags = REST_GUARDED),

  R("POST", "/capture", .op = "capture"),
  R("POST", "/forget", .op = "forget"),
  R("POST", "/purge", .op = "purge"),
  R("GET", "/search", .op = "search"),
  R("POST", "/search", .op = "search"),
  R("GET", "/boot", .op = "boot"),
  R("POST", "/boot", .op = "boot"),
  R("GET", "/stats", .op = "stats"),
  R("POST", "/transactions/{txn}/undo", .op = "undo", .to = "txn"),

  R("GET", "/tasks", .op = "task list", .page = "cursor"),
  R("POST", "/tasks", .op = "task add", .flags = REST_CREATES),
  R("GET", "/tasks/ready", .op = "task ready"),
  R("POST", "/tasks/claim", .op = "task claim", .without = "id release", .summary = "Claim the first task that is ready"),
  R("POST", "/tasks/{id}/claim", .op = "task claim", .to = "id", .flags = REST_GUARDED),
  R("POST", "/tasks/{id}/status", .op = "task status", .to = "id", .flags = REST_GUARDED),
  R("POST", "/tasks/{id}/block", .op = "task block", .to = "id", .flags = REST_GUARDED),
  R("POST", "/tasks/{id}/unblock", .op = "task unblock", .to = "id", .flags = REST_GUARDED),

  R("GET", "/skills", .op = "skill list"),
  R("GET", "/skills/{name}", .op = "skill load", .to = "name"),

  R("GET", "/sessions", .op = "session list"),
  R("POST", "/sessions", .op = "boot", .without = "register", .prepare = rest_prepare_register,
   .summary = "Start a session: boot, and an id for the Cairn-Session header"),
  R("POST", "/session/task", .op = "session task"),
  R("GET", "/session/handoff", .op = "session handoff", .without = "text", .summary = "Show the last handoff"),
  R("POST", "/session/handoff", .op = "session handoff", .summary = "Leave a handoff note for the next session"),
  R("POST", "/session/end", .op = "session end"),
  R("GET", "/session/scratch", .op = "scratch list"),
  R("GET", "/session/scratch/{key}", .op = "scratch get", .to = "key"),
  R("PUT", "/session/scratch/{key}", .op = "scratch set", .to = "key"),
  R("GET", "/actions", .op = "action list"),
  R("POST", "/actions", .op = "action add"),
  R("POST", "/actions/{id}/ack", .op = "action ack", .to = "id", .without = "text memory"),
  R("POST", "/checkpoint", .op = "checkpoint"),

  R("GET", "/events", .op = "events", .without = "follow", .lines = "events", .page = "since", .prepare = rest_prepare_events,
   .help = "One object for each event, oldest first. For the next page, set since to last_seq. "
           "The event stream is at /events."),
  R("GET", "/settings", .op = "config", .without = "name value unset", .summary = "Show the settings",
   .help = "Settings can be changed only on the machine of the store: cairn config NAME VALUE."),
  R("GET", "/settings/{name}", .op = "config", .to = "name", .without = "value unset", .summary = "Show a setting"),
  R("GET", "/tokens", .op = "token list"),
  R("POST", "/tokens", .op = "token add"),
  R("POST", "/tokens/{name}/revoke", .op = "token revoke", .to = "name"),
  R("DELETE", "/tokens/{name}", .op = "token delete", .to = "name"),
  R("GET", "/health", .op = "health"),
  R("GET", "/metrics", .op = "metrics"),
  R("GET", "/errors", .op = "errors"),
  R("GET", "/doctor", .op = "doctor", .without = "fix", .summary = "Check the store's health"),

  R("GET", "/projects/{id}/knowledge", .run = rest_knowledge, .params = knowledge_params, .page = "cursor", .result = "Knowledge",
   .summary = "A project's knowledge, as typed items with citations",
   .help = "Entities, claims, tasks, decisions and notes: the active memories of that project, newest first. Items extracted "
           "from the project's files have sourceFile and lineNumber; the others cite their memory."),
  R("GET", "/memory/search", .run = rest_memory_search, .params = memory_search_params, .result = "MemorySearch",
   .summary = "Search by scope", .help = "Same results as /search; 'searched' lists the scopes that are not empty."),
  R("POST", "/memory/search", .run = rest_memory_search, .params = memory_search_params, .result = "MemorySearch",
   .summary = "Search by scope", .help = "Same results as /search; 'searched' lists the scopes that are not empty."),
  {0},
};
