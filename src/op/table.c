/* table.c: the table of operations, in the order of the help text. Data only. */
#include "core/memory/memory.h"
#include "op/handlers.h"
#include "op/op.h"
#include "op/search/corpus.h"

/* clang-format off */

#define TEXT(name, flags, value, help) {name, PARAM_TEXT, flags, NULL, value, NULL, help}
#define CHOICE(name, list, help) {name, PARAM_TEXT, 0, NULL, NULL, list, help}
#define GATED(name, list, help) {name, PARAM_TEXT, PARAM_OPEN, NULL, NULL, list, help}
#define INT(name, value, help) {name, PARAM_INT, 0, NULL, value, NULL, help}
#define NUMBER(name, value, help) {name, PARAM_NUMBER, 0, NULL, value, NULL, help}
#define FLAG(name, help) {name, PARAM_BOOL, 0, NULL, NULL, NULL, help}
#define MANY(name, cli, value, help) {name, PARAM_LIST, 0, cli, value, NULL, help}
#define END {0}

#define REQ_POS (PARAM_REQUIRED | PARAM_POSITIONAL)
#define ONE_ID TEXT("id", REQ_POS, "ID", "id, uid or key of the memory")
#define SOME_IDS {"ids", PARAM_LIST, REQ_POS, NULL, "ID", NULL, "ids, uids or keys of the memories"}

static const char *const kinds[] = {"rule", "fact", "incident", "task", NULL};
static const char *const scopes[] = {"global", "project", NULL};
static const char *const write_severities[] = {"blocker", "pattern", NULL};
static const char *const origins[] = {"tool", NULL};
static const char *const directions[] = {"up", "down", NULL};
static const char *const details[] = {"headline", "snippet", "full", NULL};
static const char *const link_rels[] = {"contradicts", "relates", "derived_from", "cites", NULL};
static const char *const search_modes[] = {"hybrid", "keyword", "vector", NULL};
static const char *const eval_dates[] = {"valid", "written", "none", NULL};
static const char *const formats[] = {"auto", "cairn", "graph", "markdown", NULL};
static const char *const transcript_sources[] = {"auto", "claude", "codex", NULL};
static const char *const boot_formats[] = {"brief", "full", "blocks", NULL};
static const char *const boot_parts[] = {"text", "sections", NULL};
static const char *const action_kinds[] = {"task", "rule", NULL};
static const char *const action_decisions[] = {"will_execute", "already_done", "not_relevant", NULL};

const struct param common_params[] = {
  TEXT("project", 0, "NAME", "project to read or write (default: CAIRN_PROJECT, else the git repository; '' = global)"),
  CHOICE("scope", scopes, "'global': ignore the project; 'project': require one"),
  FLAG("all_projects", "include every project, not only this one and global memories"),
  END
};

#define ORIGIN CHOICE("origin", origins, "label it as text from a tool, web page or file: untrusted until promoted")

/* Shared by remember and supersede. */
#define WRITE_PARAMS \
  TEXT("headline", 0, "TEXT", "at most 15 words; derived from the text if omitted (gate mode assist)"), \
  TEXT("type", 0, "TYPE", "label, by name or alias: rule, guardrail, lesson, fact, decision, context, ..."), \
  GATED("severity", write_severities, "rules only; default pattern"), \
  TEXT("key", 0, "KEY", "short name, unique among the project's active memories"), \
  MANY("tags", "tag", "TAG", "label for filtering; may be repeated"), \
  MANY("people", "person", "NAME", "person it is about; may be repeated"), \
  NUMBER("weight", "W", "ranking weight, 0.1 to 1.0 (default 1.0)"), \
  TEXT("ttl", 0, "TIME", "expiry: 24h, 7d, 720h, or a timestamp"), \
  TEXT("valid_from", 0, "TIME", "start of validity, a timestamp (default: now)"), \
  GATED("delivery", deliveries, "how it is delivered to agents (default on_demand)"), \
  TEXT("skill_name", 0, "NAME", "make it a skill with this name, triggered by its keywords"), \
  MANY("skill_keywords", "skill-keyword", "WORD", "trigger: a query with this word returns the skill; may be repeated"), \
  MANY("skill_projects", "skill-project", "NAME", "limit the skill to this project; may be repeated"), \
  FLAG("skill_always_on", "also load the skill at boot"), \
  GATED("confidence", confidences, "confidence in a learned claim"), \
  MANY("domains", "domain", "NAME", "root domain that corroborates the claim; may be repeated"), \
  TEXT("verified", 0, "TIME", "when the claim was last verified"), \
  GATED("priority", priorities, "tasks only; default medium"), \
  TEXT("milestone", 0, "NAME", "tasks only"), \
  TEXT("due", 0, "TEXT", "tasks only: a date or a condition"), \
  MANY("acceptance", "accept", "TEXT", "tasks only: an acceptance criterion; may be repeated"), \
  TEXT("root_cause", 0, "TEXT", "incidents only"), \
  TEXT("resolution", 0, "TEXT", "incidents only"), \
  ORIGIN, \
  MANY("distinct_from", NULL, "ID", "a similar memory that is not a duplicate; may be repeated"), \
  TEXT("idempotency_key", 0, "KEY", "repeating a call with this key returns the first result")

static const struct param remember_params[] = {
  TEXT("text", PARAM_POSITIONAL | PARAM_STDIN, "TEXT", "what to remember, as an argument or on standard input"),
  GATED("kind", kinds, "lifecycle; default: from the type, else fact"),
  WRITE_PARAMS,
  TEXT("supersedes", 0, "ID", "memory that this one replaces (requires a reason)"),
  TEXT("reason", 0, "TEXT", "why the old memory is wrong or outdated"),
  MANY("links", "link", "ID", "a related memory, or a rule of an incident; may be repeated"),
  FLAG("keep_both", "store it next to near duplicates, with a warning; exact duplicates are still not stored"),
  FLAG("defer_embedding", "store the text now, embed it at the next maintenance run"),
  TEXT("batch", PARAM_PATH, "FILE", "JSON Lines, one object with these arguments per line; '-' is standard input"),
  END
};
static const struct param capture_params[] = {
  TEXT("text", REQ_POS | PARAM_STDIN | PARAM_SECRETS, "TEXT", "raw text: notes or a conversation"),
  MANY("tags", "tag", "TAG", "label for each memory; may be repeated"),
  ORIGIN,
  END
};
#define IN_CORPORA(help) {"in", PARAM_LIST, 0, NULL, "CORPUS", corpus_choices, help}
static const struct param get_params[] = {ONE_ID, END};
static const struct param search_params[] = {
  TEXT("query", REQ_POS | PARAM_NOISE | PARAM_SECRETS, "QUERY", "any text"),
  IN_CORPORA("what to search (default memory); may be repeated"),
  INT("limit", "N", "maximum number of results, 1 to 100 (default 10)"),
  CHOICE("kind", kinds, "only this kind"),
  TEXT("type", 0, "TYPE", "only this type, by name or alias"),
  MANY("tags", "tag", "TAG", "only memories with this tag; if repeated, with all of them"),
  MANY("people", "person", "NAME", "only memories about this person; if repeated, about all of them"),
  TEXT("since", 0, "TIME", "created after: 7d, or a timestamp"),
  TEXT("until", 0, "TIME", "created before: 7d, or a timestamp"),
  TEXT("as_of", 0, "TIME", "what was known and valid at this time"),
  CHOICE("mode", search_modes, "words and meaning (default), only words, or only meaning"),
  CHOICE("detail", details, "how much of each result (default snippet)"),
  INT("budget", "TOKENS", "maximum total size of the results; omitted ones are counted"),
  FLAG("include_superseded", "include superseded memories, labelled as such"),
  FLAG("trusted", "exclude untrusted memories, as boot does"),
  FLAG("explain", "show the components of each score"),
  END
};
static const struct param list_params[] = {
  INT("limit", "N", "maximum number of memories, 1 to 1000 (default 20)"),
  INT("offset", "N", "skip the first N"),
  TEXT("cursor", 0, "CURSOR", "continue after the page that returned this next_cursor"),
  FLAG("own", "only memories of the project itself, no global ones"),
  FLAG("trusted", "exclude untrusted memories, as boot does"),
  IN_CORPORA("what to list (default memory); may be repeated"),
  CHOICE("kind", kinds, "only this kind"),
  TEXT("type", 0, "TYPE", "only this type, by name or alias"),
  CHOICE("state", memory_states, "only this state (default active)"),
  CHOICE("delivery", deliveries, "only this delivery"),
  MANY("tags", "tag", "TAG", "only memories with this tag; if repeated, with all of them"),
  MANY("people", "person", "NAME", "only memories about this person; if repeated, about all of them"),
  TEXT("since", 0, "TIME", "created after: 7d, or a timestamp"),
  TEXT("until", 0, "TIME", "created before: 7d, or a timestamp"),
  TEXT("as_of", 0, "TIME", "what was known and valid at this time"),
  CHOICE("detail", details, "how much of each memory (default headline)"),
  END
};
static const struct param boot_params[] = {
  TEXT("task", 0, "TEXT", "what you are about to do; ranks the patterns"),
  INT("budget", "TOKENS", "maximum size of the whole reply, JSON included (default 2000)"),
  CHOICE("format", boot_formats, "brief (default); full: complete texts of memories delivered at boot; blocks: [TYPE] [key]: text"),
  CHOICE("only", boot_parts, "return only this part, so that more of it fits the budget"),
  FLAG("register", "register a session even if no process or connection is known"),
  INT("pid", "PID", "process that owns the session, for hooks and scripts ($PPID)"),
  TEXT("host", 0, "NAME", "host of that process (default: this one)"),
  TEXT("cwd", 0, "FOLDER", "its working folder"),
  END
};
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
  ORIGIN,
  TEXT("idempotency_key", 0, "KEY", "repeating a call with this key returns the first result"),
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
  ONE_ID, TEXT("by", REQ_POS, "ID", "the task that must be done first"), END
};
static const struct param task_sync_params[] = {
  TEXT("file", PARAM_POSITIONAL | PARAM_PATH, "FILE", "the file (default: tasks.json in the project's agent folder)"),
  FLAG("dry_run", "only report what would change"),
  FLAG("confirm", "for agents: the user agrees to forget more than ten tasks missing from the file"),
  END
};
static const struct param skill_load_params[] = {TEXT("name", REQ_POS, "NAME", "name of the skill"), END};
static const struct param events_params[] = {
  INT("since", "SEQ", "only events after this sequence number (default 0)"),
  INT("limit", "N", "maximum number of events (default 100; 0 = all)"),
  TEXT("action", 0, "NAME", "only this action, for example memory:write"),
  FLAG("follow", "wait for new events until interrupted"),
  END
};
static const struct param undo_params[] = {
  {"txn", PARAM_INT, REQ_POS, NULL, "TXN", NULL, "transaction number"},
  FLAG("confirm", "for agents: the user agrees to change more than ten memories"), END
};
static const char *const maintain_steps[] = {"expired", "faded", "archived", "stale", NULL};
static const struct param maintain_params[] = {
  FLAG("if_due", "only if the last run is old enough"),
  NUMBER("hours", "N", "minimum age of the last run for --if-due (default: the setting maintain.interval_hours)"),
  {"only", PARAM_LIST, 0, NULL, NULL, maintain_steps, "only this step; may be repeated"},
  FLAG("named", "list what changed, not only counts"),
  END
};
static const struct param reembed_params[] = {
  FLAG("rollback", "switch back to the previous embedder and its index"),
  FLAG("status", "only show what is embedded and what is being built"),
  FLAG("drop_previous", "delete the previous index; --rollback is impossible afterwards"),
  INT("max_ms", "N", "stop after N milliseconds; a later call continues"),
  END
};
static const struct param export_params[] = {
  TEXT("file", PARAM_POSITIONAL | PARAM_PATH, "FILE", "output file (default: standard output)"),
  FLAG("events", "include the event log"),
  END
};
static const struct param import_params[] = {
  TEXT("file", REQ_POS | PARAM_PATH, "FILE", "an export, a JSONL graph, a Markdown file or folder; '-' is standard input"),
  {"format", PARAM_TEXT, 0, NULL, NULL, formats, "input format; default auto"},
  FLAG("skip_bad", "import valid rows even if others are invalid"),
  FLAG("dry_run", "check everything, change nothing"),
  FLAG("keep_trust", "keep the trust recorded in your own export (default: all untrusted)"),
  FLAG("defer_embedding", "do not embed now; 'cairn reembed' or maintenance does it later"),
  END
};
static const struct param source_add_params[] = {
  TEXT("dir", REQ_POS | PARAM_PATH, "DIR", "folder to index"), END
};
static const struct param source_refresh_params[] = {
  TEXT("dir", PARAM_POSITIONAL | PARAM_PATH, "DIR", "only this source"), END
};
static const struct param source_remove_params[] = {
  TEXT("dir", REQ_POS | PARAM_PATH, "DIR", "the folder, as shown by 'cairn source list'"), END
};
static const struct param extract_params[] = {
  TEXT("dir", REQ_POS | PARAM_PATH, "DIR", "folder to read; all or part of a git repository"),
  TEXT("out", PARAM_PATH, "FILE", "output file (default: items.json in the project's folder)"),
  END
};
static const struct param transcript_import_params[] = {
  {"paths", PARAM_LIST, PARAM_POSITIONAL | PARAM_PATH, NULL, "PATH", NULL, "transcript files or folders (default: those of Claude Code and Codex)"},
  CHOICE("from", transcript_sources, "program that wrote them (default auto)"),
  END
};
static const struct param metrics_params[] = {
  INT("hours", "N", "period to report, 1 to 720 hours (default 24)"), END
};
static const struct param errors_params[] = {
  INT("limit", "N", "maximum number of errors, 1 to 500 (default 20)"),
  FLAG("process", "only the answering process: its last 500 calls, kept in memory"),
  END
};
static const struct param sync_params[] = {
  TEXT("path", PARAM_PATH, "FILE", "the file (default: the last one given, else files.memory_path); remembered for the project"),
  FLAG("adopt", "import a hand-written file: its bullets become memories"),
  FLAG("dry_run", "only report what would change"),
  END
};
static const struct param page_params[] = {END};
static const struct param backup_params[] = {
  TEXT("file", PARAM_POSITIONAL | PARAM_PATH, "FILE", "output file (default: next to the store, or in the state folder for a server; the newest 7 are kept)"), END
};
static const struct param restore_params[] = {
  TEXT("file", REQ_POS | PARAM_PATH, "FILE", "a backup"),
  FLAG("confirm", "replace the store's content, after backing it up"),
  FLAG("without_transcripts", "do not restore transcripts"),
  END
};
static const struct param migrate_params[] = {
  TEXT("to", PARAM_REQUIRED | PARAM_PATH, "FILE|URL", "a new file, or an empty database: postgresql://USER@HOST/DATABASE"),
  END
};
static const struct param team_list_params[] = {
  FLAG("removed", "show receipts of deleted teams"), END
};
static const struct param team_delete_params[] = {
  TEXT("name", REQ_POS, "TEAM", "the team"),
  TEXT("confirm", 0, "TEAM", "the team's name again, to confirm; this cannot be undone"),
  END
};
static const struct param doctor_params[] = {
  {"fix", PARAM_BOOL, 0, "repair", NULL, NULL,
   "rebuild the full-text index and the vector index from the texts"}, END
};
static const struct param config_params[] = {
  TEXT("name", PARAM_POSITIONAL, "NAME", "a setting (default: show all)"),
  TEXT("value", PARAM_POSITIONAL, "VALUE", "new value"),
  FLAG("unset", "reset it to the default"),
  END
};
static const char *const poolings[] = {"cls", "mean", NULL};
static const struct param model_convert_params[] = {
  TEXT("source", REQ_POS | PARAM_PATH, "FOLDER", "the model's folder: model.safetensors, vocab.txt, config.json, ..."),
  TEXT("file", REQ_POS | PARAM_PATH, "FILE", "output file"),
  TEXT("name", 0, "NAME", "model name stored with its vectors (default: the folder's name)"),
  CHOICE("pooling", poolings, "pooling method (default: from the model's files)"),
  INT("max_tokens", "N", "truncate longer texts (default: from the model's files; at most 512)"),
  INT("heads", "N", "attention heads, if there is no config.json"),
  TEXT("query_prefix", 0, "TEXT", "prefix of queries, if the model needs one ('query: ')"),
  TEXT("text_prefix", 0, "TEXT", "prefix of texts, if the model needs one ('passage: ')"),
  TEXT("calibration", 0, "KNOTS", "similarity calibration, COSINE:SIMILARITY,... (default: from its files, else fitted)"),
  FLAG("force", "overwrite an existing model file"),
  END
};
static const struct param model_show_params[] = {
  TEXT("file", PARAM_POSITIONAL | PARAM_PATH, "FILE", "a converted model (default: the built-in one)"), END
};
static const struct param eval_params[] = {
  TEXT("dir", REQ_POS | PARAM_PATH, "DIR", "folder of a test set, or of several test sets"),
  MANY("set", NULL, "NAME", "only this set, by folder or file name; may be repeated"),
  {"modes", PARAM_LIST, 0, "mode", NULL, search_modes, "only this mode (default: all three); may be repeated"},
  INT("limit", "N", "only the first N queries of each set, or pairs of each file (default: all)"),
  FLAG("fast", "embed after loading: faster, but only exact duplicates are detected"),
  CHOICE("dates", eval_dates, "a document's date is its start of validity (default), also its write time, or ignored"),
  TEXT("queries_out", PARAM_PATH, "FILE", "write each query's results as JSON Lines"),
  FLAG("keep", "keep the temporary store and print its path"),
  TEXT("server", 0, "URL", "put the temporary store on this PostgreSQL server: postgresql://USER@HOST/DATABASE"),
  END
};
static const struct param no_params[] = {END};

#define GRAPH_LINES(flags, help) {"lines", PARAM_LIST, PARAM_SECRETS | (flags), NULL, "LINE", NULL, help}
static const struct param graph_read_params[] = {
  {"names", PARAM_LIST, PARAM_POSITIONAL, NULL, "NAME", NULL, "entities (default: all)"},
  TEXT("query", 0, "TEXT", "entities whose name, type or observations contain or mean this text"),
  END
};
static const struct param graph_create_params[] = {
  GRAPH_LINES(REQ_POS, "an entity or a relation, as in memory.jsonl"), END
};
static const struct param graph_observe_params[] = {
  GRAPH_LINES(REQ_POS, "{\"entityName\":NAME,\"contents\":[TEXT]}"), END
};
static const struct param graph_delete_params[] = {
  GRAPH_LINES(PARAM_POSITIONAL, "{\"entityName\":NAME,\"observations\":[TEXT]}, or a relation"),
  MANY("entities", "entity", "NAME", "entity to delete, with its observations and relations; may be repeated"),
  END
};
#define VAULT_KEY TEXT("key", REQ_POS, "KEY", "name of the value")
static const struct param vault_key_params[] = {VAULT_KEY, END};
static const struct param vault_set_params[] = {
  VAULT_KEY,
  TEXT("value", REQ_POS | PARAM_STDIN | PARAM_SECRETS, "VALUE", "any text; pass a secret on standard input, where other users cannot see it"),
  FLAG("secret", "encrypt it; agents need a grant to read it; stays a secret until deleted"),
  END
};
static const struct param vault_get_params[] = {
  VAULT_KEY, FLAG("reveal", "show a secret's value and record it in the event log; agents need a grant"), END
};
#define GRANT_TO TEXT("to", PARAM_REQUIRED, "NAME", \
  "an agent's name, token:NAME for a token, 'agent' for unnamed agents, or '*' for the whole team")
static const struct param vault_grant_params[] = {
  VAULT_KEY,
  GRANT_TO,
  TEXT("ttl", 0, "TIME", "expiry: '1h', '7d', or a date (default: until revoked)"),
  INT("uses", "N", "maximum number of reads (default: unlimited)"),
  END
};
static const struct param vault_grants_params[] = {
  TEXT("key", PARAM_POSITIONAL, "KEY", "only grants for this secret"), END
};
static const struct param vault_revoke_params[] = {VAULT_KEY, GRANT_TO, END};
static const struct param vault_rotate_params[] = {
  FLAG("passphrase", "use a passphrase from now on; asks for it at the terminal"), END
};
static const struct param vault_list_params[] = {
  TEXT("prefix", PARAM_POSITIONAL, "PREFIX", "only keys with this prefix"), END
};
static const struct param vault_add_params[] = {
  VAULT_KEY, {"by", PARAM_INT, PARAM_POSITIONAL, NULL, "N", NULL, "amount, may be negative (default 1)"}, END
};
#define FILE_PATH(name, help) TEXT(name, REQ_POS, "PATH", help)
static const struct param file_view_params[] = {
  TEXT("path", PARAM_POSITIONAL, "PATH", "a file or folder (default /memories)"),
  INT("from", "LINE", "first line to show (default 1)"),
  INT("to", "LINE", "last line to show; -1 is the end (default)"),
  FLAG("raw", "the raw content: no line numbers, not truncated"),
  END
};
static const struct param file_create_params[] = {
  FILE_PATH("path", "path below /memories"),
  TEXT("file_text", REQ_POS | PARAM_STDIN | PARAM_VERBATIM | PARAM_SECRETS, "TEXT", "the content, stored byte for byte"),
  FLAG("overwrite", "replace an existing file; the old content stays in its history"),
  END
};
static const struct param file_str_replace_params[] = {
  FILE_PATH("path", "the file"),
  TEXT("old_str", REQ_POS | PARAM_SECRETS, "OLD", "text that occurs exactly once"),
  TEXT("new_str", PARAM_POSITIONAL | PARAM_SECRETS, "NEW", "replacement (default: nothing)"),
  END
};
static const struct param file_insert_params[] = {
  FILE_PATH("path", "the file"),
  {"insert_line", PARAM_INT, REQ_POS, NULL, "LINE", NULL, "insert after this line; 0 is the top"},
  TEXT("insert_text", REQ_POS | PARAM_STDIN | PARAM_VERBATIM | PARAM_SECRETS, "TEXT", "text to insert"),
  END
};
static const struct param file_delete_params[] = {FILE_PATH("path", "a file, or a folder with its contents"), END};
static const struct param file_rename_params[] = {
  FILE_PATH("old_path", "a file or folder"), FILE_PATH("new_path", "its new name"), END
};

/* sessions */
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

/* transcripts */
static const char *const message_roles[] = {"user", "assistant", "system", "tool_call", "tool_result", "summary", NULL};
static const char *const flush_reasons[] = {"threshold", "compaction_pending", "manual", "session_end", NULL};
#define SESSION(flags) TEXT("session", PARAM_POSITIONAL | (flags), "SESSION", "session id, also its file name (default: the caller's session)")
#define KEEP INT("keep", "N", "number of recent messages to keep unchanged (default: compaction.keep_recent)")
static const struct param transcript_append_params[] = {
  SESSION(0),
  TEXT("batch", PARAM_POSITIONAL | PARAM_PATH, "FILE", "JSON Lines, one message per line; '-' is standard input, stored line by line"),
  CHOICE("role", message_roles, "author of the message (default user)"),
  TEXT("content", PARAM_SECRETS, "TEXT", "text of the message, or a tool's result"),
  TEXT("name", PARAM_SECRETS, "TOOL", "tool_call only: the tool"),
  TEXT("input", PARAM_SECRETS, "JSON", "tool_call only: its arguments"),
  TEXT("id", PARAM_SECRETS, "ID", "message id; a tool call and its result share one (default: a new one)"),
  TEXT("timestamp", 0, "TIME", "time of the message (default: now)"),
  {"lines", PARAM_LIST, PARAM_SECRETS, "line", "JSON", NULL, "a message as one JSON object; may be repeated"},
  FLAG("skip_known", "skip messages that the session already has, by id and role"),
  END
};
static const struct param transcript_read_params[] = {
  SESSION(0),
  FLAG("all", "include all tool results, not only the last ones (pruning.tool_results)"),
  FLAG("archived", "include messages that were replaced by a summary"),
  INT("last", "N", "only the last N messages"),
  END
};
static const struct param transcript_list_params[] = {
  FLAG("archived", "include archived sessions"), INT("limit", "N", "maximum number of sessions, 1 to 10000 (default 50)"), END
};
static const struct param transcript_flush_params[] = {
  SESSION(0),
  TEXT("memories", PARAM_SECRETS, "TEXT", "the answer: JSON, fenced blocks labelled 'memory', or [NO_REPLY]"),
  CHOICE("reason", flush_reasons, "reason for the flush (default manual)"),
  KEEP,
  END
};
static const struct param transcript_compact_params[] = {
  SESSION(0),
  TEXT("summary", PARAM_SECRETS, "TEXT", "text that replaces the messages (default: generated by rules)"),
  KEEP,
  FLAG("force", "compact even below the threshold (compaction.threshold)"),
  END
};
static const struct param transcript_index_params[] = {
  TEXT("session", PARAM_POSITIONAL, "SESSION", "only this session"),
  FLAG("remove", "remove them from the search index"),
  END
};
static const struct param transcript_archive_params[] = {
  TEXT("session", PARAM_POSITIONAL, "SESSION", "this session, regardless of age (default: all that are due)"),
  FLAG("dry_run", "only list them"),
  END
};
/* agents */
static const char *const agent_roles[] = {"admin", "project", "skill", NULL};
static const struct param agent_add_params[] = {
  TEXT("name", REQ_POS, "NAME", "1 to 64 characters: A-Z a-z 0-9 _ . -"),
  {"role", PARAM_TEXT, PARAM_REQUIRED, NULL, NULL, agent_roles, "access level"},
  TEXT("note", 0, "TEXT", "its purpose"),
  END
};
/* tokens */
static const char *const token_profiles[] = {"default", "full", "readonly", "openbrain", "openbrain2", "anthropic",
                                             "graph", "mememory", "openhive", NULL};
static const struct param token_add_params[] = {
  TEXT("name", REQ_POS, "NAME", "1 to 64 characters: A-Z a-z 0-9 _ . -"),
  CHOICE("role", agent_roles, "access level (default: project with --project, else admin)"),
  MANY("projects", "project", "NAME", "limit it to this project; may be repeated, up to 32 times"),
  FLAG("read", "read-only"),
  CHOICE("profile", token_profiles, "MCP tool profile for this token (default: the server's)"),
  TEXT("ttl", 0, "TIME", "expiry: 12h, 30d, a timestamp, or never (default 90d)"),
  END
};
static const struct param token_name_params[] = {TEXT("name", REQ_POS, "NAME", "name or id of the token"), END};

static const struct param agent_name_params[] = {TEXT("name", REQ_POS, "NAME", "name of the agent"), END};
static const struct param agent_message_params[] = {
  TEXT("from", REQ_POS, "FROM", "sending agent"),
  TEXT("to", REQ_POS, "TO", "receiving agent"),
  TEXT("action", PARAM_REQUIRED, "TEXT", "what it should do"),
  TEXT("task", 0, "TEXT", "more detail, used to find relevant memories"),
  TEXT("snippet", 0, "TEXT", "text to put first, in any case"),
  INT("budget", "TOKENS", "maximum size of the context, 50 to 20000 (default 1000)"),
  END
};

const struct op ops[] = {
  {"remember", "Memories", "Store a memory",
   "Checks the text (kind, severity, headline, one idea, duplicates), refuses secrets, and stores it. The result is "
   "'stored'; 'skipped' if the store already has it (with its id); or 'superseded' if it replaced an older memory. "
   "Near matches are stored with a warning that lists them. A rule that is close to another rule is refused, with "
   "the call that supersedes it. With --batch, each line of the file is one memory and gets one line of result.",
   "cairn remember 'The staging database is Postgres 17 on port 5433'\n"
   "cairn remember --type guardrail --headline 'Never force-push to main' 'It destroyed a day of work in March.'\n"
   "git log -1 --format=%B | cairn remember --type decision --tag git -",
   remember_params, OP_WRITE | OP_GATED | OP_EVERYDAY, op_remember},
  {"search", "Memories", "Find memories by meaning and words",
   "Any text is a valid query; a query without a word finds nothing. Results are memories of the project and global "
   "ones, best first. A time in the query ('last week') or a word that names a type ('who', 'decision') is a "
   "preference. Options are filters and apply before the limit. Skills whose keyword is in the query come first and "
   "do not count. The reply names its search_mode: 'hybrid'; 'keyword' if vectors are not available; 'vector' if the "
   "full-text index is damaged. 'degraded' then says why and what to do. With --in, search also covers text read "
   "from files: extracted items, transcript messages and sources. Such results name their file and are labelled "
   "'untrusted'.",
   "cairn search 'which port does staging use' --limit 5\n"
   "cairn search 'what did we deploy last week' --type decision --budget 800\n"
   "cairn search 'billing database' --as-of 2026-03-01 --explain\n"
   "cairn search 'retry policy' --in memory --in items --in sources",
   search_params, OP_EVERYDAY, op_search},
  {"get", "Memories", "Show one memory in full",
   "By id, uid or key. Counts as an access: a faded memory becomes active again. A superseded memory is shown with a "
   "pointer to the current version.",
   "cairn get 12\ncairn get auth-approach", get_params, OP_EVERYDAY, op_get},
  {"list", "Memories", "List memories, newest first",
   "Filters apply before the limit. With --in, also lists text read from files.",
   "cairn list --kind rule\ncairn list --state superseded --since 30d", list_params, OP_EVERYDAY, op_list},
  {"capture", "Memories", "Split raw text into memories",
   "Splits notes or a conversation by rules into atomic memories, labels them auto_captured, and passes each through "
   "the gate, in one transaction.",
   "cairn capture < notes.txt", capture_params, OP_WRITE | OP_GATED, op_capture},
  {"boot", "Memories", "Show what an agent gets at the start of a conversation",
   "Blockers, patterns ranked by the task, identity, lessons, decisions, context, open tasks, the last handoff, "
   "other live sessions and pending action items, within a token budget. Protected memories are never dropped; "
   "dropped ones are counted. With --register or --pid it registers a session: the reply contains its handle, dead "
   "sessions are ended, and action items of recent memories become pending. MCP and HTTP clients register "
   "automatically.",
   "cairn boot --task 'fix the flaky login test'\ncairn boot --pid $PPID --format full", boot_params, OP_EVERYDAY, op_boot},
  {"stats", "Memories", "Count memories by kind, type, state and project", "", "cairn stats", no_params, 0, op_stats},

  {"supersede", "Correction", "Replace a memory with a corrected one",
   "The old memory is kept, disappears from search and boot at once, and points to the new one. A project memory "
   "that replaces a global one shadows it only in that project. Pin, skill and key are inherited only on request.",
   "cairn supersede 12 'Staging moved to port 5434' --reason 'port conflict'",
   supersede_params, OP_WRITE | OP_GATED | OP_EVERYDAY, op_supersede},
  {"unsupersede", "Correction", "Revert a correction",
   "Makes the old memory active again and retires its replacement, in one step. Refused in the middle of a chain.",
   "cairn unsupersede 12", unsupersede_params, OP_WRITE, op_unsupersede},
  {"history", "Correction", "Show all versions of a memory", "Oldest first, with the reason for each change.",
   "cairn history 12", id_params, 0, op_history},
  {"repeats", "Correction", "Find near-duplicate rules",
   "Compares the newest 200 rules and lists similar pairs, closest first: one of each pair should supersede the "
   "other. Changes nothing.",
   "cairn repeats --severity blocker", repeats_params, 0, op_repeats},
  {"annotate", "Correction", "Add, show or clear notes on a memory", "", "cairn annotate 12 'Also true for QA'",
   annotate_params, OP_WRITE, op_annotate},
  {"rate", "Correction", "Rate a memory as useful or not", "Ratings affect ranking.",
   "cairn rate 12 up", rate_params, OP_WRITE, op_rate},
  {"pin", "Correction", "Deliver a memory with every prompt", "", "cairn pin 12", id_params, OP_WRITE, op_pin},
  {"unpin", "Correction", "Deliver a memory only on demand again", "", "cairn unpin 12",
   id_params, OP_WRITE, op_unpin},
  {"promote", "Correction", "Trust a memory from a tool, import or extraction",
   "Search finds untrusted text and labels it, but it is never shown at boot, by a skill's keyword or in MEMORY.md. "
   "This makes it trusted and records who did it. Text that reads like instructions to a model can be promoted only "
   "by a person.",
   "cairn promote 12", id_params, OP_WRITE, op_promote},
  {"link", "Correction", "Link two memories", "", "cairn link 12 relates 14", link_params, OP_WRITE, op_link},
  {"unlink", "Correction", "Remove a link between two memories", "", "cairn unlink 12 relates 14",
   link_params, OP_WRITE, op_unlink},
  {"forget", "Correction", "Hide memories from search, with a reason",
   "They are kept for the record. 'cairn undo' restores them.",
   "cairn forget 12 --reason 'no longer true'", forget_params, OP_WRITE | OP_GATED | OP_EVERYDAY, op_forget},
  {"purge", "Correction", "Delete memories permanently",
   "Removes text, full-text index entries, vectors and snapshots in the event log. A tombstone remains and blocks "
   "re-import. Existing backups still contain the text; the receipt lists those next to the store.",
   "cairn purge 12 --confirm", purge_params, OP_WRITE | OP_DESTRUCTIVE, op_purge},
  {"prune", "Correction", "Remove old, unused memories",
   "Unused facts, archived incidents, done and stale tasks; at least 30 days old, at most 50 per call; never rules "
   "or pinned memories. A dry run unless --apply is given. 'cairn undo' restores them.",
   "cairn prune --days 180\ncairn prune --days 180 --apply", prune_params, OP_WRITE | OP_DESTRUCTIVE, op_prune},
  {"undo", "Correction", "Undo a transaction",
   "Every change prints its transaction number. An undo is itself a transaction, so it can be undone too.",
   "cairn undo 7", undo_params, OP_WRITE | OP_EVERYDAY, op_undo},

  {"task add", "Tasks", "Add a task", "", "cairn task add 'Write the release notes' --priority high",
   task_add_params, OP_WRITE | OP_GATED, op_task_add},
  {"task list", "Tasks", "List tasks by priority", "", "cairn task list --milestone 1.0",
   task_list_params, 0, op_task_list},
  {"task ready", "Tasks", "List tasks that can be started", "Open, unclaimed, and not blocked by an open task.",
   "cairn task ready", task_ready_params, 0, op_task_ready},
  {"task claim", "Tasks", "Claim a task", "Atomic: if several callers try, one wins.",
   "cairn task claim 12 --by alice\ncairn task claim 12 --release", task_claim_params, OP_WRITE, op_task_claim},
  {"task status", "Tasks", "Set the status of a task", "", "cairn task status 12 done",
   task_status_params, OP_WRITE, op_task_status},
  {"task block", "Tasks", "Block a task by another", "Refuses cycles, and shows them.",
   "cairn task block 12 14", task_block_params, OP_WRITE, op_task_block},
  {"task unblock", "Tasks", "Remove a blocker from a task", "", "cairn task unblock 12 14",
   task_block_params, OP_WRITE, op_task_unblock},
  {"task sync", "Tasks", "Sync tasks.json with the store",
   "Changes made on either side since the last run are copied to the other. If both sides changed a task, the file "
   "wins and the older text stays in the history. Entries that the gate refuses stay in the file and are listed. "
   "Tasks removed from the file are forgotten; 'cairn undo' restores them.",
   "cairn task sync\ncairn task sync --dry-run", task_sync_params, OP_WRITE, op_task_sync},

  {"skill list", "Skills", "List skills with their keywords", "", "cairn skill list", no_params, 0, op_skill_list},
  {"skill load", "Skills", "Show a skill in full", "", "cairn skill load release-checklist",
   skill_load_params, 0, op_skill_load},

  {"session list", "Sessions", "List the live sessions of the project",
   "First ends sessions whose process has exited. 'unresponsive': the process is stopped or hangs. 'stale': silent "
   "for ten minutes, and its process cannot be checked.",
   "cairn session list\ncairn session list --all-projects", session_list_params, 0, op_session_list},
  {"session task", "Sessions", "Set the current task of the session", "", "cairn session task 'writing the migration'",
   session_task_params, OP_WRITE | OP_NO_TXN, op_session_task},
  {"session handoff", "Sessions", "Leave a note for the next session, or show the last",
   "Boot shows the newest note to later sessions of the project.",
   "cairn session handoff 'Tests pass; the docs are left.'\ncairn session handoff",
   session_handoff_params, OP_WRITE | OP_NO_TXN, op_session_handoff},
  {"session end", "Sessions", "End the session, with a note for the next one",
   "Deletes its scratch values. Ending a session twice is not an error.",
   "cairn session end --handoff 'The docs are left.'", session_end_params, OP_WRITE | OP_NO_TXN, op_session_end},
  {"action list", "Sessions", "List pending action items", "", "cairn action list\ncairn action list --all",
   action_list_params, 0, op_action_list},
  {"action add", "Sessions", "Add an action item",
   "Sessions that boot from now on must answer it before they can write in this project.",
   "cairn action add 'Rotate the signing key before the release'",
   action_add_params, OP_WRITE | OP_NO_TXN, op_action_add},
  {"action ack", "Sessions", "Answer an action item",
   "A rule cannot be already_done. Answering again changes nothing.",
   "cairn action ack 3 will_execute\ncairn action ack 4 not_relevant --reason 'the key was rotated by its owner'",
   action_ack_params, OP_WRITE | OP_NO_TXN, op_action_ack},
  {"checkpoint", "Sessions", "Show what matters before a risky action",
   "Pinned and always-on blockers, and the five most relevant memories. Skipped if the same source asked about the "
   "same action within five minutes. Never blocks.",
   "cairn checkpoint 'force-push to main'", checkpoint_params, 0, op_checkpoint},
  {"scratch set", "Sessions", "Store a value until the session ends", "", "cairn scratch set branch fix/login",
   scratch_set_params, OP_WRITE | OP_NO_TXN, op_scratch_set},
  {"scratch get", "Sessions", "Show a scratch value of the session", "", "cairn scratch get branch",
   scratch_get_params, 0, op_scratch_get},
  {"scratch list", "Sessions", "List the scratch values of the session", "", "cairn scratch list",
   no_params, 0, op_scratch_list},

  {"transcript append", "Transcripts", "Add messages to a transcript",
   "A session is a JSON Lines file in the agent's folder; the first message creates it. Messages listed in the reply "
   "are on disk. Pass one message as options, or many as a file or '-' for standard input, one per line; each line "
   "is answered once it is stored. Secrets are removed. 'flush_due' and 'compact_due' mean that the conversation has "
   "become long. 'torn_bytes' means that a line cut off by a crash was set aside.",
   "cairn transcript append demo --role user --content 'Which port does staging use?'\n"
   "cairn transcript append demo --role tool_call --id t1 --name read --input '{\"path\": \"README.md\"}'\n"
   "echo '{\"role\": \"assistant\", \"content\": \"Port 5433.\"}' | cairn transcript append demo -",
   transcript_append_params, OP_WRITE | OP_NO_TXN, op_transcript_append},
  {"transcript read", "Transcripts", "Show a transcript as its agent should see it",
   "Old tool results are omitted, their calls are kept; compacted messages appear as a summary. --all and --archived "
   "show what was omitted: nothing is ever deleted.",
   "cairn transcript read demo\ncairn transcript read demo --archived --json",
   transcript_read_params, 0, op_transcript_read},
  {"transcript list", "Transcripts", "List sessions that have a transcript",
   "Newest first. The index, sessions.json, is updated from the files, and rebuilt if it is lost.",
   "cairn transcript list", transcript_list_params, 0, op_transcript_list},
  {"transcript flush", "Transcripts", "Save memories before messages are compacted",
   "Without --memories it shows what is about to be compacted and how to answer. With it, each memory goes through "
   "the gate. If an agent does not answer, only unlabelled text is lost: compaction stores labelled sentences "
   "(DECISION:, TODO: and the like) as facts of low trust.",
   "cairn transcript flush demo\n"
   "cairn transcript flush demo --memories '[{\"text\": \"Staging listens on port 5433\", \"type\": \"decision\"}]'",
   transcript_flush_params, OP_WRITE, op_transcript_flush},
  {"transcript compact", "Transcripts", "Replace older messages with a summary",
   "Runs if the session is over the threshold, or with --force. Recent messages stay, and a tool call is never "
   "separated from its result. The summary is the caller's, or generated by rules from decisions, agreements and "
   "open points. The original lines stay in an archive; 'cairn transcript read --archived' shows them.",
   "cairn transcript compact demo --keep 2 --force\n"
   "cairn transcript compact demo --keep 1 --force --summary 'Staging listens on port 5433.'",
   transcript_compact_params, OP_WRITE, op_transcript_compact},
  {"transcript archive", "Transcripts", "Archive old transcripts",
   "Moves sessions without a message for sessions.retention_days to the folder 'archive'; maintenance does this too. "
   "They stay readable, and a new message restores one.",
   "cairn transcript archive --dry-run\ncairn transcript archive demo",
   transcript_archive_params, OP_WRITE | OP_NO_TXN, op_transcript_archive},
  {"transcript index", "Transcripts", "Index older transcripts for search",
   "With 'cairn config sessions.indexed on', new messages are indexed for 'cairn search --in sessions' as they "
   "arrive. This adds older messages and those that could not be indexed on arrival. Messages of users, assistants "
   "and the system are indexed; tool results are not.",
   "cairn transcript index\ncairn transcript index --remove", transcript_index_params, OP_WRITE, op_transcript_index},
  {"transcript import", "Transcripts", "Import Claude Code and Codex transcripts",
   "Reads ~/.claude/projects and ~/.codex/sessions (honours CLAUDE_CONFIG_DIR and CODEX_HOME), or the given paths. "
   "Each session becomes a transcript of the project whose repository it ran in; --project selects another. Reads "
   "only what is new since the last import, stores nothing twice, and removes secrets. Skipped parts, such as "
   "thinking and the programs' own notes, are counted by reason.",
   "cairn transcript import\ncairn transcript import --from codex",
   transcript_import_params, OP_WRITE | OP_NO_TXN | OP_OPERATOR, op_transcript_import},

  {"agent add", "Agents", "Declare an agent with a role",
   "A process started with --agent NAME or CAIRN_AGENT is that agent and has the access of its role. admin: "
   "everything. project: reads memories of its project (--project) and global ones, writes to its project. skill: no "
   "access; it works with the context in a message. A process without an agent name belongs to its user, who is "
   "admin. Refused calls are logged as scope:refused.",
   "cairn agent add planner --role admin\ncairn agent add web --role project --project website\n"
   "cairn agent add seo --role skill --note 'reads headlines'",
   agent_add_params, OP_WRITE | OP_NO_TXN, op_agent_add},
  {"agent list", "Agents", "List the declared agents", "", "cairn agent list", no_params, 0, op_agent_list},
  {"agent remove", "Agents", "Remove an agent", "It loses all access from its next call on. Its memories stay.",
   "cairn agent remove seo", agent_name_params, OP_WRITE | OP_NO_TXN, op_agent_remove},
  {"agent message", "Agents", "Write a message with context for another agent",
   "Gathers the context with a search for the task, limited to what the sender may read and to a token budget, plus "
   "the rules of its project. Prints the message; nothing is sent. A project agent can write messages only from "
   "itself.",
   "cairn agent message web seo --action analyze --task 'headlines of the blog'",
   agent_message_params, 0, op_agent_message},

  {"token add", "Tokens", "Create an access token for a remote client",
   "Prints the token once; the store keeps only a hash. It belongs to this team. Its role sets its access, as for "
   "agents; --project limits it to projects, --read makes it read-only. Clients send it to 'cairn serve' as "
   "'Authorization: Bearer TOKEN' and appear as token:NAME in the log and in grants.",
   "cairn token add ci-bot --project website --ttl 30d\ncairn token add dashboard --read --profile readonly",
   token_add_params, OP_WRITE | OP_NO_TXN, op_token_add},
  {"token list", "Tokens", "List the tokens of the team",
   "Includes expired and revoked tokens; never shows their secrets.", "cairn token list", no_params, 0, op_token_list},
  {"token revoke", "Tokens", "Revoke a token", "Takes effect at its next call; open streams stop.",
   "cairn token revoke ci-bot", token_name_params, OP_WRITE | OP_NO_TXN, op_token_revoke},
  {"token delete", "Tokens", "Delete a revoked or expired token",
   "Revoke a valid token first. The log keeps a record of it.",
   "cairn token revoke dashboard\ncairn token delete dashboard",
   token_name_params, OP_WRITE | OP_NO_TXN, op_token_delete},

  {"events", "Store", "Read the event log",
   "One line per event, oldest first. Resume with the last sequence number seen.",
   "cairn events --since 120\ncairn events --follow --json", events_params, OP_STREAM, op_events},
  {"health", "Store", "Show server and store health",
   "Process, store, memories, embedder, pending embeddings, and a list of problems; if there are any, ok is false "
   "and the exit code is not 0. Fast at any size. 'cairn doctor' checks the store itself.",
   "cairn health --json", no_params, 0, op_health},
  {"metrics", "Store", "Show calls, errors and latencies per tool",
   "Covers the calls of all processes that use the store; from a server, also its own since it started. p50, p95 and "
   "p99 are latency percentiles in milliseconds, accurate to 1.6 %.",
   "cairn metrics\ncairn metrics --hours 1 --json", metrics_params, 0, op_metrics},
  {"errors", "Store", "Show recent failed calls",
   "Newest first, from all processes that use the store. Messages contain no secrets.",
   "cairn errors --limit 5", errors_params, 0, op_errors},
  {"maintain", "Store", "Run maintenance: expire, fade, archive, embed",
   "Runs automatically once a day; running it again changes nothing. Prints what it did.",
   "cairn maintain", maintain_params, OP_WRITE, op_maintain},
  {"reembed", "Store", "Re-embed memories after changing the embedder",
   "Embeds every text that has no vector from the configured embedder, and activates the new index once it is "
   "complete; until then both indexes are searched. Can be interrupted at any time and resumes where it stopped.",
   "cairn reembed\ncairn reembed --status", reembed_params, OP_WRITE, op_reembed},
  {"export", "Store", "Export all memories as JSON Lines",
   "Includes uids, links, states, timestamps and annotations. Importing the file with --keep-trust and exporting "
   "again gives the same bytes.",
   "cairn export memories.jsonl", export_params, OP_STREAM, op_export},
  {"import", "Store", "Import an export, a JSONL graph, or Markdown notes",
   "One transaction. Invalid rows are reported with their line, and nothing is imported unless --skip-bad is given. "
   "Purged memories are not imported again. Imported memories are untrusted until promoted, whatever the file says; "
   "--keep-trust keeps the trust recorded in your own export.",
   "cairn import memories.jsonl\ncairn import memories.jsonl --keep-trust\ncairn import ~/notes --format markdown --dry-run",
   import_params, OP_WRITE | OP_GATED, op_import},
  {"sync", "Store", "Sync MEMORY.md with the store",
   "Writes the memories of the project to its MEMORY.md by section, and stores the edits people made there: a new "
   "bullet is remembered, a changed one supersedes, a removed one is forgotten, one moved to another section gets "
   "its type, a ticked task is done. Every edit goes through the gate; refused edits stay in the file with the "
   "reason. If both sides changed a text, both versions are kept and shown in the file. Text outside bullets is not "
   "touched. After the first run, 'cairn serve' keeps the file in sync.",
   "cairn sync\ncairn sync --path MEMORY.md --adopt --dry-run", sync_params, OP_WRITE | OP_GATED, op_sync},
  {"page", "Store", "Show MEMORY.md as an agent reads it",
   "The memories of the project and the global ones by section, most important and newest first, with their ids and "
   "without anchors. Reads and writes no file.",
   "cairn page", page_params, 0, op_page},
  {"backup", "Store", "Back up the store to a file, while it is in use",
   "The backup is itself a store, also for a store on a server: open it with --db, or bring it back with 'cairn "
   "restore'. Transcripts of all teams go to FILE.transcripts, a tar archive: keep the two together.",
   "cairn backup /mnt/backups/cairn.db", backup_params, OP_NO_TXN | OP_OPERATOR | OP_EVERYDAY, op_backup},
  {"restore", "Store", "Restore the store from a backup",
   "One atomic change. The current content is backed up first. A file backup can be restored to a server, and the "
   "other way round. Then transcripts: missing ones are added; no existing session is removed or shortened. Without "
   "--confirm the backup is only checked.",
   "cairn restore /mnt/backups/cairn.db --confirm",
   restore_params, OP_WRITE | OP_DESTRUCTIVE | OP_NO_TXN | OP_OPERATOR, op_restore},
  {"migrate", "Store", "Move the store to another file or to a server",
   "Copies everything from the store named by --db to a new one: memories with their chains, links and vectors, the "
   "event log, sessions, settings, vault and transcripts; ids, uids and times stay the same. Works between files and "
   "PostgreSQL servers, in any direction. Reads a snapshot of the source and does not change it. An interrupted run "
   "resumes; if the source has changed since, it starts over and says so. At the end every row of every table is "
   "compared by hash, and only then can the target be used. Transactions committed to the source meanwhile are "
   "counted but not copied: stop all writers first.",
   "cairn migrate --to /mnt/backups/moved.db", migrate_params, OP_NO_TXN | OP_OPERATOR, op_migrate},
  {"team list", "Store", "List teams, or receipts of deleted ones",
   "For the operator of the store. CAIRN_TEAM selects the team to work in.",
   "cairn team list\ncairn team list --removed", team_list_params, OP_OPERATOR, op_team_list},
  {"team delete", "Store", "Delete a team with all its data",
   "Deletes every row of the team in every table, its log and settings, and the files that Cairn keeps for it, in "
   "one transaction: a killed run has removed all rows or none, and running it again removes leftover files. Without "
   "--confirm it only lists what would be deleted. Pages such as MEMORY.md in a repository stay, and are listed; so "
   "are automatic backups that still contain the team. A receipt stays in the store. Stop the team's processes "
   "first: a later write creates the team again.",
   "cairn team delete acme\ncairn team delete acme --confirm acme",
   team_delete_params, OP_WRITE | OP_DESTRUCTIVE | OP_NO_TXN | OP_OPERATOR, op_team_delete},
  {"doctor", "Store", "Check the store for problems",
   "Exit code 0 if everything is fine. --repair first rebuilds the indexes from the texts; it changes no text.",
   "cairn doctor --json\ncairn doctor --repair", doctor_params, OP_OPERATOR | OP_EVERYDAY, op_doctor},
  {"eval", "Store", "Measure retrieval quality on test sets",
   "A set is a folder with corpus.jsonl, queries.jsonl and qrels.tsv. Documents go through the normal write path "
   "into a temporary store, queries through the normal search; no other store is opened, and the temporary one is "
   "removed. With --server it is a separate database next to the named one, which is not changed. Figures are means "
   "over the queries, from 0 to 1, for hybrid, keyword and vector search. recall@k: share of a query's relevant "
   "documents among the first k results. recall_all@k: whether all of them are there. recall_any@k: whether at least "
   "one is. ndcg@10: gain of the first ten, each divided by log2(rank + 1), over that of the best order. mrr: 1 / "
   "rank of the first relevant one among ten. p50 and p95: latency percentiles in milliseconds. A folder of .tsv "
   "files holds sentence pairs (label, text, text): for each file, precision and recall of 'same meaning', and how "
   "many contradictions the gate would mistake for duplicates.",
   "cairn eval sets/nfcorpus\ncairn eval sets --set metatool --limit 100 --json", eval_params, OP_NO_STORE, op_eval},
  {"config", "Store", "Show or change settings",
   "A value comes from --set, else the environment, else the configuration file, else the store, else the default; "
   "'origin' says which, with the line of the file. Changes are written to the store and apply to everyone who uses "
   "it.",
   "cairn config\ncairn config gate.mode strict\ncairn config --set fact.half_life_days=14",
   config_params, OP_WRITE, op_config},

  {"model convert", "Models", "Convert an embedding model for use with Cairn",
   "Reads a BERT-family encoder (bge, e5, gte, MiniLM, ...) from its published folder: model.safetensors and "
   "vocab.txt, and if present config.json, tokenizer_config.json, modules.json, 1_Pooling/config.json and "
   "sentence_bert_config.json. Weights are quantized to int8. Refuses other models and models with parts that would "
   "be lost. An existing file is replaced only with --force, and only if it is a model file.",
   "cairn model convert ~/models/bge-small-en-v1.5 bge-small.cairn\n"
   "cairn model convert ~/models/e5-small-v2 e5.cairn --query-prefix 'query: ' --text-prefix 'passage: '",
   model_convert_params, OP_NO_STORE, op_model_convert},
  {"model show", "Models", "Show the contents of a model file",
   "Checks the whole file first. Without a file, shows the built-in model.",
   "cairn model show\ncairn model show bge-small.cairn", model_show_params, OP_NO_STORE, op_model_show},

  {"source add", "Knowledge", "Index the files of a folder for search",
   "Splits text files into chunks that 'cairn search --in sources' finds, with file and line. They are not memories. "
   "Skips binary files, huge files and files that .gitignore names. Secrets are replaced with a placeholder. "
   "Duplicates are stored once.",
   "cairn source add .\ncairn search --in sources 'how are releases made'",
   source_add_params, OP_WRITE | OP_NO_TXN, op_source_add},
  {"source list", "Knowledge", "List the source folders of the project", "", "cairn source list",
   no_params, 0, op_source_list},
  {"source refresh", "Knowledge", "Reindex changed files of the sources",
   "Reads only changed files and removes deleted ones. If a folder is missing, its index is kept.",
   "cairn source refresh", source_refresh_params, OP_WRITE | OP_NO_TXN, op_source_refresh},
  {"source remove", "Knowledge", "Remove a source folder from search", "The files themselves are not touched.",
   "cairn source remove docs", source_remove_params, OP_WRITE | OP_NO_TXN, op_source_remove},
  {"extract", "Knowledge", "Find decisions, tasks, claims and notes in files",
   "Reads Markdown, plain text and source comments: labels such as DECISION: and TODO:, open check boxes, headings, "
   "sentences that decide or define, names of entities. Each item has its file, its line and a confidence. Items are "
   "not memories: 'cairn search --in items' finds them and items.json lists them. Only changed files are read again; "
   "items of deleted files are removed. Skips binary files, huge files and files that .gitignore names. Secrets are "
   "replaced with a placeholder.",
   "cairn extract .\ncairn extract docs --out items.json", extract_params, OP_WRITE, op_extract},

  {"file view", "Files", "Show a file below /memories, or list a folder",
   "Agents keep files below /memories. Each file is one memory: searched, versioned and backed up like any other. A "
   "folder is listed two levels deep, with sizes, without hidden entries and node_modules. A file is shown with line "
   "numbers, at most 16,000 characters.",
   "cairn file view\ncairn file view /memories/notes.md --from 10 --to 20", file_view_params, 0, op_file_view},
  {"file create", "Files", "Create a file", "An existing file is not changed unless --overwrite is given.",
   "cairn file create /memories/notes.md 'Meeting notes'\ndate | cairn file create /memories/today.txt -",
   file_create_params, OP_WRITE, op_file_create},
  {"file str_replace", "Files", "Replace text in a file",
   "The text must occur exactly once. All versions are kept; 'cairn history PATH' lists them.",
   "cairn file str_replace /memories/notes.md 'colour: blue' 'colour: green'",
   file_str_replace_params, OP_WRITE, op_file_str_replace},
  {"file insert", "Files", "Insert lines into a file", "", "cairn file insert /memories/notes.md 0 '# Notes'",
   file_insert_params, OP_WRITE, op_file_insert},
  {"file delete", "Files", "Delete a file or folder", "Its content is forgotten; 'cairn undo' restores it.",
   "cairn file delete /memories/old", file_delete_params, OP_WRITE, op_file_delete},
  {"file rename", "Files", "Rename or move a file or folder", "",
   "cairn file rename /memories/draft.md /memories/final.md", file_rename_params, OP_WRITE, op_file_rename},

  {"graph read", "Graph", "Show entities with observations and relations",
   "The knowledge graph in the memories: imported from memory.jsonl, or stored by the tools of the profile 'graph'. "
   "Relations that start or end at a shown entity are included.",
   "cairn graph read\ncairn graph read 'Alice Smith' --json\ncairn graph read --query spanish",
   graph_read_params, 0, op_graph_read},
  {"graph create", "Graph", "Add entities and relations", "Existing entities are not changed.",
   "cairn graph create '{\"type\":\"entity\",\"name\":\"Acme\",\"entityType\":\"company\",\"observations\":[\"Makes "
   "anvils\"]}'",
   graph_create_params, OP_WRITE, op_graph_create},
  {"graph observe", "Graph", "Add observations to entities", "Each observation is a memory. Known ones are skipped.",
   "cairn graph observe '{\"entityName\":\"Acme\",\"contents\":[\"Has 12 employees\"]}'",
   graph_observe_params, OP_WRITE, op_graph_observe},
  {"graph delete", "Graph", "Delete entities, observations or relations",
   "Missing ones are not an error. Observations are forgotten; 'cairn undo' restores them.",
   "cairn graph delete --entity Acme", graph_delete_params, OP_WRITE, op_graph_delete},

  {"vault set", "Vault", "Store a named value",
   "For state that programs read by name: counters, flags, progress, caches. Vault values are never searched and "
   "never added to a prompt. The log records the key but not the value, so there is no undo.\n\nWith --secret the "
   "value is encrypted. The key comes from CAIRN_VAULT_KEY, CAIRN_VAULT_PASSPHRASE, or the key file "
   "(CAIRN_VAULT_KEY_FILE, else cairn/vault.key in the XDG configuration folder), which is created with the first "
   "secret: keep a copy of it. At a terminal, a secret without VALUE is prompted for and not shown. The reply lists "
   "memories that already contain the value. Text that looks like a secret is refused without --secret.",
   "cairn vault set reports:last-run 2026-03-31\ndate | cairn vault set cache:now -\n"
   "printf %s 'correct horse battery' | cairn vault set db:password - --secret",
   vault_set_params, OP_WRITE | OP_SECRET, op_vault_set},
  {"vault get", "Vault", "Show a named value",
   "For a secret, shows its handle, vault:KEY, which agents can use to refer to it. --reveal shows the value: to a "
   "person at the command line, and to an agent with a grant. Every attempt is logged, including refused ones.",
   "cairn vault get reports:last-run\ncairn vault get db:password --reveal",
   vault_get_params, OP_SECRET, op_vault_get},
  {"vault list", "Vault", "List named values", "", "cairn vault list\ncairn vault list reports:",
   vault_list_params, 0, op_vault_list},
  {"vault add", "Vault", "Add to a counter",
   "Atomic: concurrent increments are never lost. A missing key starts at 0.",
   "cairn vault add reports:sent\ncairn vault add quota:left -5", vault_add_params, OP_WRITE, op_vault_add},
  {"vault delete", "Vault", "Delete a named value",
   "A secret is deleted with its grants. Agents cannot delete secrets.",
   "cairn vault delete reports:last-run", vault_key_params, OP_WRITE, op_vault_delete},
  {"vault grant", "Vault", "Allow an agent to read a secret",
   "The agent can then reveal the value until the grant expires or is revoked. A new grant to the same name replaces "
   "the old one. Agents cannot grant; a token with the role admin can.",
   "cairn vault grant db:password --to deployer --ttl 1h --uses 3", vault_grant_params, OP_WRITE, op_vault_grant},
  {"vault grants", "Vault", "List who may read which secret", "", "cairn vault grants\ncairn vault grants db:password",
   vault_grants_params, 0, op_vault_grants},
  {"vault revoke", "Vault", "Revoke a grant", "", "cairn vault revoke db:password --to deployer",
   vault_revoke_params, OP_WRITE, op_vault_revoke},
  {"vault rotate", "Vault", "Re-encrypt all secrets of the team with a new key",
   "One transaction. The new key is CAIRN_VAULT_NEW_KEY (64 hex digits, or base64 of 32 bytes), "
   "CAIRN_VAULT_NEW_PASSPHRASE, a passphrase entered at the terminal (--passphrase), or a new key in the key file. "
   "The old key stays in the key file: older backups need it.",
   "cairn vault rotate", vault_rotate_params, OP_WRITE | OP_SECRET, op_vault_rotate},
  {0},
};
