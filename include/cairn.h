/* cairn.h: Cairn, durable memory for AI agents, as a C library. This header is its manual.
 *
 *   struct cairn *db;
 *   if (cairn_open(NULL, &db) == CAIRN_OK) {
 *     struct cairn_draft draft = {.text = "Staging listens on port 5433"};
 *     cairn_remember(db, &draft, NULL);
 *   }
 *   cairn_close(&db);
 *
 * Link with `pkg-config --libs cairn`. docs/library.md is a guide; docs/examples holds whole programs.
 *
 * MODEL. A handle is an open store, a file that any number of processes and handles may use at the same time. Writers
 * take turns and wait for each other; readers wait for nobody. What a call acknowledged is on the disk. There is no
 * global state: nothing to initialise, any number of handles, on one store or on many. Nothing runs in the background:
 * a program that lives long calls the operation "maintain" now and then, with {"if_due": true}.
 *
 * THREADS. A handle may be used from several threads: its calls run one after another. Threads that should work at the
 * same time open a handle each; it is cheap. Nothing here reads or changes the locale, the working folder, signals or
 * the standard streams; cairn_open() reads the environment when it is given no path.
 *
 * FORK. A handle belongs to the process that opened it. In a child made by fork(), calls on it return CAIRN_USAGE and
 * cairn_close() only forgets it; the child opens its own.
 *
 * TEXT. Every text is UTF-8 without NUL characters. What goes in is NUL-terminated unless its length is given, and
 * is never kept after the call. What comes out is NUL-terminated; it belongs to the structure it is found in.
 *
 * TIME. Milliseconds since 1970, UTC; 0 where there is none. Arguments that are a point in time are texts, as on the
 * command line: "2026-12-31", "2026-12-31T08:00:00Z", or a distance from now: "90s", "24h", "7d", "2w".
 *
 * ERRORS. Every function that can fail returns a status, 0 (CAIRN_OK) for success, and touches its results (ret_...)
 * only on success. cairn_last_error() tells in words what was wrong and what to do about it. A call that fails has
 * changed nothing; the one exception is stated at CAIRN_NOMEM. Nothing prints, exits or aborts.
 *
 * VERSIONS. A structure that the caller fills begins with `size`: set it to sizeof the structure, or leave it 0, which
 * stands for the structure as it was in version 0.1, without members that were added later. In both, a member that is
 * zero means the default. */
#ifndef CAIRN_H
#define CAIRN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CAIRN_API __attribute__((visibility("default")))
#else
#define CAIRN_API
#endif

/* ---- status codes ---- */

/* The numbers are stable; new ones are added at the end. */
enum cairn_status {
  CAIRN_OK = 0,
  CAIRN_INTERNAL = 1,        /* a bug in Cairn */
  CAIRN_USAGE = 2,           /* the call itself is wrong: unknown operation, missing or malformed argument */
  CAIRN_NOT_FOUND = 3,       /* no such memory, task, skill, transaction or file */
  CAIRN_REFUSED = 4,         /* the write gate refused the text */
  CAIRN_SECRET = 5,          /* the text holds a secret */
  CAIRN_DUPLICATE = 6,       /* the same knowledge is stored already */
  CAIRN_CONFLICT = 7,        /* the store is not in the state that the call needs */
  CAIRN_CONFIRM = 8,         /* a destructive call that was not confirmed */
  CAIRN_BUSY = 9,            /* another process kept the store locked for too long */
  CAIRN_READONLY = 10,       /* the store cannot be written */
  CAIRN_NO_SPACE = 11,       /* the disk is full */
  CAIRN_IO = 12,             /* a file could not be read or written */
  CAIRN_CORRUPT = 13,        /* the store file is damaged or is not a store */
  CAIRN_SCHEMA = 14,         /* the store was written by a newer version */
  CAIRN_NOMEM = 15,          /* out of memory. Nothing was changed, unless the error's step is "result": then the
                                operation was done, and only its result is lost */
  CAIRN_TOO_LARGE = 16,      /* the input is larger than the limit */
  CAIRN_INTERRUPTED = 17,    /* stopped by the caller: by its callback, or by cairn_interrupt() */
  CAIRN_DEGRADED = 18,       /* a check found problems */
  CAIRN_UNAVAILABLE = 19,    /* a service that the call needs, such as an embedding endpoint, gave no usable answer */
  CAIRN_STALE = 20,          /* the memory has changed since the caller read it */
  CAIRN_LOST = 21,           /* the connection to the server was lost; nothing was changed */
  CAIRN_DENIED = 22,         /* the role of the agent does not allow it */
  CAIRN_UNKNOWN_CALLER = 23, /* no token, or one that is wrong, expired or revoked; of the servers alone */
  CAIRN_LIMITED = 24         /* too many calls in a short time; of the servers alone */
};

/* "not_found" for CAIRN_NOT_FOUND: the name in JSON and on the command line. "unknown" for other numbers.
 * The text is static. Any thread. */
CAIRN_API const char *cairn_status_name(int status);
/* The sentence above, static. Any thread. */
CAIRN_API const char *cairn_status_text(int status);

/* The version of the library, "0.1.0"; static. Any thread. */
CAIRN_API const char *cairn_version(void);

/* ---- handles ---- */

struct cairn;

struct cairn_options {
  size_t size;

  /* The store: a file, or a database as postgresql://USER@HOST/DATABASE. NULL: the variable CAIRN_DB, else
   * cairn/cairn.db in the user's data folder (XDG_DATA_HOME, else ~/.local/share): the store that the command line
   * uses. A file is created when it is missing; of its folder, only that of the default store. A database must be
   * there; its tables are created. */
  const char *path;
  bool must_exist; /* a missing store is an error: CAIRN_NOT_FOUND */

  const char *team;    /* whose memories: 1 to 64 of a-z 0-9 _ -. NULL: "default" */
  const char *project; /* reads see this project and global memories, writes go to this project. NULL or "": global */
  bool all_projects;   /* reads see every project of the team */

  /* Recorded with every write and read. */
  const char *source;  /* which program this is. NULL: "library" */
  const char *session; /* which conversation or run; NULL: none */

  int busy_ms;          /* how long a call waits for other processes. 0: 60 seconds; negative: not at all */
  int64_t fixed_now_ms; /* > 0: the time stands still there, for tests */

  /* The configuration file, in TOML. NULL: the variable CAIRN_CONFIG, else cairn/cairn.toml in the user's folder for
   * configuration (XDG_CONFIG_HOME, else ~/.config), if it is there; "/dev/null": none. Then settings for this handle
   * alone, "NAME=VALUE", with a NULL at the end; they count more than the environment, that more than the file, and
   * that more than what the store holds. NULL: none. */
  const char *config;
  const char *const *settings;

  /* The agent that the handle is bound to: its calls reach as far as the role of that agent ("agent add"), and return
   * CAIRN_DENIED beyond. NULL: the variable CAIRN_AGENT, else the user, who is the administrator. */
  const char *agent;
};

/* Opens a store. `options` may be NULL: all defaults.
 *
 * As long as there is memory for it, *ret_db is set even when opening failed, so that cairn_last_error() can tell why;
 * every other call on such a handle returns the same error. In all cases, end with cairn_close(). Several threads may
 * open handles at the same time, as long as none changes the environment.
 *
 * CAIRN_USAGE (malformed option, path is a folder, no place for a default store, a mistake in the configuration),
 * CAIRN_NOT_FOUND (must_exist, or the folder is missing), CAIRN_READONLY, CAIRN_NO_SPACE, CAIRN_IO, CAIRN_BUSY,
 * CAIRN_CORRUPT, CAIRN_SCHEMA, CAIRN_NOMEM (then *ret_db may be NULL). */
CAIRN_API int cairn_open(const struct cairn_options *options, struct cairn **ret_db);

/* Writes what is queued (the record of reads), closes the store, frees the handle and sets *db to NULL. NULL and a
 * pointer to NULL are allowed. No call on the handle may be running; a callback cannot close its own handle. */
CAIRN_API void cairn_close(struct cairn **db);

/* What went wrong in the last call on a handle that failed. */
struct cairn_error {
  int code;          /* enum cairn_status; CAIRN_OK when nothing failed yet */
  char step[32];     /* the step that refused, such as "headline" or "secrets"; "" where there is none */
  char message[512]; /* one sentence */
  char fix[1024];    /* what to do next, in terms of the command line; "" where there is nothing to say */
};

/* Copies it. Any thread, also while a call is running; with several threads on a handle it is the last failure of any
 * of them. `db` may be NULL: the error of a cairn_open() that had no memory for a handle. */
CAIRN_API void cairn_last_error(const struct cairn *db, struct cairn_error *ret_error);

/* Asks the call that is running on the handle, or the next one when there is none, to stop at the next safe point. It
 * returns CAIRN_INTERRUPTED when its work is left undone, and CAIRN_OK when there is nothing to miss: a short operation
 * finishes, the event log has given what there was. Any thread, and signal handlers; `db` may be NULL. */
CAIRN_API void cairn_interrupt(struct cairn *db);

/* ---- every operation: JSON in, JSON out ---- */

/* Operations, by index 0 .. cairn_operation_count() - 1; NULL, or 0, for other indexes. They are those of the command
 * line, `cairn help` describes their arguments and results. Texts are static. Any thread. */
CAIRN_API size_t cairn_operation_count(void);
CAIRN_API const char *cairn_operation_name(size_t index);    /* "remember", "task add" */
CAIRN_API const char *cairn_operation_summary(size_t index); /* "Store a memory through the gate" */
CAIRN_API unsigned cairn_operation_flags(size_t index);

enum cairn_operation_flag {
  CAIRN_OP_WRITES = 1,      /* changes the store */
  CAIRN_OP_DESTRUCTIVE = 2, /* cannot be undone, or touches many memories */
  CAIRN_OP_STREAMS = 4      /* gives lines: for cairn_stream() */
};

/* Runs an operation. `args` is a JSON object of `n` bytes, or NUL-terminated when n is 0; NULL: no arguments. Besides
 * its own arguments each operation takes "project", "scope" and "all_projects". Relative file names are relative to
 * the working folder; "-" is refused, the standard streams belong to the program.
 *
 * *ret_json becomes the result object, freed with cairn_free(); ret_n its length. Both may be NULL.
 *
 * Any status; CAIRN_USAGE for an unknown operation, malformed JSON, an unknown argument, and for operations that give
 * lines (CAIRN_OP_STREAMS) unless they write them to a "file". */
CAIRN_API int cairn_call(struct cairn *db, const char *operation, const char *args, size_t n, char **ret_json,
                         size_t *ret_n);

/* Gets one line of n bytes (a JSON object without line end, NUL-terminated), valid until it returns. Anything but 0
 * stops the operation. It must not throw, nor jump out, nor use the handle it serves: calls on it return CAIRN_USAGE;
 * another handle on the same store is fine. */
typedef int (*cairn_line_fn)(void *arg, const char *line, size_t n);

/* As cairn_call(), for operations that give lines: events, export, and remember with "batch". The result object comes
 * at the end; ret_json and ret_n may be NULL.
 *
 * "events" with "follow" runs until it is stopped, and keeps the handle to itself: give it a handle of its own, and
 * stop it with cairn_interrupt(). It then returns CAIRN_OK, and its result has the "last_seq" to go on from.
 *
 * Any status; CAIRN_INTERRUPTED when `fn` stopped it. */
CAIRN_API int cairn_stream(struct cairn *db, const char *operation, const char *args, size_t n, cairn_line_fn fn,
                           void *arg, char **ret_json, size_t *ret_n);

/* Frees what cairn_call() and cairn_stream() returned; NULL is allowed. Any thread. */
CAIRN_API void cairn_free(void *p);

/* ---- writing ---- */

/* A memory to be stored. Lists are arrays that end with NULL; what is NULL, 0 or false is left out. */
struct cairn_draft {
  size_t size;
  const char *text;     /* what to remember: one idea */
  size_t text_n;        /* length of text; 0: it is NUL-terminated */
  const char *headline; /* at most 15 words; derived from the text when missing */
  const char *kind;     /* rule, fact, incident, task; default: that of the type, else fact. Not for supersede */
  const char *type;     /* decision, lesson, guardrail, ... */
  const char *severity; /* of a rule: blocker or pattern */
  const char *key;      /* short name; at most one active memory has it in a project */
  const char *project;  /* instead of the handle's; "" is global */
  const char *const *tags;
  const char *const *people;
  double weight;                    /* influence in ranking, 0.1 to 1.0; default 1.0 */
  const char *ttl;                  /* when it expires, a time */
  const char *valid_from;           /* since when it is true, a time; default now */
  const char *delivery;             /* boot, pinned, skill, on_demand */
  const char *supersedes;           /* id, uid or key of the memory that this one replaces. Not for supersede */
  const char *reason;               /* why the older memory was wrong or is outdated */
  const char *const *distinct_from; /* ids, uids or keys of similar memories that are something else */
  const char *idempotency_key;      /* a repeated call with this key returns the first result */
  bool soft;                        /* supersede: a minor correction, needs no reason */
  bool inherit_pin, inherit_skill, inherit_key; /* supersede: take over what the old memory had */
  const char *more; /* any other arguments of the operation, as a JSON object: {"acceptance": ["it builds"]} */
};

enum cairn_action {
  CAIRN_STORED = 0,    /* a new memory */
  CAIRN_SKIPPED = 1,   /* the same knowledge was there already: id names it */
  CAIRN_SUPERSEDED = 2 /* a new memory that replaced an older one */
};

struct cairn_warning {
  const char *code; /* "similar", ... */
  const char *message;
  const char *fix; /* may be NULL */
};

/* What came of a write. */
struct cairn_written {
  int64_t id;
  const char *uid;
  enum cairn_action action;
  int64_t txn; /* for the operation "undo" */
  const char *kind, *type, *project, *headline;
  int64_t supersedes; /* id of the memory that was replaced, 0 when none was */
  size_t warning_count;
  const struct cairn_warning *warnings;
  const char *json; /* the whole result, with all that has no member here */
  size_t json_n;
};

/* Stores a memory through the gate: secrets are refused, duplicates skipped, near matches reported as warnings. What
 * the library writes has the trust "agent". *ret_written is freed with cairn_written_free(); ret_written may be NULL.
 *
 * CAIRN_USAGE, CAIRN_REFUSED (too long, no single idea, weight or time out of range, ...), CAIRN_SECRET,
 * CAIRN_DUPLICATE (a rule close to another: the error's fix supersedes it), CAIRN_CONFLICT, CAIRN_NOT_FOUND
 * (supersedes, distinct_from), CAIRN_TOO_LARGE, CAIRN_BUSY, CAIRN_READONLY, CAIRN_NO_SPACE, CAIRN_IO, CAIRN_CORRUPT,
 * CAIRN_NOMEM. */
CAIRN_API int cairn_remember(struct cairn *db, const struct cairn_draft *draft, struct cairn_written **ret_written);

/* Replaces the memory `ref` (id, uid or key) by a corrected one. The old one is kept, leaves every search at once, and
 * points at the new one. draft->reason is required unless draft->soft is set.
 *
 * As cairn_remember(); CAIRN_NOT_FOUND when there is no such memory, CAIRN_CONFLICT when it was replaced already. */
CAIRN_API int cairn_supersede(struct cairn *db, const char *ref, const struct cairn_draft *draft,
                              struct cairn_written **ret_written);

/* NULL is allowed. Any thread. */
CAIRN_API void cairn_written_free(struct cairn_written *written);

/* Takes a memory out of every search, with a reason; it is kept for the record, and "undo" brings it back. *ret_txn
 * becomes the number of the transaction; ret_txn may be NULL. A memory that is forgotten already stays so.
 *
 * CAIRN_USAGE, CAIRN_NOT_FOUND, CAIRN_CONFLICT, CAIRN_BUSY, CAIRN_READONLY, CAIRN_NO_SPACE, CAIRN_IO, CAIRN_CORRUPT,
 * CAIRN_NOMEM. */
CAIRN_API int cairn_forget(struct cairn *db, const char *ref, const char *reason, int64_t *ret_txn);

/* ---- reading ---- */

struct cairn_note {
  int64_t at;
  const char *by, *text;
};

struct cairn_link {
  const char *rel; /* supersedes, relates, blocked_by, ... */
  bool outgoing;   /* from this memory to the other one */
  int64_t id;      /* of the other memory */
  const char *uid, *headline, *state, *reason;
};

/* A memory in full. Texts that it does not have are NULL; lists end with NULL and are never NULL themselves. */
struct cairn_memory {
  int64_t id;
  const char *uid, *project, *kind, *type, *severity, *key, *headline;
  const char *body;
  size_t body_n;
  const char *delivery, *skill_name, *trust;
  const char *state;        /* active, superseded, forgotten, expired, archived, faded */
  const char *state_reason; /* why it is in that state */
  const char *banner;       /* of a memory that is not active: a sentence that says so */
  int64_t head;             /* of a superseded memory: id of its current version */
  double weight;
  int64_t valid_from, created_at, updated_at, expires_at, last_accessed;
  int64_t access_count, upvotes, downvotes;
  const char *status, *priority, *milestone, *due, *claimed_by; /* of a task */
  const char *root_cause, *resolution;                          /* of an incident */
  const char *source, *session;
  const char *const *tags;
  const char *const *people;
  const char *const *topics;
  size_t note_count;
  const struct cairn_note *notes;
  size_t link_count;
  const struct cairn_link *links;
  const char *json; /* the whole memory, with all that has no member here */
  size_t json_n;
};

/* Reads one memory by id, uid or key. It counts as an access, and a faded memory becomes active again. A superseded
 * one comes with a banner and the id of its current version. Freed with cairn_memory_free().
 *
 * CAIRN_USAGE, CAIRN_NOT_FOUND, CAIRN_BUSY, CAIRN_IO, CAIRN_CORRUPT, CAIRN_NOMEM. */
CAIRN_API int cairn_get(struct cairn *db, const char *ref, struct cairn_memory **ret_memory);

/* NULL is allowed. Any thread. */
CAIRN_API void cairn_memory_free(struct cairn_memory *memory);

struct cairn_search_options {
  size_t size;
  int limit;           /* results at most, 1 to 100; default 10 */
  const char *kind;    /* only this kind */
  const char *type;    /* only this type */
  const char *project; /* instead of the handle's; "" is global alone */
  bool all_projects;
  const char *const *tags;   /* only memories with all of these */
  const char *const *people; /* only memories about all of these */
  const char *since, *until; /* created in between, times ("7d": seven days ago) */
  const char *as_of;         /* what was known and true then, a time */
  const char *detail;        /* headline, snippet, full; default snippet */
  bool include_superseded;   /* also what was corrected since */
  const char *more;          /* any other arguments, as a JSON object: {"explain": true} */
};

struct cairn_result {
  int64_t id;
  const char *uid, *headline;
  const char *text; /* the part that matched, or the whole body, as asked for by detail; NULL with "headline" */
  const char *kind, *type, *severity, *project, *key, *state, *trust;
  const char *source; /* what found it: hybrid, keyword, vector, skill */
  double score;
  int64_t superseded_by; /* id of the current version; 0 when it is this one */
  int64_t created_at;
  const char *const *tags;
};

struct cairn_results {
  size_t count;
  const struct cairn_result *items; /* best first */
  const char *mode;                 /* "hybrid", or "keyword" when vectors are not available */
  const char *degraded;             /* why it is less than it could be; usually NULL */
  const char *json;
  size_t json_n;
};

/* Finds memories by meaning and words; any text is a valid query. `options` may be NULL. No result is not an error.
 * Freed with cairn_results_free().
 *
 * CAIRN_USAGE, CAIRN_BUSY, CAIRN_IO, CAIRN_CORRUPT, CAIRN_NOMEM. */
CAIRN_API int cairn_search(struct cairn *db, const char *query, const struct cairn_search_options *options,
                           struct cairn_results **ret_results);

/* NULL is allowed. Any thread. */
CAIRN_API void cairn_results_free(struct cairn_results *results);

/* ---- the event log ---- */

/* One entry: a change, a read or a search. Texts that it does not have are NULL. */
struct cairn_event {
  int64_t seq; /* ever growing */
  int64_t at;
  int64_t txn;        /* 0 for reads */
  int64_t id;         /* of the memory; 0 where none is concerned */
  const char *action; /* "memory:write", ... */
  const char *op;     /* the operation that did it */
  const char *uid, *project, *source, *session;
  const char *json; /* the whole event, with the memory before and after */
  size_t json_n;
};

/* Gets one event, valid until it returns; the rules of cairn_line_fn apply. */
typedef int (*cairn_event_fn)(void *arg, const struct cairn_event *event);

/* Gives all events after the sequence number `since` (0: from the beginning), oldest first. *ret_last becomes the
 * number to go on with the next time; ret_last may be NULL.
 *
 * CAIRN_USAGE, CAIRN_INTERRUPTED (when fn returned something else than 0), CAIRN_BUSY, CAIRN_IO, CAIRN_CORRUPT,
 * CAIRN_NOMEM. */
CAIRN_API int cairn_events(struct cairn *db, int64_t since, cairn_event_fn fn, void *arg, int64_t *ret_last);

#ifdef __cplusplus
}
#endif

#endif
