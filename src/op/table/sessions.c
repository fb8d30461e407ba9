/* sessions.c: rows of the operations on sessions, action items, checkpoints and scratch values. Data only. */
#include "op/table/row.h"

/* clang-format off */

static const struct param no_params[] = {END};
static const char *const action_kinds[] = {"task", "rule", NULL};
static const char *const action_decisions[] = {"will_execute", "already_done", "not_relevant", NULL};
static const struct param session_list_params[] = {FLAG("exclude_self", "omit the caller's own session"), END};
static const struct param session_task_params[] = {TEXT("task", REQ_POS | PARAM_SHOWN, "TEXT", "current task"), END};
static const struct param session_handoff_params[] = {
  TEXT("text", PARAM_POSITIONAL | PARAM_STDIN | PARAM_SHOWN, "TEXT", "the note, at most 2000 characters (default: show the last one)"), END
};
static const struct param session_end_params[] = {
  TEXT("handoff", PARAM_SHOWN, "TEXT", "a note for the next session, at most 2000 characters"), END
};
static const struct param action_list_params[] = {
  FLAG("all", "include answered items"), INT("limit", "N", "maximum number of items, 1 to 1000 (default 50)"), END
};
static const struct param action_add_params[] = {
  TEXT("text", REQ_POS | PARAM_SHOWN, "TEXT", "what agents must answer"),
  CHOICE("kind", action_kinds, "a task (default) can be done; a rule cannot"),
  TEXT("memory", 0, "ID", "id, uid or key of its source memory"),
  END
};
static const struct param action_ack_params[] = {
  {"id", PARAM_INT, PARAM_POSITIONAL, NULL, "ID", NULL, "item number"},
  {"decision", PARAM_TEXT, REQ_POS, NULL, NULL, action_decisions, "the answer; the last two require a reason"},
  TEXT("reason", 0, "TEXT", "why"),
  TEXT("text", 0, "TEXT", "its exact text, instead of the number"),
  TEXT("memory", 0, "ID", "with the text: its source memory"),
  END
};
static const struct param checkpoint_params[] = {
  TEXT("action", REQ_POS, "TEXT", "what you are about to do"),
  TEXT("context", 0, "TEXT", "more detail, used to find relevant memories"),
  END
};
static const struct param scratch_set_params[] = {
  TEXT("key", REQ_POS, "KEY", "name of the value"), TEXT("value", REQ_POS | PARAM_STDIN, "VALUE", "any text"), END
};
static const struct param scratch_get_params[] = {TEXT("key", REQ_POS, "KEY", "name of the value"), END};

#define SHOWN_MEMORY "id:int headline " TRUST_MEMBERS

const struct op sessions_ops[] = {
  {.name = "session list", .group = "Sessions", .summary = "List the live sessions of the project",
   .help = "First ends sessions whose process has exited. 'unresponsive': the process is stopped or hangs. 'stale': silent "
   "for ten minutes, and its process cannot be checked.",
   .example = "cairn session list\ncairn session list --all-projects",
   .params = session_list_params, .flags = OP_PROJECT,
   .result = "sessions:[@session] count:int ended:[text] staleness_s:int trustworthy:bool",
   .routes = ROUTES(ROUTE("GET", "/sessions")),
   .run = op_session_list},
  {.name = "session task", .group = "Sessions", .summary = "Set the current task of the session",
   .help = "",
   .example = "cairn session task 'writing the migration'",
   .params = session_task_params, .flags = OP_WRITE | OP_NO_TXN | OP_PROJECT,
   .result = "session session_id:int task heartbeat_at:time",
   .routes = ROUTES(ROUTE("POST", "/session/task")),
   .run = op_session_task},
  {.name = "session handoff", .group = "Sessions", .summary = "Leave a note for the next session, or show the last",
   .help = "Boot shows the newest note to later sessions of the project.",
   .example = "cairn session handoff 'Tests pass; the docs are left.'\ncairn session handoff",
   .params = session_handoff_params, .flags = OP_WRITE | OP_NO_TXN | OP_PROJECT,
   .result = "id?:int session? project? length?:int handoff?:@handoff|null warnings?:[@warning]",
   .routes = ROUTES(
     ROUTE("GET", "/session/handoff", .without = "text", .summary = "Show the last handoff"),
     ROUTE("POST", "/session/handoff", .summary = "Leave a handoff note for the next session")),
   .run = op_session_handoff},
  {.name = "session end", .group = "Sessions", .summary = "End the session, with a note for the next one",
   .help = "Deletes its scratch values. Ending a session twice is not an error.",
   .example = "cairn session end --handoff 'The docs are left.'",
   .params = session_end_params, .flags = OP_WRITE | OP_NO_TXN | OP_PROJECT,
   .result = "session session_id:int ended_at:time reason handoff?:int already?:bool",
   .routes = ROUTES(ROUTE("POST", "/session/end")),
   .run = op_session_end},
  {.name = "action list", .group = "Sessions", .summary = "List pending action items",
   .help = "Also lists candidates: sentences of recent memories that sound like action items. They block nobody; 'action "
   "add' makes one an item.",
   .example = "cairn action list\ncairn action list --all",
   .params = action_list_params, .flags = OP_PROJECT | OP_READS,
   .result = "items:[@action] count:int pending:int candidates?:[(text memory:int)]",
   .routes = ROUTES(ROUTE("GET", "/actions")),
   .run = op_action_list},
  {.name = "action add", .group = "Sessions", .summary = "Add an action item",
   .help = "Sessions that boot from now on must answer it before they can write in this project.",
   .example = "cairn action add 'Rotate the signing key before the release'",
   .params = action_add_params, .flags = OP_WRITE | OP_NO_TXN | OP_PROJECT,
   .result = "+action action=added|already warnings?:[@warning]",
   .routes = ROUTES(ROUTE("POST", "/actions")),
   .run = op_action_add},
  {.name = "action ack", .group = "Sessions", .summary = "Answer an action item",
   .help = "A rule cannot be already_done. Answering again changes nothing.",
   .example = "cairn action ack 3 will_execute\ncairn action ack 4 not_relevant --reason 'the key was rotated by its owner'",
   .params = action_ack_params, .flags = OP_WRITE | OP_NO_TXN | OP_PROJECT,
   .result = "id:int text decision status removed:int remaining:int",
   .routes = ROUTES(ROUTE("POST", "/actions/{id}/ack", .to = "id", .without = "text memory")),
   .run = op_action_ack},
  {.name = "checkpoint", .group = "Sessions", .summary = "Show what matters before a risky action",
   .help = "Blockers that are pinned, always on or about the action, a person's first, and the five most relevant memories. "
   "Skipped if the same source asked about the same action within five minutes. Never blocks.",
   .example = "cairn checkpoint 'force-push to main'",
   .params = checkpoint_params, .flags = OP_PROJECT,
   .result = "action skipped:bool cooldown_s:int guardrails:[(" SHOWN_MEMORY " text author?)] "
   "relevant:[(" SHOWN_MEMORY " kind type severity? snippet score:num)] faded?:int fetch?:advice degraded?:advice",
   .routes = ROUTES(ROUTE("POST", "/checkpoint")),
   .run = op_checkpoint},
  {.name = "scratch set", .group = "Sessions", .summary = "Store a value until the session ends",
   .help = "",
   .example = "cairn scratch set branch fix/login",
   .params = scratch_set_params, .flags = OP_WRITE | OP_NO_TXN | OP_PROJECT,
   .result = "session key bytes:int",
   .routes = ROUTES(ROUTE("PUT", "/session/scratch/{key}", .to = "key")),
   .run = op_scratch_set},
  {.name = "scratch get", .group = "Sessions", .summary = "Show a scratch value of the session",
   .help = "",
   .example = "cairn scratch get branch",
   .params = scratch_get_params, .flags = OP_PROJECT,
   .result = "session key found:bool value?",
   .routes = ROUTES(ROUTE("GET", "/session/scratch/{key}", .to = "key")),
   .run = op_scratch_get},
  {.name = "scratch list", .group = "Sessions", .summary = "List the scratch values of the session",
   .help = "",
   .example = "cairn scratch list",
   .params = no_params, .flags = OP_PROJECT,
   .result = "session values:[(key value updated_at:time)] count:int",
   .routes = ROUTES(ROUTE("GET", "/session/scratch")),
   .run = op_scratch_list},
  END
};
