/* status.h: status codes with their name, exit code, HTTP status and text.
 *
 * To add a status, add a line to STATUS_LIST; the CLI, MCP, REST and library read the table. */
#pragma once

/* name, JSON name, exit code, HTTP status, meaning */
#define STATUS_LIST(X)                                                                                                 \
  X(OK, "ok", 0, 200, "done")                                                                                          \
  X(INTERNAL, "internal", 1, 500, "a bug in Cairn")                                                                    \
  X(USAGE, "usage", 2, 400, "the call itself is wrong: unknown option, missing or malformed argument")                 \
  X(NOT_FOUND, "not_found", 3, 404, "no such memory, task, skill, transaction or file")                                \
  X(REFUSED, "refused", 4, 422, "the write gate refused the text")                                                     \
  X(SECRET, "secret", 4, 422, "the text contains a secret")                                                            \
  X(DUPLICATE, "duplicate", 5, 409, "the same knowledge is already stored")                                            \
  X(CONFLICT, "conflict", 5, 409, "the store is not in the state that the call requires")                              \
  X(CONFIRM, "confirm", 6, 428, "a destructive call that was not confirmed")                                           \
  X(BUSY, "busy", 7, 503, "another process kept the store locked for too long")                                        \
  X(READONLY, "readonly", 8, 403, "the store cannot be written")                                                       \
  X(NO_SPACE, "no_space", 8, 507, "the disk is full")                                                                  \
  X(IO, "io", 8, 500, "a file could not be read or written")                                                           \
  X(CORRUPT, "corrupt", 9, 500, "the store file is damaged or is not a store")                                         \
  X(SCHEMA, "schema", 9, 500, "the store was written by a newer version")                                              \
  X(NOMEM, "nomem", 10, 503, "out of memory")                                                                          \
  X(TOO_LARGE, "too_large", 2, 413, "the input is larger than the limit")                                              \
  X(INTERRUPTED, "interrupted", 130, 499, "stopped by the caller")                                                     \
  X(DEGRADED, "degraded", 11, 503, "a check found problems")                                                           \
  X(UNAVAILABLE, "unavailable", 12, 503, "a required service gave no usable answer")                                   \
  X(STALE, "stale", 5, 412, "the memory has changed since the caller read it")                                         \
  X(LOST, "lost", 12, 503, "the connection to the server was lost; nothing was changed")                               \
  X(DENIED, "denied", 13, 403, "the agent's role does not allow it")                                                   \
  X(UNKNOWN_CALLER, "unknown_caller", 13, 401, "no token, or one that is wrong, expired or revoked")                   \
  X(LIMITED, "limited", 7, 429, "too many calls, or too many wrong tokens, in a short time")

enum status {
#define X(name, json, exit, http, text) STATUS_##name,
  STATUS_LIST(X)
#undef X
};

#define X(...) +1
enum { STATUS_COUNT = 0 STATUS_LIST(X) };
#undef X

/* Returns the status of `call` from the enclosing function unless it is STATUS_OK. Do not use it in a function that
 * must still release a lock, descriptor or statement: the arena frees only memory. */
#define TRY(call)                                                                                                      \
  do {                                                                                                                 \
    enum status status_of_try = (call);                                                                                \
    if (status_of_try != STATUS_OK)                                                                                    \
      return status_of_try;                                                                                            \
  } while (0)

/* Lower-case name ("not_found"). Part of the JSON format, so it never changes. */
const char *status_name(enum status s);
const char *status_text(enum status s);
int status_exit_code(enum status s);
int status_http(enum status s);
