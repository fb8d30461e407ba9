/* setting_rows.h: the settings, one row each, in the order of enum setting_id. Data only, included twice: settings.h
 * makes the ids of it, settings.c the table. */
/* Only a person may change a setting in the store: most protect memories, secrets, the log or the machine, or decide
 * what everyone sees. Agents may change the rows with AGENTS, which only tune searching and reading. */
/* clang-format off */
SETTING(SET_GATE_MODE, CHOICE("gate.mode", "assist", gate_modes,
    "assist derives a missing headline, and accepts long facts and merged statements with a warning; strict refuses them"))
SETTING(SET_SECRETS_MODE, CHOICE("secrets.mode", "refuse", secrets_modes, "refuse or redact a text that contains a secret"))
/* from here to SET_EMBEDDER_LAST: parameters of the embedder */
SETTING(SET_EMBEDDER, {.name = "embedder", .fallback = DEFAULT_EMBEDDER, .choices = embedders,
    .help = "embedding model that makes vectors; none: full-text search only"})
SETTING(SET_EMBEDDER_URL, TEXT("embedder.url", "", check_url,
    "URL of the openai or ollama embedder (default: api.openai.com, or Ollama on this machine)"))
SETTING(SET_EMBEDDER_MODEL, TEXT("embedder.model", "", check_model, "model name for openai or ollama"))
SETTING(SET_EMBEDDER_DIMS, TEXT("embedder.dims", "0", check_dims,
    "dimensions of the model's vectors; 0: the model's default"))
SETTING(SET_EMBEDDER_FILE, TEXT("embedder.file", "", check_file, "converted model for the embedder 'file'"))
SETTING(SET_EMBEDDER_KEY_ENV, {.name = "embedder.key_env", .fallback = "OPENAI_API_KEY", .check = check_variable,
    .help = "environment variable that holds the openai key", .secretive = true})
SETTING(SET_EMBEDDER_QUERY_PREFIX, TEXT("embedder.query_prefix", "", check_prefix,
    "prefix of each query sent to openai or ollama"))
SETTING(SET_EMBEDDER_TEXT_PREFIX, TEXT("embedder.text_prefix", "", check_prefix,
    "prefix of each stored text sent to openai or ollama"))
SETTING(SET_EMBEDDER_TIMEOUT_MS, NUMBER("embedder.timeout_ms", "10000", 100, 600000,
    "timeout of requests to openai or ollama"))
SETTING(SET_VECTOR_WEIGHT, AGENTS_NUMBER("search.vector_weight", "0.6", 0, 1,
    "weight of vectors in a search, against full text"))
SETTING(SET_DECAY_HALF_LIFE, AGENTS_NUMBER("decay.half_life_days", "30", 1, 3650,
    "days after which age halves a score in search"))
SETTING(SET_FACT_FADE, CHOICE("fact.fade", "on", on_off, "unused facts of agents fade"))
SETTING(SET_FACT_HALF_LIFE, NUMBER("fact.half_life_days", "7", 1, 3650,
    "days without access after which the retention of a fact halves"))
SETTING(SET_FACT_FADE_BELOW, NUMBER("fact.fade_below", "0.1", 0.001, 0.9, "retention below which a fact fades"))
SETTING(SET_ARCHIVE_DAYS, NUMBER("incident.archive_days", "90", 1, 3650,
    "days without access after which an incident is archived"))
SETTING(SET_STALE_DAYS, NUMBER("task.stale_days", "90", 1, 3650,
    "days without a change after which an agent's unclaimed open task becomes stale"))
SETTING(SET_MAINTAIN_HOURS, NUMBER("maintain.interval_hours", "24", 1, 720, "hours between automatic maintenance runs"))
SETTING(SET_BOOT_BUDGET, NUMBER("boot.budget_tokens", "2000", 200, 100000, "size of the boot payload, in tokens"))
SETTING(SET_NOTIFY_ERRORS, CHOICE("notify.errors", "on", on_off,
    "desktop notifications of internal errors of 'cairn serve', at most one a minute"))
/* from here to SET_TOOL_RESULTS: an agent's files */
SETTING(SET_FILES_ROOT, TEXT("files.root", "", check_path,
    "parent of the agents' folders (default: beside the store, its name with .files)"))
SETTING(SET_MEMORY_PATH, TEXT("files.memory_path", "<agent>/MEMORY.md", check_path, "path of MEMORY.md"))
SETTING(SET_MEMORY_MAX_CHARS, NUMBER("files.memory_max_chars", "50000", 1000, 10000000, "maximum size of MEMORY.md"))
SETTING(SET_SESSIONS_PATH, TEXT("files.sessions_path", "<agent>/sessions/", check_path, "folder of the transcripts"))
SETTING(SET_SESSION_RETENTION_DAYS, NUMBER("sessions.retention_days", "30", 1, 36500,
    "days without a message after which a transcript is archived"))
SETTING(SET_SESSIONS_INDEXED, CHOICE("sessions.indexed", "off", on_off,
    "index transcript messages, so searches can include them"))
SETTING(SET_SOURCES_WATCH, AGENTS_CHOICE("sources.watch", "auto", auto_on_off,
    "a server refreshes sources when their files change; auto: if the store is a file"))
SETTING(SET_COMPACTION_THRESHOLD, NUMBER("compaction.threshold", "100000", 100, 100000000,
    "tokens from which a transcript should be compacted"))
SETTING(SET_COMPACTION_KEEP_RECENT, NUMBER("compaction.keep_recent", "10", 1, 10000,
    "most recent messages that compaction leaves unchanged"))
SETTING(SET_FLUSH_ENABLED, CHOICE("flush.enabled", "on", on_off,
    "ask an agent to save memories before its transcript is compacted"))
SETTING(SET_FLUSH_THRESHOLD, NUMBER("flush.threshold", "80000", 100, 100000000,
    "tokens of a transcript from which the agent is asked"))
SETTING(SET_SEARCH_PROVIDER, AGENTS_CHOICE("search.provider", "hybrid", providers,
    "default search mode: full text and vectors, or (fts5) full text only"))
SETTING(SET_TOOL_RESULTS, AGENTS_NUMBER("pruning.tool_results", "5", 0, 100000,
    "tool results shown when a transcript is read; older results are omitted, their calls stay"))
/* from here to SET_REFUSALS_MAX: how long the event log keeps what changed nothing */
SETTING(SET_READS_DAYS, NUMBER("events.reads_days", "90", 1, 36500, "days after which reads leave the event log"))
SETTING(SET_READS_MAX, NUMBER("events.reads_max", "200000", 0, 1000000000, "reads that the event log keeps at most"))
SETTING(SET_REFUSALS_DAYS, NUMBER("events.refusals_days", "365", 1, 36500,
    "days after which refused calls and wrong tokens leave the event log"))
SETTING(SET_REFUSALS_MAX, NUMBER("events.refusals_max", "20000", 0, 1000000000,
    "refused calls and wrong tokens that the event log keeps at most"))
/* from here to SET_OAUTH_CLAIM_PREFIX: access to 'cairn serve' */
SETTING(SET_SERVE_REQUIRE_TOKEN, {.name = "serve.require_token", .fallback = "off", .choices = on_off, .machine = true,
    .help = "'cairn serve' also requires a token from local clients"})
SETTING(SET_SERVE_RATE, {.name = "serve.rate", .fallback = "50", .check = check_count, .machine = true,
    .help = "calls per second allowed for each token at 'cairn serve'; 0: unlimited"})
SETTING(SET_SERVE_BURST, {.name = "serve.burst", .fallback = "200", .check = check_count, .machine = true,
    .help = "calls allowed at once before serve.rate applies; 0: no limits"})
SETTING(SET_SERVE_CONCURRENCY, {.name = "serve.concurrency", .fallback = "64", .check = check_count, .machine = true,
    .help = "requests of each token that 'cairn serve' queues and runs at the same time, four times as many of a team; 0: unlimited"})
SETTING(SET_SERVE_KILOBYTES, {.name = "serve.kilobytes", .fallback = "2000", .check = check_count, .machine = true,
    .help = "kilobytes of requests per second allowed for each token after 32 MB, twice as many for a team; 0: unlimited"})
SETTING(SET_SERVE_CPU, {.name = "serve.cpu_percent", .fallback = "50", .check = check_percent, .machine = true,
    .help = "share of all cores allowed for each token after 10 s of processor time, half of the rest besides for a team; 0: unlimited"})
SETTING(SET_OAUTH_ISSUER, {.name = "oauth.issuer", .fallback = "", .check = check_identifier, .machine = true,
    .help = "URL of an OAuth 2.1 issuer whose access tokens 'cairn serve' accepts besides its own"})
SETTING(SET_OAUTH_AUDIENCE, {.name = "oauth.audience", .fallback = "", .check = check_identifier, .machine = true,
    .help = "URL of /mcp as clients see it; the required audience of access tokens"})
SETTING(SET_OAUTH_JWKS, {.name = "oauth.jwks", .fallback = "", .check = check_file, .machine = true,
    .help = "file with the issuer's keys (JWKS); reread when it changes"})
SETTING(SET_OAUTH_CLAIM_PREFIX, {.name = "oauth.claim_prefix", .fallback = "cairn_", .check = check_prefix,
    .machine = true, .help = "prefix of claims that replace scopes: cairn_team, cairn_role, ..."})
SETTING(SET_SANDBOX, {.name = "sandbox", .fallback = "on", .choices = on_off, .machine = true,
    .help = "'cairn mcp' and 'cairn serve' drop access to other files, network and programs"})
SETTING(SET_SANDBOX_PATHS, {.name = "sandbox.paths", .fallback = "", .check = check_paths, .machine = true,
    .help = "additional files and folders they may read and write, separated by colons"})
