/* tasks.c: rows of the operations on tasks and skills. Data only. */
#include "op/table/row.h"

/* clang-format off */

static const struct param no_params[] = {END};
static const struct param task_add_params[] = {
  TEXT("text", PARAM_POSITIONAL | PARAM_STDIN, "TEXT", "what to do"),
  TEXT("headline", 0, "TEXT", "at most 15 words; derived from the text if omitted"),
  GATED("priority", priorities, "default medium"),
  TEXT("milestone", 0, "NAME", "milestone it belongs to"),
  TEXT("due", 0, "TEXT", "a date or a condition"),
  MANY("acceptance", "accept", "TEXT", "an acceptance criterion; may be repeated"),
  MANY("blocked_by", NULL, "ID", "a task that must be done first; may be repeated"),
  MANY("tags", "tag", "TAG", "label for filtering; may be repeated"),
  TEXT("key", 0, "KEY", "short name"),
  FLAG("keep_fields", "if the task is stored already, leave its priority, tags and other fields unchanged"),
  ORIGIN,
  TEXT("idempotency_key", 0, "KEY", "repeating this call with the same key within 7 days returns the first result"),
  END
};
static const struct param task_list_params[] = {
  CHOICE("status", task_statuses, "only this status (default: open and blocked)"),
  TEXT("milestone", 0, "NAME", "only this milestone"),
  INT("limit", "N", "maximum number of tasks (default 50)"),
  TEXT("cursor", 0, "CURSOR", "continue after the page that returned this next_cursor"),
  END
};
static const struct param task_ready_params[] = {INT("limit", "N", "maximum number of tasks (default 20)"), END};
static const struct param task_claim_params[] = {
  TEXT("id", PARAM_POSITIONAL, "ID", "the task (default: the first that is ready)"),
  TEXT("by", 0, "NAME", "who claims it (default: the source)"),
  FLAG("release", "release the claim"),
  END
};
static const struct param task_status_params[] = {
  ONE_ID, {"status", PARAM_TEXT, REQ_POS, NULL, NULL, task_statuses, "the new status"}, END
};
static const struct param task_block_params[] = {
  ONE_ID, TEXT("by", REQ_POS, "BLOCKER", "id of the task that must be done first; also --by BLOCKER"), END
};
static const struct param task_sync_params[] = {
  TEXT("file", PARAM_POSITIONAL | PARAM_PATH, "FILE", "the file (default: tasks.json in the project's agent folder)"),
  FLAG("dry_run", "only report what would change"),
  FLAG("confirm", "for agents: the user agrees to forget more than ten tasks missing from the file"),
  END
};
static const struct param skill_load_params[] = {TEXT("name", REQ_POS, "NAME", "name of the skill"), END};

const struct op tasks_ops[] = {
  {.name = "task add", .group = "Tasks", .summary = "Add a task",
   .help = "",
   .example = "cairn task add 'Write the release notes' --priority high",
   .params = task_add_params, .flags = OP_WRITE | OP_GATED | OP_PROJECT,
   .result = WRITTEN,
   .routes = ROUTES(ROUTE("POST", "/tasks", .flags = ROUTE_CREATES)),
   .run = op_task_add},
  {.name = "task list", .group = "Tasks", .summary = "List tasks by priority",
   .help = "The first page also counts stale tasks, which --status stale lists.",
   .example = "cairn task list --milestone 1.0",
   .params = task_list_params, .flags = OP_PROJECT | OP_READS,
   .result = "tasks:[obj] count:int stale?:int next_cursor?",
   .routes = ROUTES(ROUTE("GET", "/tasks", .page = "cursor")),
   .run = op_task_list},
  {.name = "task ready", .group = "Tasks", .summary = "List tasks that can be started",
   .help = "Open, unclaimed, and not blocked by an open task.",
   .example = "cairn task ready",
   .params = task_ready_params, .flags = OP_PROJECT | OP_READS,
   .result = "tasks:[obj] count:int",
   .routes = ROUTES(ROUTE("GET", "/tasks/ready")),
   .run = op_task_ready},
  {.name = "task claim", .group = "Tasks", .summary = "Claim a task",
   .help = "Atomic: if several callers try, one wins.",
   .example = "cairn task claim 12 --by alice\ncairn task claim 12 --release",
   .params = task_claim_params, .flags = OP_WRITE | OP_PROJECT,
   .result = "+brief " CHANGED,
   .routes = ROUTES(
     ROUTE("POST", "/tasks/claim", .without = "id release", .summary = "Claim the first task that is ready"),
     ROUTE("POST", "/tasks/{id}/claim", .to = "id", .flags = ROUTE_GUARDED)),
   .run = op_task_claim},
  {.name = "task status", .group = "Tasks", .summary = "Set the status of a task",
   .help = "",
   .example = "cairn task status 12 done",
   .params = task_status_params, .flags = OP_WRITE | OP_PROJECT,
   .result = "+brief " CHANGED,
   .routes = ROUTES(ROUTE("POST", "/tasks/{id}/status", .to = "id", .flags = ROUTE_GUARDED)),
   .run = op_task_status},
  {.name = "task block", .group = "Tasks", .summary = "Block a task by another",
   .help = "Refuses cycles, and shows them.",
   .example = "cairn task block 12 14",
   .params = task_block_params, .flags = OP_WRITE | OP_PROJECT,
   .result = "+brief by:int " CHANGED,
   .routes = ROUTES(ROUTE("POST", "/tasks/{id}/block", .to = "id", .flags = ROUTE_GUARDED)),
   .run = op_task_block},
  {.name = "task unblock", .group = "Tasks", .summary = "Remove a blocker from a task",
   .help = "",
   .example = "cairn task unblock 12 14",
   .params = task_block_params, .flags = OP_WRITE | OP_PROJECT,
   .result = "+brief by:int " CHANGED,
   .routes = ROUTES(ROUTE("POST", "/tasks/{id}/unblock", .to = "id", .flags = ROUTE_GUARDED)),
   .run = op_task_unblock},
  {.name = "task sync", .group = "Tasks", .summary = "Sync tasks.json with the store",
   .help = "Changes made on either side since the last run are copied to the other. If both sides changed a task, the file "
   "wins and the older text stays in the history. Entries that the gate refuses stay in the file and are listed, "
   "and so are blockers that would make a task block itself: the task is stored without them. "
   "Tasks removed from the file are forgotten; 'cairn undo' restores them.",
   .example = "cairn task sync\ncairn task sync --dry-run",
   .params = task_sync_params, .flags = OP_WRITE,
   .result = "file tasks:int store:{int} in_file:{int} conflicts:[(id memory:int members:[text])] "
   "cycles:[(id memory?:int blocked_by:[text])] refused:[(id? description? reason fix?:advice)] written:bool dry_run:bool "
   "txn?:int",
   .run = op_task_sync},
  {.name = "skill list", .group = "Skills", .summary = "List skills with their keywords",
   .help = "",
   .example = "cairn skill list",
   .params = no_params, .flags = OP_PROJECT | OP_READS,
   .result = "skills:[(name id:int headline keywords:[text] projects:[text] always_on:bool untrusted?:bool suspect?)]",
   .routes = ROUTES(ROUTE("GET", "/skills")),
   .run = op_skill_list},
  {.name = "skill load", .group = "Skills", .summary = "Show a skill in full",
   .help = "",
   .example = "cairn skill load release-checklist",
   .params = skill_load_params, .flags = OP_PROJECT,
   .result = "+memory",
   .routes = ROUTES(ROUTE("GET", "/skills/{name}", .to = "name")),
   .run = op_skill_load},
  END
};
