/* run.c: one operation from a parsed command line to its exit code: input, store, hooks, result, housekeeping. */
#include "cli/run.h"

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
  enum status line_failure; /* of the first line of a batch that failed */
  size_t lines_failed;
  struct error err;
};

/* A signal handler can reach nothing else. */
static volatile sig_atomic_t interrupted;

static void on_signal(int number UNUSED) { interrupted = 1; }

/* The first signal asks the operation to stop at a safe point, a second one ends the program at once. */
static void watch_signals(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

/* ---- standard input ---- */

/* Somebody may have sent text: not a terminal, and not /dev/null. */
static bool input_is_redirected(void) {
  struct stat st;
  return fstat(STDIN_FILENO, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode) || S_ISSOCK(st.st_mode));
}

/* A program that waits for text nobody sends looks as if it hung: say what it waits for. */
static void tell_waiting(const struct call *c) {
  struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
  if (!c->out->quiet && poll(&p, 1, NOTICE_AFTER_MS) == 0)
    fprintf(stderr, "cairn: waiting for text on standard input, until its end\n");
}

/* A secret that nobody has given is asked for. */
static enum status ask_input(struct call *c) {
  struct cli_args *args = c->args;
  struct str text;
  if (!(args->op->flags & OP_SECRET) || !args_flag(args->args, "secret") || !isatty(STDIN_FILENO) ||
      !ask_hidden(NULL, "Value, which is not shown: ", c->a, &text))
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
  tell_waiting(c);
  if (fs_read_fd(c->a, STDIN_FILENO, "standard input", INPUT_MAX, &text, &c->err) != STATUS_OK)
    return error_fix(&c->err, "a memory holds at most 1 MB: split the text, or store a part of it");
  if (text.n == 0 && !args->input_asked)
    return STATUS_OK; /* nobody sent anything: the operation says what is missing */
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

/* Whoever feeds lines may wait for the answer to one before the next. */
static bool is_awaited(const struct call *c) {
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
  struct page page = {.b = BUF(a), .term = c->out->out, .now = clock_now(&c->context.engine.clock)};
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
  if (is_awaited(c))
    output_flush(c->out);
  return c->out->failed ? STATUS_IO : STATUS_OK;
}

static void progress(void *arg, const char *what, int64_t done, int64_t total) {
  struct call *c = arg;
  progress_draw(&c->progress, what, done, total);
}

static bool cancelled(void *arg UNUSED) { return interrupted != 0; }

/* ---- result ---- */

/* With --json the lines of these are the whole output: a summary would be taken for one of them. */
static bool lines_are_all(const struct call *c) {
  const struct op *op = c->args->op;
  if (op->flags & OP_STREAM)
    return !yyjson_mut_obj_get(c->args->args, "file") || str_is(args_text(c->args->args, "file"), "-");
  return yyjson_mut_obj_get(c->args->args, "batch") != NULL;
}

static void print_result(struct call *c, const yyjson_mut_val *result) {
  struct str json = json_write(c->a, result, false);
  yyjson_val *root;
  if (c->out->json) {
    if (!lines_are_all(c))
      output_json_text(c->out, c->a, json);
    return;
  }
  if (json_read(c->a, json, &root, &c->err) != STATUS_OK)
    return;
  struct page page = {
      .b = BUF(c->a), .term = c->out->out, .now = clock_now(&c->context.engine.clock), .quiet = c->out->quiet};
  /* Raw data may go to a file or to another program: nothing is mixed into it. */
  if (!((c->args->op->flags & OP_STREAM) && lines_are_all(c)))
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

/* ---- housekeeping ---- */

/* Once a day the process that notices it does the maintenance. The result is out already, and a failure harms nobody.
 */
static void maintain_if_due(struct call *c, struct engine *engine) {
  const struct op *op = c->args->op, *maintain = op_find(STR("maintain"));
  /* Those that copy, judge or configure the store leave it as they found it. */
  bool apart = (op->flags & (OP_NO_STORE | OP_NO_TXN | OP_STREAM | OP_NO_UPKEEP)) != 0;
  if (apart || !maintain || op == maintain || c->context.no_maintain || interrupted || engine->agent[0])
    return;
  struct arena scratch;
  arena_init(&scratch);
  struct op_hooks hooks = {.arg = c, .cancelled = cancelled};
  struct error err;
  yyjson_val *args;
  yyjson_mut_val *result;
  engine->record_calls = false; /* nobody called it */
  enum status s = json_read(&scratch, STR("{\"if_due\":true}"), &args, &err);
  if (s == STATUS_OK)
    s = op_run(engine, maintain, &c->context.caller, &hooks, &scratch, args, &result, &err);
  (void)s;
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
      return error_fix(&c->err, "--db FILE, or CAIRN_DB, names a store elsewhere");
  }
  return engine_open(options, ret_engine, &c->err);
}

/* From here on everything is in memory for secrets: also what comes from standard input, and what is printed. */
static void guard(struct call *c) {
  enum { BUFFER_BYTES = 4096 };
  arena_guard(c->a);
  c->args->doc = json_new(c->a);
  c->args->args = yyjson_mut_val_mut_copy(c->args->doc, c->args->args);
  char *buffer = mem_secret(BUFFER_BYTES); /* until the program ends */
  if (buffer)
    setvbuf(stdout, buffer, _IOFBF, BUFFER_BYTES);
}

static enum status prepare(struct call *c, yyjson_val **ret_args) {
  if (c->args->op->flags & OP_SECRET)
    guard(c);
  if (context_load(c->a, c->args, &c->context, &c->err) != STATUS_OK ||
      args_check(c->a, c->args, &c->err) != STATUS_OK || read_input(c) != STATUS_OK)
    return c->err.code;
  c->args->input = NULL;
  if (args_check(c->a, c->args, &c->err) != STATUS_OK)
    return c->err.code;
  yyjson_val *args;
  if (json_read(c->a, json_write(c->a, c->args->args, false), &args, &c->err) != STATUS_OK ||
      op_check_args(c->args->op, args, &c->err) != STATUS_OK)
    return c->err.code;
  *ret_args = args;
  return STATUS_OK;
}

static int print_failure(struct call *c) {
  /* A lost output is what stopped a stream, and is told at the end. */
  if (c->out->failed)
    return status_exit_code(STATUS_IO);
  /* A batch has told its failures line by line; its own error repeats the first. */
  if (c->lines_failed == 0 || c->err.code != c->line_failure)
    return output_error(c->out, c->a, &c->err);
  if (!c->out->json)
    fprintf(stderr, "cairn: %zu line%s not stored\n", c->lines_failed, c->lines_failed == 1 ? " was" : "s were");
  return status_exit_code(c->line_failure);
}

/* Runs it, and prints the result or the error. */
static int run_and_print(struct call *c, struct engine *engine, yyjson_val *values) {
  struct op_hooks hooks = {.arg = c, .emit = emit, .progress = progress, .cancelled = cancelled, .ask = ask_hidden};
  yyjson_mut_val *result = NULL;
  progress_init(&c->progress, STDERR_FILENO);
  c->progress.on = c->progress.on && !c->out->quiet;
  watch_signals();
  enum status s = op_run(engine, c->args->op, &c->context.caller, &hooks, c->a, values, &result, &c->err);
  progress_clear(&c->progress);
  if (s != STATUS_OK)
    return print_failure(c);
  print_result(c, result);
  int code = exit_code_of(c, result);
  output_flush(c->out);
  maintain_if_due(c, engine);
  return code;
}

int run_operation(struct arena *a, struct cli_args *args, struct output *out) {
  struct call c = {.a = a, .args = args, .out = out};
  struct engine *engine = NULL;
  yyjson_val *values = NULL;
  if (prepare(&c, &values) != STATUS_OK || open_engine(&c, &engine) != STATUS_OK)
    return output_error(out, a, &c.err);
  int code = run_and_print(&c, engine, values);
  engine_close(&engine);
  return code;
}
