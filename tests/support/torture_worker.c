/* torture_worker.c: one worker of the torture test: random operations through the library or the program.
 * Acknowledged writes go to its journal, unexpected results to the list of complaints. */
#include "support/torture_worker.h"

#include <cairn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/attr.h"

uint32_t torture_random(uint64_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return (uint32_t)(*seed >> 20);
}

static void append(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  /* One write: a killed process leaves the whole line or none of it. */
  if (fd < 0 || write(fd, text, strlen(text)) < 0)
    _exit(3);
  close(fd);
}

PRINTF_FMT(2, 3)
static void journal(const struct worker *w, const char *fmt, ...) {
  char line[600];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(line, sizeof(line), fmt, ap);
  va_end(ap);
  append(w->journal, line);
}

static void complain(const struct worker *w, const char *what, const char *detail) {
  char line[900];
  snprintf(line, sizeof(line), "%s: %.700s\n", what, detail);
  append(w->complaints, line);
}

/* Later operations use it again: a writer must find its own memories. */
static void remember_own(struct worker *w, const char *uid, const char *text) {
  int at = w->own_count++ % WORKER_OWN;
  snprintf(w->own[at].uid, sizeof(w->own[at].uid), "%s", uid);
  snprintf(w->own[at].text, sizeof(w->own[at].text), "%s", text);
}

/* The index of one of its own memories; -1 if there is none. */
static int pick_own(struct worker *w) {
  int n = w->own_count < WORKER_OWN ? w->own_count : WORKER_OWN;
  int at = n ? (int)(torture_random(&w->seed) % (uint32_t)n) : -1;
  return at >= 0 && w->own[at].uid[0] ? at : -1;
}

/* Unique words, so it is not a duplicate. */
static void new_text(struct worker *w, char out[200]) {
  size_t n = 0;
  for (int word = 0; word < 8; word++) {
    for (int i = 0; i < 7; i++)
      out[n++] = (char)('a' + torture_random(&w->seed) % 26);
    out[n++] = word < 7 ? ' ' : 0;
  }
}

/* ---- through the library ---- */

/* Journals a call that failed because the server was down; such a call promises nothing. */
static bool is_disturbance(const struct worker *w, const char *what, int status) {
  if (!w->disturbed || (status != CAIRN_LOST && status != CAIRN_UNAVAILABLE))
    return false;
  char name[40];
  snprintf(name, sizeof(name), "%s", what);
  for (char *c = name; *c; c++)
    *c = *c == ' ' ? '_' : *c;
  journal(w, "F %s %s\n", name, cairn_status_name(status));
  struct timespec ts = {0, 50000000};
  nanosleep(&ts, NULL);
  return true;
}

static void check(const struct worker *w, struct cairn *db, const char *what, int status) {
  struct cairn_error e;
  if (status == CAIRN_OK || status == CAIRN_CONFLICT || status == CAIRN_NOT_FOUND || status == CAIRN_DUPLICATE ||
      is_disturbance(w, what, status))
    return; /* a conflict with another worker, or nothing to find yet: both are expected */
  cairn_last_error(db, &e);
  complain(w, what, e.message);
}

static void write_fact(struct worker *w, struct cairn *db, bool keyed) {
  char text[200], key[20];
  new_text(w, text);
  snprintf(key, sizeof(key), "shared-%u", torture_random(&w->seed) % 5);
  struct cairn_draft d = {.text = text, .headline = "A torture fact"};
  if (keyed) {
    d.key = key;
    d.reason = "a newer value";
  }
  struct cairn_written *r = NULL;
  int status = cairn_remember(db, &d, &r);
  check(w, db, "remember", status);
  if (status == CAIRN_OK && r->action != CAIRN_SKIPPED) {
    journal(w, "%s %s %s\n", keyed ? "K" : "W", r->uid, text);
    if (!keyed)
      remember_own(w, r->uid, text);
  }
  cairn_written_free(r);
}

static void call(const struct worker *w, struct cairn *db, const char *op, const char *args) {
  char *json = NULL;
  check(w, db, op, cairn_call(db, op, args, 0, &json, NULL));
  cairn_free(json);
}

static void claim(struct worker *w, struct cairn *db) {
  char *json = NULL, args[100];
  snprintf(args, sizeof(args), "{\"by\":\"worker-%d-%d\"}", w->number, (int)getpid());
  int status = cairn_call(db, "task claim", args, 0, &json, NULL);
  check(w, db, "task claim", status);
  const char *id = json ? strstr(json, "\"id\":") : NULL;
  if (status == CAIRN_OK && id)
    journal(w, "C %ld worker-%d-%d\n", strtol(id + 5, NULL, 10), w->number, (int)getpid());
  cairn_free(json);
}

/* An acknowledged memory must be readable at once. */
static void read_own(struct worker *w, struct cairn *db) {
  int at = pick_own(w);
  struct cairn_memory *m = NULL;
  if (at < 0)
    return;
  int status = cairn_get(db, w->own[at].uid, &m);
  if (is_disturbance(w, "get", status))
    return;
  if (status != CAIRN_OK)
    complain(w, "its own memory is gone", w->own[at].uid);
  else if (strcmp(m->body, w->own[at].text) != 0)
    complain(w, "its own memory has another text", m->body);
  cairn_memory_free(m);
}

static void annotate_own(struct worker *w, struct cairn *db) {
  char args[400], text[200];
  int at = pick_own(w);
  if (at < 0)
    return;
  new_text(w, text);
  snprintf(args, sizeof(args), "{\"id\":\"%s\",\"note\":\"%s\"}", w->own[at].uid, text);
  int status = cairn_call(db, "annotate", args, 0, NULL, NULL);
  check(w, db, "annotate", status);
  if (status == CAIRN_OK)
    journal(w, "A %s %s\n", w->own[at].uid, text);
}

static void purge_own(struct worker *w, struct cairn *db) {
  char args[200];
  int at = pick_own(w);
  if (at < 0)
    return;
  journal(w, "p %s\n", w->own[at].uid);
  snprintf(args, sizeof(args), "{\"ids\":[\"%s\"],\"confirm\":true}", w->own[at].uid);
  int status = cairn_call(db, "purge", args, 0, NULL, NULL);
  check(w, db, "purge", status);
  if (status == CAIRN_OK)
    journal(w, "P %s\n", w->own[at].uid);
  w->own[at].uid[0] = 0;
}

/* Writes to its own file while other workers write. */
static void copy_out(struct worker *w, struct cairn *db, const char *op) {
  char path[760], args[800];
  snprintf(path, sizeof(path), "%s.copy-%d", w->files, (int)getpid());
  unlink(path);
  snprintf(args, sizeof(args), "{\"file\":\"%s\"}", path);
  check(w, db, op, cairn_call(db, op, args, 0, NULL, NULL));
  unlink(path);
}

static void one_operation(struct worker *w, struct cairn *db) {
  char args[300], text[200];
  uint32_t dice = torture_random(&w->seed) % 100;
  snprintf(args, sizeof(args), "{\"id\":\"%u\"}", 1 + torture_random(&w->seed) % 300);
  new_text(w, text);
  if (w->disturbed && dice < 25) {
    /* Fewer calls succeed while the server is disturbed. Prefer tasks: double claims are the most likely error. */
    snprintf(args, sizeof(args), "{\"text\":\"%s\",\"headline\":\"A torture task\"}", text);
    if (dice % 2)
      claim(w, db);
    else
      call(w, db, "task add", args);
  } else if (dice < 50) {
    write_fact(w, db, false);
  } else if (dice < 60) {
    write_fact(w, db, true);
  } else if (dice < 67) {
    read_own(w, db);
  } else if (dice < 70) {
    annotate_own(w, db);
  } else if (dice < 71) {
    purge_own(w, db);
  } else if (dice < 76) {
    snprintf(args, sizeof(args), "{\"text\":\"%s\",\"headline\":\"A torture task\"}", text);
    call(w, db, "task add", args);
  } else if (dice < 82) {
    claim(w, db);
  } else if (dice < 88) {
    call(w, db, "get", args);
  } else if (dice < 92) {
    snprintf(args, sizeof(args), "{\"query\":\"%.30s\",\"limit\":3}", text);
    call(w, db, "search", args);
  } else if (dice < 96) {
    snprintf(args, sizeof(args), "{\"id\":\"%u\",\"direction\":\"up\"}", 1 + torture_random(&w->seed) % 300);
    call(w, db, "rate", args);
  } else if (dice < 98) {
    call(w, db, "list", "{\"limit\":20}");
  } else if (dice < 99) {
    call(w, db, "maintain", "{}");
  } else {
    copy_out(w, db, torture_random(&w->seed) % 2 ? "backup" : "export");
  }
}

static void visit(struct worker *w, int operations) {
  struct cairn *db = NULL;
  struct cairn_options o = {.path = w->store, .source = "torture"};
  int status = cairn_open(&o, &db);
  if (status != CAIRN_OK)
    check(w, db, "open", status);
  for (int i = 0; status == CAIRN_OK && i < operations && time(NULL) < w->until; i++)
    one_operation(w, db);
  cairn_close(&db);
}

void worker_visit(struct worker *w) { visit(w, 3); }

void worker_library(struct worker *w) {
  while (time(NULL) < w->until)
    visit(w, 40); /* a new handle every 40 operations, because opening and closing is part of the test */
}

/* ---- through the program ---- */

struct outcome {
  char out[16384];
  int status; /* from waitpid */
};

/* Runs the program on this input (a file, or NULL). If kill_ms >= 0, kills it after that time, if it still runs. */
static struct outcome run_program(const char *const *argv, const char *input, int kill_ms) {
  struct outcome r = {.status = -1};
  int fd[2];
  if (pipe(fd) != 0)
    _exit(3);
  pid_t child = fork();
  if (child == 0) {
    int in = open(input ? input : "/dev/null", O_RDONLY);
    if (in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(fd[1], STDOUT_FILENO) < 0 || dup2(fd[1], STDERR_FILENO) < 0)
      _exit(126);
    close(fd[0]);
    close(fd[1]);
    execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
  }
  close(fd[1]);
  size_t n = 0;
  for (;;) {
    struct pollfd p = {.fd = fd[0], .events = POLLIN};
    int ready = poll(&p, 1, kill_ms);
    if (ready == 0) {
      kill(child, SIGKILL);
      kill_ms = -1;
      continue;
    }
    char more[1024]; /* drain the rest of the output, so the program does not block */
    size_t room = sizeof(r.out) - 1 - n;
    ssize_t got = read(fd[0], room ? r.out + n : more, room ? room : sizeof(more));
    if (got <= 0)
      break;
    n += room ? (size_t)got : 0;
  }
  close(fd[0]);
  while (waitpid(child, &r.status, 0) < 0 && errno == EINTR)
    continue;
  return r;
}

static bool expected(const struct worker *w, const char *op, const char *out) {
  if (strstr(out, "\"conflict\"") || strstr(out, "\"not_found\"") || strstr(out, "\"duplicate\""))
    return true;
  return is_disturbance(w, op,
                        strstr(out, "\"code\":\"lost\"")          ? CAIRN_LOST
                        : strstr(out, "\"code\":\"unavailable\"") ? CAIRN_UNAVAILABLE
                                                                  : CAIRN_INTERNAL);
}

static void program_write(struct worker *w) {
  char text[200], uid[40] = "";
  new_text(w, text);
  int kill_ms = torture_random(&w->seed) % 3 ? -1 : (int)(torture_random(&w->seed) % 20);
  struct outcome r = run_program((const char *const[]){w->program, "--db", w->store, "remember", "--headline",
                                                       "A torture fact", "--json", text, NULL},
                                 NULL, kill_ms);
  const char *at = strstr(r.out, "\"uid\":\"");
  bool whole = strchr(r.out, '\n') != NULL;
  if (whole && at && strstr(r.out, "\"action\":\"stored\"")) {
    memcpy(uid, at + 7, 36);
    journal(w, "W %s %s\n", uid, text);
  } else if (WIFEXITED(r.status) && WEXITSTATUS(r.status) != 0 && !expected(w, "remember", r.out)) {
    complain(w, "program remember", r.out);
  }
}

/* Many at once: each line of the reply acknowledges one memory, even if later ones fail. */
static void program_batch(struct worker *w) {
  enum { LINES = 30 };
  char path[760], text[LINES][200];
  snprintf(path, sizeof(path), "%s.batch-%d", w->files, (int)getpid());
  FILE *f = fopen(path, "w");
  if (!f)
    _exit(3);
  for (int i = 0; i < LINES; i++) {
    new_text(w, text[i]);
    fprintf(f, "{\"text\":\"%s\",\"headline\":\"A torture fact\"}\n", text[i]);
  }
  fclose(f);
  int kill_ms = torture_random(&w->seed) % 2 ? -1 : (int)(torture_random(&w->seed) % 40);
  struct outcome r = run_program(
      (const char *const[]){w->program, "--db", w->store, "remember", "--batch", "-", "--json", NULL}, path, kill_ms);
  unlink(path);
  if (WIFEXITED(r.status) && WEXITSTATUS(r.status) != 0 && !(w->disturbed && expected(w, "batch", r.out)))
    complain(w, "program batch", r.out);
  for (char *line = r.out, *end; (end = strchr(line, '\n')); line = end + 1) {
    *end = 0;
    const char *number = strstr(line, "\"line\":"), *at = strstr(line, "\"uid\":\"");
    int i = number ? (int)strtol(number + 7, NULL, 10) - 1 : -1;
    if (i >= 0 && i < LINES && at && strstr(line, "\"action\":\"stored\""))
      journal(w, "W %.36s %s\n", at + 7, text[i]);
  }
}

static void program_read(struct worker *w) {
  static const char *const commands[][3] = {{"stats", NULL, NULL},
                                            {"list", "--limit", "5"},
                                            {"task", "ready", NULL},
                                            {"search", "anything at all", NULL},
                                            {"events", "--limit", "3"}};
  const char *const *c = commands[torture_random(&w->seed) % 5];
  struct outcome r = run_program(
      (const char *const[]){w->program, "--db", w->store, "--json", c[0], c[1], c[1] ? c[2] : NULL, NULL}, NULL, -1);
  if (!WIFEXITED(r.status) || (WEXITSTATUS(r.status) != 0 && !(w->disturbed && expected(w, c[0], r.out))))
    complain(w, c[0], r.out);
}

void worker_program(struct worker *w) {
  while (time(NULL) < w->until) {
    uint32_t dice = torture_random(&w->seed) % 8;
    if (dice < 5)
      program_write(w);
    else if (dice < 6)
      program_batch(w);
    else
      program_read(w);
  }
}
