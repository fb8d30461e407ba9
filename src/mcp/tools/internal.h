/* internal.h: what the files of the tool engine share. */
#pragma once

#include "mcp/tools/tool.h"

/* ---- tool.c ---- */

/* Tokens of an answer when the call says nothing; below 0: no limit. */
int tool_budget(const struct profile *profile);

/* ---- mcp/tools/schema.c ---- */

/* The flags of a row; of one that only names an operation, those that follow from the operation. */
unsigned tool_flags(const struct tool *tool);
/* Whether an operation of the tool wants the user's agreement, and the tool has no argument of its own for it. The
 * definition then has `confirm`, which is the door's to take: tool_call() does not know it. */
bool tool_asks(const struct tool *tool);

/* ---- mcp/tools/output.c ---- */

/* The schema of what the tool answers, from the results of its operations, in at most so many tokens: all of it, else
 * the outermost members, else as many of those as there is room for. NULL: nothing is known, or nothing fits. */
yyjson_mut_val *tool_output(struct arena *a, yyjson_mut_doc *doc, const struct tool *tool, size_t room);

/* ---- mcp/tools/value.c ---- */

/* The value in its form; NULL when it has another and cannot be read as this one without loss. */
yyjson_mut_val *tool_value(struct tool_run *run, enum tool_form form, yyjson_val *v);
/* What a form is called: "a whole number". */
const char *tool_form_words(enum tool_form form);

/* ---- mcp/tools/args.c ---- */

/* The arguments of a tool: its table, or one made from the parameters of its operation. */
const struct tool_arg *tool_args_of(struct arena *a, const struct tool *tool);
/* An argument as the operation describes it; false when it is not for clients. */
bool tool_arg_of(const struct param *p, struct tool_arg *ret_arg);
/* Checks run->args, puts the checked ones in their place, and sets run->action and the caller's session. */
enum status tool_check(struct tool_run *run);
/* The operation's arguments. */
enum status tool_map(struct tool_run *run, const struct op *op, yyjson_mut_val **ret_args);

/* ---- mcp/tools/advice.c ---- */

/* How a call of an operation looks in this profile, for example memory_get {"id":"12"}; absent when no tool does it.
 * `args` are members of the operation's arguments. */
struct str tool_call_text(const struct tool_run *run, const char *op, yyjson_mut_val *args);

/* ---- mcp/tools/show.c ---- */

/* A memory, or another piece of text that somebody stored: a handoff, an action item. */
bool tool_is_memory(yyjson_mut_val *v);
/* run->result as text. */
struct str tool_rendered(struct tool_run *run);

/* ---- mcp/tools/fit.c ---- */

/* A member of a memory that a reader does without: it goes first, and nothing is said about it. */
bool tool_may_slim(struct str member);
/* Fits run->result into the budget, and where it is `own` (not made by a function of the row) the text, too. */
void tool_fit(struct tool_run *run, bool own);

/* ---- mcp/tools/untrusted.c ---- */

/* Looks through a result of an operation, before anything is taken from it. */
void tool_marks_gather(struct tool_run *run, yyjson_mut_val *result);
/* Compares the answer with it, and sets run->notice and run->untrusted. `own`: tool_rendered() made the text. */
void tool_marks(struct tool_run *run, bool own);

/* ---- mcp/tools/answer.c ---- */

/* Turns run->result and run->text into what is sent: neutral, within the budget. */
void tool_answer(struct tool_run *run);
/* The answer that says why not, from run->err; tool_answer() follows. A door that cannot make the call uses it, too. */
void tool_answer_error(struct tool_run *run);

/* ---- values that are being built ---- */

static inline struct str mut_text(yyjson_mut_val *v) {
  return yyjson_mut_is_str(v) ? (struct str){yyjson_mut_get_str(v), yyjson_mut_get_len(v)} : STR_NONE;
}

static inline struct str mut_member(yyjson_mut_val *obj, const char *name) {
  return mut_text(yyjson_mut_obj_get(obj, name));
}

static inline void mut_set_text(yyjson_mut_val *v, struct arena *a, struct str s) {
  s = arena_dup(a, s);
  yyjson_mut_set_strn(v, s.p, s.n);
}
