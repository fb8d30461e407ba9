/* default.h: declarations shared by the default and the read-only profile. */
#pragma once

#include "mcp/tools/tool.h"

#define DEFAULT_BOOT_TEXT                                                                                              \
  "Begin a conversation: rules that apply, identity, lessons, decisions, open tasks, last handoff, and a session "     \
  "handle."
#define DEFAULT_SEARCH_TEXT                                                                                            \
  "Recall what was remembered: facts, preferences, decisions, notes, rules; by meaning and words."
#define DEFAULT_GET_TEXT "Read one memory in full, with notes and links; or its versions (history)."
#define DEFAULT_LIST_TEXT "Browse memories, newest first; or counts (stats), or the log of changes (events)."
#define DEFAULT_SKILL_TEXT "Stored skills: how-to instructions by name. list shows them, load reads one."

extern const struct tool_arg default_boot_args[], default_search_args[], default_get_args[], default_list_args[],
    default_skill_args[], default_task_args[], default_session_args[];
extern const struct tool_action default_get_actions[], default_list_actions[], default_skill_actions[];

enum status default_boot_prepare(struct tool_run *run, yyjson_mut_val *args);
enum status default_boot_finish(struct tool_run *run, yyjson_mut_val *result);
enum status default_get_finish(struct tool_run *run, yyjson_mut_val *result);
