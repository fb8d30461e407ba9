/* store.c: rows of the operations on the store: log, health, maintenance, copies, settings, models. Data only. */
#include "op/table/row.h"

/* clang-format off */

static const struct param no_params[] = {END};
static const char *const eval_dates[] = {"valid", "written", "none", NULL};
static const char *const formats[] = {"auto", "cairn", "graph", "markdown", NULL};
static const struct param events_params[] = {
  INT("since", "SEQ", "start after this sequence number; 0 is the beginning (default: the newest events)"),
  INT("limit", "N", "maximum number of events (default 100; 0 = all)"),
  TEXT("action", 0, "NAME", "only this action, for example memory:write"),
  FLAG("follow", "wait for new events until interrupted"),
  END
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
  FLAG("force", "replace an existing file"),
  END
};
static const struct param import_params[] = {
  TEXT("file", REQ_POS | PARAM_PATH, "FILE", "an export, a JSONL graph, a Markdown file or folder; '-' is standard input"),
  {"format", PARAM_TEXT, 0, NULL, NULL, formats, "input format; default auto"},
  FLAG("skip_bad", "import valid rows even if others are invalid"),
  FLAG("dry_run", "check everything, change nothing"),
  FLAG("keep_trust", "keep the trust recorded in an export, also of text that reads like instructions to a model"),
  FLAG("untrusted", "import everything as untrusted: for an export that someone else made"),
  FLAG("defer_embedding", "do not embed now; 'cairn reembed' or maintenance does it later"),
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

#define MODEL "name bytes:int dims:int max_tokens:int layers:int hidden:int heads:int feed_forward:int vocabulary:int " \
  "positions:int pooling activation projection:bool query_prefix text_prefix calibration:(raw:[num] scaled:[num])"

const struct op store_ops[] = {
  {.name = "events", .group = "Store", .summary = "Read the event log",
   .help = "One line per event, oldest first; the newest ones if --since is not given. Resume with the last sequence number "
   "seen.",
   .example = "cairn events --since 120\ncairn events --follow --json",
   .params = events_params, .flags = OP_STREAM,
   .result = "last_seq:int count:int events?:[@event] next_cursor?",
   .routes = ROUTES(
     ROUTE("GET", "/events", .without = "follow", .lines = "events", .page = "since", .limit = 100, .limit_max = 1000, .help = "One object for each event, oldest first. For the next page, set since to last_seq. "
      "The event stream is at /events.")),
   .run = op_events},
  {.name = "health", .group = "Store", .summary = "Show server and store health",
   .help = "Process, store, memories, embedder, pending embeddings, and a list of problems; if there are any, ok is false "
   "and the exit code is not 0. Fast at any size. 'cairn doctor' checks the store itself.",
   .example = "cairn health --json",
   .params = no_params, .flags = OP_OBSERVES,
   .result = "ok:bool problems:[advice] server:obj store:(path bytes:int log_bytes:int schema:int writable:bool) "
   "memories:int "
   "embedder " EMBEDDED " indexes:[@index] pending_embeddings:int last_seq:int",
   .routes = ROUTES(ROUTE("GET", "/health")),
   .run = op_health},
  {.name = "metrics", .group = "Store", .summary = "Show calls, errors and latencies per tool",
   .help = "Covers the calls of all processes that use the store; from a server, also its own since it started. p50, p95 and "
   "p99 are latency percentiles in milliseconds, accurate to 1.6 %.",
   .example = "cairn metrics\ncairn metrics --hours 1 --json",
   .params = metrics_params, .flags = OP_OBSERVES,
   .result = "hours:int calls:int errors:int tools:[@latency] process?:obj",
   .routes = ROUTES(ROUTE("GET", "/metrics")),
   .run = op_metrics},
  {.name = "errors", .group = "Store", .summary = "Show recent failed calls",
   .help = "Newest first, from all processes that use the store. Messages contain no secrets.",
   .example = "cairn errors --limit 5",
   .params = errors_params, .flags = OP_OBSERVES,
   .result = "errors:[(at:time name op project source session? duration_ms:num error message?)] count:int",
   .routes = ROUTES(ROUTE("GET", "/errors")),
   .run = op_errors},
  {.name = "maintain", .group = "Store", .summary = "Run maintenance: expire, fade, archive, embed",
   .help = "Runs automatically once a day; running it again changes nothing. Prints what it did.",
   .example = "cairn maintain",
   .params = maintain_params, .flags = OP_WRITE,
   .result = "expired?:int faded?:int archived?:int stale?:int transcripts?:int transcripts_failed? embedded?:int "
   "now_active? dropped_vectors?:int events_deleted?:int judged?:int suspect?:int suspect_txns?:[int] degraded?:advice duration_ms?:int ids?:{[int]} "
   "skipped?:bool reason? txn?:int",
   .run = op_maintain},
  {.name = "reembed", .group = "Store", .summary = "Re-embed memories after changing the embedder",
   .help = "Embeds every text that has no vector from the configured embedder, and activates the new index once it is "
   "complete; until then both indexes are searched. Can be interrupted at any time and resumes where it stopped.",
   .example = "cairn reembed\ncairn reembed --status",
   .params = reembed_params, .flags = OP_WRITE,
   .result = "model? newly_embedded?:int failed?:int complete?:bool flipped?:bool previous? note?:advice embedder? "
   "embedded?:any indexes?:[@index] abandoned? dropped_index? dropped?:int txn?:int",
   .run = op_reembed},
  {.name = "export", .group = "Store", .summary = "Export all memories as JSON Lines",
   .help = "Includes uids, links, states, timestamps and annotations. Importing the file with --keep-trust and exporting "
   "again gives the same bytes.",
   .example = "cairn export memories.jsonl",
   .params = export_params, .flags = OP_STREAM | OP_EXISTING,
   .local = "writes a file on the server, or a result too large for a reply",
   .result = "project? memories:int links:int tombstones:int transactions:int events:int file?",
   .run = op_export},
  {.name = "import", .group = "Store", .summary = "Import an export, a JSONL graph, or Markdown notes",
   .help = "One transaction. Invalid rows are reported with their line, and nothing is imported unless --skip-bad is given. "
   "Purged memories are not imported again. At the command line, memories of an export keep their trust, except text that "
   "reads like instructions to a model; with --untrusted they do not. All other imported memories are untrusted until promoted; "
   "'untrusted' counts them.",
   .example = "cairn import memories.jsonl\ncairn import theirs.jsonl --untrusted\ncairn import ~/notes --format markdown --dry-run",
   .params = import_params, .flags = OP_WRITE | OP_GATED,
   .local = "reads a file on the server",
   .result = "format imported:int already:int tombstoned:int duplicates?:int links:int tombstones?:int transactions?:int "
   "events?:int redacted?:int refused_count:int refused:[(line?:any id?:int code error fix?:advice)] warnings:[@warning] more_warnings?:int embedded?:int "
   "dry_run?:bool ok?:bool message? fix?:advice degraded?:advice txn?:int untrusted?:int promote?:advice",
   .run = op_import},
  {.name = "sync", .group = "Store", .summary = "Sync MEMORY.md with the store",
   .help = "Writes the memories of the project to its MEMORY.md by section, and stores the edits people made there: a new "
   "bullet is remembered, a changed one supersedes, a removed one is forgotten, one moved to another section gets "
   "its type, a ticked task is done. Every edit goes through the gate; refused edits stay in the file with the "
   "reason. If both sides changed a text, both versions are kept and shown in the file. Text outside bullets is not "
   "touched. After the first run, 'cairn serve' keeps the file in sync.",
   .example = "cairn sync\ncairn sync --path MEMORY.md --adopt --dry-run",
   .params = sync_params, .flags = OP_WRITE | OP_GATED,
   .local = "reads and writes a file on the server",
   .result = "file project written:bool created:bool dry_run:bool shown:int left_out:int hidden:int "
   "faded?:int archived?:int expired?:int stale?:int added:[(line:int id:int headline supersedes?:int)] "
   "changed:[(line:int id:int headline supersedes?:int)] "
   "removed:[(id:int headline state?)] finished:[obj] refused:[(line?:int id?:int code error fix?:advice)] "
   "conflicts:[(line:int id:int text stored)] offer? txn?:int",
   .run = op_sync},
  {.name = "page", .group = "Store", .summary = "Show MEMORY.md as an agent reads it",
   .help = "The memories of the project and the global ones by section, most important and newest first, with their ids and "
   "without anchors. Reads and writes no file.",
   .example = "cairn page",
   .params = page_params, .flags = OP_PROJECT,
   .result = "text shown:int left_out:int hidden:int faded?:int archived?:int expired?:int stale?:int",
   .run = op_page},
  {.name = "backup", .group = "Store", .summary = "Back up the store to a file, while it is in use",
   .help = "The backup is itself a store, also for a store on a server: open it with --db, or restore it with 'cairn "
   "restore'. Transcripts of all teams go to FILE.transcripts, a tar archive: keep the two together.",
   .example = "cairn backup /mnt/backups/cairn.db",
   .params = backup_params, .flags = OP_NO_TXN | OP_OPERATOR | OP_EVERYDAY | OP_EXISTING,
   .local = "writes a file on the server",
   .result = "file bytes:int transcripts?:obj",
   .run = op_backup},
  {.name = "restore", .group = "Store", .summary = "Restore the store from a backup",
   .help = "One atomic change. The current content is backed up first. A file backup can be restored to a server, and the "
   "other way round. Then transcripts: missing ones are added; no existing session is removed or shortened. Without "
   "--confirm the backup is only checked.",
   .example = "cairn restore /mnt/backups/cairn.db --confirm",
   .params = restore_params, .flags = OP_WRITE | OP_DESTRUCTIVE | OP_NO_TXN | OP_OPERATOR,
   .local = "reads a file on the server and replaces the whole store",
   .result = "file safety_backup? memories:int tokens_live?:int tokens_revoked?:int grants_revoked?:int transcripts?:obj",
   .run = op_restore},
  {.name = "migrate", .group = "Store", .summary = "Move the store to another file or to a server",
   .help = "Copies everything from the store named by --db to a new one: memories with their chains, links and vectors, the "
   "event log, sessions, settings, vault and transcripts; ids, uids and times stay the same. Works between files and "
   "PostgreSQL servers, in any direction. Reads a snapshot of the source and does not change it. An interrupted run "
   "resumes; if the source has changed since, it starts over and says so. At the end every row of every table is "
   "compared by hash, and only then can the target be used. Transactions committed to the source meanwhile are "
   "counted but not copied: stop all writers first.",
   .example = "cairn migrate --to /mnt/backups/moved.db",
   .params = migrate_params, .flags = OP_NO_TXN | OP_OPERATOR | OP_EXISTING,
   .local = "copies the whole store, with all teams, to a destination of the caller's choice",
   .result = "from to start copied:int verified:bool missing_transactions:int epoch ms:int tables:[(name rows:int hash)] "
   "rows:int transcripts?:obj",
   .run = op_migrate},
  {.name = "team list", .group = "Store", .summary = "List teams, or receipts of deleted ones",
   .help = "For the operator of the store. CAIRN_TEAM selects the team to work in.",
   .example = "cairn team list\ncairn team list --removed",
   .params = team_list_params, .flags = OP_OPERATOR,
   .local = "concerns all teams: available only on the store's machine",
   .result = "teams?:[(team memories:int changed_at?:time)] removed?:[(team at:time by rows:any)] count:int",
   .run = op_team_list},
  {.name = "team delete", .group = "Store", .summary = "Delete a team with all its data",
   .help = "Deletes every row of the team in every table, its log and settings, and the files that Cairn keeps for it, in "
   "one transaction: a killed run has removed all rows or none, and running it again removes leftover files. Without "
   "--confirm it only lists what would be deleted. Pages such as MEMORY.md in a repository stay, and are listed; so "
   "are automatic backups that still contain the team. A receipt stays in the store. Stop the team's processes "
   "first: a later write creates the team again.",
   .example = "cairn team delete acme\ncairn team delete acme --confirm acme",
   .params = team_delete_params, .flags = OP_WRITE | OP_DESTRUCTIVE | OP_NO_TXN | OP_OPERATOR,
   .local = "concerns all teams: available only on the store's machine",
   .result = "team at:time by rows:{int} total:int files_removed:int files_left:[text] log_emptied:bool "
   "backups:[text]",
   .run = op_team_delete},
  {.name = "doctor", .group = "Store", .summary = "Check the store for problems",
   .help = "Reads the whole store and recomputes the hashes of all texts; names the memories that were changed outside Cairn. "
   "Exit code 0 if everything is fine. --repair first rebuilds the indexes from the texts and accepts the loss of missing "
   "transactions; it changes no text.",
   .example = "cairn doctor --json\ncairn doctor --repair",
   .params = doctor_params, .flags = OP_OPERATOR | OP_EVERYDAY | OP_OBSERVES | OP_NO_UPKEEP | OP_EXISTING,
   .result = "ok:bool db checks:[(name ok:bool message fix?:advice left?:int)]",
   .routes = ROUTES(ROUTE("GET", "/doctor", .without = "fix", .summary = "Check the store's health")),
   .run = op_doctor},
  {.name = "eval", .group = "Store", .summary = "Measure retrieval quality on test sets",
   .help = "A set is a folder with corpus.jsonl, queries.jsonl and qrels.tsv. Documents go through the normal write path "
   "into a temporary store, queries through the normal search; no other store is opened, and the temporary one is "
   "removed. With --server it is a separate database next to the named one, which is not changed. Figures are means "
   "over the queries, from 0 to 1, for hybrid, keyword and vector search. recall@k: share of a query's relevant "
   "documents among the first k results. recall_all@k: whether all of them are there. recall_any@k: whether at least "
   "one is. ndcg@10: gain of the first ten, each divided by log2(rank + 1), over that of the best order. mrr: 1 / "
   "rank of the first relevant one among ten. p50 and p95: latency percentiles in milliseconds. A folder of .tsv "
   "files holds sentence pairs (label, text, text): for each file, precision and recall of 'same meaning', and how "
   "many contradictions the gate would mistake for duplicates.",
   .example = "cairn eval sets/nfcorpus\ncairn eval sets --set metatool --limit 100 --json",
   .params = eval_params, .flags = OP_NO_STORE,
   .local = "reads a directory on the server and runs for minutes",
   .result = "sets?:[obj] pairs?:[obj] kept?",
   .run = op_eval},
  {.name = "config", .group = "Store", .summary = "Show or change settings",
   .help = "A value comes from --set, else the environment, else the configuration file, else the store, else the default; "
   "'origin' says which, with the line of the file. Changes are written to the store and apply to everyone who uses "
   "it.",
   .example = "cairn config\ncairn config gate.mode strict\ncairn config --set fact.half_life_days=14",
   .params = config_params, .flags = OP_WRITE | OP_NO_UPKEEP,
   .result = "settings?:[@setting] file? name? value? default? origin? line?:int environment? help? overridden_by? note?:advice "
   "txn?:int",
   .routes = ROUTES(
     ROUTE("GET", "/settings", .without = "name value unset", .summary = "Show the settings", .help = "Settings can be changed only on the machine of the store: cairn config NAME VALUE."),
     ROUTE("GET", "/settings/{name}", .to = "name", .without = "value unset", .summary = "Show a setting")),
   .run = op_config},
  {.name = "model convert", .group = "Models", .summary = "Convert an embedding model for use with Cairn",
   .help = "Reads a BERT-family encoder (bge, e5, gte, MiniLM, ...) from its published folder: model.safetensors and "
   "vocab.txt, and if present config.json, tokenizer_config.json, modules.json, 1_Pooling/config.json and "
   "sentence_bert_config.json. Weights are quantized to int8. Refuses other models and models with parts that would "
   "be lost. An existing file is replaced only with --force, and only if it is a model file.",
   .example = "cairn model convert ~/models/bge-small-en-v1.5 bge-small.cairn\n"
   "cairn model convert ~/models/e5-small-v2 e5.cairn --query-prefix 'query: ' --text-prefix 'passage: '",
   .params = model_convert_params, .flags = OP_NO_STORE,
   .local = "reads and writes files on the server",
   .result = "file? " MODEL,
   .run = op_model_convert},
  {.name = "model show", .group = "Models", .summary = "Show the contents of a model file",
   .help = "Checks the whole file first. Without a file, shows the built-in model.",
   .example = "cairn model show\ncairn model show bge-small.cairn",
   .params = model_show_params, .flags = OP_NO_STORE,
   .local = "reads a file on the server",
   .result = "file? " MODEL,
   .run = op_model_show},
  END
};
