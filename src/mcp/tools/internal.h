/* internal.h: declarations shared by the files of the tool engine. */
#pragma once

#include "mcp/tools/tool.h"

/* ---- tool.c ---- */

/* Default budget of an answer in tokens; negative: no limit. */
int tool_budget(const struct profile *profile);

/* ---- mcp/tools/schema.c ---- */

/* The flags of a row, derived from the operation if the row names only that. */
unsigned tool_flags(const struct tool *tool);
/* True if an operation of the tool needs the user's consent and the tool has no argument for it. The definition then
 * has `confirm`, which method_tools_call() removes: tool_call() does not know it. */
bool tool_needs_consent(const struct tool *tool);

/* ---- mcp/tools/value.c ---- */

/* The value converted to a form; NULL if that would lose information. */
yyjson_mut_val *tool_value(struct tool_run *run, enum tool_form form, yyjson_val *v);
/* The name of a form for messages: "a whole number". */
const char *tool_form_name(enum tool_form form);

/* ---- mcp/tools/args.c ---- */

/* The arguments of a tool: its table, or one derived from the parameters of its operation. */
const struct tool_arg *tool_args_of(struct arena *a, const struct tool *tool);
/* The argument for an operation's parameter; false if it is not offered to clients. */
bool tool_arg_of(const struct param *p, struct tool_arg *ret_arg);
/* Checks run->args, replaces them by the converted ones, and sets run->action and the caller's session. */
enum status tool_check(struct tool_run *run);
/* The operation's arguments. */
enum status tool_map(struct tool_run *run, const struct op *op, yyjson_mut_val **ret_args);

/* ---- mcp/tools/advice.c ---- */

/* The call of an operation in this profile, for example memory_get {"id":"12"}; absent if no tool maps to it. `args`
 * are arguments of the operation. */
struct str tool_call_text(const struct tool_run *run, const char *op, yyjson_mut_val *args);

/* ---- mcp/tools/show.c ---- */

/* True for a memory and for other stored text: a handoff, an action item. */
bool tool_is_memory(yyjson_mut_val *v);
/* Renders run->result as text. */
struct str tool_render(struct tool_run *run);

/* ---- mcp/tools/rows.c ---- */

bool tool_is_one_of(struct str name, const char *const *names);
/* An empty text, list or object. */
bool tool_is_empty(yyjson_mut_val *v);
/* False, null, or an object of only those. */
bool tool_is_false(yyjson_mut_val *v);
/* Text as it is, a list of texts with commas, anything else as JSON without uids. */
void tool_show_value(struct buf *b, yyjson_mut_val *v);
/* A part of a line: one line, in which a value cannot start another part, such as a trust of its own. */
struct str tool_as_part(struct arena *a, struct str value);
/* The same of any value. A text with line breaks is in quotes. */
struct str tool_value_part(struct arena *a, yyjson_mut_val *v);
/* A warning or an error: what happened, and what to do. */
struct str tool_message_text(struct arena *a, yyjson_mut_val *v);
/* True for a list of objects; shows each as a line, without members that are empty, false or at their default. */
bool tool_has_rows(yyjson_mut_val *v);
void tool_show_rows(struct buf *b, yyjson_mut_val *list);

/* ---- mcp/tools/fit.c ---- */

/* Fits run->result into the budget. With `own` (no function of the row wrote the text), also fits the text. */
void tool_fit(struct tool_run *run, bool own);

/* ---- mcp/tools/untrusted.c ---- */

/* Collects the untrusted parts of an operation's result, before a function of the row changes it. */
void tool_collect_untrusted(struct tool_run *run, yyjson_mut_val *result);
/* Sets run->notice and run->untrusted to the collected parts that the answer shows without a label. `own`:
 * tool_render() made the text. */
void tool_report_untrusted(struct tool_run *run, bool own);

/* ---- mcp/tools/answer.c ---- */

/* Escapes the texts of run->result. Idempotent. */
void tool_present(struct tool_run *run);
/* Escapes run->result and fits it, or the text that the tool made, into the budget. */
void tool_answer(struct tool_run *run);
/* Sets the answer from run->err; tool_answer() follows. Also for calls that fail before tool_call(). */
void tool_answer_error(struct tool_run *run);

/* ---- mutable JSON values ---- */

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
