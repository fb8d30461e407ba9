/* default.h: declarations shared by the default and the read-only profile. */
#pragma once

#include "mcp/tools/tool.h"

#define DEFAULT_BOOT_TEXT                                                                                              \
  "Call first in a conversation: rules that apply, what is known about the task, open tasks, handoff, session handle."
#define DEFAULT_SEARCH_TEXT                                                                                            \
  "Call before answering from memory or repeating work: recall facts, preferences, decisions, notes, rules."
#define DEFAULT_GET_TEXT "Call when a hit is cut or matters: the memory in full, with notes and links; or its history."
#define DEFAULT_LIST_TEXT                                                                                              \
  "Call to browse: memories, newest first; counts (stats), changes (events), similar rules (repeats)."
#define DEFAULT_SKILL_TEXT "Call when a stored how-to may fit the work."

extern const struct tool_arg default_boot_args[], default_search_args[], default_get_args[], default_list_args[],
    default_skill_args[], default_task_args[], default_session_args[];
extern const struct tool_action default_get_actions[], default_list_actions[], default_skill_actions[];

enum status default_boot_prepare(struct tool_run *run, yyjson_mut_val *args);
enum status default_boot_finish(struct tool_run *run, yyjson_mut_val *result);
enum status default_get_finish(struct tool_run *run, yyjson_mut_val *result);
