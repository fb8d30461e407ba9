/* output.c: standard output and error of a call. */
#include "cli/output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/render/render.h"
#include "op/run/scrub.h"

/* A write beyond the file size limit (ulimit -f) fails with an error instead of ending the process. */
static void ignore_signals(struct output *o) {
  struct sigaction old, ignore = {.sa_handler = SIG_IGN};
  sigemptyset(&ignore.sa_mask);
  sigaction(SIGXFSZ, &ignore, NULL);
  /* After the reader goes away we must still record reads and close the store: see output_finish(). */
  o->pipe_quiet = sigaction(SIGPIPE, &ignore, &old) == 0 && old.sa_handler == SIG_DFL;
}

void output_init(struct output *o) {
  *o = (struct output){0};
  for (int fd = 0; fd <= 2; fd++) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF)
      continue;
    /* open() returns the missing descriptor. Standard output becomes unwritable, so losing it is noticed. */
    int got = open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY);
    if (got > 2)
      close(got);
  }
  ignore_signals(o);
  output_set(o, false, false, false);
}

void output_set(struct output *o, bool json, bool quiet, bool no_color) {
  o->json = json;
  o->quiet = quiet;
  o->out = term_of(STDOUT_FILENO, no_color);
  o->err = term_of(STDERR_FILENO, no_color);
}

void output_text(struct output *o, struct str text) {
  if (o->failed || text.n == 0)
    return;
  errno = 0;
  if (fwrite(text.p, 1, text.n, stdout) != text.n)
    o->failed = errno ? errno : EIO;
}

void output_json_text(struct output *o, struct arena *a, struct str json) {
  if (o->out.tty) {
    struct buf b = BUF(a);
    term_safe_json(&b, json);
    json = buf_str(&b);
  }
  output_text(o, json);
  output_text(o, STR("\n"));
}

int output_error(struct output *o, struct arena *a, const struct error *err) {
  assert(err->code != STATUS_OK);
  struct error clean = *err; /* errors quote the command line verbatim */
  scrub_interface_error(NULL, STR_NONE, &clean);
  err = &clean;
  if (o->json) {
    yyjson_mut_doc *doc = json_new(a);
    output_json_text(o, a, json_write(a, op_error_json(doc, err), false));
  } else {
    struct page page = {.b = BUF(a), .term = o->err};
    render_error(&page, err->message, err->fix);
    fputs(page.b.p, stderr);
  }
  return status_exit_code(err->code);
}

bool output_flush(struct output *o) {
  errno = 0;
  if (!o->failed && fflush(stdout) != 0)
    o->failed = errno ? errno : EIO;
  return !o->failed;
}

void output_loss(int64_t missing) {
  if (missing)
    fprintf(stderr, "cairn: %lld committed transaction%s missing from the store; run 'cairn doctor'\n",
            (long long)missing, missing == 1 ? " is" : "s are");
}

int output_finish(struct output *o, int code) {
  output_flush(o);
  if (!o->failed && fclose(stdout) != 0)
    o->failed = errno;
  if (!o->failed)
    return code;
  if (o->failed == EPIPE && o->pipe_quiet) {
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
  }
  struct error err;
  error_errno(&err, o->failed, "cannot write to standard output");
  fprintf(stderr, "cairn: %s\n", err.message);
  return status_exit_code(STATUS_IO);
}
