/* child.h: a program that speaks JSON lines over stdin and stdout, and its memory use. */
#pragma once

#include <stdio.h>
#include <sys/types.h>

struct child {
  pid_t pid;
  FILE *to, *from;
  char *line; /* the last answer */
  size_t room;
};

/* Discards its standard error. */
void child_start(struct child *c, const char *const *argv);
/* Sends a message and waits for the response with this id; skips others. Fails if the program ends. */
const char *child_ask(struct child *c, const char *message, long id);
void child_tell(struct child *c, const char *message);
/* The next line of any kind. */
const char *child_line(struct child *c);
/* Closes its input, and kills it if it does not exit. */
void child_end(struct child *c);
/* Resident memory in MB. */
double child_memory(pid_t pid);
