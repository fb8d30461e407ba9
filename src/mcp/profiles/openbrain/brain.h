/* brain.h: what the profiles openbrain and openbrain2 share: reading results, scope and source, errors, sessions and
 * scratch values in the form that both systems give them. */
#pragma once

#include "mcp/tools/tool.h"

/* ---- members of a result; a missing one, or one of another type, gives the default ---- */

struct str brain_str(yyjson_mut_val *obj, const char *name);
int64_t brain_int(yyjson_mut_val *obj, const char *name, int64_t missing);
double brain_num(yyjson_mut_val *obj, const char *name, double missing);
bool brain_bool(yyjson_mut_val *obj, const char *name);
/* A list that is not there has no elements. */
size_t brain_count(yyjson_mut_val *obj, const char *name);

/* ---- building ---- */

/* An object of the call's document: arguments of an operation, or a result with "success": true. */
yyjson_mut_val *brain_args(struct tool_run *run);
yyjson_mut_val *brain_success(struct tool_run *run);
/* Copies a member; a list that is missing becomes an empty one. */
void brain_copy(struct tool_run *run, yyjson_mut_val *to, const char *name, yyjson_mut_val *from, const char *member);
void brain_copy_list(struct tool_run *run, yyjson_mut_val *to, const char *name, yyjson_mut_val *from,
                     const char *member);
void brain_null(struct tool_run *run, yyjson_mut_val *to, const char *name);
/* A result in which parts that are JSON text already can be read like the rest. */
yyjson_mut_val *brain_plain(struct tool_run *run, yyjson_mut_val *result);
/* The first so many characters. */
struct str brain_preview(struct str text, size_t characters);
struct str brain_upper(struct tool_run *run, struct str text);
struct str brain_time(struct tool_run *run, int64_t ms);
int64_t brain_now(const struct tool_run *run);

/* ---- arguments ---- */

/* Takes over `source` as the name of the caller; refuses a call without one where it is required. */
NODISCARD enum status brain_source(struct tool_run *run, bool required);
/* A number of a session in place of the one that the connection has. */
void brain_session(struct tool_run *run);
enum brain_scope { BRAIN_READS, BRAIN_WRITES, BRAIN_KEEPS };
/* The project of a call. Both systems take no project for "everywhere" in a read and for "global" in a write; a server
 * that was given a project keeps to it. BRAIN_KEEPS: that of the memory at hand. */
void brain_project(struct tool_run *run, yyjson_mut_val *args, enum brain_scope scope);
/* Leaves out texts that are empty: both systems have them for defaults. */
void brain_drop_empty(yyjson_mut_val *args);
/* {"name", "keywords", "projects", "always_on"} as the arguments of a write, and back from a memory. */
void brain_skill_args(struct tool_run *run, yyjson_mut_val *args);
void brain_put_skill(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *memory);
/* For `prepare`: source as it comes, empty texts left out, the project of a read or of a write. */
enum status brain_prepare_read(struct tool_run *run, yyjson_mut_val *args);
enum status brain_prepare_write(struct tool_run *run, yyjson_mut_val *args);
/* The same for tools that insist on a source. */
enum status brain_prepare_read_signed(struct tool_run *run, yyjson_mut_val *args);
enum status brain_prepare_write_signed(struct tool_run *run, yyjson_mut_val *args);

/* ---- memories ---- */

/* A memory's fields without counting as a use of it. */
NODISCARD enum status brain_look(struct tool_run *run, int64_t id, yyjson_mut_val **ret_memory);
/* All notes on a memory as one text. */
struct str brain_annotation(struct tool_run *run, yyjson_mut_val *memory);
bool brain_pinned(yyjson_mut_val *memory);
/* Refuses to pin a memory without a project. */
NODISCARD enum status brain_refuse_global_pin(struct tool_run *run);

/* ---- errors ---- */

/* {"success": false, "error", "blocked_by"?, ...}. */
void brain_error(struct tool_run *run, const struct error *err);

/* ---- tools that both have in the same form ---- */

enum status brain_finish_scratch_set(struct tool_run *run, yyjson_mut_val *result);
enum status brain_finish_scratch_get(struct tool_run *run, yyjson_mut_val *result);
enum status brain_finish_scratch_list(struct tool_run *run, yyjson_mut_val *result);
enum status brain_prepare_session(struct tool_run *run, yyjson_mut_val *args);
enum status brain_prepare_session_signed(struct tool_run *run, yyjson_mut_val *args);
enum status brain_finish_task(struct tool_run *run, yyjson_mut_val *result);
enum status brain_finish_sessions(struct tool_run *run, yyjson_mut_val *result);
enum status brain_finish_end(struct tool_run *run, yyjson_mut_val *result);
/* Task and place of a boot. A pid or host that an agent names counts only where the door knows neither process nor
 * connection: the session must be found again by what its later calls come from. */
void brain_boot_args(struct tool_run *run, yyjson_mut_val *args);
/* Sessions of the store in the form of active_sessions. */
void brain_put_sessions(struct tool_run *run, yyjson_mut_val *to, const char *name, yyjson_mut_val *from,
                        const char *member);
/* A message that a client shows when a conversation begins. */
enum status brain_reminder(struct tool_run *run, const char *title, const char *message);
