/* run.c: runs one operation: input, store, hooks, result, maintenance, exit code. */
#include "cli/run.h"

#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/fs.h"
#include "cli/ask.h"
#include "cli/context.h"
#include "cli/render/render.h"

enum { INPUT_MAX = 16 * 1024 * 1024, NOTICE_AFTER_MS = 2000 };

struct call {
  struct arena *a;
  struct cli_args *args;
  struct context context;
  struct output *out;
  struct progress progress;
  enum status line_failure; /* status of the first failed line of a batch */
  size_t lines_failed;
  struct error err;
};

/* Global because a signal handler sets it. */
static volatile sig_atomic_t interrupted;

static void on_signal(int number UNUSED) { interrupted = 1; }

/* The first signal asks the operation to stop at a safe point; a second one kills the program. */
static void watch_signals(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

/* ---- standard input ---- */

/* True unless standard input is a terminal or /dev/null. */
static bool input_is_redirected(void) {
  struct stat st;
  return fstat(STDIN_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode) || S_ISSOCK(st.st_mode));
}

/* A program that reads the terminal looks hung, so say which input it expects. */
static void print_waiting_notice(const struct call *c) {
  struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
  if (!c->out->quiet && poll(&p, 1, NOTICE_AFTER_MS) == 0)
    fprintf(stderr, "cairn: waiting for text on standard input until end of file\n");
}

/* Prompts for a secret that was not given. */
static enum status ask_input(struct call *c) {
  struct cli_args *args = c->args;
  struct str text;
  if (!(args->op->flags & OP_SECRET) || !args_flag(args->args, "secret") || !isatty(STDIN_FILENO) ||
      !ask_hidden(NULL, "Value (hidden): ", c->a, &text))
    return STATUS_OK;
  return args_set_input(args, text, &c->err);
}

static enum status read_input(struct call *c) {
  struct cli_args *args = c->args;
  struct str text;
  if (!args->input)
    return STATUS_OK;
  if (!args->input_asked && !input_is_redirected())
    return ask_input(c);
  print_waiting_notice(c);
  if (fs_read_fd(c->a, STDIN_FILENO, "standard input", INPUT_MAX, &text, &c->err) != STATUS_OK)
    return error_fix(&c->err, "a memory is limited to 1 MB: split the text or store part of it");
  if (text.n == 0 && !args->input_asked)
    return STATUS_OK; /* no input: the operation reports what is missing */
  if (args->input->flags & PARAM_VERBATIM)
    return args_set_input(args, text, &c->err);
  if (str_ends(text, STR("\r\n")))
    text.n -= 2;
  else if (str_ends(text, STR("\n")))
    text.n -= 1;
  return args_set_input(args, text, &c->err);
}

/* ---- hooks ---- */

static enum status status_of_name(struct str name) {
  for (int s = STATUS_OK; s < STATUS_COUNT; s++)
    if (str_is(name, status_name((enum status)s)))
      return (enum status)s;
  return STATUS_INTERNAL;
}

static void note_failure(struct call *c, yyjson_val *line) {
  yyjson_val *error = yyjson_obj_get(line, "error");
  if (error && c->lines_failed++ == 0)
    c->line_failure = status_of_name(json_str(error, "code"));
}

static bool is_following(const struct call *c) { return args_flag(c->args->args, "follow"); }

/* Callers that feed lines may wait for each result before they send the next line. */
static bool needs_flush(const struct call *c) {
  return is_following(c) || str_is(args_text(c->args->args, "batch"), "-");
}

static void print_line(struct call *c, struct arena *a, struct str line) {
  const struct op *op = c->args->op;
  struct error err;
  yyjson_val *parsed = NULL;
  bool failure = !(op->flags & OP_STREAM) && str_find(line, STR("\"error\""), 0) != SIZE_MAX;
  if (!c->out->json || failure)
    if (json_read(a, line, &parsed, &err) != STATUS_OK)
      parsed = NULL;
  if (failure)
    note_failure(c, parsed);
  struct page page = {.b = BUF(a),
                      .term = c->out->out,
                      .now = clock_now(&c->context.engine.clock),
                      .project = c->context.caller.project};
  if (!c->out->json && parsed && render_line(&page, op, parsed))
    output_text(c->out, buf_str(&page.b));
  else
    output_json_text(c->out, a, line);
}

static enum status emit(void *arg, struct str line) {
  struct call *c = arg;
  struct arena scratch;
  jmp_buf oom;
  arena_init(&scratch);
  if (ARENA_BOUNDARY(&scratch, oom)) {
    arena_release(&scratch);
    return STATUS_NOMEM;
  }
  progress_clear(&c->progress);
  print_line(c, &scratch, line);
  arena_release(&scratch);
  if (needs_flush(c))
    output_flush(c->out);
  return c->out->failed ? STATUS_IO : STATUS_OK;
}

static void progress(void *arg, const char *what, int64_t done, int64_t total) {
  struct call *c = arg;
  progress_draw(&c->progress, what, done, total);
}

static bool cancelled(void *arg UNUSED) { return interrupted != 0; }

/* ---- result ---- */

/* With --json, the lines are the whole output of these operations; a summary would look like another line. */
static bool is_lines_only(const struct call *c) {
  const struct op *op = c->args->op;
  if (op->flags & OP_STREAM)
    return !yyjson_mut_obj_get(c->args->args, "file") || str_is(args_text(c->args->args, "file"), "-");
  return yyjson_mut_obj_get(c->args->args, "batch") != NULL;
}

static void print_result(struct call *c, const yyjson_mut_val *result) {
  struct str json = json_write(c->a, result, false);
  yyjson_val *root;
  if (c->out->json) {
    if (!is_lines_only(c))
      output_json_text(c->out, c->a, json);
    return;
  }
  if (json_read(c->a, json, &root, &c->err) != STATUS_OK)
    return;
  struct page page = {.b = BUF(c->a),
                      .term = c->out->out,
                      .now = clock_now(&c->context.engine.clock),
                      .project = c->context.caller.project,
                      .quiet = c->out->quiet};
  /* Raw data may go to a file or a pipe: print nothing else. */
  if (!((c->args->op->flags & OP_STREAM) && is_lines_only(c)))
    render_result(&page, c->args->op, root);
  output_text(c->out, buf_str(&page.b));
  struct page warnings = {.b = BUF(c->a), .term = c->out->err};
  render_warnings(&warnings, root);
  if (!c->out->quiet && warnings.b.n)
    fputs(warnings.b.p, stderr);
}

static int exit_code_of(const struct call *c, yyjson_mut_val *result) {
  yyjson_mut_val *ok = yyjson_mut_obj_get(result, "ok");
  if (yyjson_mut_is_false(ok))
    return status_exit_code(STATUS_DEGRADED);
  return status_exit_code(c->line_failure);
}

/* ---- maintenance ---- */

/* Maintenance runs once a day, in the first process that finds it due. The result is already printed, and a failure is
 * harmless. */
static void maintain_if_due(struct call *c, struct engine *engine) {
  const struct op *op = c->args->op, *maintain = op_find(STR("maintain"));
  /* Operations that copy, check or configure the store leave it unchanged. */
  bool apart = (op->flags & (OP_NO_STORE | OP_NO_TXN | OP_STREAM | OP_NO_UPKEEP)) != 0;
  if (apart || !maintain || op == maintain || c->context.no_maintain || interrupted || engine->agent[0])
    return;
  struct arena scratch;
  arena_init(&scratch);
  struct op_hooks hooks = {.arg = c, .cancelled = cancelled};
  struct error err;
  yyjson_val *args;
  yyjson_mut_val *result;
  engine->record_calls = false; /* not a call of the user */
  if (json_read(&scratch, STR("{\"if_due\":true}"), &args, &err) == STATUS_OK)
    (void)!op_run(engine, maintain, &c->context.caller, &hooks, &scratch, args, &result, &err);
  arena_release(&scratch);
}

/* ---- the call ---- */

/* Does the call go into the table of calls? Not those that observe or copy the store, nor streams. */
static bool is_recorded(const struct op *op) {
  return !(op->flags & (OP_NO_STORE | OP_NO_TXN | OP_STREAM | OP_OBSERVES));
}

static enum status open_engine(struct call *c, struct engine **ret_engine) {
  struct engine_options *options = &c->context.engine;
  options->record_calls = is_recorded(c->args->op);
  options->must_exist = (c->args->op->flags & OP_EXISTING) && !c->context.default_store;
  if (c->args->op->flags & OP_NO_STORE)
    options->path = NULL;
  if (options->path && c->context.default_store) {
    struct str dir = fs_dirname(str_from(options->path));
    if (fs_mkdirs(arena_cstr(c->a, dir), &c->err) != STATUS_OK)
      return error_fix(&c->err, "set another store with --db FILE or CAIRN_DB");
  }
  return engine_open(options, ret_engine, &c->err);
}

/* From here on everything is in locked memory, including standard input and output. */
static void lock_memory(struct call *c) {
  enum { BUFFER_BYTES = 4096 };
  arena_guard(c->a);
  c->args->doc = json_new(c->a);
  c->args->args = yyjson_mut_val_mut_copy(c->args->doc, c->args->args);
  char *buffer = mem_secret(BUFFER_BYTES); /* never freed */
  if (buffer)
    setvbuf(stdout, buffer, _IOFBF, BUFFER_BYTES);
}

static enum status prepare(struct call *c, yyjson_val **ret_args) {
  if (c->args->op->flags & OP_SECRET)
    lock_memory(c);
  TRY(context_load(c->a, c->args, &c->context, &c->err));
  TRY(args_check(c->a, c->args, &c->err));
  TRY(read_input(c));
  c->args->input = NULL;
  TRY(args_check(c->a, c->args, &c->err));
  yyjson_val *args;
  TRY(json_read(c->a, json_write(c->a, c->args->args, false), &args, &c->err));
  TRY(op_check_args(c->args->op, args, &c->err));
  *ret_args = args;
  return STATUS_OK;
}

static int print_failure(struct call *c) {
  /* Lost output stopped the stream, and is reported at the end. */
  if (c->out->failed)
    return status_exit_code(STATUS_IO);
  /* A batch has reported its failures line by line; its own error repeats the first. */
  if (c->lines_failed == 0 || c->err.code != c->line_failure)
    return output_error(c->out, c->a, &c->err);
  if (!c->out->json)
    fprintf(stderr, "cairn: %zu line%s not stored\n", c->lines_failed, c->lines_failed == 1 ? " was" : "s were");
  return status_exit_code(c->line_failure);
}

/* Runs the operation and prints the result or the error. */
static int run_and_print(struct call *c, struct engine *engine, yyjson_val *values) {
  struct op_hooks hooks = {.arg = c, .emit = emit, .progress = progress, .cancelled = cancelled, .ask = ask_hidden};
  yyjson_mut_val *result = NULL;
  progress_init(&c->progress, STDERR_FILENO);
  c->progress.on = c->progress.on && !c->out->quiet;
  watch_signals();
  enum status s = op_run(engine, c->args->op, &c->context.caller, &hooks, c->a, values, &result, &c->err);
  progress_clear(&c->progress);
  if (s != STATUS_OK && c->err.code != s) /* emit() failed, and sets no error */
    error_set(&c->err, s, "%s", status_text(s));
  if (s != STATUS_OK)
    return print_failure(c);
  assert(yyjson_mut_is_obj(result));
  print_result(c, result);
  int code = exit_code_of(c, result);
  output_flush(c->out);
  maintain_if_due(c, engine);
  return code;
}

/* Doctor says it itself. */
static void warn_of_loss(const struct call *c, const struct engine *engine) {
  if (engine->store && !c->out->quiet && c->args->op != op_find(STR("doctor")))
    output_loss(store_missing(engine->store));
}

int run_operation(struct arena *a, struct cli_args *args, struct output *out) {
  assert(args->command == CLI_OPERATION && args->op->run);
  struct call c = {.a = a, .args = args, .out = out};
  struct engine *engine = NULL;
  yyjson_val *values = NULL;
  if (prepare(&c, &values) != STATUS_OK || open_engine(&c, &engine) != STATUS_OK)
    return output_error(out, a, &c.err);
  warn_of_loss(&c, engine);
  int code = run_and_print(&c, engine, values);
  engine_close(&engine);
  return code;
}
