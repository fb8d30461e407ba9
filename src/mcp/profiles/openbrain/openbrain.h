/* openbrain.h: functions of the rows in mcp/profiles/openbrain/profile_v1.c. */
#pragma once

#include "mcp/profiles/openbrain/brain.h"

/* A refused duplicate is an answer in that system: nothing was stored, and the existing memory is named. For all other
 * errors: brain_error(). */
void openbrain_error(struct tool_run *run, const struct error *err);

/* The type of a memory by that system's names. */
struct str openbrain_type(yyjson_mut_val *memory);
void openbrain_put_type(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *memory);

/* openbrain_write.c */
enum status openbrain_prepare_remember(struct tool_run *run, yyjson_mut_val *args);
extern const struct shape openbrain_remember_shape[], openbrain_unsupersede_shape[], openbrain_rate_shape[];
enum status openbrain_finish_capture(struct tool_run *run, yyjson_mut_val *result);
enum status openbrain_prepare_supersede(struct tool_run *run, yyjson_mut_val *args);
enum status openbrain_finish_supersede(struct tool_run *run, yyjson_mut_val *result);

enum status openbrain_prepare_pin(struct tool_run *run, yyjson_mut_val *args);
enum status openbrain_finish_pin(struct tool_run *run, yyjson_mut_val *result);
extern const struct shape openbrain_prune_shape[];
enum status openbrain_forget(struct tool_run *run);
enum status openbrain_forget_many(struct tool_run *run);

/* openbrain_read.c */
enum status openbrain_prepare_search(struct tool_run *run, yyjson_mut_val *args);
enum status openbrain_finish_search(struct tool_run *run, yyjson_mut_val *result);
extern const struct shape openbrain_recall_shape[], openbrain_annotate_shape[];
enum status openbrain_finish_skill(struct tool_run *run, yyjson_mut_val *result);
enum status openbrain_list_recent(struct tool_run *run);
enum status openbrain_finish_stats(struct tool_run *run, yyjson_mut_val *result);

enum { OPENBRAIN_PINNED_MOST = 1000 };
/* The project's own pinned memories, in full, a person's first; none without a project. Skills that need a keyword are
 * left out. ret_omitted counts those beyond OPENBRAIN_PINNED_MOST, and openbrain_pinned_call() lists them. */
NODISCARD enum status openbrain_pinned(struct tool_run *run, bool trusted, yyjson_mut_val **ret_list,
                                       int64_t *ret_omitted);
struct str openbrain_pinned_call(struct tool_run *run);

/* Pairs of near-duplicate guardrails, at most `limit`. */
NODISCARD enum status openbrain_repeats(struct tool_run *run, struct str project, int64_t limit,
                                        yyjson_mut_val **ret_result);

/* openbrain_session.c */
enum status openbrain_boot(struct tool_run *run);
enum status openbrain_prepare_ack(struct tool_run *run, yyjson_mut_val *args);
extern const struct shape openbrain_ack_shape[], openbrain_checkpoint_shape[];
enum status openbrain_reminder(struct tool_run *run);
