/* openbrain2.h: functions of the rows in mcp/profiles/openbrain/profile_v2.c. */
#pragma once

#include "mcp/profiles/openbrain/brain.h"

/* A duplicate is a result in that system, not an error. For all other errors: brain_error(). */
void openbrain2_error(struct tool_run *run, const struct error *err);
/* Reads a memory without counting it as an access; refuses one of another kind. */
NODISCARD enum status openbrain2_check(struct tool_run *run, struct str kind, int64_t id, yyjson_mut_val **ret_memory);
/* Rows of a memory; `body` is the row of its text. Severity: BLOCKER, PATTERN, DEPRECATED; null if it is not a rule. */
#define MEMORY(body)                                                                                                   \
  COPY("kind id memory_id=id headline"), body, COPY("project untrusted"), UPPER("severity"), CALL(openbrain2_put_links)
void openbrain2_put_links(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *memory);

/* openbrain2_write.c */
enum status openbrain2_prepare_remember(struct tool_run *run, yyjson_mut_val *args);
enum status openbrain2_prepare_incident(struct tool_run *run, yyjson_mut_val *args);
enum status openbrain2_prepare_task(struct tool_run *run, yyjson_mut_val *args);

enum status openbrain2_finish_capture(struct tool_run *run, yyjson_mut_val *result);
enum status openbrain2_prepare_supersede(struct tool_run *run, yyjson_mut_val *args);
extern const struct shape openbrain2_remember_shape[], openbrain2_supersede_shape[], openbrain2_status_shape[];

/* openbrain2_read.c */
enum status openbrain2_prepare_kind(struct tool_run *run, yyjson_mut_val *args);
extern const struct shape openbrain2_recall_shape[], openbrain2_search_shape[];
enum status openbrain2_finish_skill(struct tool_run *run, yyjson_mut_val *result);
enum status openbrain2_prepare_search(struct tool_run *run, yyjson_mut_val *args);

enum status openbrain2_list_recent(struct tool_run *run);
enum status openbrain2_stats(struct tool_run *run);

/* openbrain2_curate.c */
enum status openbrain2_prepare_annotate(struct tool_run *run, yyjson_mut_val *args);
extern const struct shape openbrain2_annotate_shape[], openbrain2_rate_shape[], openbrain2_decay_shape[],
    openbrain2_archive_shape[], openbrain2_prune_shape[];
enum status openbrain2_prepare_pin(struct tool_run *run, yyjson_mut_val *args);
enum status openbrain2_finish_pin(struct tool_run *run, yyjson_mut_val *result);
enum status openbrain2_forget(struct tool_run *run);
enum status openbrain2_forget_many(struct tool_run *run);
enum status openbrain2_unsupersede(struct tool_run *run);

enum status openbrain2_prepare_due(struct tool_run *run, yyjson_mut_val *args);
enum status openbrain2_finish_maintenance(struct tool_run *run, yyjson_mut_val *result);

/* openbrain2_session.c */
enum status openbrain2_boot(struct tool_run *run);
enum status openbrain2_prepare_end(struct tool_run *run, yyjson_mut_val *args);
enum status openbrain2_prepare_handoff(struct tool_run *run, yyjson_mut_val *args);
enum status openbrain2_finish_handoff(struct tool_run *run, yyjson_mut_val *result);
enum status openbrain2_prepare_item(struct tool_run *run, yyjson_mut_val *args);
extern const struct shape openbrain2_item_shape[], openbrain2_ack_shape[];

/* openbrain2_observe.c */
enum status openbrain2_finish_checkpoint(struct tool_run *run, yyjson_mut_val *result);
enum status openbrain2_reminder(struct tool_run *run);
enum status openbrain2_health(struct tool_run *run);
enum status openbrain2_metrics(struct tool_run *run);
enum status openbrain2_recent_errors(struct tool_run *run);
