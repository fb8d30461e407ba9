/* op.h: operations as data. One table describes every operation: its name, arguments, flags, help and handler. The
 * command line, MCP tools, REST routes, the library, the manual and their tests are all driven by it; no door
 * contains logic.
 *
 * A new operation is one row in src/op/table/ and one handler in the room of its family. */
#pragma once

#include "base/json.h"
#include "op/run/engine.h"

enum param_form {
  PARAM_TEXT,
  PARAM_INT,
  PARAM_NUMBER,
  PARAM_BOOL,
  PARAM_LIST, /* of texts; on the command line the option is repeated */
};

enum {
  PARAM_REQUIRED = 1,
  PARAM_POSITIONAL = 2, /* on the command line: by place; a positional list takes all that is left */
  PARAM_STDIN = 4,      /* on the command line: "-", or nothing while standard input is not a terminal, reads it */
  PARAM_PATH = 8,       /* a file name, for completion; relative to the caller's folder */
  PARAM_OPEN = 16,      /* the choices are for help and completion: the operation judges the value itself */
  PARAM_NOISE = 32, /* what is no text is no error: the operation gets U+FFFD for bad bytes, and makes do with NULs */
  PARAM_VERBATIM = 64, /* standard input is taken as it is, with its final line end */
  PARAM_SECRETS = 128, /* what is secret in it is for the operation to deal with, not for scrub.h */
  PARAM_SHOWN = 256,   /* others are shown it unasked: no orders to a model, unless a person writes them */
};

struct param {
  const char *name; /* JSON member; the command line spells it --name with '-' for '_' */
  enum param_form form;
  unsigned flags;
  const char *cli;            /* another spelling on the command line ("tag" for "tags"), or NULL */
  const char *value;          /* placeholder in help: "ID", "TEXT" */
  const char *const *choices; /* NULL-terminated, or NULL */
  const char *help;           /* one line */
};

enum {
  OP_WRITE = 1,        /* changes the store */
  OP_DESTRUCTIVE = 2,  /* cannot be undone, or touches many memories */
  OP_STREAM = 4,       /* hands out lines as it goes, through call->emit */
  OP_NO_STORE = 8,     /* opens no store */
  OP_NO_TXN = 16,      /* writes, but not as a transaction of the store (backup, restore, sessions) */
  OP_GATED = 32,       /* waits until the agent has answered its action items; see action_gate.c */
  OP_OPERATOR = 64,    /* concerns more than the caller's team: closed to tokens; see operator.h */
  OP_SECRET = 128,     /* handles secrets: the call's memory is locked, left out of core dumps, and wiped */
  OP_EVERYDAY = 256,   /* listed in the short help */
  OP_PROJECT = 512,    /* agents with the role project may call it */
  OP_OBSERVES = 1024,  /* looks at the store and leaves no trace: not recorded as a call */
  OP_NO_UPKEEP = 2048, /* no maintenance follows it */
  OP_EXISTING = 4096,  /* needs a store that exists: a mistyped path must not look like an empty one */
  OP_BOOTS = 8192,     /* starts a conversation */
};

struct op_call;
struct principal;
struct redactor;

struct op {
  const char *name;           /* words separated by one blank: "remember", "task add" */
  const char *group;          /* heading in help */
  const char *summary;        /* one line, no full stop */
  const char *help;           /* a paragraph or more; what it does, what it returns */
  const char *example;        /* command lines, one per line, that work as they are */
  const struct param *params; /* ends with name == NULL */
  unsigned flags;
  const char *result;  /* members of its result, in the notation of op/run/results.h */
  const char *reveals; /* member of the result that shows a secret because the caller asked for it, or NULL */
  const char *local;   /* why remote callers may not have it, or NULL */
  enum status (*run)(struct op_call *call);
};

/* The process or connection behind a call, as far as a door knows it. */
struct origin {
  struct str host;       /* lower case; absent: unknown */
  int64_t pid;           /* 0: unknown */
  int64_t started;       /* when that process began, ms; together with the pid it names a process for good */
  struct str connection; /* of a client that comes over the network: its liveness is that of the connection */
  struct str cwd;
  struct str client, client_version; /* as the client calls itself; not to be trusted */
};

/* Who calls, from where: set by the door, never by an argument. */
struct caller {
  struct str team;    /* slug */
  struct str project; /* "" = none: sees global memories alone */
  bool project_given; /* named by the caller, not found in the surroundings */
  bool all_projects;
  struct str source;           /* "cli", "claude-code", ... */
  struct str session;          /* the handle that boot gave; may be absent */
  struct str tool;             /* the name by which the door offers the operation; absent: the operation's own */
  struct str trust;            /* provenance of what this door writes: "user", "agent", ... */
  const struct origin *origin; /* NULL: unknown */
  /* Whom the door has verified, and how far that one reaches: op/access/authenticate.h. NULL: who started the process.
   */
  const struct principal *principal;
};

/* What a door hands in besides the arguments; every member may be NULL. */
struct op_hooks {
  void *arg;
  /* One line of a streaming operation; anything but STATUS_OK stops it. */
  enum status (*emit)(void *arg, struct str line);
  void (*progress)(void *arg, const char *what, int64_t done, int64_t total);
  /* True when the caller wants the operation to stop at the next safe point. */
  bool (*cancelled)(void *arg);
  /* Asks the person at the terminal for a text that is not shown; false when nobody answers. */
  bool (*ask)(void *arg, const char *prompt, struct arena *a, struct str *ret_text);
  /* The memory that the call changes must still have one of these hashes (member "hash" of a full memory), else nothing
   * happens: STATUS_STALE. Looked at under the write lock. */
  const struct strs *expect;
  bool tell_hash; /* the result of a change gets the hash that the memory has now */
};

/* A call under way. Handlers read args, fill result, and return a status with *err set. */
struct op_call {
  const struct op *op;
  struct engine *engine;
  struct caller caller;
  struct op_hooks hooks;
  struct arena *arena;            /* everything of this call lives here */
  yyjson_val *args;               /* an object, checked against op->params, and free of secrets */
  const struct redactor *secrets; /* what is kept out of all that is stored and shown: scrub.h */
  int64_t redacted;               /* secrets that were taken out of the arguments */
  yyjson_mut_doc *doc;
  yyjson_mut_val *result; /* an object */
  int64_t now;
  bool done; /* it has run, and what is left is to tell of it */
  struct error *err;
};

/* The operation after `op` in the order of the help text; the first one for NULL, NULL after the last. */
const struct op *op_next(const struct op *op);
#define EACH_OP(op) for (const struct op *op = op_next(NULL); op; op = op_next(op))

/* By name; NULL when there is none. */
const struct op *op_find(struct str name);
const struct param *op_param(const struct op *op, struct str name);

/* Parameters that every operation accepts besides its own: project, scope, all_projects. */
extern const struct param common_params[];

/* Checks the arguments against the table: required, form, choices; unknown members are refused by name. */
NODISCARD enum status op_check_args(const struct op *op, yyjson_val *args, struct error *err);

/* Runs an operation: checks args, sets the out-of-memory boundary, rolls back whatever failed. The result object lives
 * in `arena`; on failure ret_result is untouched and err says why. Calls on one engine are serialised by its lock.
 * What fails because the connection to a server was lost is run again where that is safe; see repeat.h. */
NODISCARD enum status op_run(struct engine *engine, const struct op *op, const struct caller *caller,
                             const struct op_hooks *hooks, struct arena *arena, yyjson_val *args,
                             yyjson_mut_val **ret_result, struct error *err);

/* The error object of the JSON contract: {"error": {code, step?, message, fix?}}. */
yyjson_mut_val *op_error_json(yyjson_mut_doc *doc, const struct error *err);
