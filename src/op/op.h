/* op.h: the table of operations. Each row has the name, arguments, flags, help and handler of one operation. The
 * command line, MCP tools, REST routes, the library, the manual and their tests are all driven by it; the interfaces
 * contain no logic of their own.
 *
 * A new operation is one row in src/op/table/ and one handler in the folder of its family. */
#pragma once

#include "base/json.h"
#include "op/run/engine.h"

enum param_form {
  PARAM_TEXT,
  PARAM_INT,
  PARAM_NUMBER,
  PARAM_BOOL,
  PARAM_LIST, /* list of strings; on the command line the option is repeated */
};

enum {
  PARAM_REQUIRED = 1,
  PARAM_POSITIONAL = 2, /* on the command line: by position; a positional list takes the rest */
  PARAM_STDIN = 4,      /* on the command line: read from stdin if "-", or if omitted and stdin is not a terminal */
  PARAM_PATH = 8,       /* a file name, relative to the caller's directory */
  PARAM_OPEN = 16,      /* the choices are only for help and completion; the operation checks the value itself */
  PARAM_NOISE = 32,     /* invalid UTF-8 is accepted: bad bytes become U+FFFD; NULs are tolerated */
  PARAM_VERBATIM = 64,  /* stdin is read as it is, with its final newline */
  PARAM_SECRETS = 128,  /* may hold secrets: the operation handles them, scrub.h does not */
  PARAM_SHOWN = 256, /* shown to other agents unasked: refused if it reads like instructions, unless a person calls */
};

struct param {
  const char *name; /* JSON member; the command line spells it --name with '-' for '_' */
  enum param_form form;
  unsigned flags;
  const char *cli;            /* option name if it differs from the member ("tag" for "tags"), or NULL */
  const char *value;          /* placeholder in help: "ID", "TEXT" */
  const char *const *choices; /* NULL-terminated, or NULL */
  const char *help;           /* one line */
};

enum {
  OP_WRITE = 1,        /* changes the store */
  OP_DESTRUCTIVE = 2,  /* cannot be undone, or touches many memories */
  OP_STREAM = 4,       /* emits lines while it runs, through hooks.emit */
  OP_NO_STORE = 8,     /* opens no store */
  OP_NO_TXN = 16,      /* writes, but not in a transaction of the log (backup, restore, sessions) */
  OP_GATED = 32,       /* refused until the agent has answered its action items; see action_gate.c */
  OP_OPERATOR = 64,    /* affects more than the caller's team: refused to tokens; see roles.h */
  OP_SECRET = 128,     /* handles secrets: the call's memory is locked, excluded from core dumps, and wiped */
  OP_EVERYDAY = 256,   /* listed in the short help */
  OP_PROJECT = 512,    /* agents with the role project may call it */
  OP_OBSERVES = 1024,  /* not recorded as a call */
  OP_NO_UPKEEP = 2048, /* no maintenance runs after it */
  OP_EXISTING = 4096,  /* does not create the store: a mistyped path must not look like an empty store */
  OP_BOOTS = 8192,     /* starts a session */
  OP_READS = 16384,    /* logged as memory:read by the dispatcher; other reads log what they show themselves */
};

struct op_call;
struct principal;
struct redactor;

enum {
  ROUTE_CREATES = 1, /* 201 with Location, unless nothing was stored */
  ROUTE_GUARDED = 2, /* changes the memory named by the path: accepts If-Match */
};

struct rest_call;

/* A REST route below /api/v1. An operation without one is at POST /ops/NAME. */
struct op_route {
  const char *method, *path;  /* {name} matches one segment */
  const char *to;             /* argument set from {name}; a list gets it as its only element */
  unsigned flags;             /* ROUTE_* */
  const char *without;        /* arguments not accepted here, separated by spaces */
  const char *with;           /* boolean argument that is always set */
  int limit, limit_max;       /* default and maximum of the argument `limit`; 0: those of the operation */
  const char *lines;          /* member for the lines of a streaming operation */
  const char *page;           /* argument that continues after a page: "cursor"; NULL: not paged */
  const char *summary, *help; /* NULL: those of the operation */

  /* Set by src/http/rest. */
  const char *op;                    /* operation; NULL: `run` handles the request */
  const struct param *params;        /* NULL: those of the operation, and common_params */
  const char *result;                /* OpenAPI schema of the reply, for a route without an operation; may be NULL */
  void (*run)(struct rest_call *rc); /* runs after the arguments were read, and sets the reply */
};

struct op {
  const char *name;           /* words separated by one space: "remember", "task add" */
  const char *group;          /* heading in help */
  const char *summary;        /* one line, no full stop */
  const char *help;           /* one or more paragraphs: effect and result */
  const char *example;        /* working command lines, one per line */
  const struct param *params; /* ends with name == NULL */
  unsigned flags;
  const char *result;  /* members of its result, in the notation of op/run/results.h */
  const char *reveals; /* member of the result that holds a secret the caller asked for; not redacted. Or NULL */
  const char *local;   /* why remote callers are refused, or NULL */
  const struct op_route *routes; /* ends with method == NULL; NULL: only POST /ops/NAME */
  enum status (*run)(struct op_call *call);
};

/* Process or connection that a call comes from, as far as the interface knows it. */
struct origin {
  struct str host; /* lower case; absent: unknown */
  int64_t pid;     /* 0: unknown */
  int64_t started; /* start time of the process, ms; pid and start time identify a process even if pids are reused */
  struct str connection; /* id of a network client's connection: the client is alive while it is open */
  struct str cwd;
  struct str client, client_version; /* as reported by the client; untrusted */
};

/* Identity of the caller: set by the interface, never by an argument. */
struct caller {
  struct str team;    /* slug */
  struct str project; /* "" = none: sees only global memories */
  bool project_given; /* named by the caller, not derived from its environment */
  bool all_projects;
  struct str source;           /* "cli", "claude-code", ... */
  struct str session;          /* handle returned by boot; may be absent */
  struct str tool;             /* the interface's name for the operation; absent: op->name */
  struct str trust;            /* provenance of what this interface writes: "user", "agent", ... */
  bool part;                   /* the operation is part of a call that the interface records: see pool_note() */
  bool foreign;                /* through another system's tools, or an import: new memories do not age */
  bool extracted_items;        /* action items extracted from memories block its writes, as the profile promises */
  bool no_updates;             /* texts that stack updates are refused, as the profile promises; tasks are exempt */
  const struct origin *origin; /* NULL: unknown */
  /* Verified caller and its access: op/access/authenticate.h. NULL: the user or agent that started the process. */
  const struct principal *principal;
};

/* Callbacks and conditions that an interface passes besides the arguments; every member may be NULL. */
struct op_hooks {
  void *arg;
  /* One line of a streaming operation; anything but STATUS_OK stops it. */
  enum status (*emit)(void *arg, struct str line);
  void (*progress)(void *arg, const char *what, int64_t done, int64_t total);
  /* True if the operation should stop at the next safe point. */
  bool (*cancelled)(void *arg);
  /* Prompts the person at the terminal without echo; false if there is no answer. */
  bool (*ask)(void *arg, const char *prompt, struct arena *a, struct str *ret_text);
  /* The memory to change must still have one of these hashes (member "hash" of a full memory); otherwise STATUS_STALE
   * and nothing changes. Checked under the write lock. */
  const struct strs *expect;
  bool return_hash; /* add the memory's new hash to the result of a change */
  /* A safe request (HTTP GET): registers, ends, revives and refreshes no session, and activates no faded memory. Reads
   * are still counted and logged. */
  bool safe;
};

/* A running call. Handlers read args, fill result, and return a status with *err set. */
struct op_call {
  const struct op *op;
  struct engine *engine;
  struct caller caller;
  struct op_hooks hooks;
  struct arena *arena;            /* all memory of this call */
  yyjson_val *args;               /* an object, checked against op->params, and free of secrets */
  const struct redactor *secrets; /* values that must not be stored or shown: scrub.h */
  int64_t redacted;               /* secrets removed from the arguments */
  size_t chunks_embedded;         /* by this call so far; see write.c */
  yyjson_mut_doc *doc;
  yyjson_mut_val *result; /* an object */
  int64_t now;
  int64_t stored_txn; /* transaction whose first parts are committed; 0: none */
  bool unrecorded;    /* one of too many refusals: counted, but not recorded */
  bool done;          /* the handler succeeded; only the result is left to return */
  struct error *err;
};

/* Next operation in the order of the help text: the first for NULL, NULL after the last. */
const struct op *op_next(const struct op *op);
#define EACH_OP(op) for (const struct op *op = op_next(NULL); op; op = op_next(op))

/* NULL if there is none with that name. */
const struct op *op_find(struct str name);
const struct param *op_param(const struct op *op, struct str name);

/* Parameters that every operation accepts besides its own: project, scope, all_projects. */
extern const struct param common_params[];

/* Checks the arguments against the table: required, form, choices; refuses unknown members. */
NODISCARD enum status op_check_args(const struct op *op, yyjson_val *args, struct error *err);

/* Runs an operation: checks args, sets the out-of-memory boundary, rolls back on failure. The result object lives in
 * `arena`; on failure ret_result is untouched and err says why. Calls on one engine are serialised by its lock.
 * An operation that fails because the connection to the server was lost is retried if that is safe; see retry.h. */
NODISCARD enum status op_run(struct engine *engine, const struct op *op, const struct caller *caller,
                             const struct op_hooks *hooks, struct arena *arena, yyjson_val *args,
                             yyjson_mut_val **ret_result, struct error *err);

/* Records a call of an interface, as op_run() does for an operation; `err` is NULL if it succeeded. */
void op_note(struct engine *engine, const struct caller *caller, struct str op, int64_t began_us,
             const struct error *err);

/* The error object of the JSON contract: {"error": {code, step?, message, fix?}}. */
yyjson_mut_val *op_error_json(yyjson_mut_doc *doc, const struct error *err);
