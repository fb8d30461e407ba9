/* handle.h: the inside of struct cairn, and of one call on it, for the files of this folder alone. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "cairn.h"
#include "op/op.h"

struct cairn {
  struct engine *engine; /* NULL: opening failed, and `error` says why */
  struct caller caller;
  struct arena arena; /* the texts of `caller` */
  struct arena spare; /* of the last call, for the next: its memory is not asked for again */
  pid_t owner;        /* a forked child must not touch the store */
  atomic_bool interrupted;

  pthread_mutex_t calls; /* held during a call */
  pthread_mutex_t state; /* guards what follows, for a moment only */
  struct error error;    /* of the last call that failed */
  bool inside;           /* a call is running, ... */
  pthread_t thread;      /* ... on this thread: its callback cannot make another one */
};

/* A call under way. */
struct lib_call {
  struct cairn *db;
  struct arena arena;  /* what the call needs while it runs */
  struct arena result; /* what the caller gets; it moves into the result itself */
  struct result_head *head;
  struct error err;
  bool done; /* the operation has succeeded; only its result is still to be handed over */
  cairn_line_fn line;
  void *line_arg;
  char *line_text; /* a copy of the present line, NUL-terminated */
  size_t line_room;
};

typedef enum status (*lib_work)(struct lib_call *call, void *arg);

/* Runs work(call, arg) as the one call on the handle, inside an out-of-memory boundary, and keeps its error. */
int lib_guard(struct cairn *db, lib_work work, void *arg);

/* For `work`: runs an operation; its result as JSON text, in the arena of the call. */
NODISCARD enum status lib_run(struct lib_call *call, const char *operation, yyjson_val *args, struct str *ret_json);

/* A cleared structure that the caller will get. Everything it points at is allocated from call->result, and goes with
 * it in lib_result_free(). When the call fails, it is gone. */
void *lib_result_new(struct lib_call *call, size_t size);
void lib_result_free(void *result);

/* Copies a structure whose first member is its size, as described in the header; `first` is the size that 0 stands
 * for. False when it has members that this version does not know. */
bool lib_copy_sized(void *ret, size_t known, const void *given, size_t first);
/* The size of a structure up to and with one of its members. */
#define SIZE_UP_TO(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))
