/* handlers.h: handlers of the operations, for the rows of src/op/table/, which describe them. */
#pragma once

#include "op/op.h"

enum status op_annotate(struct op_call *call);
enum status op_backup(struct op_call *call);
enum status op_boot(struct op_call *call);
enum status op_capture(struct op_call *call);
enum status op_config(struct op_call *call);
enum status op_doctor(struct op_call *call);
enum status op_eval(struct op_call *call);
enum status op_events(struct op_call *call);
enum status op_export(struct op_call *call);
enum status op_extract(struct op_call *call);
enum status op_forget(struct op_call *call);
enum status op_get(struct op_call *call);
enum status op_history(struct op_call *call);
enum status op_import(struct op_call *call);
enum status op_link(struct op_call *call);
enum status op_list(struct op_call *call);
enum status op_maintain(struct op_call *call);
enum status op_migrate(struct op_call *call);
enum status op_model_convert(struct op_call *call);
enum status op_model_show(struct op_call *call);
enum status op_pin(struct op_call *call);
enum status op_promote(struct op_call *call);
enum status op_prune(struct op_call *call);
enum status op_purge(struct op_call *call);
enum status op_rate(struct op_call *call);
enum status op_reembed(struct op_call *call);
enum status op_remember(struct op_call *call);
enum status op_repeats(struct op_call *call);
enum status op_restore(struct op_call *call);
enum status op_search(struct op_call *call);
enum status op_skill_list(struct op_call *call);
enum status op_skill_load(struct op_call *call);
enum status op_source_add(struct op_call *call);
enum status op_source_list(struct op_call *call);
enum status op_source_refresh(struct op_call *call);
enum status op_source_remove(struct op_call *call);
enum status op_stats(struct op_call *call);
enum status op_supersede(struct op_call *call);
enum status op_task_add(struct op_call *call);
enum status op_task_block(struct op_call *call);
enum status op_task_claim(struct op_call *call);
enum status op_task_list(struct op_call *call);
enum status op_task_ready(struct op_call *call);
enum status op_task_status(struct op_call *call);
enum status op_task_sync(struct op_call *call);
enum status op_task_unblock(struct op_call *call);
enum status op_transcript_import(struct op_call *call);
enum status op_undo(struct op_call *call);
enum status op_unlink(struct op_call *call);
enum status op_unpin(struct op_call *call);
enum status op_unsupersede(struct op_call *call);

enum status op_token_add(struct op_call *call);
enum status op_token_delete(struct op_call *call);
enum status op_token_list(struct op_call *call);
enum status op_token_revoke(struct op_call *call);

enum status op_file_create(struct op_call *call);
enum status op_file_delete(struct op_call *call);
enum status op_file_insert(struct op_call *call);
enum status op_file_rename(struct op_call *call);
enum status op_file_str_replace(struct op_call *call);
enum status op_file_view(struct op_call *call);
enum status op_graph_create(struct op_call *call);
enum status op_graph_delete(struct op_call *call);
enum status op_graph_observe(struct op_call *call);
enum status op_graph_read(struct op_call *call);
enum status op_vault_add(struct op_call *call);
enum status op_vault_delete(struct op_call *call);
enum status op_vault_get(struct op_call *call);
enum status op_vault_grant(struct op_call *call);
enum status op_vault_grants(struct op_call *call);
enum status op_vault_list(struct op_call *call);
enum status op_vault_revoke(struct op_call *call);
enum status op_vault_rotate(struct op_call *call);
enum status op_vault_set(struct op_call *call);

/* MEMORY.md */
enum status op_page(struct op_call *call);
enum status op_sync(struct op_call *call);

/* sessions */
enum status op_action_ack(struct op_call *call);
enum status op_action_add(struct op_call *call);
enum status op_action_list(struct op_call *call);
enum status op_checkpoint(struct op_call *call);
enum status op_scratch_get(struct op_call *call);
enum status op_scratch_list(struct op_call *call);
enum status op_scratch_set(struct op_call *call);
enum status op_session_end(struct op_call *call);
enum status op_session_handoff(struct op_call *call);
enum status op_session_list(struct op_call *call);
enum status op_session_task(struct op_call *call);
/* transcripts */
enum status op_transcript_append(struct op_call *call);
enum status op_transcript_archive(struct op_call *call);
enum status op_transcript_compact(struct op_call *call);
enum status op_transcript_flush(struct op_call *call);
enum status op_transcript_index(struct op_call *call);
enum status op_transcript_list(struct op_call *call);
enum status op_transcript_read(struct op_call *call);
/* agents */
enum status op_agent_add(struct op_call *call);
enum status op_agent_list(struct op_call *call);
enum status op_agent_message(struct op_call *call);
enum status op_agent_remove(struct op_call *call);
/* teams */
enum status op_team_delete(struct op_call *call);
enum status op_team_list(struct op_call *call);
/* Observability. */
enum status op_errors(struct op_call *call);
enum status op_health(struct op_call *call);
enum status op_metrics(struct op_call *call);

/* Completes memory ids, for shells and MCP clients. Run it with op_run(); it is not in the table of operations, and
 * anyone who may list memories may call it. {"prefix": "12", "limit": 100} gives {"ids": [...], "more": bool}, shortest
 * ids first; for the prefix "", newest first. */
extern const struct op complete_ids;
