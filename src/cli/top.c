/* top.c: `cairn top`, the live view: terminal, keys, redrawing. */
#include "cli/top.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/context.h"
#include "op/access/roles.h"

enum { MINUTES = 15, MINUTES_MAX = 24 * 60, INTERVAL_MS = 1000, HEIGHT = 24, SNAPSHOT_EVENTS = 20, BUSY_MS = 200 };

const struct param top_params[] = {
    {"once", PARAM_BOOL, 0, NULL, NULL, NULL, "print one snapshot and exit"},
    {"minutes", PARAM_INT, 0, NULL, "N", NULL, "period for latencies, 1 to 1440 minutes (default 15)"},
    {0},
};

struct view {
  struct arena *a;
  struct cli_args *args;
  struct output *out;
  struct context context;
  struct top top;
  struct termios former;
  bool raw;
  struct error err;
};

/* ---- signals: globals, because handlers set them ---- */

static volatile sig_atomic_t ended;

static void on_end(int number UNUSED) { ended = 1; }
static void on_resize(int number UNUSED) {}

/* Signals are blocked except during the wait, so none is missed in between. */
static void watch_signals(sigset_t *ret_during_wait) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH};
  sigset_t blocked;
  sigemptyset(&blocked);
  for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
    struct sigaction action = {.sa_handler = numbers[i] == SIGWINCH ? on_resize : on_end};
    sigemptyset(&action.sa_mask);
    sigaction(numbers[i], &action, NULL);
    sigaddset(&blocked, numbers[i]);
  }
  sigprocmask(SIG_BLOCK, &blocked, ret_during_wait);
  for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
    sigdelset(ret_during_wait, numbers[i]);
}

/* ---- the terminal ---- */

/* Reads single keys without echo; the alternate screen preserves the previous content. */
static void enter(struct view *v) {
  struct termios raw;
  if (isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &v->former) == 0) {
    raw = v->former;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    v->raw = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
  }
  output_text(v->out, STR("\x1b[?1049h\x1b[?25l"));
}

static void leave(struct view *v) {
  output_text(v->out, STR("\x1b[?25h\x1b[?1049l"));
  output_flush(v->out);
  if (v->raw)
    tcsetattr(STDIN_FILENO, TCSANOW, &v->former);
}

/* False to quit. */
static bool wait_for_key(struct view *v, const sigset_t *signals) {
  struct timespec interval = {INTERVAL_MS / 1000, INTERVAL_MS % 1000 * 1000000L};
  struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
  int n = ppoll(&p, v->raw ? 1 : 0, &interval, signals);
  if (ended || v->out->failed)
    return false;
  if (n < 1)
    return n == 0 || errno == EINTR;
  char key;
  ssize_t got = read(STDIN_FILENO, &key, 1);
  return got == 1 && key != 'q' && key != 'Q' && key != 4 /* Ctrl-D. */;
}

/* ---- drawing ---- */

static size_t height_of_terminal(void) {
  struct winsize size;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : HEIGHT;
}

/* Redraws line by line and clears the rest of each line, which avoids flicker. */
static void redraw(struct view *v, struct arena *a, struct str text) {
  struct buf b = BUF(a);
  struct str line;
  buf_adds(&b, "\x1b[H");
  for (bool first = true; str_line(&text, &line); first = false) {
    if (!first)
      buf_adds(&b, "\r\n");
    buf_add(&b, line);
    buf_adds(&b, "\x1b[K");
  }
  buf_adds(&b, "\x1b[J");
  output_text(v->out, buf_str(&b));
  output_flush(v->out);
}

/* A temporary failure of the store does not end the view: it is shown, and the next refresh retries. */
static void draw(struct view *v) {
  struct arena *a = arena_child(v->a);
  size_t height = height_of_terminal();
  struct page page = {.b = BUF(a), .term = term_of(STDOUT_FILENO, args_flag(v->args->globals, "no_color"))};
  yyjson_val *snapshot;
  if (top_read(&v->top, a, height, &snapshot, &v->err) == STATUS_OK)
    top_draw(&page, snapshot, height);
  else
    page_line(&page, page.term.style.red, str_from(v->err.message), 0);
  redraw(v, a, buf_str(&page.b));
  arena_release(a);
}

static int print_once(struct view *v) {
  struct page page = {.b = BUF(v->a), .term = v->out->out};
  yyjson_val *snapshot;
  if (top_read(&v->top, v->a, SNAPSHOT_EVENTS, &snapshot, &v->err) != STATUS_OK)
    return output_error(v->out, v->a, &v->err);
  if (v->out->json) {
    output_json_text(v->out, v->a, json_write_val(v->a, snapshot));
    return 0;
  }
  top_draw(&page, snapshot, 0);
  output_text(v->out, buf_str(&page.b));
  return 0;
}

static int run_live(struct view *v) {
  sigset_t signals;
  watch_signals(&signals);
  enter(v);
  do
    draw(v);
  while (wait_for_key(v, &signals));
  leave(v);
  return 0;
}

/* ---- the command ---- */

static enum status prepare(struct view *v) {
  yyjson_mut_val *minutes = yyjson_mut_obj_get(v->args->args, "minutes");
  v->top.minutes = minutes ? yyjson_mut_get_sint(minutes) : MINUTES;
  if (v->top.minutes < 1 || v->top.minutes > MINUTES_MAX) {
    error_set(&v->err, STATUS_USAGE, "--minutes must be 1 to %d", (int)MINUTES_MAX);
    return error_fix(&v->err, "--minutes %d", (int)MINUTES);
  }
  if (context_load(v->a, v->args, &v->context, &v->err) != STATUS_OK)
    return v->err.code;
  v->top.caller = v->context.caller;
  v->top.caller.session = STR_NONE; /* watching does not keep a session alive */
  struct engine_options *o = &v->context.engine;
  o->must_exist = true; /* watching creates nothing */
  o->busy_ms = BUSY_MS;
  if (engine_open(o, &v->top.engine, &v->err) != STATUS_OK)
    return v->err.code;
  return roles_check(v->top.engine, &v->top.caller, "events", &v->err);
}

int run_top(struct arena *a, struct cli_args *args, struct output *out) {
  struct view v = {.a = a, .args = args, .out = out};
  int code;
  if (prepare(&v) != STATUS_OK)
    code = output_error(out, a, &v.err);
  else if (out->json || !out->out.tty || args_flag(args->args, "once"))
    code = print_once(&v);
  else
    code = run_live(&v);
  engine_close(&v.top.engine);
  return code;
}
