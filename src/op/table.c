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
  CHOICE("scope", scopes, "'global' ignores the project, 'project' insists on one"),
  FLAG("all_projects", "look into every project, not only this one and the global memories"),
  END
};

#define ORIGIN CHOICE("origin", origins, "not the writer's own words: from a web page, a tool, a file; untrusted until promoted")

/* What remember and supersede share. */
#define WRITE_PARAMS \
  TEXT("headline", 0, "TEXT", "at most 15 words; derived from the text when missing (gate mode assist)"), \
  TEXT("type", 0, "TYPE", "label, by name or alias: rule, guardrail, lesson, fact, decision, context, ..."), \
  GATED("severity", write_severities, "rules only; default pattern"), \
  TEXT("key", 0, "KEY", "short name; at most one active memory has it in a project"), \
  MANY("tags", "tag", "TAG", "label for filtering; may be repeated"), \
  MANY("people", "person", "NAME", "somebody it is about; may be repeated"), \
  NUMBER("weight", "W", "influence in ranking, 0.1 to 1.0 (default 1.0)"), \
  TEXT("ttl", 0, "TIME", "when it expires: 24h, 7d, 720h, or a timestamp"), \
  TEXT("valid_from", 0, "TIME", "since when it is true, a timestamp (default: now)"), \
  GATED("delivery", deliveries, "how it reaches an agent (default on_demand)"), \
  TEXT("skill_name", 0, "NAME", "makes it a skill of this name, surfaced by its keywords"), \
  MANY("skill_keywords", "skill-keyword", "WORD", "a query with this word surfaces the skill; may be repeated"), \
  MANY("skill_projects", "skill-project", "NAME", "surface the skill in these projects alone; may be repeated"), \
  FLAG("skill_always_on", "load the skill at boot too"), \
  GATED("confidence", confidences, "of a learned claim"), \
  MANY("domains", "domain", "NAME", "root domain that corroborates the claim; may be repeated"), \
  TEXT("verified", 0, "TIME", "when the claim was last verified"), \
  GATED("priority", priorities, "tasks only; default medium"), \
  TEXT("milestone", 0, "NAME", "tasks only"), \
  TEXT("due", 0, "TEXT", "tasks only: a date or a condition"), \
  MANY("acceptance", "accept", "TEXT", "tasks only: an acceptance criterion; may be repeated"), \
  TEXT("root_cause", 0, "TEXT", "incidents only"), \
  TEXT("resolution", 0, "TEXT", "incidents only"), \
  ORIGIN, \
  MANY("distinct_from", NULL, "ID", "a similar memory that was seen and is something else; may be repeated"), \
  TEXT("idempotency_key", 0, "KEY", "a repeated call with this key returns the first result")

static const struct param remember_params[] = {
  TEXT("text", PARAM_POSITIONAL | PARAM_STDIN, "TEXT", "what to remember, as an argument or on standard input"),
  GATED("kind", kinds, "lifecycle; default: that of the type, else fact"),
  WRITE_PARAMS,
  TEXT("supersedes", 0, "ID", "the memory that this one replaces (needs a reason)"),
  TEXT("reason", 0, "TEXT", "why the older memory was wrong or is outdated"),
  MANY("links", "link", "ID", "an incident's rules, or another memory that this one relates to; may be repeated"),
  FLAG("keep_both", "store it beside what is close, with a warning; the same text is still not stored twice"),
  FLAG("defer_embedding", "store the text at once, embed it at the next maintenance"),
  TEXT("batch", PARAM_PATH, "FILE", "JSON Lines, one object of these arguments a line; '-' is standard input"),
  END
};
static const struct param capture_params[] = {
  TEXT("text", REQ_POS | PARAM_STDIN | PARAM_SECRETS, "TEXT", "raw text: notes, a conversation"),
  MANY("tags", "tag", "TAG", "label for each memory; may be repeated"),
  ORIGIN,
  END
};
#define IN_CORPORA(help) {"in", PARAM_LIST, 0, NULL, "CORPUS", corpus_choices, help}
static const struct param get_params[] = {ONE_ID, END};
static const struct param search_params[] = {
  TEXT("query", REQ_POS | PARAM_NOISE | PARAM_SECRETS, "QUERY", "any text"),
  IN_CORPORA("what to search (default memory); may be repeated"),
  INT("limit", "N", "results at most, 1 to 100 (default 10)"),
  CHOICE("kind", kinds, "only this kind"),
  TEXT("type", 0, "TYPE", "only this type, by name or alias"),
  MANY("tags", "tag", "TAG", "only memories with this tag; repeated: with all of them"),
  MANY("people", "person", "NAME", "only memories about this person; repeated: about all of them"),
  TEXT("since", 0, "TIME", "created after: 7d, or a timestamp"),
  TEXT("until", 0, "TIME", "created before: 7d, or a timestamp"),
  TEXT("as_of", 0, "TIME", "what was known and true then"),
  CHOICE("mode", search_modes, "by words and meaning (default), by words alone, by meaning alone"),
  CHOICE("detail", details, "how much of each result (default snippet)"),
  INT("budget", "TOKENS", "size of all results together at most; what is left out is counted"),
  FLAG("include_superseded", "also what was corrected since, marked as such"),
  FLAG("trusted", "only what boot may show: nothing untrusted"),
  FLAG("explain", "the parts of each score"),
  END
};
static const struct param list_params[] = {
  INT("limit", "N", "memories at most, 1 to 1000 (default 20)"),
  INT("offset", "N", "leave out the first N"),
  TEXT("cursor", 0, "CURSOR", "go on behind the page that gave this next_cursor"),
  FLAG("own", "only memories of the project itself, not the global ones"),
  FLAG("trusted", "only what boot may show: nothing untrusted"),
  IN_CORPORA("what to list (default memory); may be repeated"),
  CHOICE("kind", kinds, "only this kind"),
  TEXT("type", 0, "TYPE", "only this type, by name or alias"),
  CHOICE("state", memory_states, "only this state (default active)"),
  CHOICE("delivery", deliveries, "only this delivery"),
  MANY("tags", "tag", "TAG", "only memories with this tag; repeated: with all of them"),
  MANY("people", "person", "NAME", "only memories about this person; repeated: about all of them"),
  TEXT("since", 0, "TIME", "created after: 7d, or a timestamp"),
  TEXT("until", 0, "TIME", "created before: 7d, or a timestamp"),
  TEXT("as_of", 0, "TIME", "what was known and true then"),
  CHOICE("detail", details, "how much of each memory (default headline)"),
  END
};
static const struct param boot_params[] = {
  TEXT("task", 0, "TEXT", "what is about to be done; ranks the patterns"),
  INT("budget", "TOKENS", "size of the reply as it is sent, JSON and all, at most (default 2000)"),
  CHOICE("format", boot_formats, "brief (default); full: texts delivered at boot, in full; blocks: [TYPE] [key]: text"),
  CHOICE("only", boot_parts, "leave the other of the two out of the reply, so that the budget holds more"),
  FLAG("register", "make it a session, also where no process or connection is known"),
  INT("pid", "PID", "the process whose session this is, for a hook or a script ($PPID)"),
  TEXT("host", 0, "NAME", "its machine (default: this one)"),
  TEXT("cwd", 0, "FOLDER", "where it works"),
  END
};
static const struct param supersede_params[] = {
  ONE_ID,
  TEXT("text", PARAM_POSITIONAL | PARAM_STDIN, "TEXT", "the corrected text"),
  TEXT("reason", 0, "TEXT", "why the old one was wrong or is outdated (required unless --soft)"),
  FLAG("soft", "a minor correction: typo, wording"),
  FLAG("inherit_pin", "the new memory is delivered as the old one was (boot, pinned)"),
  FLAG("inherit_skill", "the new memory takes the old one's skill name and keywords"),
  FLAG("inherit_key", "the new memory takes the old one's key"),
  WRITE_PARAMS,
  END
};
static const struct param unsupersede_params[] = {
  ONE_ID, FLAG("keep_corrector", "leave the correcting memory active too"), END
};
static const struct param annotate_params[] = {
  ONE_ID,
  TEXT("note", PARAM_POSITIONAL | PARAM_SHOWN, "NOTE", "text to add; without it the notes are shown"),
  FLAG("clear", "remove all notes"),
  END
};
static const struct param rate_params[] = {
  ONE_ID, {"direction", PARAM_TEXT, REQ_POS, NULL, NULL, directions, "was it useful?"}, END
};
static const struct param repeats_params[] = {
  CHOICE("severity", write_severities, "only rules of this severity"),
  NUMBER("above", "S", "pairs more similar than this, 0 to 1 (default 0.7)"),
  FLAG("trusted", "only what boot may show: nothing untrusted"),
  INT("limit", "N", "pairs at most (default 20)"),
  END
};
static const struct param id_params[] = {ONE_ID, END};
static const struct param link_params[] = {
  ONE_ID,
  {"rel", PARAM_TEXT, REQ_POS, NULL, NULL, link_rels, "what the first is to the second"},
  TEXT("to", REQ_POS, "ID", "id, uid or key of the other memory"),
  END
};
static const struct param forget_params[] = {
  SOME_IDS, TEXT("reason", PARAM_REQUIRED, "TEXT", "why"),
  FLAG("confirm", "an agent's word that its user agrees to more than ten at once"), END
};
static const struct param purge_params[] = {
  SOME_IDS, FLAG("confirm", "really remove every trace; this cannot be undone"), END
};
static const struct param prune_params[] = {
  INT("days", "N", "untouched for this many days, at least 30 (default 90)"),
  INT("min_access", "N", "read at most this often (default 0)"),
  FLAG("apply", "do it; without it, only say what would go"),
  END
};
static const struct param task_add_params[] = {
  TEXT("text", PARAM_POSITIONAL | PARAM_STDIN, "TEXT", "what is to be done"),
  TEXT("headline", 0, "TEXT", "at most 15 words; derived from the text when missing"),
  GATED("priority", priorities, "default medium"),
  TEXT("milestone", 0, "NAME", "what it belongs to"),
  TEXT("due", 0, "TEXT", "a date or a condition"),
  MANY("acceptance", "accept", "TEXT", "an acceptance criterion; may be repeated"),
  MANY("blocked_by", NULL, "ID", "a task that must be done first; may be repeated"),
  MANY("tags", "tag", "TAG", "label for filtering; may be repeated"),
  TEXT("key", 0, "KEY", "short name"),
  ORIGIN,
  TEXT("idempotency_key", 0, "KEY", "a repeated call with this key returns the first result"),
  END
};
static const struct param task_list_params[] = {
  CHOICE("status", task_statuses, "only this status (default: open and blocked)"),
  TEXT("milestone", 0, "NAME", "only this milestone"),
  INT("limit", "N", "tasks at most (default 50)"),
  TEXT("cursor", 0, "CURSOR", "go on behind the page that gave this next_cursor"),
  END
};
static const struct param task_ready_params[] = {INT("limit", "N", "tasks at most (default 20)"), END};
static const struct param task_claim_params[] = {
  TEXT("id", PARAM_POSITIONAL, "ID", "the task; without it, the first one that is ready"),
  TEXT("by", 0, "NAME", "who takes it (default: the source)"),
  FLAG("release", "give it back"),
  END
};
static const struct param task_status_params[] = {
  ONE_ID, {"status", PARAM_TEXT, REQ_POS, NULL, NULL, task_statuses, "the new status"}, END
};
static const struct param task_block_params[] = {
  ONE_ID, TEXT("by", REQ_POS, "ID", "the task that must be done first"), END
};
static const struct param task_sync_params[] = {
  TEXT("file", PARAM_POSITIONAL | PARAM_PATH, "FILE", "the file (default: tasks.json in the folder of the project's agent)"),
  FLAG("dry_run", "say what would change, and change nothing"),
  FLAG("confirm", "an agent's word that its user agrees to forget more than ten tasks that the file has lost"),
  END
};
static const struct param skill_load_params[] = {TEXT("name", REQ_POS, "NAME", "name of the skill"), END};
static const struct param events_params[] = {
  INT("since", "SEQ", "only events after this sequence number (default 0)"),
  INT("limit", "N", "events at most (default 100; 0 = all)"),
  TEXT("action", 0, "NAME", "only this action, for example memory:write"),
  FLAG("follow", "wait for more, until interrupted"),
  END
};
static const struct param undo_params[] = {
  {"txn", PARAM_INT, REQ_POS, NULL, "TXN", NULL, "number of the transaction"},
  FLAG("confirm", "an agent's word that its user agrees to a change of more than ten memories"), END
};
static const char *const maintain_steps[] = {"expired", "faded", "archived", "stale", NULL};
static const struct param maintain_params[] = {
  FLAG("if_due", "only when the last run is a day old"),
  NUMBER("hours", "N", "how old the last run must be for --if-due (default: the setting maintain.interval_hours)"),
  {"only", PARAM_LIST, 0, NULL, NULL, maintain_steps, "this step alone; may be repeated"},
  FLAG("named", "say what was changed, not only how much of it"),
  END
};
static const struct param reembed_params[] = {
  FLAG("rollback", "go back to the former embedder and its index"),
  FLAG("status", "only say what is embedded and what is being built"),
  FLAG("drop_previous", "remove the vectors of the former index: there is no going back then"),
  INT("max_ms", "N", "stop after so many milliseconds; a later call goes on"),
  END
};
static const struct param export_params[] = {
  TEXT("file", PARAM_POSITIONAL | PARAM_PATH, "FILE", "where to (default: standard output)"),
  FLAG("events", "with the event log"),
  END
};
static const struct param import_params[] = {
  TEXT("file", REQ_POS | PARAM_PATH, "FILE", "an export, a JSONL graph, a Markdown file or folder; '-' is standard input"),
  {"format", PARAM_TEXT, 0, NULL, NULL, formats, "default auto"},
  FLAG("skip_bad", "import the good rows even if some are bad"),
  FLAG("dry_run", "check everything, change nothing"),
  FLAG("keep_trust", "the export is your own: what it says of trust holds; else all of it is untrusted"),
  FLAG("defer_embedding", "leave the vectors to 'cairn reembed' or to maintenance"),
  END
};
static const struct param source_add_params[] = {
  TEXT("dir", REQ_POS | PARAM_PATH, "DIR", "folder whose files shall be found"), END
};
static const struct param source_refresh_params[] = {
  TEXT("dir", PARAM_POSITIONAL | PARAM_PATH, "DIR", "only this one of the sources"), END
};
static const struct param source_remove_params[] = {
  TEXT("dir", REQ_POS | PARAM_PATH, "DIR", "the folder, as 'cairn source list' names it"), END
};
static const struct param extract_params[] = {
  TEXT("dir", REQ_POS | PARAM_PATH, "DIR", "folder whose files are read; of a git repository, all of it or a part"),
  TEXT("out", PARAM_PATH, "FILE", "where to write the items (default: items.json in the folder of the project)"),
  END
};
static const struct param transcript_import_params[] = {
  {"paths", PARAM_LIST, PARAM_POSITIONAL | PARAM_PATH, NULL, "PATH", NULL, "transcripts or folders of them (default: where Claude Code and Codex leave theirs)"},
  CHOICE("from", transcript_sources, "the program that wrote them (default auto)"),
  END
};
static const struct param metrics_params[] = {
  INT("hours", "N", "over the calls of so many hours, 1 to 720 (default 24)"), END
};
static const struct param errors_params[] = {
  INT("limit", "N", "errors at most, 1 to 500 (default 20)"),
  FLAG("process", "of the process that answers alone, from its memory: the last 500 calls"),
  END
};
static const struct param sync_params[] = {
  TEXT("path", PARAM_PATH, "FILE", "the page (default: the one given last, else files.memory_path); remembered for the project"),
  FLAG("adopt", "take over a file that was written by hand: its bullets become memories"),
  FLAG("dry_run", "say what would be done, and do nothing"),
  END
};
static const struct param page_params[] = {END};
static const struct param backup_params[] = {
  TEXT("file", PARAM_POSITIONAL | PARAM_PATH, "FILE", "where to (default: beside the store, or in the state folder for a server; the newest 7 are kept)"), END
};
static const struct param restore_params[] = {
  TEXT("file", REQ_POS | PARAM_PATH, "FILE", "a backup"),
  FLAG("confirm", "replace the store's content; it is backed up first"),
  FLAG("without_transcripts", "leave the transcripts of the backup alone"),
  END
};
static const struct param migrate_params[] = {
  TEXT("to", PARAM_REQUIRED | PARAM_PATH, "FILE|URL", "a new file, or an empty database: postgresql://USER@HOST/DATABASE"),
  END
};
static const struct param team_list_params[] = {
  FLAG("removed", "show the receipts of deleted teams"), END
};
static const struct param team_delete_params[] = {
  TEXT("name", REQ_POS, "TEAM", "the team"),
  TEXT("confirm", 0, "TEAM", "its name again: really remove it; this cannot be undone"),
  END
};
static const struct param doctor_params[] = {
  {"fix", PARAM_BOOL, 0, "repair", NULL, NULL,
   "rebuild what can be rebuilt from the texts: the full-text index, the vector index"}, END
};
static const struct param config_params[] = {
  TEXT("name", PARAM_POSITIONAL, "NAME", "a setting; without it, all are shown"),
  TEXT("value", PARAM_POSITIONAL, "VALUE", "its new value"),
  FLAG("unset", "back to the default"),
  END
};
static const char *const poolings[] = {"cls", "mean", NULL};
static const struct param model_convert_params[] = {
  TEXT("source", REQ_POS | PARAM_PATH, "FOLDER", "the model's folder: model.safetensors, vocab.txt, config.json, ..."),
  TEXT("file", REQ_POS | PARAM_PATH, "FILE", "where to write it"),
  TEXT("name", 0, "NAME", "what its vectors are filed under (default: the folder's name)"),
  CHOICE("pooling", poolings, "how tokens become one vector (default: as the model's files say)"),
  INT("max_tokens", "N", "cut longer texts (default: as the model's files say; at most 512)"),
  INT("heads", "N", "attention heads, where there is no config.json"),
  TEXT("query_prefix", 0, "TEXT", "put before a question, where the model wants one ('query: ')"),
  TEXT("text_prefix", 0, "TEXT", "put before a text, where the model wants one ('passage: ')"),
  TEXT("calibration", 0, "KNOTS", "what its cosines mean, COSINE:SIMILARITY,... (default: as its files say, else fitted)"),
  FLAG("force", "replace a model file that is there already"),
  END
};
static const struct param model_show_params[] = {
  TEXT("file", PARAM_POSITIONAL | PARAM_PATH, "FILE", "a converted model (default: the built-in one)"), END
};
static const struct param eval_params[] = {
  TEXT("dir", REQ_POS | PARAM_PATH, "DIR", "folder of a test set, or of several such folders"),
  MANY("set", NULL, "NAME", "only this set, by the name of its folder or file; may be repeated"),
  {"modes", PARAM_LIST, 0, "mode", NULL, search_modes, "measure this mode alone (default: all three); may be repeated"},
  INT("limit", "N", "only the first N queries of each set, or pairs of each file (default: all)"),
  FLAG("fast", "embed after loading: faster, but only equal texts are found to be duplicates"),
  CHOICE("dates", eval_dates, "a document's date is since when it is true (default), also when it was written, or ignored"),
  TEXT("queries_out", PARAM_PATH, "FILE", "write what each query found, as JSON Lines"),
  FLAG("keep", "leave the temporary store where it is, and say where"),
  TEXT("server", 0, "URL", "the temporary store is a database on this PostgreSQL server: postgresql://USER@HOST/DATABASE"),
  END
};
static const struct param no_params[] = {END};

#define GRAPH_LINES(flags, help) {"lines", PARAM_LIST, PARAM_SECRETS | (flags), NULL, "LINE", NULL, help}
static const struct param graph_read_params[] = {
  {"names", PARAM_LIST, PARAM_POSITIONAL, NULL, "NAME", NULL, "entities (default: all)"},
  TEXT("query", 0, "TEXT", "entities whose name, type or observations hold this text, or mean it"),
  END
};
static const struct param graph_create_params[] = {
  GRAPH_LINES(REQ_POS, "an entity or a relation, as a line of memory.jsonl"), END
};
static const struct param graph_observe_params[] = {
  GRAPH_LINES(REQ_POS, "{\"entityName\":NAME,\"contents\":[TEXT]}"), END
};
static const struct param graph_delete_params[] = {
  GRAPH_LINES(PARAM_POSITIONAL, "{\"entityName\":NAME,\"observations\":[TEXT]}, or a relation"),
  MANY("entities", "entity", "NAME", "an entity, with its observations and relations; may be repeated"),
  END
};
#define VAULT_KEY TEXT("key", REQ_POS, "KEY", "name of the value")
static const struct param vault_key_params[] = {VAULT_KEY, END};
static const struct param vault_set_params[] = {
  VAULT_KEY,
  TEXT("value", REQ_POS | PARAM_STDIN | PARAM_SECRETS, "VALUE", "any text; a secret is best given on standard input, where nobody sees it"),
  FLAG("secret", "encrypt it, and show it to nobody without a grant; a secret stays one until it is deleted"),
  END
};
static const struct param vault_get_params[] = {
  VAULT_KEY, FLAG("reveal", "show the value of a secret, which the event log records; agents need a grant"), END
};
#define GRANT_TO TEXT("to", PARAM_REQUIRED, "NAME", \
  "an agent's name, token:NAME for a token, agent for agents without a name, or '*' for all of the team")
static const struct param vault_grant_params[] = {
  VAULT_KEY,
  GRANT_TO,
  TEXT("ttl", 0, "TIME", "until when: '1h', '7d', or a date (default: until it is revoked)"),
  INT("uses", "N", "how many times the value may be seen (default: any number)"),
  END
};
static const struct param vault_grants_params[] = {
  TEXT("key", PARAM_POSITIONAL, "KEY", "only grants for this secret"), END
};
static const struct param vault_revoke_params[] = {VAULT_KEY, GRANT_TO, END};
static const struct param vault_rotate_params[] = {
  FLAG("passphrase", "seal with a passphrase from now on, which is asked for at the terminal"), END
};
static const struct param vault_list_params[] = {
  TEXT("prefix", PARAM_POSITIONAL, "PREFIX", "only keys that begin with it"), END
};
static const struct param vault_add_params[] = {
  VAULT_KEY, {"by", PARAM_INT, PARAM_POSITIONAL, NULL, "N", NULL, "how much, also below zero (default 1)"}, END
};
#define FILE_PATH(name, help) TEXT(name, REQ_POS, "PATH", help)
static const struct param file_view_params[] = {
  TEXT("path", PARAM_POSITIONAL, "PATH", "a file or folder (default /memories)"),
  INT("from", "LINE", "first line to show (default 1)"),
  INT("to", "LINE", "last line to show; -1 is the end (default)"),
  FLAG("raw", "the content as it is, without numbers and uncut"),
  END
};
static const struct param file_create_params[] = {
  FILE_PATH("path", "where, under /memories"),
  TEXT("file_text", REQ_POS | PARAM_STDIN | PARAM_VERBATIM | PARAM_SECRETS, "TEXT", "the content, kept byte for byte"),
  FLAG("overwrite", "replace a file that is there; its former content stays in the history"),
  END
};
static const struct param file_str_replace_params[] = {
  FILE_PATH("path", "the file"),
  TEXT("old_str", REQ_POS | PARAM_SECRETS, "OLD", "text that occurs once in it"),
  TEXT("new_str", PARAM_POSITIONAL | PARAM_SECRETS, "NEW", "what to put in its place (default: nothing)"),
  END
};
static const struct param file_insert_params[] = {
  FILE_PATH("path", "the file"),
  {"insert_line", PARAM_INT, REQ_POS, NULL, "LINE", NULL, "the text goes behind this line; 0 is the top"},
  TEXT("insert_text", REQ_POS | PARAM_STDIN | PARAM_VERBATIM | PARAM_SECRETS, "TEXT", "what to insert"),
  END
};
static const struct param file_delete_params[] = {FILE_PATH("path", "a file, or a folder with all in it"), END};
static const struct param file_rename_params[] = {
  FILE_PATH("old_path", "a file or folder"), FILE_PATH("new_path", "its new name"), END
};

/* sessions */
static const struct param session_list_params[] = {FLAG("exclude_self", "leave the caller's own session out"), END};
static const struct param session_task_params[] = {TEXT("task", REQ_POS | PARAM_SHOWN, "TEXT", "what is being done now"), END};
static const struct param session_handoff_params[] = {
  TEXT("text", PARAM_POSITIONAL | PARAM_STDIN | PARAM_SHOWN, "TEXT", "the note, at most 2000 characters; without it the last one is shown"), END
};
static const struct param session_end_params[] = {
  TEXT("handoff", PARAM_SHOWN, "TEXT", "a note for the next session, at most 2000 characters"), END
};
static const struct param action_list_params[] = {
  FLAG("all", "also what has been answered"), INT("limit", "N", "items at most, 1 to 1000 (default 50)"), END
};
static const struct param action_add_params[] = {
  TEXT("text", REQ_POS | PARAM_SHOWN, "TEXT", "what somebody must answer to"),
  CHOICE("kind", action_kinds, "a task (default) can be done; a rule cannot"),
  TEXT("memory", 0, "ID", "id, uid or key of the memory that it comes from"),
  END
};
static const struct param action_ack_params[] = {
  {"id", PARAM_INT, PARAM_POSITIONAL, NULL, "ID", NULL, "number of the item"},
  {"decision", PARAM_TEXT, REQ_POS, NULL, NULL, action_decisions, "the answer; the last two need a reason"},
  TEXT("reason", 0, "TEXT", "why"),
  TEXT("text", 0, "TEXT", "its exact text, in the place of the number"),
  TEXT("memory", 0, "ID", "with the text: the memory that it comes from"),
  END
};
static const struct param checkpoint_params[] = {
  TEXT("action", REQ_POS, "TEXT", "what is about to be done"),
  TEXT("context", 0, "TEXT", "more about it, for finding what is relevant"),
  END
};
static const struct param scratch_set_params[] = {
  TEXT("key", REQ_POS, "KEY", "name of the value"), TEXT("value", REQ_POS | PARAM_STDIN, "VALUE", "any text"), END
};
static const struct param scratch_get_params[] = {TEXT("key", REQ_POS, "KEY", "name of the value"), END};

/* transcripts */
static const char *const message_roles[] = {"user", "assistant", "system", "tool_call", "tool_result", "summary", NULL};
static const char *const flush_reasons[] = {"threshold", "compaction_pending", "manual", "session_end", NULL};
#define SESSION(flags) TEXT("session", PARAM_POSITIONAL | (flags), "SESSION", "id of the session, which names its file (default: the caller's own)")
#define KEEP INT("keep", "N", "last messages that stay as they are (default: compaction.keep_recent)")
static const struct param transcript_append_params[] = {
  SESSION(0),
  TEXT("batch", PARAM_POSITIONAL | PARAM_PATH, "FILE", "JSON Lines, a message a line; '-' is standard input, stored as it comes"),
  CHOICE("role", message_roles, "who says it (default user)"),
  TEXT("content", PARAM_SECRETS, "TEXT", "what is said; the result of a tool"),
  TEXT("name", PARAM_SECRETS, "TOOL", "of a tool_call: the tool"),
  TEXT("input", PARAM_SECRETS, "JSON", "of a tool_call: its arguments"),
  TEXT("id", PARAM_SECRETS, "ID", "of the message; a call and its result share one (default: a new one)"),
  TEXT("timestamp", 0, "TIME", "when it was said (default: now)"),
  {"lines", PARAM_LIST, PARAM_SECRETS, "line", "JSON", NULL, "a message as one JSON object; may be repeated"},
  FLAG("skip_known", "leave out messages that the session has already, by id and role"),
  END
};
static const struct param transcript_read_params[] = {
  SESSION(0),
  FLAG("all", "all results of tools, not only the last ones (pruning.tool_results)"),
  FLAG("archived", "everything that was ever said: also the messages that a summary stands for"),
  INT("last", "N", "only the last N messages"),
  END
};
static const struct param transcript_list_params[] = {
  FLAG("archived", "also those that are archived"), INT("limit", "N", "sessions at most, 1 to 10000 (default 50)"), END
};
static const struct param transcript_flush_params[] = {
  SESSION(0),
  TEXT("memories", PARAM_SECRETS, "TEXT", "the answer: JSON, fenced blocks marked 'memory', or [NO_REPLY]"),
  CHOICE("reason", flush_reasons, "why it is asked for (default manual)"),
  KEEP,
  END
};
static const struct param transcript_compact_params[] = {
  SESSION(0),
  TEXT("summary", PARAM_SECRETS, "TEXT", "what takes the place of the messages (default: made by rule)"),
  KEEP,
  FLAG("force", "also below the threshold (compaction.threshold)"),
  END
};
static const struct param transcript_index_params[] = {
  TEXT("session", PARAM_POSITIONAL, "SESSION", "this one alone"),
  FLAG("remove", "take them out of the search again"),
  END
};
static const struct param transcript_archive_params[] = {
  TEXT("session", PARAM_POSITIONAL, "SESSION", "this one, whatever its age (default: all that are due)"),
  FLAG("dry_run", "only say which"),
  END
};
/* agents */
static const char *const agent_roles[] = {"admin", "project", "skill", NULL};
static const struct param agent_add_params[] = {
  TEXT("name", REQ_POS, "NAME", "1 to 64 of: A-Z a-z 0-9 _ . -"),
  {"role", PARAM_TEXT, PARAM_REQUIRED, NULL, NULL, agent_roles, "how far it reaches"},
  TEXT("note", 0, "TEXT", "what it is for"),
  END
};
/* tokens */
static const char *const token_profiles[] = {"default", "full", "readonly", "openbrain", "openbrain2", "anthropic",
                                             "graph", "mememory", "openhive", NULL};
static const struct param token_add_params[] = {
  TEXT("name", REQ_POS, "NAME", "1 to 64 of: A-Z a-z 0-9 _ . -"),
  CHOICE("role", agent_roles, "how far it reaches (default: project with --project, else admin)"),
  MANY("projects", "project", "NAME", "a project that it is for; may be repeated, up to 32 times"),
  FLAG("read", "it reads and writes nothing"),
  CHOICE("profile", token_profiles, "the tools that its bearer is offered over MCP (default: as the server says)"),
  TEXT("ttl", 0, "TIME", "when it expires: 12h, 30d, a timestamp, or never (default 90d)"),
  END
};
static const struct param token_name_params[] = {TEXT("name", REQ_POS, "NAME", "name or id of the token"), END};

static const struct param agent_name_params[] = {TEXT("name", REQ_POS, "NAME", "name of the agent"), END};
static const struct param agent_message_params[] = {
  TEXT("from", REQ_POS, "FROM", "the agent that sends"),
  TEXT("to", REQ_POS, "TO", "the agent that is to do something"),
  TEXT("action", PARAM_REQUIRED, "TEXT", "what it is to do"),
  TEXT("task", 0, "TEXT", "more about it, for finding what is relevant"),
  TEXT("snippet", 0, "TEXT", "what it is to know in any case; stands first"),
  INT("budget", "TOKENS", "size of the context at most, 50 to 20000 (default 1000)"),
  END
};

const struct op ops[] = {
  {"remember", "Memories", "Store a memory through the gate",
   "Checks the text (kind, severity, headline, one idea, duplicates), refuses secrets, and stores it. The result says "
   "what happened: 'stored'; 'skipped', when the same knowledge is there already (its id is returned); or "
   "'superseded', when it replaced an older memory. Near matches are stored with a warning that lists them; a rule "
   "that is close to another rule is refused with the call that supersedes it. With --batch each line of the file is "
   "one memory, and each gets one line of result.",
   "cairn remember 'The staging database is Postgres 17 on port 5433'\n"
   "cairn remember --type guardrail --headline 'Never force-push to main' 'It destroyed a day of work in March.'\n"
   "git log -1 --format=%B | cairn remember --type decision --tag git -",
   remember_params, OP_WRITE | OP_GATED, op_remember},
  {"capture", "Memories", "Split raw text into memories",
   "Splits notes or a conversation by rule into atomic memories, marks them auto_captured, and sends each through the "
   "gate. All of them are one transaction.",
   "cairn capture < notes.txt", capture_params, OP_WRITE | OP_GATED, op_capture},
  {"get", "Memories", "Show one memory in full",
   "By id, uid or key. Counts as an access: a faded memory becomes active again. A superseded one comes with a banner "
   "that points at the current version.",
   "cairn get 12\ncairn get auth-approach", get_params, 0, op_get},
  {"search", "Memories", "Find memories by meaning and words",
   "Any text is a valid query; one without a word finds nothing. Results are visible memories of the project and "
   "global ones, best first; a time in the query ('last week') or a word that asks for a type ('who', 'decision') is a "
   "preference, options are filters and apply before the limit. Skills whose keyword is in the query come on top and "
   "do not count. The reply states search_mode: 'hybrid', 'keyword' when vectors are not available, or 'vector' when "
   "the full-text index is damaged; 'degraded' says why and what to do. With --in also what was read from files is "
   "found: extracted items, messages of transcripts, sources; such a result says where it comes from and is marked "
   "'untrusted'.",
   "cairn search 'which port does staging use' --limit 5\n"
   "cairn search 'what did we deploy last week' --type decision --budget 800\n"
   "cairn search 'billing database' --as-of 2026-03-01 --explain\n"
   "cairn search 'retry policy' --in memory --in items --in sources",
   search_params, 0, op_search},
  {"list", "Memories", "List memories, newest first",
   "Filters are applied before the limit. With --in also what was read from files is listed.",
   "cairn list --kind rule\ncairn list --state superseded --since 30d", list_params, 0, op_list},
  {"boot", "Memories", "Show what an agent gets at the start of a conversation",
   "Blockers, patterns ranked by the task, identity, lessons, decisions, context, open tasks, the last handoff, other "
   "live sessions and pending action items, within a token budget. What is protected is never dropped; what was dropped "
   "is counted. With --register or --pid it becomes a session: the reply names its handle, dead sessions are ended, and "
   "action items of recent memories become pending. Agents' doors do that by themselves.",
   "cairn boot --task 'fix the flaky login test'\ncairn boot --pid $PPID --format full", boot_params, 0, op_boot},
  {"stats", "Memories", "Count memories by kind, type, state and project", "", "cairn stats", no_params, 0, op_stats},

  {"supersede", "Correction", "Replace a memory by a corrected one",
   "The old memory is kept, leaves search and boot at once, and points at the new one. A memory of a project that "
   "replaces a global one shadows it in that project alone. Pin, skill and key are taken over only when asked for.",
   "cairn supersede 12 'Staging moved to port 5434' --reason 'port conflict'", supersede_params, OP_WRITE | OP_GATED,
   op_supersede},
  {"unsupersede", "Correction", "Take a correction back",
   "Makes the old memory active again and retires its corrector, in one step. Refused in the middle of a chain.",
   "cairn unsupersede 12", unsupersede_params, OP_WRITE, op_unsupersede},
  {"history", "Correction", "Show the chain of versions of a memory", "Oldest first, with the reason of each step.",
   "cairn history 12", id_params, 0, op_history},
  {"repeats", "Correction", "Find rules that say nearly the same",
   "Compares the newest 200 rules with each other and lists the pairs, closest first: one of each should supersede the "
   "other. Changes nothing.",
   "cairn repeats --severity blocker", repeats_params, 0, op_repeats},
  {"annotate", "Correction", "Add, show or clear notes on a memory", "", "cairn annotate 12 'Also true for QA'",
   annotate_params, OP_WRITE, op_annotate},
  {"rate", "Correction", "Say whether a memory was useful", "Ratings enter the ranking.", "cairn rate 12 up",
   rate_params, OP_WRITE, op_rate},
  {"pin", "Correction", "Deliver a memory with every prompt", "", "cairn pin 12", id_params, OP_WRITE, op_pin},
  {"unpin", "Correction", "Deliver a memory on demand again", "", "cairn unpin 12", id_params, OP_WRITE, op_unpin},
  {"promote", "Correction", "Trust a memory that came from a tool, import or extraction",
   "Untrusted text is found and marked, but never shown at boot, by a skill's keyword or on a page; this makes it "
   "trusted, and the event says by whom. Text that reads like instructions to a model is promoted by a person alone.",
   "cairn promote 12", id_params, OP_WRITE, op_promote},
  {"link", "Correction", "Link two memories", "", "cairn link 12 relates 14", link_params, OP_WRITE, op_link},
  {"unlink", "Correction", "Remove a link between two memories", "", "cairn unlink 12 relates 14", link_params,
   OP_WRITE, op_unlink},
  {"forget", "Correction", "Take memories out of every search, with a reason",
   "They are kept for the record, and undo brings them back.", "cairn forget 12 --reason 'no longer true'",
   forget_params, OP_WRITE | OP_GATED, op_forget},
  {"purge", "Correction", "Remove every trace of memories",
   "Text, full text, vectors and snapshots in the event log go; a tombstone stays that blocks a re-import. Backups "
   "made before still hold the text; the receipt names those beside the store.",
   "cairn purge 12 --confirm", purge_params, OP_WRITE | OP_DESTRUCTIVE, op_purge},
  {"prune", "Correction", "Remove old memories that nobody uses",
   "Facts that were never used, archived incidents, done and stale tasks; at least 30 days old, at most 50 in a call, "
   "never rules, never what is pinned. A dry run unless --apply is given; undo brings them back.",
   "cairn prune --days 180\ncairn prune --days 180 --apply", prune_params, OP_WRITE | OP_DESTRUCTIVE, op_prune},
  {"undo", "Correction", "Reverse a transaction",
   "Every change names its transaction. Undoing is a transaction of its own, so it can be undone too.", "cairn undo 7",
   undo_params, OP_WRITE, op_undo},

  {"task add", "Tasks", "Add a task", "", "cairn task add 'Write the release notes' --priority high", task_add_params,
   OP_WRITE | OP_GATED, op_task_add},
  {"task list", "Tasks", "List tasks by priority", "", "cairn task list --milestone 1.0", task_list_params, 0,
   op_task_list},
  {"task ready", "Tasks", "List tasks that can be started",
   "Open, not claimed, and with no open blocker.", "cairn task ready", task_ready_params, 0, op_task_ready},
  {"task claim", "Tasks", "Take a task, so that nobody else does",
   "Atomic: of several callers, one wins.", "cairn task claim 12 --by alice\ncairn task claim 12 --release",
   task_claim_params, OP_WRITE, op_task_claim},
  {"task status", "Tasks", "Set the status of a task", "", "cairn task status 12 done", task_status_params, OP_WRITE,
   op_task_status},
  {"task block", "Tasks", "Make a task wait for another", "A cycle is refused, and shown.", "cairn task block 12 14",
   task_block_params, OP_WRITE, op_task_block},
  {"task unblock", "Tasks", "Let a task no longer wait for another", "", "cairn task unblock 12 14",
   task_block_params, OP_WRITE, op_task_unblock},
  {"task sync", "Tasks", "Mirror the tasks in a tasks.json, both ways",
   "What either side has changed since the last run is taken over by the other; of what both have changed, the file's "
   "counts and the older text stays in the history. What the write gate refuses stays in the file and is named. A task "
   "that was taken out of the file is forgotten; undo brings it back.",
   "cairn task sync\ncairn task sync --dry-run", task_sync_params, OP_WRITE, op_task_sync},

  {"skill list", "Skills", "List skills with their triggers", "", "cairn skill list", no_params, 0, op_skill_list},
  {"skill load", "Skills", "Show a skill in full", "", "cairn skill load release-checklist", skill_load_params, 0,
   op_skill_load},

  {"session list", "Sessions", "List the live sessions of the project",
   "Sessions whose process has ended are ended first. 'unresponsive': its process is stopped or hangs. 'stale': not heard "
   "of for ten minutes, and its process cannot be looked at.",
   "cairn session list\ncairn session list --all-projects", session_list_params, 0, op_session_list},
  {"session task", "Sessions", "Say what the session is doing now", "", "cairn session task 'writing the migration'",
   session_task_params, OP_WRITE | OP_NO_TXN, op_session_task},
  {"session handoff", "Sessions", "Leave a note for the next session, or show the last one",
   "The boot of a later session of the project shows the newest note.",
   "cairn session handoff 'Tests pass; the docs are left.'\ncairn session handoff", session_handoff_params,
   OP_WRITE | OP_NO_TXN, op_session_handoff},
  {"session end", "Sessions", "End the session, with a note for the next one",
   "Its scratch values go. Ending it twice is no error.", "cairn session end --handoff 'The docs are left.'",
   session_end_params, OP_WRITE | OP_NO_TXN, op_session_end},
  {"action list", "Sessions", "List action items that wait for an answer", "", "cairn action list\ncairn action list --all",
   action_list_params, 0, op_action_list},
  {"action add", "Sessions", "Add an action item",
   "Sessions that boot from now on must answer it before they write in this project.",
   "cairn action add 'Rotate the signing key before the release'", action_add_params, OP_WRITE | OP_NO_TXN,
   op_action_add},
  {"action ack", "Sessions", "Answer an action item",
   "A rule cannot be already_done. Answering again changes nothing.",
   "cairn action ack 3 will_execute\ncairn action ack 4 not_relevant --reason 'the key was rotated by its owner'",
   action_ack_params, OP_WRITE | OP_NO_TXN, op_action_ack},
  {"checkpoint", "Sessions", "Show what to bear in mind before a risky action",
   "Pinned and always-on blockers, and the five memories that are most relevant. Asked again within five minutes by the "
   "same source about the same action, it is skipped. It never blocks.",
   "cairn checkpoint 'force-push to main'", checkpoint_params, 0, op_checkpoint},
  {"scratch set", "Sessions", "Keep a value as long as the session lives", "", "cairn scratch set branch fix/login",
   scratch_set_params, OP_WRITE | OP_NO_TXN, op_scratch_set},
  {"scratch get", "Sessions", "Show a value of the session", "", "cairn scratch get branch", scratch_get_params, 0,
   op_scratch_get},
  {"scratch list", "Sessions", "List the values of the session", "", "cairn scratch list", no_params, 0,
   op_scratch_list},

  {"transcript append", "Transcripts", "Add messages to the transcript of a session",
   "A session is a file of JSON Lines in the agent's folder; the first message creates it. What the reply names is on disk. "
   "One message comes by options; a file, or '-' for standard input, holds one on each line, and each line is answered "
   "when it is stored. Secrets are taken out. 'flush_due' and 'compact_due' say that the conversation has become long; "
   "'torn_bytes', that a line which a crash had cut off was set aside.",
   "cairn transcript append demo --role user --content 'Which port does staging use?'\n"
   "cairn transcript append demo --role tool_call --id t1 --name read --input '{\"path\": \"README.md\"}'\n"
   "echo '{\"role\": \"assistant\", \"content\": \"Port 5433.\"}' | cairn transcript append demo -",
   transcript_append_params, OP_WRITE | OP_NO_TXN, op_transcript_append},
  {"transcript read", "Transcripts", "Show a session as its agent should have it",
   "Old results of tools are left out, their calls stay; what was compacted is a summary. --all and --archived give back "
   "what was left out: nothing is ever deleted.",
   "cairn transcript read demo\ncairn transcript read demo --archived --json", transcript_read_params, 0,
   op_transcript_read},
  {"transcript list", "Transcripts", "List the sessions that have a transcript",
   "The newest first. The index, sessions.json, is brought up to date by the files, and made anew when it is lost.",
   "cairn transcript list", transcript_list_params, 0, op_transcript_list},
  {"transcript flush", "Transcripts", "Ask for memories before messages leave, or answer",
   "Without --memories it says what is about to leave, and how to answer. With them, each goes through the gate. An agent "
   "that answers nothing loses only what nobody marked: compaction stores marked sentences as facts of low trust.",
   "cairn transcript flush demo\n"
   "cairn transcript flush demo --memories '[{\"text\": \"Staging listens on port 5433\", \"type\": \"decision\"}]'",
   transcript_flush_params, OP_WRITE, op_transcript_flush},
  {"transcript compact", "Transcripts", "Replace the older messages of a session by a summary",
   "When the session is over the threshold, or with --force. The last messages stay, and no call of a tool is parted from "
   "its result. The summary is the caller's, or is made by rule: decisions, agreements and open points. The original lines "
   "stay in an archive, and 'cairn transcript read --archived' shows them.",
   "cairn transcript compact demo --keep 2 --force\n"
   "cairn transcript compact demo --keep 1 --force --summary 'Staging listens on port 5433.'",
   transcript_compact_params, OP_WRITE, op_transcript_compact},
  {"transcript archive", "Transcripts", "Put away sessions that have ended long ago",
   "Sessions without a message for sessions.retention_days move into the folder 'archive'; maintenance does it, too. They can "
   "be read as before, and a new message brings one back.",
   "cairn transcript archive --dry-run\ncairn transcript archive demo", transcript_archive_params,
   OP_WRITE | OP_NO_TXN, op_transcript_archive},
  {"transcript index", "Transcripts", "Make what was said before findable",
   "With 'cairn config sessions.indexed on', new messages are found by 'cairn search --in sessions' as they come; this adds "
   "those that were there before, and what could not be added when it was said. What users, assistants and the system say "
   "is found, not what tools return.",
   "cairn transcript index\ncairn transcript index --remove", transcript_index_params, OP_WRITE, op_transcript_index},
  {"transcript import", "Transcripts", "Take over what Claude Code and Codex have recorded",
   "Reads ~/.claude/projects and ~/.codex/sessions (CLAUDE_CONFIG_DIR and CODEX_HOME are honoured), or what is named. Each "
   "session becomes a transcript of the project whose repository it was held in; --project chooses another. Only what "
   "is new since the last import is read, nothing is stored twice, and secrets are taken out. What is left out, such "
   "as thinking and the programs' own notes, is counted by reason.",
   "cairn transcript import\ncairn transcript import --from codex", transcript_import_params,
   OP_WRITE | OP_NO_TXN | OP_OPERATOR, op_transcript_import},

  {"agent add", "Agents", "Declare an agent with a role",
   "A process that is started with --agent NAME, or with CAIRN_AGENT, is that agent, and its calls reach as far as its "
   "role. admin: everything. project: reads memories of its project (--project) and global ones, writes in its project. "
   "skill: reads and writes nothing; it works with what a message brings. Without a name a process is its user's, who "
   "is admin. What is refused is recorded as the event scope:refused.",
   "cairn agent add planner --role admin\ncairn agent add web --role project --project website\n"
   "cairn agent add seo --role skill --note 'reads headlines'",
   agent_add_params, OP_WRITE | OP_NO_TXN, op_agent_add},
  {"agent list", "Agents", "List the declared agents", "", "cairn agent list", no_params, 0, op_agent_list},
  {"agent remove", "Agents", "Take an agent's declaration away",
   "From its next call on it may nothing. What it wrote stays.", "cairn agent remove seo", agent_name_params,
   OP_WRITE | OP_NO_TXN, op_agent_remove},
  {"agent message", "Agents", "Make a message with the context that another agent needs",
   "The context is gathered by a search for the task among what the sender may read, within a token budget, and from "
   "the rules of its project. The message is for you to hand over: nothing is sent. An agent of a project makes "
   "messages from itself alone.",
   "cairn agent message web seo --action analyze --task 'headlines of the blog'", agent_message_params, 0,
   op_agent_message},

  {"token add", "Tokens", "Make a token for somebody who calls over the network",
   "Prints it once: what the store keeps of it is a hash. It is for this team. Its role says how far it reaches, as that of "
   "an agent does; with --project it is for these projects alone, with --read it changes nothing. Whoever sends it as "
   "'Authorization: Bearer TOKEN' to 'cairn serve' is token:NAME in the log and for grants.",
   "cairn token add ci-bot --project website --ttl 30d\ncairn token add dashboard --read --profile readonly",
   token_add_params, OP_WRITE | OP_NO_TXN, op_token_add},
  {"token list", "Tokens", "List the tokens of the team", "Also those that are expired or revoked; never their secrets.",
   "cairn token list", no_params, 0, op_token_list},
  {"token revoke", "Tokens", "Let a token open nothing any more",
   "From its next call on; open streams fall silent.", "cairn token revoke ci-bot", token_name_params,
   OP_WRITE | OP_NO_TXN, op_token_revoke},
  {"token delete", "Tokens", "Take a token that opens nothing any more off the list",
   "One that is still good is revoked first. The log keeps that there was one.",
   "cairn token revoke dashboard\ncairn token delete dashboard", token_name_params, OP_WRITE | OP_NO_TXN,
   op_token_delete},

  {"events", "Store", "Read the event log",
   "One line for each event, oldest first. Resume with the last sequence number that was seen.",
   "cairn events --since 120\ncairn events --follow --json", events_params, OP_STREAM, op_events},
  {"health", "Store", "Say how the server and the store are",
   "Process, store, memories, embedder and what waits to be embedded, and a list of problems; ok is false when there is "
   "one, and the exit code says it too. Quick, at any size: 'cairn doctor' checks the store itself.",
   "cairn health --json", no_params, 0, op_health},
  {"metrics", "Store", "Show calls, errors and latencies of each tool",
   "Over the calls of all processes that use the store, and, from a server, over its own since it began. Half of the "
   "calls took at most p50, 95 of 100 at most p95, 99 of 100 at most p99, in milliseconds; quantiles are within 1.6 %.",
   "cairn metrics\ncairn metrics --hours 1 --json", metrics_params, 0, op_metrics},
  {"errors", "Store", "Show the last calls that failed",
   "Newest first, of all processes that use the store. Messages are free of secrets.", "cairn errors --limit 5",
   errors_params, 0, op_errors},
  {"maintain", "Store", "Expire, fade, archive, embed and tidy up",
   "Runs by itself once a day; running it again changes nothing. Says what it did.", "cairn maintain",
   maintain_params, OP_WRITE, op_maintain},
  {"reembed", "Store", "Embed what waits, after the embedder was changed",
   "Embeds every text that has no vector of the embedder that the settings name, and makes its index the active one "
   "when it is complete; until then both are searched. Can be stopped at any time, and goes on where it was.",
   "cairn reembed\ncairn reembed --status", reembed_params, OP_WRITE, op_reembed},
  {"export", "Store", "Write all memories as JSON Lines",
   "Uids, links, states, timestamps and annotations included; importing it with "
   "--keep-trust and exporting again gives the same bytes.",
   "cairn export memories.jsonl", export_params, OP_STREAM, op_export},
  {"import", "Store", "Read an export, a JSONL graph, or Markdown notes",
   "One transaction. Bad rows are reported with their line, and then nothing is imported unless --skip-bad is given. "
   "What was purged stays away. Whatever the file says, its memories are untrusted until promoted; with --keep-trust a "
   "person vouches for an export of their own.",
   "cairn import memories.jsonl\ncairn import memories.jsonl --keep-trust\ncairn import ~/notes --format markdown --dry-run", import_params, OP_WRITE | OP_GATED,
   op_import},
  {"sync", "Store", "Bring MEMORY.md and the store into step",
   "Memories of the project are written to its MEMORY.md by section, and what a person has changed there becomes writes: a "
   "new bullet is remembered, a changed one supersedes, a removed one is forgotten, one in another section gets its type, "
   "a ticked task is done. Everything passes the gate; what it refuses stays on the page with the reason. When both sides have "
   "changed a text both are kept: the page shows them. Text that is no bullet is left alone. 'cairn serve' does this by itself "
   "from the first time on.",
   "cairn sync\ncairn sync --path MEMORY.md --adopt --dry-run", sync_params, OP_WRITE | OP_GATED, op_sync},
  {"page", "Store", "Show MEMORY.md as an agent reads it",
   "The memories of the project and the global ones by section, most important and newest first, without marks, with the id "
   "of each. No file is read or written.", "cairn page", page_params, 0, op_page},
  {"backup", "Store", "Copy the store to a file, while it is in use",
   "The file is a store itself, also that of a store on a server: --db opens it, 'cairn restore' brings it back. Transcripts of all "
   "teams go into FILE.transcripts, a tar archive: keep the two together.", "cairn backup /mnt/backups/cairn.db",
   backup_params, OP_NO_TXN | OP_OPERATOR, op_backup},
  {"restore", "Store", "Replace the store's content by a backup",
   "As one change, which others see as a whole or not at all. The present content is backed up first. The backup of a "
   "file can be brought back on a server, and the other way round. Then its transcripts: what is missing here is added, and no "
   "session that is here is removed or shortened. Without --confirm the backup is only checked.", "cairn restore /mnt/backups/cairn.db --confirm", restore_params,
   OP_WRITE | OP_DESTRUCTIVE | OP_NO_TXN | OP_OPERATOR, op_restore},
  {"migrate", "Store", "Move the whole store into another file or to a server",
   "Copies everything from the store that --db names into a new one: memories with their chains, links and vectors, the "
   "event log, sessions, settings, vault, and transcripts to where the new one looks for them; ids, uids and times stay. Between files and PostgreSQL servers, in any "
   "direction. The source is only read, from one moment; it stays as it is. A run that was interrupted goes on when it is "
   "called again; when the source was changed since, it begins anew, and says so. At the end every row of every table is "
   "compared by its hash, and only then the target can be used. Transactions that others committed to the source "
   "meanwhile are counted, and are not in the target: let nobody write while you move.",
   "cairn migrate --to /mnt/backups/moved.db", migrate_params, OP_NO_TXN | OP_OPERATOR, op_migrate},
  {"team list", "Store", "List the teams of the store, or receipts of deleted ones",
   "For the person who operates the store: CAIRN_TEAM says which of them one works in.",
   "cairn team list\ncairn team list --removed", team_list_params, OP_OPERATOR, op_team_list},
  {"team delete", "Store", "Remove a team with everything that it has",
   "Every row of the team in every table, its log and settings, and the files that Cairn keeps for it, as one change: a "
   "run that is killed has removed all rows or none, and the same call removes files that were left. Without --confirm "
   "it only says what would go. Pages such as MEMORY.md that lie in a repository stay, and are named; so are the automatic "
   "backups that still hold the team. A receipt stays in the store. End the team's processes first: what they write later "
   "begins the team anew.",
   "cairn team delete acme\ncairn team delete acme --confirm acme", team_delete_params, OP_WRITE | OP_DESTRUCTIVE | OP_NO_TXN | OP_OPERATOR,
   op_team_delete},
  {"doctor", "Store", "Check the store's health", "Exit code 0 when all is well. With --repair the indexes are rebuilt from the texts first; no text is touched.",
   "cairn doctor --json\ncairn doctor --repair",
   doctor_params, OP_OPERATOR, op_doctor},
  {"eval", "Store", "Measure retrieval quality on test sets",
   "A set is a folder with corpus.jsonl, queries.jsonl and qrels.tsv. Its documents go through the ordinary write path "
   "into a temporary store, its queries through the ordinary search; no other store is opened, and the temporary one is "
   "removed. With --server that is a database of its own beside the one that is named, which stays as it is. "
   "The figures are means over the queries, from 0 to 1, for hybrid search, keywords alone and vectors alone. "
   "recall@k: share of a query's relevant documents among the first k results. recall_all@k: whether all of them are "
   "there. recall_any@k: whether at least one is. ndcg@10: gain of the first ten, each divided by log2(rank + 1), "
   "over that of the best order. mrr: 1 / rank of the first relevant one among ten. p50 and p95: milliseconds that half, "
   "and 95 of 100, of the searches took at most. A folder of .tsv files holds sentence pairs (label, text, text): for "
   "each file, precision and recall of 'same meaning', and how many contradictions the gate would take for duplicates.",
   "cairn eval sets/nfcorpus\ncairn eval sets --set metatool --limit 100 --json", eval_params, OP_NO_STORE, op_eval},
  {"config", "Store", "Show or change settings",
   "A value comes from --set, else from the environment, else from the configuration file, else from the store, else from "
   "the default; 'origin' says which, with the file's line. A change goes to the store, for everybody who uses it.",
   "cairn config\ncairn config gate.mode strict\ncairn config --set fact.half_life_days=14", config_params, OP_WRITE,
   op_config},

  {"model convert", "Models", "Make a model of your own usable for embedding",
   "Reads a BERT-family encoder (bge, e5, gte, MiniLM, ...) from the folder its makers publish: model.safetensors and "
   "vocab.txt, and where they are there config.json, tokenizer_config.json, modules.json, 1_Pooling/config.json, "
   "sentence_bert_config.json. Its weights become int8. Anything that is not such an encoder, or has a part that would "
   "be lost, is refused. A file that exists is not replaced without --force, and only when it is a model file.",
   "cairn model convert ~/models/bge-small-en-v1.5 bge-small.cairn\n"
   "cairn model convert ~/models/e5-small-v2 e5.cairn --query-prefix 'query: ' --text-prefix 'passage: '",
   model_convert_params, OP_NO_STORE, op_model_convert},
  {"model show", "Models", "Show what a model file holds",
   "Checks the whole file first. Without a file, the model that is a part of the program.",
   "cairn model show\ncairn model show bge-small.cairn", model_show_params, OP_NO_STORE, op_model_show},

  {"source add", "Knowledge", "Let searches find the files of a folder",
   "Text files are cut into pieces, which 'cairn search --in sources' finds, with file and line. They are no memories. "
   "Binary files, huge ones, and what .gitignore names are passed over; secrets are replaced by a mark; what is there "
   "twice is stored once.",
   "cairn source add .\ncairn search --in sources 'how are releases made'", source_add_params, OP_WRITE | OP_NO_TXN,
   op_source_add},
  {"source list", "Knowledge", "List the folders that are sources of the project", "", "cairn source list", no_params, 0,
   op_source_list},
  {"source refresh", "Knowledge", "Read what has changed in the sources",
   "Only files that have changed are read; what is gone is removed. A folder that is not there keeps what it has.",
   "cairn source refresh", source_refresh_params, OP_WRITE | OP_NO_TXN, op_source_refresh},
  {"source remove", "Knowledge", "Let searches no longer find the files of a folder",
   "The files themselves are not touched.", "cairn source remove docs", source_remove_params, OP_WRITE | OP_NO_TXN,
   op_source_remove},
  {"extract", "Knowledge", "Find decisions, tasks, claims, notes and entities in files",
   "Reads Markdown, plain text and the comments of source files: marks such as DECISION: and TODO:, open check boxes, "
   "headings, sentences that decide or define, names. Each item says its file, its line and how sure we are. They are no "
   "memories: 'cairn search --in items' finds them, and items.json lists them. Only what has changed is read again; "
   "items of files that are gone are removed. Binary files, huge ones, and what .gitignore names are passed over. "
   "Secrets are replaced by a mark.",
   "cairn extract .\ncairn extract docs --out items.json", extract_params, OP_WRITE, op_extract},

  {"file view", "Files", "Show a file under /memories, or list a folder",
   "Agents keep files under /memories; each is one memory, so that it is searched, versioned and backed up like every "
   "other. A folder is listed two levels deep, with sizes; hidden entries and node_modules are left out. A file is "
   "shown with line numbers, at most 16,000 characters of it.",
   "cairn file view\ncairn file view /memories/notes.md --from 10 --to 20", file_view_params, 0, op_file_view},
  {"file create", "Files", "Store a new file",
   "A file that is there already is not touched, unless --overwrite is given.",
   "cairn file create /memories/notes.md 'Meeting notes'\ndate | cairn file create /memories/today.txt -",
   file_create_params, OP_WRITE, op_file_create},
  {"file str_replace", "Files", "Replace a piece of text in a file",
   "The piece must occur exactly once. Every version of the file stays: 'cairn history PATH' lists them.",
   "cairn file str_replace /memories/notes.md 'colour: blue' 'colour: green'", file_str_replace_params, OP_WRITE,
   op_file_str_replace},
  {"file insert", "Files", "Insert lines into a file", "", "cairn file insert /memories/notes.md 0 '# Notes'",
   file_insert_params, OP_WRITE, op_file_insert},
  {"file delete", "Files", "Take a file or folder away", "What was in it is forgotten, and 'cairn undo' brings it back.",
   "cairn file delete /memories/old", file_delete_params, OP_WRITE, op_file_delete},
  {"file rename", "Files", "Rename or move a file or folder", "",
   "cairn file rename /memories/draft.md /memories/final.md", file_rename_params, OP_WRITE, op_file_rename},

  {"graph read", "Graph", "Show entities with their observations and relations",
   "The knowledge graph that lies in the memories: those that 'cairn import' read from memory.jsonl, and those that the "
   "tools of the profile 'graph' stored. Relations are shown that begin or end at a shown entity.",
   "cairn graph read\ncairn graph read 'Alice Smith' --json\ncairn graph read --query spanish", graph_read_params, 0,
   op_graph_read},
  {"graph create", "Graph", "Add entities and relations", "An entity that is there already is left as it is.",
   "cairn graph create '{\"type\":\"entity\",\"name\":\"Acme\",\"entityType\":\"company\",\"observations\":[\"Makes "
   "anvils\"]}'",
   graph_create_params, OP_WRITE, op_graph_create},
  {"graph observe", "Graph", "Add observations to entities", "Each is a memory of its own; one that is known is left out.",
   "cairn graph observe '{\"entityName\":\"Acme\",\"contents\":[\"Has 12 employees\"]}'", graph_observe_params, OP_WRITE,
   op_graph_observe},
  {"graph delete", "Graph", "Take entities, observations or relations away",
   "What is not there is no error. Observations are forgotten, and 'cairn undo' brings them back.",
   "cairn graph delete --entity Acme", graph_delete_params, OP_WRITE, op_graph_delete},

  {"vault set", "Vault", "Store a named value",
   "For state that programs read by name: counters, flags, progress, caches. Values of the vault are never searched and "
   "never reach a prompt by themselves; the log names the key and not the value, so there is no undo.\n\nWith --secret the "
   "value is encrypted. The key that it takes comes from CAIRN_VAULT_KEY, CAIRN_VAULT_PASSPHRASE, or the key file "
   "(CAIRN_VAULT_KEY_FILE, else cairn/vault.key in the XDG configuration folder), which is made with the first secret: keep "
   "a copy of it. At a terminal a secret without VALUE is asked for and not shown. The reply names the memories that hold "
   "the value already. What looks like a secret is refused without --secret.",
   "cairn vault set reports:last-run 2026-03-31\ndate | cairn vault set cache:now -\n"
   "printf %s 'correct horse battery' | cairn vault set db:password - --secret",
   vault_set_params, OP_WRITE | OP_SECRET, op_vault_set},
  {"vault get", "Vault", "Show a named value",
   "Of a secret it shows the handle, vault:KEY, with which agents can speak of it. --reveal shows the value: to a person at the "
   "command line, and to an agent that has a grant. Each time is in the event log, and so is each refusal.",
   "cairn vault get reports:last-run\ncairn vault get db:password --reveal", vault_get_params, OP_SECRET, op_vault_get},
  {"vault list", "Vault", "List named values", "", "cairn vault list\ncairn vault list reports:", vault_list_params, 0,
   op_vault_list},
  {"vault add", "Vault", "Add to a counter",
   "Atomic: of many callers at once, no increment is lost. A key that is not there starts at 0.",
   "cairn vault add reports:sent\ncairn vault add quota:left -5", vault_add_params, OP_WRITE, op_vault_add},
  {"vault delete", "Vault", "Remove a named value", "A secret goes with its grants; agents may not delete secrets.",
   "cairn vault delete reports:last-run", vault_key_params, OP_WRITE, op_vault_delete},
  {"vault grant", "Vault", "Let an agent see a secret",
   "The agent then gets the value with reveal, until the grant ends or is revoked. Another grant to the same name takes the "
   "place of the first. Agents cannot grant; a token with the role admin can.",
   "cairn vault grant db:password --to deployer --ttl 1h --uses 3", vault_grant_params, OP_WRITE, op_vault_grant},
  {"vault grants", "Vault", "List who may see which secret", "", "cairn vault grants\ncairn vault grants db:password",
   vault_grants_params, 0, op_vault_grants},
  {"vault revoke", "Vault", "Take a grant back", "", "cairn vault revoke db:password --to deployer", vault_revoke_params,
   OP_WRITE, op_vault_revoke},
  {"vault rotate", "Vault", "Seal all secrets of the team with another key",
   "In one transaction. The new key is CAIRN_VAULT_NEW_KEY (64 hex digits, or base64 of 32 bytes), CAIRN_VAULT_NEW_PASSPHRASE, "
   "a passphrase that is asked for (--passphrase), or a new one in the key file. From then on it is needed in place of the "
   "former one, which stays in the key file: backups from before need it.",
   "cairn vault rotate", vault_rotate_params, OP_WRITE | OP_SECRET, op_vault_rotate},
  {0},
};
