/* proc.h: runs programs for black-box tests: arguments, environment, input; output, exit code, time limit.
 *
 *   struct run r = proc_run(.argv = ARGS(CAIRN_BIN, "search", "cats"), .env = ARGS("CAIRN_HOME=/x"));
 *   CHECK_INT(r.exit_code, 0);
 *   CHECK_STR(r.out, "...");
 *
 * Results live as long as the test. A program that the harness started never outlives its test. */
#pragma once

#include <sys/types.h>

#include "base/str.h"

/* A NULL-terminated list of C strings. */
#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

struct proc_spec {
  const char *const *argv; /* argv[0] is looked up in PATH when it holds no slash */
  const char *const *env;  /* "NAME=value" sets, "NAME" alone unsets; added to the inherited environment */
  const char *dir;         /* working folder; NULL: the test's own folder */
  struct str input;        /* all of stdin; empty: end of file at once */
  int timeout_ms;          /* 0: 10 s; sanitizer builds get longer */
  bool merge;              /* stderr goes into out */
};

struct run {
  int exit_code; /* -1 when a signal ended it */
  int signal;    /* 0 when it exited */
  bool timed_out;
  struct str out, err; /* NUL-terminated */
  int64_t elapsed_us;  /* wall clock */
};

struct run proc_run_spec(const struct proc_spec *spec);
#define proc_run(...) proc_run_spec(&(struct proc_spec){__VA_ARGS__})

/* A program that runs beside the test, for servers and for tests with several processes. */
struct proc;
struct proc *proc_start_spec(const struct proc_spec *spec);
#define proc_start(...) proc_start_spec(&(struct proc_spec){__VA_ARGS__})
pid_t proc_pid(const struct proc *p);
/* Writes all of it to the program's stdin, which stays open until proc_close(); false when it reads no more. */
bool proc_send(struct proc *p, struct str text);
void proc_close(struct proc *p);
/* The next line of its stdout without the line end; false at the end of the output or after timeout_ms. */
bool proc_line(struct proc *p, int timeout_ms, struct str *ret_line);
void proc_kill(struct proc *p, int number);
/* Closes its stdin, reads the rest and waits; after the time limit it is killed. The output is all that it wrote,
 * lines already read included. */
struct run proc_wait(struct proc *p);

/* How many descriptors this process has open. */
int open_descriptors(void);
/* Reads or writes a whole file; a failure ends the test. */
struct str file_read(const char *path);
void file_write(const char *path, struct str text);
/* "dir/name" in memory that lives as long as the test; dir NULL is test_dir(). */
const char *path_join(const char *dir, const char *name);
