/* brain.h: helpers shared by the profiles openbrain and openbrain2: reading results, scope and source, errors, sessions
 * and scratch values. */
#pragma once

#include "mcp/profiles/foreign.h"

/* ---- members of a result; a missing one, or one of another type, yields the default ---- */

int64_t brain_int(yyjson_mut_val *obj, const char *name, int64_t missing);
double brain_num(yyjson_mut_val *obj, const char *name, double missing);
bool brain_bool(yyjson_mut_val *obj, const char *name);
/* A missing list has no elements. */
size_t brain_count(yyjson_mut_val *obj, const char *name);

/* ---- building ---- */

/* Sets the answer to {"success": true}. */
yyjson_mut_val *brain_success(struct tool_run *run);
/* Copies a list; a missing one becomes an empty one. */
void brain_copy_list(struct tool_run *run, yyjson_mut_val *to, const char *name, yyjson_mut_val *from,
                     const char *member);
void brain_null(struct tool_run *run, yyjson_mut_val *to, const char *name);
/* The result with its raw JSON parts parsed. */
yyjson_mut_val *brain_plain(struct tool_run *run, yyjson_mut_val *result);
struct str brain_upper(struct tool_run *run, struct str text);

/* ---- arguments ---- */

/* Uses the argument `source` as the caller's source; refuses a call without one if it is required. */
NODISCARD enum status brain_source(struct tool_run *run, bool required);
/* Uses the argument `session_id`, if given, instead of the connection's session. */
void brain_session(struct tool_run *run);
enum brain_scope { BRAIN_READS, BRAIN_WRITES, BRAIN_KEEPS };
/* Sets the project of a call. In both systems no project means all projects in a read and global in a write; a server
 * that was started with a project stays in it. BRAIN_KEEPS: the project of the memory that the call changes. */
void brain_project(struct tool_run *run, yyjson_mut_val *args, enum brain_scope scope);
/* The project of the call, else that of the server; empty: none. */
struct str brain_project_name(const struct tool_run *run);
/* True for an agent that is limited to projects. */
bool brain_is_limited(const struct tool_run *run);
/* Removes empty texts and lists, which both systems use as defaults. */
void brain_drop_empty(yyjson_mut_val *args);
/* Converts {"name", "keywords", "projects", "always_on"} to arguments of a write, and back from a memory. */
NODISCARD enum status brain_skill_args(struct tool_run *run, yyjson_mut_val *args);
extern const struct shape brain_skill_shape[], brain_no_skill_shape[];
/* A new version brings its own skill, or keeps that of the old one. */
NODISCARD enum status brain_supersede_skill(struct tool_run *run, yyjson_mut_val *args);
/* Refuses a skill that is limited to other projects than that of the call. */
NODISCARD enum status brain_check_skill(struct tool_run *run, yyjson_mut_val *memory);
/* True for a skill that boot leaves out: it is not always on, or is limited to other projects than that of the call. */
bool brain_needs_keyword(const struct tool_run *run, yyjson_mut_val *memory);
#define SKILL_TRIGGER WHEN_OF("skill_name", brain_skill_shape), UNLESS_OF("skill_name", brain_no_skill_shape)
/* For `prepare`: applies the source, drops empty texts, and sets the project of a read or of a write. */
enum status brain_prepare_read(struct tool_run *run, yyjson_mut_val *args);
enum status brain_prepare_write(struct tool_run *run, yyjson_mut_val *args);
/* The same for tools that require a source. */
enum status brain_prepare_read_signed(struct tool_run *run, yyjson_mut_val *args);
enum status brain_prepare_write_signed(struct tool_run *run, yyjson_mut_val *args);

enum status brain_prepare_prune(struct tool_run *run, yyjson_mut_val *args);
enum status brain_prepare_annotate(struct tool_run *run, yyjson_mut_val *args);
/* The argument `limit`, at most `most`; `missing` if it is absent, 0 or negative. */
int64_t brain_limit(const struct tool_run *run, int64_t missing, int64_t most);
/* Turns the number of days in argument `name` into the operation's argument `arg`, unless it is 0. */
void brain_put_days(struct tool_run *run, yyjson_mut_val *args, const char *name, const char *arg);

/* ---- memories ---- */

/* Reads a memory without counting it as an access. */
NODISCARD enum status brain_look(struct tool_run *run, int64_t id, yyjson_mut_val **ret_memory);
/* All notes on a memory as one text. */
struct str brain_annotation(struct tool_run *run, yyjson_mut_val *memory);
/* For shapes: "annotation" if there is one; "score": upvotes minus downvotes; "similarity" of a search result. */
void brain_put_annotation(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *memory);
void brain_put_score(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *memory);
void brain_put_similarity(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *memory);
bool brain_pinned(yyjson_mut_val *memory);
/* Moves a person's to the front of a list, and removes what is beyond `most`; returns how many were removed. */
int64_t brain_persons_first(struct tool_run *run, yyjson_mut_val *list, size_t most);
/* Adds {"count", "call"} under `name`, unless the count is 0: what a list omits, and the call that lists it. */
void brain_put_omitted(struct tool_run *run, yyjson_mut_val *to, const char *name, int64_t count, struct str call);
/* Merges two lists sorted newest first: the next memory, NULL at the end. */
yyjson_mut_val *brain_next_newest(yyjson_mut_val *a, size_t *i, yyjson_mut_val *b, size_t *k);
/* Refuses to pin a memory without a project. */
NODISCARD enum status brain_refuse_global_pin(struct tool_run *run);

/* ---- errors ---- */

/* {"success": false, "error", "blocked_by"?, ...}. */
void brain_error(struct tool_run *run, const struct error *err);

/* ---- tools that are the same in both ---- */

extern const struct shape brain_scratch_set_shape[], brain_scratch_get_shape[], brain_scratch_list_shape[];
extern const struct shape brain_task_shape[], brain_sessions_shape[], brain_end_shape[];
extern const struct shape brain_session_shape[]; /* one session */
enum status brain_prepare_session(struct tool_run *run, yyjson_mut_val *args);
enum status brain_prepare_session_signed(struct tool_run *run, yyjson_mut_val *args);

/* Task and location of a boot. A pid or host from the agent counts only if the server knows neither process nor
 * connection: later calls must be matched with the session by their origin. */
void brain_boot_args(struct tool_run *run, yyjson_mut_val *args);
/* A message that a client shows when a conversation begins. */
enum status brain_reminder(struct tool_run *run, const char *title, const char *message);

/* Names the pin, skill and key that a new version did not get, as `not_inherited`. */
void brain_put_not_inherited(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *result);
