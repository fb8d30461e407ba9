/* anthropic.c: profile of Anthropic's memory tool (memory_20250818): one tool with six commands on files in /memories.
 *
 * The operations return the texts of successful calls; this file formats the errors. */
#include <assert.h>

#include "core/files/memfile.h"
#include "mcp/profiles/profiles.h"

/* ---- from commands to operations ---- */

struct command {
  const char *name, *op;
  const char *args[4]; /* required, except for the last `optional` ones; ends with NULL */
  size_t optional;
};

static const struct command commands[] = {
    {"view", "file view", {"path"}, 0},
    {"create", "file create", {"path", "file_text"}, 0},
    {"str_replace", "file str_replace", {"path", "old_str", "new_str"}, 1},
    {"insert", "file insert", {"path", "insert_line", "insert_text"}, 0},
    {"delete", "file delete", {"path"}, 0},
    {"rename", "file rename", {"old_path", "new_path"}, 0},
};
static const char *const command_names[] = {"view", "create", "str_replace", "insert", "delete", "rename", NULL};

static const struct command *command_of(struct str name) {
  for (size_t i = 0; i < ARRAY_LEN(commands); i++)
    if (str_is(name, commands[i].name))
      return &commands[i];
  return NULL;
}

static enum status bad_call(struct tool_run *run, const char *name, const char *what) {
  error_set(run->err, STATUS_USAGE, "the argument `%s` %s", name, what);
  return error_step(run->err, "call");
}

static enum status copy_args(struct tool_run *run, const struct command *c, yyjson_mut_val *args) {
  size_t n = 0;
  while (n < ARRAY_LEN(c->args) && c->args[n])
    n++;
  assert(c->optional < n);
  for (size_t i = 0; i < n; i++) {
    yyjson_val *v = yyjson_obj_get(run->args, c->args[i]);
    if (!v && i + c->optional < n)
      return bad_call(run, c->args[i], "is missing");
    if (v)
      yyjson_mut_obj_add_val(run->doc, args, c->args[i], yyjson_val_mut_copy(run->doc, v));
  }
  return STATUS_OK;
}

static enum status copy_range(struct tool_run *run, yyjson_mut_val *args) {
  yyjson_val *range = yyjson_obj_get(run->args, "view_range");
  if (!range || yyjson_arr_size(range) == 0)
    return STATUS_OK;
  if (yyjson_arr_size(range) != 2)
    return bad_call(run, "view_range", "is a list of two line numbers, such as [1, 20]");
  json_put_int(run->doc, args, "from", yyjson_get_sint(yyjson_arr_get(range, 0)));
  json_put_int(run->doc, args, "to", yyjson_get_sint(yyjson_arr_get(range, 1)));
  return STATUS_OK;
}

static enum status run_memory(struct tool_run *run) {
  const struct command *c = command_of(json_str(run->args, "command"));
  yyjson_mut_val *args = yyjson_mut_obj(run->doc), *result;
  if (!c)
    return bad_call(run, "command", "is not one of the six");
  TRY(copy_args(run, c, args));
  if (c == &commands[0])
    TRY(copy_range(run, args));
  TRY(tool_op(run, c->op, args, &result));
  struct str text = {yyjson_mut_get_str(yyjson_mut_obj_get(result, "text")),
                     yyjson_mut_get_len(yyjson_mut_obj_get(result, "text"))};
  run->text = arena_dup(run->arena, text);
  yyjson_mut_obj_remove_key(result, "text");
  run->result = result;
  return STATUS_OK;
}

/* ---- errors ---- */

/* Repeats the searched text in full; an error's message may have truncated it. */
static struct str match_error(struct tool_run *run, const struct error *err) {
  assert(err->step);
  struct str old = json_str(run->args, "old_str"), path = json_str(run->args, "path"), fix = str_from(err->fix);
  if (strcmp(err->step, "no_match") == 0)
    return arena_printf(run->arena, "No replacement was performed, old_str `%.*s` did not appear verbatim in %.*s.",
                        STR_ARG(old), STR_ARG(path));
  struct str in = STR("in lines: ");
  size_t at = str_find(fix, in, 0);
  return arena_printf(run->arena,
                      "No replacement was performed. Multiple occurrences of old_str `%.*s` in lines: %.*s. Please "
                      "ensure it is unique",
                      STR_ARG(old), STR_ARG(at == SIZE_MAX ? STR("") : str_slice(fix, at + in.n, fix.n)));
}

static bool is_step(const struct error *err, const char *name) { return err->step && strcmp(err->step, name) == 0; }

/* Errors for which the models know a text; advice is added to others. */
static bool is_known(const struct error *err) {
  return err->code == STATUS_NOT_FOUND || err->code == STATUS_CONFLICT || is_step(err, "lines") ||
         is_step(err, "root") || is_step(err, "insert_line") || is_step(err, "range");
}

static void say_error(struct tool_run *run, const struct error *err) {
  struct str command = json_str(run->args, "command"), fix = tool_rewrite_advice(run, str_from(err->fix));
  bool bare =
      is_step(err, "lines") || is_step(err, "root") || (err->code == STATUS_NOT_FOUND && str_is(command, "view"));
  if (is_step(err, "no_match") || is_step(err, "matches"))
    run->text = match_error(run, err);
  else if (err->code == STATUS_SECRET)
    run->text = arena_printf(run->arena, "Error: %s. Remove it and store its location instead.", err->message);
  else
    run->text = arena_printf(run->arena, "%s%s", bare ? "" : "Error: ", err->message);
  if (fix.n && err->code != STATUS_SECRET && !is_known(err))
    run->text = arena_printf(run->arena, "%.*s\n%.*s", STR_ARG(run->text), STR_ARG(fix));
  run->result = yyjson_mut_obj(run->doc);
  yyjson_mut_obj_add_val(run->doc, run->result, "error", yyjson_mut_strncpy(run->doc, run->text.p, run->text.n));
}

/* ---- the table ---- */

static const struct tool_arg memory_args[] = {
    {.name = "command", .form = TOOL_TEXT, .flags = ARG_REQUIRED, .choices = command_names},
    {.name = "path", .form = TOOL_TEXT, .help = "file or directory under /memories; all commands but rename"},
    {.name = "view_range", .form = TOOL_INTS, .help = "view: first and last line, such as [1, 20]; -1 is the end"},
    {.name = "file_text", .form = TOOL_TEXT, .help = "create: the content"},
    {.name = "old_str", .form = TOOL_TEXT, .help = "str_replace: text that occurs once in the file"},
    {.name = "new_str", .form = TOOL_TEXT, .help = "str_replace: replacement; without it the text is removed"},
    {.name = "insert_line", .form = TOOL_INT, .help = "insert: line after which the text is inserted; 0 is the top"},
    {.name = "insert_text", .form = TOOL_TEXT, .help = "insert: the text"},
    {.name = "old_path", .form = TOOL_TEXT, .help = "rename: file or directory"},
    {.name = "new_path", .form = TOOL_TEXT, .help = "rename: its new path"},
    {0},
};

static const struct tool tools[] = {
    {.name = "memory",
     .title = "Memory",
     .description = "Files that last beyond this conversation, in the directory /memories. Commands: view a file or "
                    "directory, create a file, str_replace in one, insert lines, delete, rename. View /memories before "
                    "you begin, and keep what a later conversation will need.",
     .flags = TOOL_ALWAYS,
     .args = memory_args,
     .run = run_memory},
    {0},
};

const struct profile profile_anthropic = {
    .name = "anthropic",
    .title = "Cairn as Anthropic's memory tool",
    .tools = tools,
    .foreign = true,
    .budget = -1, /* no limit; the operation truncates a view at 16,000 characters, as the tool's clients expect */
    .error = say_error,
};
