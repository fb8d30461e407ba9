/* cairn.h: Cairn, durable memory for AI agents, as a C library. This header is its manual.
 *
 *   struct cairn *db;
 *   if (cairn_open(NULL, &db) == CAIRN_OK) {
 *     struct cairn_draft draft = {.text = "Staging listens on port 5433"};
 *     cairn_remember(db, &draft, NULL);
 *   }
 *   cairn_close(&db);
 *
 * Link with `pkg-config --libs cairn`. docs/library.md is a guide; docs/examples has complete programs.
 *
 * MODEL. A handle is an open store. Any number of processes and handles can use a store at the same time. Writers take
 * turns and wait for each other; readers never wait. When a call returns success, its changes are on disk. There is no
 * global state: nothing to initialise, and any number of handles, on one store or several. Nothing runs in the
 * background: a long-running program calls the operation "maintain" from time to time, with {"if_due": true}.
 *
 * THREADS. Several threads can use one handle; its calls run one after another. For concurrency, open one handle per
 * thread; handles are cheap. The library does not read or change the locale, the working directory, signals or the
 * standard streams.
 *
 * ENVIRONMENT. cairn_open() reads CAIRN_DB, CAIRN_CONFIG and CAIRN_AGENT for options that are NULL. All calls read
 * settings from variables such as CAIRN_GATE_MODE (docs/configuration.md). Do not change the environment while a call
 * is running.
 *
 * FORK. A handle belongs to the process that opened it. In a child created by fork(), calls on it return CAIRN_USAGE
 * and cairn_close() only discards it; the child opens its own handle.
 *
 * TEXT. All text is UTF-8 without NUL characters. Input is NUL-terminated unless its length is given, and the library
 * keeps no pointer to it after the call. Output is NUL-terminated and belongs to the structure that contains it.
 *
 * TIME. Milliseconds since 1970, UTC; 0 if there is none. Points in time as arguments are strings, as on the command
 * line: "2026-12-31", "2026-12-31T08:00:00Z", or relative to now: "90s", "24h", "7d", "2w".
 *
 * ERRORS. Every function that can fail returns a status, 0 (CAIRN_OK) on success, and sets its results (ret_...) only
 * on success. cairn_last_error() returns what was wrong and what to do about it. A call that fails has changed nothing,
 * with one exception described at CAIRN_NOMEM. The library never prints, exits or aborts.
 *
 * VERSIONS. A structure that the caller fills begins with `size`. Set it to the sizeof of the structure, or leave it 0,
 * which means the structure as of version 0.1, without members that were added later. Other members that are zero mean
 * the default. */
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
  CAIRN_SECRET = 5,          /* the text contains a secret */
  CAIRN_DUPLICATE = 6,       /* the same knowledge is already stored */
  CAIRN_CONFLICT = 7,        /* the store is not in the state that the call requires */
  CAIRN_CONFIRM = 8,         /* a destructive call that was not confirmed */
  CAIRN_BUSY = 9,            /* another process kept the store locked for too long */
  CAIRN_READONLY = 10,       /* the store cannot be written */
  CAIRN_NO_SPACE = 11,       /* the disk is full */
  CAIRN_IO = 12,             /* a file could not be read or written */
  CAIRN_CORRUPT = 13,        /* the store file is damaged or is not a store */
  CAIRN_SCHEMA = 14,         /* the store was written by a newer version */
  CAIRN_NOMEM = 15,          /* out of memory. Nothing was changed, unless the error's step is "result": then the
                                operation succeeded, and only its result is lost */
  CAIRN_TOO_LARGE = 16,      /* the input is larger than the limit */
  CAIRN_INTERRUPTED = 17,    /* stopped by the caller: by its callback, or by cairn_interrupt() */
  CAIRN_DEGRADED = 18,       /* a check found problems */
  CAIRN_UNAVAILABLE = 19,    /* a required service, such as an embedding endpoint, gave no usable answer */
  CAIRN_STALE = 20,          /* the memory has changed since the caller read it */
  CAIRN_LOST = 21,           /* the connection to the server was lost; nothing was changed */
  CAIRN_DENIED = 22,         /* the agent's role does not allow it */
  CAIRN_UNKNOWN_CALLER = 23, /* no token, or one that is wrong, expired or revoked; only servers return it */
  CAIRN_LIMITED = 24         /* too many calls in a short time; only servers return it */
};

/* The name in JSON and on the command line: "not_found" for CAIRN_NOT_FOUND. "unknown" for unknown numbers.
 * Static string. Any thread. */
CAIRN_API const char *cairn_status_name(int status);
/* A phrase that describes the status. Static string. Any thread. */
CAIRN_API const char *cairn_status_text(int status);

/* The version of the library, "0.1.0". Static string. Any thread. */
CAIRN_API const char *cairn_version(void);

/* ---- handles ---- */

struct cairn;

struct cairn_options {
  size_t size;

  /* The store: a file, or a database as postgresql://USER@HOST/DATABASE. NULL: the environment variable CAIRN_DB, else
   * cairn/cairn.db in the user's data directory (XDG_DATA_HOME, else ~/.local/share), which is the store of the command
   * line. A missing file is created; a missing directory only for the default store. A database must exist; its tables
   * are created. */
  const char *path;
  bool must_exist; /* a missing store is an error: CAIRN_NOT_FOUND */

  const char *team;    /* owner of the memories: 1 to 64 of a-z 0-9 _ -. NULL: "default" */
  const char *project; /* reads see this project and global memories; writes go to it. NULL or "": global */
  bool all_projects;   /* reads see every project of the team */

  /* Recorded with every write and read. */
  const char *source;  /* name of the program. NULL: "library" */
  const char *session; /* conversation or run. NULL: none */

  int busy_ms;          /* how long a call waits for other processes. 0: 60 seconds; negative: not at all */
  int64_t fixed_now_ms; /* > 0: fixed current time, for tests */

  /* The configuration file, in TOML. NULL: the environment variable CAIRN_CONFIG, else cairn/cairn.toml in the user's
   * configuration directory (XDG_CONFIG_HOME, else ~/.config), if it exists; "/dev/null": none. */
  const char *config;
  /* Settings for this handle only, "NAME=VALUE", ending with NULL. They override the environment, which overrides the
   * file, which overrides the store. NULL: none. */
  const char *const *settings;

  /* The agent that the handle is bound to. Its role ("agent add") limits the calls; others return CAIRN_DENIED. NULL:
   * the environment variable CAIRN_AGENT, else the user, who is the administrator. */
  const char *agent;
};

/* Opens a store. `options` may be NULL: all defaults.
 *
 * Unless memory for the handle itself is missing, *ret_db is set even if opening failed, so cairn_last_error() can
 * return the reason. Every other call on such a handle returns the same error. Always end with cairn_close(). Several
 * threads can open handles at the same time, as long as none changes the environment.
 *
 * CAIRN_USAGE (malformed option, path is a directory, no directory for a default store, an error in the configuration),
 * CAIRN_NOT_FOUND (must_exist, or the directory is missing), CAIRN_READONLY, CAIRN_NO_SPACE, CAIRN_IO, CAIRN_BUSY,
 * CAIRN_CORRUPT, CAIRN_SCHEMA, CAIRN_DENIED (agent differs from CAIRN_AGENT), CAIRN_UNAVAILABLE (the database server
 * does not answer), CAIRN_NOMEM (then *ret_db may be NULL). */
CAIRN_API int cairn_open(const struct cairn_options *options, struct cairn **ret_db);

/* Writes the queued log of reads, closes the store, frees the handle and sets *db to NULL. NULL and a pointer to NULL
 * are allowed. No call on the handle may be running; a callback cannot close its own handle. */
CAIRN_API void cairn_close(struct cairn **db);

/* The last failure of a call on a handle. */
struct cairn_error {
  int code;          /* enum cairn_status; CAIRN_OK if nothing has failed yet */
  char step[32];     /* the step that refused, such as "headline" or "secrets"; "" if none */
  char message[512]; /* one sentence */
  char fix[1024];    /* what to do next, in terms of the command line; may be "" */
};

/* Copies the last failure. Any thread, also while a call is running. If several threads use the handle, it is the last
 * failure of any of them. `db` may be NULL: the error of a cairn_open() that had no memory for a handle. */
CAIRN_API void cairn_last_error(const struct cairn *db, struct cairn_error *ret_error);

/* Asks the running call on the handle, or the next one if none is running, to stop at the next safe point. The call
 * returns CAIRN_INTERRUPTED if its work was not done, and CAIRN_OK if it was: a short operation finishes, and "events"
 * has delivered all events so far. Any thread, and signal handlers; `db` may be NULL. */
CAIRN_API void cairn_interrupt(struct cairn *db);

/* ---- calling any operation with JSON ---- */

/* The operations, by index 0 .. cairn_operation_count() - 1; NULL or 0 for other indexes. They are those of the command
 * line; `cairn help` describes their arguments. Static strings. Any thread. */
CAIRN_API size_t cairn_operation_count(void);
CAIRN_API const char *cairn_operation_name(size_t index);    /* "remember", "task add" */
CAIRN_API const char *cairn_operation_summary(size_t index); /* "Store a memory through the gate" */
CAIRN_API unsigned cairn_operation_flags(size_t index);

enum cairn_operation_flag {
  CAIRN_OP_WRITES = 1,      /* changes the store */
  CAIRN_OP_DESTRUCTIVE = 2, /* cannot be undone, or affects many memories */
  CAIRN_OP_STREAMS = 4      /* returns lines: for cairn_stream() */
};

/* Runs an operation. `args` is a JSON object of `n` bytes, or NUL-terminated if n is 0; NULL: no arguments. Besides its
 * own arguments, every operation accepts "project", "scope" and "all_projects". Relative file names are relative to the
 * working directory. "-" is refused: the standard streams belong to the program.
 *
 * *ret_json is set to the result object, freed with cairn_free(), and *ret_n to its length. Both may be NULL.
 *
 * Any status. CAIRN_USAGE for an unknown operation, malformed JSON, an unknown argument, and for operations that return
 * lines (CAIRN_OP_STREAMS) unless they write them to a "file". */
CAIRN_API int cairn_call(struct cairn *db, const char *operation, const char *args, size_t n, char **ret_json,
                         size_t *ret_n);

/* Receives one line of n bytes (a JSON object without a newline, NUL-terminated), valid until the function returns. A
 * nonzero return value stops the operation. The function must not throw, jump out, or use the handle that calls it
 * (calls on it return CAIRN_USAGE). Another handle on the same store is fine. */
typedef int (*cairn_line_fn)(void *arg, const char *line, size_t n);

/* Like cairn_call(), for operations that return lines: events, export, and remember with "batch". The result object is
 * set at the end; ret_json and ret_n may be NULL.
 *
 * "events" with "follow" runs until it is stopped and blocks the handle. Give it a separate handle, and stop it with
 * cairn_interrupt(). It then returns CAIRN_OK, and its result has the "last_seq" to continue from.
 *
 * Any status; CAIRN_INTERRUPTED if `fn` stopped it. */
CAIRN_API int cairn_stream(struct cairn *db, const char *operation, const char *args, size_t n, cairn_line_fn fn,
                           void *arg, char **ret_json, size_t *ret_n);

/* Frees a result of cairn_call() or cairn_stream(); NULL is allowed. Any thread. */
CAIRN_API void cairn_free(void *p);

/* ---- writing ---- */

/* A memory to store. Lists are arrays that end with NULL. Members that are NULL, 0 or false are not set. */
struct cairn_draft {
  size_t size;
  const char *text;     /* the text to remember: one idea */
  size_t text_n;        /* length of text in bytes; 0: it is NUL-terminated */
  const char *headline; /* at most 15 words; derived from the text if NULL */
  const char *kind;     /* rule, fact, incident, task; default: that of the type, else fact. Not with supersede */
  const char *type;     /* decision, lesson, guardrail, ... */
  const char *severity; /* only rules: blocker or pattern */
  const char *key;      /* short name, unique among the active memories of a project */
  const char *project;  /* overrides the handle's; "" is global */
  const char *const *tags;
  const char *const *people;
  double weight;                    /* weight in ranking, 0.1 to 1.0; default 1.0 */
  const char *ttl;                  /* time at which it expires */
  const char *valid_from;           /* time since which it is true; default now */
  const char *delivery;             /* boot, pinned, skill, on_demand */
  const char *supersedes;           /* id, uid or key of the memory that this one replaces. Not with supersede */
  const char *reason;               /* why the old memory is wrong or outdated */
  const char *const *distinct_from; /* ids, uids or keys of similar memories that are not duplicates */
  const char *idempotency_key;      /* a repeated call with this key returns the first result */
  bool soft;                        /* supersede: a minor correction that needs no reason */
  bool inherit_pin, inherit_skill, inherit_key; /* supersede: inherit them from the old memory */
  const char *more; /* other arguments of the operation, as a JSON object: {"acceptance": ["it builds"]} */
};

enum cairn_action {
  CAIRN_STORED = 0,     /* a new memory */
  CAIRN_SKIPPED = 1,    /* a duplicate: id is the existing memory */
  CAIRN_SUPERSEDED = 2, /* a new memory that replaced an older one */
  CAIRN_UPDATED = 3     /* the text was stored already: id is that memory, with the fields of the draft */
};

struct cairn_warning {
  const char *code; /* "contradiction", ... */
  const char *message;
  const char *fix; /* may be NULL */
};

/* The result of a write. */
struct cairn_written {
  int64_t id;
  const char *uid;
  enum cairn_action action;
  int64_t txn; /* for the operation "undo" */
  const char *kind, *type, *project, *headline;
  int64_t supersedes; /* id of the memory that was replaced; 0 if none */
  size_t warning_count;
  const struct cairn_warning *warnings;
  const char *json; /* the whole result, including what has no member here */
  size_t json_n;
};

/* Stores a memory through the write gate: secrets are refused, duplicates skipped, near matches reported as warnings.
 * A text that is stored already with other fields gets those of the draft: "changed" in `json` shows them.
 * The memory has the trust "agent". *ret_written is freed with cairn_written_free(); ret_written may be NULL.
 *
 * CAIRN_USAGE, CAIRN_REFUSED (too long, more than one idea, weight or time out of range, ...), CAIRN_SECRET,
 * CAIRN_DUPLICATE (a rule similar to another: the error's fix supersedes that one), CAIRN_CONFLICT, CAIRN_NOT_FOUND
 * (supersedes, distinct_from), CAIRN_TOO_LARGE, CAIRN_BUSY, CAIRN_READONLY, CAIRN_NO_SPACE, CAIRN_IO, CAIRN_CORRUPT,
 * CAIRN_NOMEM. */
CAIRN_API int cairn_remember(struct cairn *db, const struct cairn_draft *draft, struct cairn_written **ret_written);

/* Replaces the memory `ref` (id, uid or key) with a corrected one. The old memory is kept, disappears from all searches
 * immediately, and points to the new one. draft->reason is required unless draft->soft is set.
 *
 * Like cairn_remember(); CAIRN_NOT_FOUND if there is no such memory, CAIRN_CONFLICT if it was already replaced. */
CAIRN_API int cairn_supersede(struct cairn *db, const char *ref, const struct cairn_draft *draft,
                              struct cairn_written **ret_written);

/* NULL is allowed. Any thread. */
CAIRN_API void cairn_written_free(struct cairn_written *written);

/* Hides a memory from all searches, with a reason. It is kept, and "undo" restores it. *ret_txn is set to the number of
 * the transaction; ret_txn may be NULL. Forgetting a forgotten memory again is not an error.
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
  int64_t id;      /* id of the other memory */
  const char *uid, *headline, *state, *reason;
};

/* A full memory. Missing strings are NULL. Lists end with NULL and are never NULL themselves. */
struct cairn_memory {
  int64_t id;
  const char *uid, *project, *kind, *type, *severity, *key, *headline;
  const char *body;
  size_t body_n;
  const char *delivery, *skill_name, *trust;
  const char *state;        /* active, superseded, forgotten, expired, archived, faded */
  const char *state_reason; /* reason for that state */
  const char *banner;       /* if not active: a sentence that says so */
  int64_t head;             /* if superseded: id of its current version */
  double weight;
  int64_t valid_from, created_at, updated_at, expires_at, last_accessed;
  int64_t access_count, upvotes, downvotes;
  const char *status, *priority, *milestone, *due, *claimed_by; /* only tasks */
  const char *root_cause, *resolution;                          /* only incidents */
  const char *source, *session;
  const char *const *tags;
  const char *const *people;
  const char *const *topics;
  size_t note_count;
  const struct cairn_note *notes;
  size_t link_count;
  const struct cairn_link *links;
  const char *json; /* the whole memory, including what has no member here */
  size_t json_n;
};

/* Reads one memory by id, uid or key. This counts as an access, and a faded memory becomes active again. A superseded
 * memory has a banner and the id of its current version. Freed with cairn_memory_free().
 *
 * CAIRN_USAGE, CAIRN_NOT_FOUND, CAIRN_BUSY, CAIRN_IO, CAIRN_CORRUPT, CAIRN_NOMEM. */
CAIRN_API int cairn_get(struct cairn *db, const char *ref, struct cairn_memory **ret_memory);

/* NULL is allowed. Any thread. */
CAIRN_API void cairn_memory_free(struct cairn_memory *memory);

struct cairn_search_options {
  size_t size;
  int limit;           /* maximum number of results, 1 to 100; default 10 */
  const char *kind;    /* only this kind */
  const char *type;    /* only this type */
  const char *project; /* overrides the handle's; "" is only global memories */
  bool all_projects;
  const char *const *tags;   /* only memories with all of these */
  const char *const *people; /* only memories about all of these */
  const char *since, *until; /* created between these times ("7d": seven days ago) */
  const char *as_of;         /* a time: memories that were known and true then */
  const char *detail;        /* headline, snippet, full; default snippet */
  bool include_superseded;   /* also superseded memories */
  const char *more;          /* other arguments, as a JSON object: {"explain": true} */
};

struct cairn_result {
  int64_t id;
  const char *uid, *headline;
  const char *text; /* the matching part or the whole body, depending on detail; NULL with "headline" */
  const char *kind, *type, *severity, *project, *key, *state, *trust;
  const char *source; /* how it was found: hybrid, keyword, vector, skill */
  double score;
  int64_t superseded_by; /* id of the current version; 0 if this is it */
  int64_t created_at;
  const char *const *tags;
};

struct cairn_results {
  size_t count;
  const struct cairn_result *items; /* best first */
  const char *mode;                 /* "hybrid"; "keyword" or "vector" if only one of them was searched */
  const char *degraded;             /* what did not work, and why; usually NULL */
  const char *json;
  size_t json_n;
};

/* Finds memories by meaning and words. Any text is a valid query. `options` may be NULL. Finding nothing is not an
 * error. Freed with cairn_results_free().
 *
 * CAIRN_USAGE, CAIRN_BUSY, CAIRN_IO, CAIRN_CORRUPT, CAIRN_NOMEM. */
CAIRN_API int cairn_search(struct cairn *db, const char *query, const struct cairn_search_options *options,
                           struct cairn_results **ret_results);

/* NULL is allowed. Any thread. */
CAIRN_API void cairn_results_free(struct cairn_results *results);

/* ---- the event log ---- */

/* One event: a change, a read or a search. Missing strings are NULL. */
struct cairn_event {
  int64_t seq; /* sequence number, always increasing */
  int64_t at;
  int64_t txn;        /* 0 for reads */
  int64_t id;         /* id of the memory; 0 if none */
  const char *action; /* "memory:write", ... */
  const char *op;     /* the operation that caused it */
  const char *uid, *project, *source, *session;
  const char *json; /* the whole event, with the memory before and after */
  size_t json_n;
};

/* Receives one event, valid until the function returns. The rules of cairn_line_fn apply. */
typedef int (*cairn_event_fn)(void *arg, const struct cairn_event *event);

/* Passes all events after the sequence number `since` (0: from the beginning) to `fn`, oldest first. *ret_last is set
 * to the number to continue from next time; ret_last may be NULL.
 *
 * CAIRN_USAGE, CAIRN_INTERRUPTED (if fn returned nonzero), CAIRN_BUSY, CAIRN_IO, CAIRN_CORRUPT, CAIRN_NOMEM. */
CAIRN_API int cairn_events(struct cairn *db, int64_t since, cairn_event_fn fn, void *arg, int64_t *ret_last);

#ifdef __cplusplus
}
#endif

#endif
