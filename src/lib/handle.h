/* handle.h: struct cairn and the state of one call. Private to src/lib. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "cairn.h"
#include "op/op.h"

struct cairn {
  struct engine *engine; /* NULL if opening failed; then `error` has the reason */
  struct caller caller;
  struct arena arena; /* strings of `caller` */
  struct arena spare; /* memory of the last call, reused by the next */
  pid_t owner;        /* a forked child must not use the store */
  atomic_bool interrupted;

  pthread_mutex_t calls; /* held during a call */
  pthread_mutex_t state; /* guards the members below; held only briefly */
  struct error error;    /* of the last call that failed */
  bool inside;           /* a call is running */
  pthread_t thread;      /* thread of the running call; its callback cannot make another call */
};

/* State of a call. */
struct lib_call {
  struct cairn *db;
  struct arena arena;  /* memory that is freed after the call */
  struct arena result; /* memory of the result; stored in its head on success */
  struct result_head *head;
  struct error err;
  bool done; /* the operation succeeded; only its result is missing */
  cairn_line_fn line;
  void *line_arg;
  char *line_text; /* NUL-terminated copy of the current line */
  size_t line_cap;
};

typedef enum status (*lib_work)(struct lib_call *call, void *arg);

/* Runs work(call, arg) as the only call on the handle, inside an out-of-memory boundary, and stores its error. */
int lib_guard(struct cairn *db, lib_work work, void *arg);

/* True on the thread of the running call: a callback is using its own handle. */
bool lib_in_callback(struct cairn *db);

/* Runs an operation from within `work`. Its result is JSON text in the arena of the call. */
NODISCARD enum status lib_run(struct lib_call *call, const char *operation, yyjson_val *args, struct str *ret_json);

/* Zeroed structure for the caller. All that it points to is allocated from call->result and freed with it by
 * lib_result_free(). If the call fails, it is freed. */
void *lib_result_new(struct lib_call *call, size_t size);
void lib_result_free(void *result);

/* Copies a structure whose first member is its size (see cairn.h). A size of 0 means `first`. False if it has members
 * that this version does not know. */
bool lib_copy_sized(void *ret, size_t known, const void *given, size_t first);
/* Size of a structure up to and including a member. */
#define SIZE_UP_TO(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))
