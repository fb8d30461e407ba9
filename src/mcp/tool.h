/* tool.h: tools and profiles as data. A profile is a table of tools; a tool maps a name and its arguments onto an
 * operation of op.h, and the operation's result onto what the client expects. Nothing here decides anything about
 * memories.
 *
 * How a row is read: `args` describes what the client sends; each goes to the operation's argument `to`, under the same
 * name when that is NULL; `fixed` adds members. What a table cannot say is said by a function: `prepare` changes the
 * operation's arguments before the call, `finish` turns its result into the tool's, `run` replaces both, for a tool
 * that needs several operations or none.
 *
 * A new profile is a file profile_NAME.c with one table, and one line in profiles.c. */
#ifndef CAIRN_MCP_TOOL_H
#define CAIRN_MCP_TOOL_H

#include "op/op.h"

enum tool_form {
  TOOL_TEXT,
  TOOL_INT,
  TOOL_NUMBER,
  TOOL_BOOL,
  TOOL_LIST,    /* of texts */
  TOOL_INTS,    /* list of whole numbers */
  TOOL_OBJECT,  /* any object; `schema` says more */
  TOOL_OBJECTS, /* list of objects; `schema` describes one */
  TOOL_ID,      /* a memory: a number, or a text (uid, key) */
};

enum {
  ARG_REQUIRED = 1,
  ARG_LOCAL = 2, /* for the functions of the row alone: not handed to the operation */
};

struct tool_arg {
  const char *name;
  enum tool_form form;
  unsigned flags;
  const char *to;             /* argument of the operation; NULL: the same name */
  const char *const *choices; /* NULL-terminated, or NULL */
  const char *missing;        /* JSON that stands for an absent argument, or NULL */
  const char *help;           /* short: every word of it is sent with every conversation */
  const char *schema;         /* JSON schema of an object, or NULL */
};

enum {
  TOOL_READS = 1,      /* readOnlyHint */
  TOOL_DESTROYS = 2,   /* destructiveHint */
  TOOL_IDEMPOTENT = 4, /* idempotentHint */
  TOOL_ALWAYS = 8,     /* clients that load tools late should load this one at once */
  TOOL_HIDDEN = 16,    /* callable, but not listed: a former name */
};

struct tool_run;

struct tool {
  const char *name, *title, *description;
  const char *op; /* operation; NULL: `run` */
  unsigned flags;
  const struct tool_arg *args; /* ends with name == NULL */
  const char *fixed;           /* members of a JSON object: "\"kind\":\"rule\"", or NULL */
  const char *output;          /* JSON schema of the structured result; NULL: any object */
  enum status (*prepare)(struct tool_run *run, yyjson_mut_val *args);
  enum status (*finish)(struct tool_run *run, yyjson_mut_val *result);
  enum status (*run)(struct tool_run *run);
};

/* A resource of a profile, beside those that every profile of our own has (mcp/resources.h). */
struct profile_resource {
  const char *uri; /* or a template with one {variable} at its end */
  const char *name, *title, *description, *mime;
  enum status (*read)(struct tool_run *run, struct str variable, struct str *ret_text);
};

struct profile {
  const char *name, *title;
  const char *instructions;                 /* for the model, at most 2 KB; NULL: none */
  const struct tool *tools;                 /* ends with name == NULL */
  const struct profile_resource *resources; /* ends with uri == NULL, or NULL: those of mcp/resources.h */
  bool read_only;
  /* How an error looks to clients of this profile; NULL: the message with its fix, and the error object. */
  void (*error)(struct tool_run *run, const struct error *err);
};

extern const struct profile *const profiles[]; /* ends with NULL; the first is the default */
const struct profile *profile_find(struct str name);
/* Listed or hidden; NULL when there is none. */
const struct tool *tool_find(const struct profile *profile, struct str name);

/* The definition as tools/list gives it: the same bytes every time. */
yyjson_mut_val *tool_definition(yyjson_mut_doc *doc, const struct tool *tool);

/* One tools/call. The door fills in the first part. */
struct tool_run {
  const struct profile *profile;
  const struct tool *tool;
  struct engine *engine;
  struct caller caller; /* tool_call() sets caller.tool, and caller.session from the argument `session` */
  struct op_hooks hooks;
  struct arena *arena;
  yyjson_mut_doc *doc;
  yyjson_val *args; /* an object */
  bool confirmed;   /* the user has agreed to what cannot be undone */
  struct error *err;

  /* What the tool answers. */
  yyjson_mut_val *result; /* structured content: an object */
  struct str text;        /* what the model reads; absent: `result` as JSON */
  bool is_error;          /* the call was sound, and the answer is a refusal */
};

/* Checks the arguments against the table (a wrong one: STATUS_USAGE with a sentence that says what to do), runs the
 * tool, and fits the answer into the budget. STATUS_CONFIRM: the door asks the user and calls again with `confirmed`.
 * A refusal or failure of an operation is an answer: STATUS_OK with is_error. */
NODISCARD enum status tool_call(struct tool_run *run);

/* For the functions of a row: runs an operation as the caller. `args` is an object of run->doc. */
NODISCARD enum status tool_op(struct tool_run *run, const char *op, yyjson_mut_val *args, yyjson_mut_val **ret_result);

#endif
