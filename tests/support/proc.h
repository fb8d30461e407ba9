/* proc.h: runs programs for black-box tests: arguments, environment, input; output, exit code, time limit.
 *
 *   struct run r = proc_run(.argv = ARGS(CAIRN_BIN, "search", "cats"), .env = ARGS("CAIRN_HOME=/x"));
 *   CHECK_INT(r.exit_code, 0);
 *   CHECK_STR(r.out, "...");
 *
 * Results live as long as the test. A program never outlives its test. */
#pragma once

#include <sys/types.h>

#include "base/str.h"

/* A NULL-terminated list of C strings. */
#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

struct proc_spec {
  const char *const *argv; /* argv[0] is looked up in PATH if it has no slash */
  const char *const *env;  /* "NAME=value" sets, "NAME" unsets; added to the inherited environment */
  const char *dir;         /* working directory; NULL: the test's directory */
  struct str input;        /* all of stdin; empty: immediate end of file */
  int timeout_ms;          /* 0: 10 s; longer in sanitizer builds */
  bool merge;              /* stderr goes into out */
};

struct run {
  int exit_code; /* -1 if killed by a signal */
  int signal;    /* 0 if it exited */
  bool timed_out;
  struct str out, err; /* NUL-terminated */
  int64_t elapsed_us;  /* wall clock */
};

struct run proc_run_spec(const struct proc_spec *spec);
#define proc_run(...) proc_run_spec(&(struct proc_spec){__VA_ARGS__})

/* A program that runs in parallel to the test, for servers and tests with several processes. */
struct proc;
struct proc *proc_start_spec(const struct proc_spec *spec);
#define proc_start(...) proc_start_spec(&(struct proc_spec){__VA_ARGS__})
pid_t proc_pid(const struct proc *p);
/* Writes the text to the program's stdin, which stays open until proc_close(); false if the program no longer reads. */
bool proc_send(struct proc *p, struct str text);
void proc_close(struct proc *p);
/* The next line of its stdout without the line end; false at the end of the output or after timeout_ms. */
bool proc_line(struct proc *p, int timeout_ms, struct str *ret_line);
void proc_kill(struct proc *p, int number);
/* Closes stdin, reads the remaining output and waits; kills the program after the time limit. The result has the
 * whole output, including lines already read. */
struct run proc_wait(struct proc *p);

/* Number of open file descriptors of this process. */
int open_descriptors(void);
/* Reads or writes a whole file; a failure ends the test. */
struct str file_read(const char *path);
void file_write(const char *path, struct str text);
/* "dir/name" in memory that lives as long as the test; dir NULL is test_dir(). */
const char *path_join(const char *dir, const char *name);
