/* correction.c: rows of the operations on corrections: supersede, annotate, rate, pin, forget, undo. Data only. */
#include "op/table/row.h"

/* clang-format off */

#define SOME_IDS {"ids", PARAM_LIST, REQ_POS, NULL, "ID", NULL, "ids, uids or keys of the memories"}
static const char *const directions[] = {"up", "down", NULL};
static const char *const link_rels[] = {"contradicts", "relates", "derived_from", "cites", NULL};
static const struct param supersede_params[] = {
  ONE_ID,
  TEXT("text", PARAM_POSITIONAL | PARAM_STDIN, "TEXT", "the corrected text"),
  TEXT("reason", 0, "TEXT", "why the old memory is wrong or outdated (required unless --soft)"),
  FLAG("soft", "a minor correction: typo, wording"),
  FLAG("inherit_pin", "keep the old memory's delivery (boot, pinned)"),
  FLAG("inherit_skill", "keep the old memory's skill name and keywords"),
  FLAG("inherit_key", "keep the old memory's key"),
  WRITE_PARAMS,
  END
};
static const struct param unsupersede_params[] = {
  ONE_ID, FLAG("keep_corrector", "keep the correcting memory active too"), END
};
static const struct param annotate_params[] = {
  ONE_ID,
  TEXT("note", PARAM_POSITIONAL | PARAM_SHOWN, "NOTE", "text to add (default: show the notes)"),
  FLAG("clear", "remove all notes"),
  END
};
static const struct param rate_params[] = {
  ONE_ID, {"direction", PARAM_TEXT, REQ_POS, NULL, NULL, directions, "was it useful?"}, END
};
static const struct param repeats_params[] = {
  CHOICE("severity", write_severities, "only rules of this severity"),
  NUMBER("above", "S", "only pairs more similar than this, 0 to 1 (default 0.7)"),
  FLAG("trusted", "exclude untrusted memories, as boot does"),
  INT("limit", "N", "maximum number of pairs (default 20)"),
  END
};
static const struct param id_params[] = {ONE_ID, END};
static const struct param link_params[] = {
  ONE_ID,
  {"rel", PARAM_TEXT, REQ_POS, NULL, NULL, link_rels, "relation of the first memory to the second"},
  TEXT("to", REQ_POS, "ID", "id, uid or key of the other memory"),
  END
};
static const struct param forget_params[] = {
  SOME_IDS, TEXT("reason", PARAM_REQUIRED, "TEXT", "why"),
  FLAG("confirm", "for agents: the user agrees to forget more than ten at once"), END
};
static const struct param purge_params[] = {
  SOME_IDS, FLAG("confirm", "required: a purge cannot be undone"), END
};
static const struct param prune_params[] = {
  INT("days", "N", "minimum days since the last change or read, at least 30 (default 90)"),
  INT("min_access", "N", "maximum number of reads (default 0)"),
  FLAG("apply", "prune; without it, only list the candidates"),
  END
};
static const struct param undo_params[] = {
  {"txn", PARAM_INT, REQ_POS, NULL, "TXN", NULL, "transaction number"},
  FLAG("confirm", "for agents: the user agrees to change more than ten memories"), END
};

const struct op correction_ops[] = {
  {.name = "supersede", .group = "Correction", .summary = "Replace a memory with a corrected one",
   .help = "The old memory is kept, disappears from search and boot at once, and points to the new one. A project memory "
   "that replaces a global one shadows it only in that project. Pin, skill and key are inherited only on request.",
   .example = "cairn supersede 12 'Staging moved to port 5434' --reason 'port conflict'",
   .params = supersede_params, .flags = OP_WRITE | OP_GATED | OP_EVERYDAY | OP_PROJECT,
   .result = WRITTEN,
   .routes = ROUTES(
     ROUTE("POST", "/memories/{id}/supersede", .to = "id", .flags = ROUTE_GUARDED | ROUTE_CREATES)),
   .run = op_supersede},
  {.name = "unsupersede", .group = "Correction", .summary = "Revert a correction",
   .help = "Makes the old memory active again and retires its replacement, in one step. Refused in the middle of a chain.",
   .example = "cairn unsupersede 12",
   .params = unsupersede_params, .flags = OP_WRITE | OP_PROJECT,
   .result = "id:int state retired?:int " CHANGED,
   .routes = ROUTES(ROUTE("POST", "/memories/{id}/unsupersede", .to = "id", .flags = ROUTE_GUARDED)),
   .run = op_unsupersede},
  {.name = "history", .group = "Correction", .summary = "Show all versions of a memory",
   .help = "Oldest first, with the reason for each change.",
   .example = "cairn history 12",
   .params = id_params, .flags = OP_PROJECT,
   .result = "chain:[obj] head:int",
   .routes = ROUTES(ROUTE("GET", "/memories/{id}/history", .to = "id")),
   .run = op_history},
  {.name = "repeats", .group = "Correction", .summary = "Find near-duplicate rules",
   .help = "Compares the newest 200 rules and lists similar pairs, closest first: one of each pair should supersede the "
   "other. Changes nothing.",
   .example = "cairn repeats --severity blocker",
   .params = repeats_params, .flags = OP_PROJECT | OP_READS,
   .result = "rules:int repeated:int above:num pairs:[(a:(id:int headline project) b:(id:int headline project) "
   "similarity:num)] degraded?:advice",
   .run = op_repeats},
  {.name = "annotate", .group = "Correction", .summary = "Add, show or clear notes on a memory",
   .help = "",
   .example = "cairn annotate 12 'Also true for QA'",
   .params = annotate_params, .flags = OP_WRITE | OP_PROJECT,
   .result = "id:int annotations:[@note] " CHANGED,
   .routes = ROUTES(
     ROUTE("GET", "/memories/{id}/annotations", .to = "id", .without = "note clear", .summary = "Show the notes on a memory"),
     ROUTE("POST", "/memories/{id}/annotations", .to = "id", .flags = ROUTE_GUARDED, .without = "clear", .summary = "Add a note to a memory"),
     ROUTE("DELETE", "/memories/{id}/annotations", .to = "id", .flags = ROUTE_GUARDED, .without = "note clear", .with = "clear", .summary = "Remove the notes on a memory")),
   .run = op_annotate},
  {.name = "rate", .group = "Correction", .summary = "Rate a memory as useful or not",
   .help = "Ratings affect ranking.",
   .example = "cairn rate 12 up",
   .params = rate_params, .flags = OP_WRITE | OP_PROJECT,
   .result = "id:int upvotes:int downvotes:int " CHANGED,
   .routes = ROUTES(ROUTE("POST", "/memories/{id}/rate", .to = "id", .flags = ROUTE_GUARDED)),
   .run = op_rate},
  {.name = "pin", .group = "Correction", .summary = "Deliver a memory with every prompt",
   .help = "",
   .example = "cairn pin 12",
   .params = id_params, .flags = OP_WRITE | OP_PROJECT,
   .result = "id:int delivery " CHANGED,
   .routes = ROUTES(ROUTE("POST", "/memories/{id}/pin", .to = "id", .flags = ROUTE_GUARDED)),
   .run = op_pin},
  {.name = "unpin", .group = "Correction", .summary = "Stop delivering a memory with every prompt",
   .help = "",
   .example = "cairn unpin 12",
   .params = id_params, .flags = OP_WRITE | OP_PROJECT,
   .result = "id:int delivery " CHANGED,
   .routes = ROUTES(ROUTE("POST", "/memories/{id}/unpin", .to = "id", .flags = ROUTE_GUARDED)),
   .run = op_unpin},
  {.name = "promote", .group = "Correction", .summary = "Trust a memory from a tool, import or extraction",
   .help = "Search finds untrusted text and labels it, but it is never shown at boot, by a skill's keyword or in MEMORY.md. "
   "This makes it trusted and records who did it. Text that reads like instructions to a model can be promoted only "
   "by a person.",
   .example = "cairn promote 12",
   .params = id_params, .flags = OP_WRITE,
   .result = "id:int trust " CHANGED,
   .routes = ROUTES(ROUTE("POST", "/memories/{id}/promote", .to = "id", .flags = ROUTE_GUARDED)),
   .run = op_promote},
  {.name = "link", .group = "Correction", .summary = "Link two memories",
   .help = "",
   .example = "cairn link 12 relates 14",
   .params = link_params, .flags = OP_WRITE | OP_PROJECT,
   .result = "id:int rel to:int " CHANGED,
   .routes = ROUTES(ROUTE("POST", "/memories/{id}/link", .to = "id", .flags = ROUTE_GUARDED)),
   .run = op_link},
  {.name = "unlink", .group = "Correction", .summary = "Remove a link between two memories",
   .help = "",
   .example = "cairn unlink 12 relates 14",
   .params = link_params, .flags = OP_WRITE | OP_PROJECT,
   .result = "id:int rel to:int " CHANGED,
   .routes = ROUTES(ROUTE("POST", "/memories/{id}/unlink", .to = "id", .flags = ROUTE_GUARDED)),
   .run = op_unlink},
  {.name = "forget", .group = "Correction", .summary = "Hide memories from search, with a reason",
   .help = "They are kept for the record. 'cairn undo' restores them.",
   .example = "cairn forget 12 --reason 'no longer true'",
   .params = forget_params, .flags = OP_WRITE | OP_GATED | OP_EVERYDAY | OP_PROJECT,
   .result = "forgotten:[int] already:[int] degraded?:advice " CHANGED,
   .routes = ROUTES(
     ROUTE("DELETE", "/memories/{id}", .to = "ids", .flags = ROUTE_GUARDED),
     ROUTE("POST", "/memories/{id}/forget", .to = "ids", .flags = ROUTE_GUARDED),
     ROUTE("POST", "/forget")),
   .run = op_forget},
  {.name = "purge", .group = "Correction", .summary = "Delete memories permanently",
   .help = "Removes text, full-text index entries, vectors and snapshots in the event log. A tombstone remains and blocks "
   "re-import. Existing backups still contain the text; the receipt lists those next to the store. A memory that the "
   "purged one had superseded becomes active again (restored).",
   .example = "cairn purge 12 --confirm",
   .params = purge_params, .flags = OP_WRITE | OP_DESTRUCTIVE,
   .result = "receipt:(purged:[(id:int uid)] at:time by rows:{int} log_emptied:bool remains? backups:[text]) "
   "restored?:[int] " CHANGED,
   .routes = ROUTES(
     ROUTE("POST", "/memories/{id}/purge", .to = "ids", .flags = ROUTE_GUARDED),
     ROUTE("POST", "/purge")),
   .run = op_purge},
  {.name = "prune", .group = "Correction", .summary = "Remove old, unused memories",
   .help = "Unused facts, archived incidents, done and stale tasks; at least 30 days old, at most 50 per call; never rules "
   "or pinned memories. A dry run unless --apply is given. 'cairn undo' restores them.",
   .example = "cairn prune --days 180\ncairn prune --days 180 --apply",
   .params = prune_params, .flags = OP_WRITE | OP_DESTRUCTIVE,
   .result = "dry_run:bool would_prune?:[obj] pruned?:[obj] total:int max_per_call:int criteria:(days:int min_access:int) "
   "txn?:int",
   .run = op_prune},
  {.name = "undo", .group = "Correction", .summary = "Undo a transaction",
   .help = "A change prints this command with its transaction number. An undo is itself a transaction, so it can be undone "
   "too. It does not reverse a purge, or changes of the vault, sources, extracted items, agents, tokens, sessions, "
   "handoffs, action items and transcripts; some of these have an opposite command, such as 'cairn source remove'.",
   .example = "cairn undo 7",
   .params = undo_params, .flags = OP_WRITE | OP_EVERYDAY,
   .result = "undone:int changes:int already_gone?:int txn:int",
   .routes = ROUTES(ROUTE("POST", "/transactions/{txn}/undo", .to = "txn")),
   .run = op_undo},
  END
};
