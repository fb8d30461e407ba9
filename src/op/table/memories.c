/* memories.c: rows of the operations on memories: remember, find, read, boot. Data only. */
#include "op/table/row.h"

/* clang-format off */

static const struct param no_params[] = {END};
static const char *const kinds[] = {"rule", "fact", "incident", "task", NULL};
static const char *const details[] = {"headline", "snippet", "full", NULL};
static const char *const hit_details[] = {"headline", "snippet", "chunk", "full", NULL};
static const char *const boot_formats[] = {"brief", "full", "blocks", NULL};
static const char *const boot_parts[] = {"text", "sections", NULL};
static const struct param remember_params[] = {
  TEXT("text", PARAM_POSITIONAL | PARAM_STDIN, "TEXT", "what to remember, as an argument or on standard input"),
  GATED("kind", kinds, "lifecycle; default: from the type, else fact"),
  WRITE_PARAMS,
  TEXT("supersedes", 0, "ID", "memory that this one replaces (requires a reason)"),
  TEXT("reason", 0, "TEXT", "why the old memory is wrong or outdated"),
  MANY("links", "link", "ID", "a related memory, or a rule of an incident; may be repeated"),
  FLAG("keep_both", "store it next to near duplicates, with a warning; exact duplicates are still not stored"),
  FLAG("keep_fields", "if the text is stored already, leave its type, tags and other fields unchanged"),
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
#define OWN FLAG("own", "no global memories: only those of the project, or of all projects with --all-projects")
static const struct param get_params[] = {ONE_ID, END};
static const struct param search_params[] = {
  TEXT("query", REQ_POS | PARAM_NOISE | PARAM_SECRETS, "QUERY", "any text"),
  IN_CORPORA("what to search (default memory); may be repeated"),
  INT("limit", "N", "maximum number of results, 1 to 100 (default 10)"),
  CHOICE("kind", kinds, "only this kind"),
  TEXT("type", 0, "TYPE", "only this type, by name or alias"),
  MANY("tags", "tag", "TAG", "only memories with this tag; if repeated, with all of them"),
  MANY("people", "person", "NAME", "only memories about this person, in any case; if repeated, about all of them"),
  TEXT("since", 0, "TIME", "created after: 7d, or a timestamp"),
  TEXT("until", 0, "TIME", "created before: 7d, or a timestamp"),
  TEXT("as_of", 0, "TIME", "what was known and valid at this time"),
  CHOICE("mode", search_modes, "words and meaning (default), only words, or only meaning"),
  FLAG("prefix", "also find words that begin with the last word of the query"),
  CHOICE("detail", hit_details, "how much of each result (default snippet); chunk: the whole passage that matched"),
  INT("budget", "TOKENS", "maximum total size of the results; omitted ones are counted"),
  OWN,
  FLAG("include_superseded", "include superseded memories, labelled as such"),
  FLAG("trusted", "exclude untrusted memories, as boot does"),
  FLAG("explain", "show the components of each score"),
  END
};
static const struct param list_params[] = {
  INT("limit", "N", "maximum number of memories, 1 to 1000 (default 20)"),
  INT("offset", "N", "skip the first N"),
  TEXT("cursor", 0, "CURSOR", "continue after the page that returned this next_cursor"),
  OWN,
  FLAG("trusted", "exclude untrusted memories, as boot does"),
  FLAG("untrusted", "only untrusted memories, which boot does not show"),
  IN_CORPORA("what to list (default memory); may be repeated"),
  CHOICE("kind", kinds, "only this kind"),
  TEXT("type", 0, "TYPE", "only this type, by name or alias"),
  CHOICE("state", memory_states, "only this state (default active)"),
  CHOICE("delivery", deliveries, "only this delivery"),
  MANY("tags", "tag", "TAG", "only memories with this tag; if repeated, with all of them"),
  MANY("people", "person", "NAME", "only memories about this person, in any case; if repeated, about all of them"),
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
  CHOICE("only", boot_parts, "return only this part, so more of it fits the budget"),
  FLAG("register", "register a session even if no process or connection is known"),
  INT("pid", "PID", "process that owns the session, for hooks and scripts ($PPID)"),
  TEXT("host", 0, "NAME", "host of that process (default: this one)"),
  TEXT("cwd", 0, "FOLDER", "its working folder"),
  END
};

const struct op memories_ops[] = {
  {.name = "remember", .group = "Memories", .summary = "Store a memory",
   .help = "Checks the text (kind, severity, headline, one idea, duplicates), refuses secrets, and stores it. The result is "
   "'stored'; 'skipped' if the store already has it (with its id); or 'superseded' if it replaced an older memory. "
   "If the same text is stored with other fields, the given ones are changed: in the memory ('updated'), or, for a type, "
   "tags and others that never change, in a new version. 'changed' shows them. Given tags are added to the stored ones. "
   "Near matches are stored with a warning that lists them. A rule that is close to another rule is refused, with "
   "the call that supersedes it. With --batch, each line of the file is one memory and gets one line of result.",
   .example = "cairn remember 'The staging database is Postgres 17 on port 5433'\n"
   "cairn remember --type guardrail --headline 'Never force-push to main' 'It destroyed a day of work in March.'\n"
   "git log -1 --format=%B | cairn remember --type decision --tag git -",
   .params = remember_params, .flags = OP_WRITE | OP_GATED | OP_EVERYDAY | OP_PROJECT,
   .result = WRITTEN,
   .routes = ROUTES(ROUTE("POST", "/memories", .flags = ROUTE_CREATES)),
   .run = op_remember},
  {.name = "search", .group = "Memories", .summary = "Find memories by meaning and words",
   .help = "Any text is a valid query; a query without a word finds nothing. Results are memories of the project and global "
   "ones, best first. A time in the query ('last week') or a word that names a type ('who', 'decision') is a "
   "preference. Options are filters and apply before the limit. Skills whose keyword is in the query come first and "
   "do not count. The reply names its search_mode: 'hybrid'; 'keyword' if vectors are not available; 'vector' if the "
   "full-text index is damaged. 'degraded' then says why and what to do. With --in, search also covers text read "
   "from files: extracted items, transcript messages and sources. Such results name their file and are labelled "
   "'untrusted'.",
   .example = "cairn search 'which port does staging use' --limit 5\n"
   "cairn search 'what did we deploy last week' --type decision --budget 800\n"
   "cairn search 'billing database' --as-of 2026-03-01 --explain\n"
   "cairn search 'retry policy' --in memory --in items --in sources\n"
   "cairn search 'roll back the deplo' --prefix",
   .params = search_params, .flags = OP_EVERYDAY | OP_PROJECT,
   .result = "results:[@hit] query search_mode=hybrid|keyword|vector degraded?:advice embedded?:@progress omitted?:int "
   "elsewhere?:int faded?:int fetch?:advice completions?:[text] not_indexed?:advice",
   .routes = ROUTES(
     ROUTE("GET", "/search"),
     ROUTE("POST", "/search")),
   .run = op_search},
  {.name = "get", .group = "Memories", .summary = "Show one memory in full",
   .help = "By id, uid or key. Counts as an access: a faded memory becomes active again. A superseded memory is shown with a "
   "pointer to the current version.",
   .example = "cairn get 12\ncairn get auth-approach",
   .params = get_params, .flags = OP_EVERYDAY | OP_PROJECT,
   .result = "+memory",
   .routes = ROUTES(ROUTE("GET", "/memories/{id}", .to = "id")),
   .run = op_get},
  {.name = "list", .group = "Memories", .summary = "List memories, newest first",
   .help = "Filters apply before the limit. The first page counts matching memories that are faded, archived or "
   "expired, which --state lists. With --in, also lists text read from files.",
   .example = "cairn list --kind rule\ncairn list --state superseded --since 30d",
   .params = list_params, .flags = OP_EVERYDAY | OP_PROJECT,
   .result = "memories:[@listed] count:int total:int offset:int faded?:int archived?:int expired?:int next_cursor?",
   .routes = ROUTES(ROUTE("GET", "/memories", .page = "cursor")),
   .run = op_list},
  {.name = "capture", .group = "Memories", .summary = "Split raw text into memories",
   .help = "Splits notes or a conversation by rules into atomic memories, labels them auto_captured, and passes each through "
   "the gate, in one transaction. Parts under five words (tasks in lists: under two) are dropped and listed.",
   .example = "cairn capture < notes.txt",
   .params = capture_params, .flags = OP_WRITE | OP_GATED | OP_PROJECT,
   .result = "stored:int skipped:int refused:int dropped:int dropped_texts?:[text] memories:[@drafted] txn?:int degraded?:advice",
   .routes = ROUTES(ROUTE("POST", "/capture")),
   .run = op_capture},
  {.name = "boot", .group = "Memories", .summary = "Show what an agent gets at the start of a conversation",
   .help = "Blockers, a person's first; what a search for the task finds; patterns ranked by the task, identity, lessons, decisions, context, open tasks, the last handoff, "
   "other live sessions and pending action items, within a token budget. Protected memories are never dropped; "
   "dropped ones are counted. With --register or --pid it registers a session: the reply contains its handle, dead "
   "sessions are ended. MCP and HTTP clients register automatically. 'untrusted' counts memories that are not shown until "
   "a person promotes them.",
   .example = "cairn boot --task 'fix the flaky login test'\ncairn boot --pid $PPID --format full",
   .params = boot_params, .flags = OP_EVERYDAY | OP_PROJECT | OP_BOOTS,
   .result = "text? session? writes_blocked:bool format=brief|full|blocks project session_id?:int ended:[text] "
   "working_context?:(task project source note) degraded?:advice tokens:int budget?:int "
   "sections?:[(name items:[(id:int headline priority? status? type? author?)])] dropped?:[(section count:int state? fetch:advice)] "
   "action_items?:[@action] handoff?:@handoff sessions?:[obj] used?:int over_budget?:bool entries?:int cap?:int warning? untrusted?:int",
   .routes = ROUTES(
     ROUTE("GET", "/boot", .without = "register pid host cwd", .summary = "Show what boot returns, without starting a session"),
     ROUTE("POST", "/boot"),
     ROUTE("POST", "/sessions", .without = "register", .with = "register", .summary = "Start a session: boot, and an id for the Cairn-Session header")),
   .run = op_boot},
  {.name = "stats", .group = "Memories", .summary = "Count memories by kind, type, state and project",
   .help = "",
   .example = "cairn stats",
   .params = no_params,
   .result = "db size_bytes:int schema:int team memories:int last_7_days:int last_30_days:int events:int "
   "last_seq:int embedder "
   EMBEDDED " indexes:[@index] by_kind:{int} by_type:{int} by_state:{int} by_project:{int} by_delivery:{int} "
   "corrections:[(id:int headline versions:int kind project untrusted?:bool)] documents?:{int} maintained_at? degraded?:advice",
   .routes = ROUTES(ROUTE("GET", "/stats")),
   .run = op_stats},
  END
};
