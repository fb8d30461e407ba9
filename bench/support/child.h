/* child.h: a program that speaks JSON lines over its standard input and output, and what the system knows of it. */
#pragma once

#include <stdio.h>
#include <sys/types.h>

struct child {
  pid_t pid;
  FILE *to, *from;
  char *line; /* the last answer */
  size_t room;
};

/* Its standard error goes nowhere. */
void child_start(struct child *c, const char *const *argv);
/* Sends a message and waits for the answer with this id; others are passed over. Fails when the program ends. */
const char *child_ask(struct child *c, const char *message, long id);
void child_tell(struct child *c, const char *message);
/* The next line, whatever it is. */
const char *child_line(struct child *c);
/* Closes its input, and ends it by a signal when it does not end by itself. */
void child_end(struct child *c);
/* Resident memory in MB. */
double child_memory(pid_t pid);
