/* results_table.c: what each operation answers, in the notation of results.h; docs/json.md says it in words. */
#include "op/run/results.h"

/* clang-format off */

#define LISTS "tags?:[text] people?:[text] topics?:[text] action_items?:[text] domains?:[text] acceptance?:[text] " \
  "skill_keywords?:[text] skill_projects?:[text] entity?:[text] entity_type?:[text]"
#define FIRST "id:int headline uid kind type severity? project key? state state_reason? delivery weight:num trust " \
  "suspect? untrusted?:bool"
#define TASK "status? priority? milestone? due? claimed_by?"
/* Of a memory in full, where there is something to say. */
#define FULL TASK " claimed_at?:time root_cause? resolution? expires_at?:time skill_name? skill_always_on?:bool confidence? " \
  "corroborated?:int verified_at?:time auto_captured?:bool state_by? state_at?:time access_count?:int last_accessed?:time " \
  "upvotes?:int downvotes?:int session? " LISTS " annotations?:[@note] links?:[@link] banner? head?:int from?:int"
#define WRITTEN "id:int uid action=stored|skipped|superseded txn?:int kind type severity? project headline supersedes?:int " \
  "mode?=hard|soft|shadow inherited?:(pin:bool skill:bool key:bool) old_id?:int similarity?:num redacted?:int suspect? " \
  "untrusted?:bool embedded?:bool warnings:[@warning] hash? degraded?"
#define EMBEDDED "embedded:@progress"
#define CHANGED "txn?:int hash?"
#define STORED "stored?:int skipped?:int refused?:int memories?:[obj] txn?:int"
/* Of text that somebody stored and nobody vouches for. */
#define MARKS "trust? suspect? untrusted?:bool"
#define SHOWN_MEMORY "id:int headline " MARKS
#define MODEL "name bytes:int dims:int max_tokens:int layers:int hidden:int heads:int feed_forward:int vocabulary:int " \
  "positions:int pooling activation projection:bool query_prefix text_prefix calibration:(raw:[num] scaled:[num])"
#define SEALED "key value? handle? is_secret:bool created_at:time updated_at:time updated_by"
#define AGENT "name role project? note? created_at:time"
#define TOKEN "name id state role projects?:[text] access profile? created_at:time created_by expires_at?:time " \
  "revoked_at?:time used_at?:time"
#define FILE_WRITTEN "path id:int uid size:int lines:int trust suspect? untrusted?:bool text txn?:int degraded?"

const struct shape result_shapes[] = {
  {"brief", FIRST " written_by " TASK " created_at:time expires_at?:time " LISTS},
  {"memory", "id:int headline body " FIRST " source created_at:time updated_at:time valid_from:time hash " FULL},
  {"listed", FIRST " written_by? created_at:time snippet? body? source? updated_at?:time valid_from?:time hash? " FULL},
  {"hit", FIRST " written_by " TASK " created_at:time expires_at?:time " LISTS " age_days:num score:num "
   "source=hybrid|keyword|vector|skill via_skill_trigger? superseded_by?:int upvotes?:int downvotes?:int "
   "annotations?:[@note] parts?:{num} snippet? body? corpus? file? "
   "line?:int confidence?:num ref? origin?:any"},
  {"written", WRITTEN},
  {"warning", "code message fix? memories?:[(id:int headline similarity:num difference? was? is? untrusted?:bool)]"},
  {"note", "at:time by text"},
  {"link", "rel direction=out|in id:int uid headline state at:time reason? prior? untrusted?:bool"},
  {"event", "seq:int at:time action change? op txn?:int id?:int uid? project source session? before?:any after?:any "
   "detail?:any purged?:bool untrusted?:bool"},
  {"session", "session session_id:int project source task? client? client_version? cwd? host? pid?:int booted_at:time "
   "heartbeat_at:time silent_s:int state=live|unresponsive|stale self?:bool"},
  {"handoff", "id:int text project source session? created_at:time " MARKS},
  {"action", "id:int text kind=task|rule status=pending|will_execute|already_done|not_relevant project memory?:int "
   "created_at:time decided_by? decided_at?:time reason? " MARKS},
  {"progress", "done:int total:int"},
  {"index", "model dims:int state done:int total:int started_at:time flipped_at?:time"},
  {"latency", "name calls:int errors:int avg_ms:num p50_ms:num p95_ms:num p99_ms:num max_ms:num"},
  {"setting", "name value default origin=default|store|file|environment|flag file? line?:int environment help"},
  {"folder", "folder files?:int read?:int copies?:int gone?:int added?:int changed?:int removed?:int redacted?:int "
   "skipped?:{int} problem? bytes?:int added_at?:time there?:bool watch?"},
  {"entity", "name entityType observations:[text] untrusted?:bool untrusted_observations?:[int] "
   "untrusted_memories?:[int] suspect?"},
  {"relation", "from to relationType untrusted?:bool"},
  {"sealed", SEALED},
  {"grant", "key to uses_left?:int expires_at?:time live:bool created_at:time created_by"},
  {"agent", AGENT},
  {"token", TOKEN},
  {NULL, NULL},
};

const struct shape op_results[] = {
  {"remember", WRITTEN},
  {"capture", "stored:int skipped:int refused:int dropped:int memories:[obj] txn?:int degraded?"},
  {"get", "+memory"},
  {"search", "results:[@hit] query search_mode=hybrid|keyword|vector degraded? embedded?:@progress omitted?:int"},
  {"list", "memories:[@listed] count:int total:int offset:int next_cursor?"},
  {"boot", "text? session? writes_blocked:bool format=brief|full|blocks project session_id?:int ended:[text] "
   "working_context?:(task project source note) degraded? tokens:int budget?:int "
   "sections?:[(name items:[(id:int headline priority? status?)])] dropped?:[(section count:int fetch)] "
   "action_items?:[@action] handoff?:@handoff sessions?:[obj] used?:int over_budget?:bool entries?:int cap?:int warning?"},
  {"stats", "db size_bytes:int schema:int team memories:int last_7_days:int last_30_days:int events:int "
   "last_seq:int embedder "
   EMBEDDED " indexes:[@index] by_kind:{int} by_type:{int} by_state:{int} by_project:{int} by_delivery:{int} "
   "corrections:[(id:int headline versions:int untrusted?:bool)] documents?:{int} maintained_at? degraded?"},
  {"supersede", WRITTEN},
  {"unsupersede", "id:int state retired?:int " CHANGED},
  {"history", "chain:[obj] head:int"},
  {"repeats", "rules:int repeated:int above:num pairs:[(a:(id:int headline project) b:(id:int headline project) "
   "similarity:num)] degraded?"},
  {"annotate", "id:int annotations:[@note] " CHANGED},
  {"rate", "id:int upvotes:int downvotes:int " CHANGED},
  {"pin", "id:int delivery " CHANGED},
  {"unpin", "id:int delivery " CHANGED},
  {"promote", "id:int trust " CHANGED},
  {"link", "id:int rel to:int " CHANGED},
  {"unlink", "id:int rel to:int " CHANGED},
  {"forget", "forgotten:[int] already:[int] degraded? " CHANGED},
  {"purge", "receipt:(purged:[(id:int uid)] at:time by rows:{int} log_emptied:bool remains? backups:[text]) " CHANGED},
  {"prune", "dry_run:bool would_prune?:[obj] pruned?:[obj] total:int max_per_call:int criteria:(days:int min_access:int) "
   "txn?:int"},
  {"undo", "undone:int changes:int already_gone?:int txn:int"},

  {"task add", WRITTEN},
  {"task list", "tasks:[obj] count:int next_cursor?"},
  {"task ready", "tasks:[obj] count:int"},
  {"task claim", "+brief " CHANGED},
  {"task status", "+brief " CHANGED},
  {"task block", "+brief by:int " CHANGED},
  {"task unblock", "+brief by:int " CHANGED},
  {"task sync", "file tasks:int store:{int} in_file:{int} conflicts:[(id memory:int members:[text])] "
   "refused:[(id? description? reason fix?)] written:bool dry_run:bool txn?:int"},

  {"skill list", "skills:[(name id:int headline keywords:[text] projects:[text] always_on:bool untrusted?:bool suspect?)]"},
  {"skill load", "+memory"},

  {"session list", "sessions:[@session] count:int ended:[text] staleness_s:int trustworthy:bool"},
  {"session task", "session session_id:int task heartbeat_at:time"},
  {"session handoff", "id?:int session? project? length?:int handoff?:@handoff|null"},
  {"session end", "session session_id:int ended_at:time reason handoff?:int already?:bool"},
  {"action list", "items:[@action] count:int pending:int"},
  {"action add", "+action action=added|already"},
  {"action ack", "id:int text decision status removed:int remaining:int"},
  {"checkpoint", "action skipped:bool cooldown_s:int guardrails:[(" SHOWN_MEMORY " text)] "
   "relevant:[(" SHOWN_MEMORY " kind type snippet score:num)] degraded?"},
  {"scratch set", "session key bytes:int"},
  {"scratch get", "session key found:bool value?"},
  {"scratch list", "session values:[(key value updated_at:time)] count:int"},

  {"transcript append", "session path? id? added:int known?:int failed?:int redacted?:int torn_bytes?:int revived?:bool "
   "messages?:int tokens?:int flush_due?:bool compact_due?:bool not_indexed? degraded?"},
  {"transcript read", "session path archived:bool count:int left_out:int pruned:int compacted:int tokens:int damaged?:int "
   "torn_bytes?:int messages:[obj] untrusted?:bool"},
  {"transcript list", "folder sessions:[(id status created:time updated:time messages:int tokens:int compacted:int "
   "compactions:int)] count:int total:int rebuilt?:bool"},
  {"transcript flush", "session tokens:int threshold:int due:bool answered:bool leaving?:(messages:int tokens:int "
   "list:[obj] "
   "not_listed?:int) question? answer_with? degraded? " STORED},
  {"transcript compact", "session compacted:bool before?:int after?:int messages_before?:int messages_after?:int "
   "taken?:int "
   "summary_id? summary? extractive?:bool path? originals? reason? tokens?:int threshold?:int degraded? " STORED},
  {"transcript archive", "archived:int sessions:[text] dry_run:bool"},
  {"transcript index", "sessions:int added?:int removed?:int embedded?:int waiting?:bool degraded?"},
  {"transcript import", "messages:int sessions:int already:int redacted:int files:int unchanged:int unknown:int torn:int "
   "skipped:{int} projects:{int} indexed?:int not_indexed? looked_in?:[text] failed?:[(file error)] failed_count?:int"},

  {"agent add", AGENT " txn?:int"},
  {"agent list", "agents:[@agent] count:int"},
  {"agent remove", AGENT " txn?:int"},
  {"agent message", "message:(from to type payload:(action context:(memory_snippet project_context))) memories?:[int] "
   "left_out:int tokens:int txn?:int"},
  {"token add", TOKEN " token txn?:int"},
  {"token list", "tokens:[@token] count:int"},
  {"token revoke", TOKEN " txn?:int"},
  {"token delete", TOKEN " deleted?:bool txn?:int"},

  {"events", "last_seq:int count:int events?:[@event] next_cursor?"},
  {"health", "ok:bool problems:[text] server:obj store:(path bytes:int log_bytes:int schema:int writable:bool) "
   "memories:int "
   "embedder " EMBEDDED " indexes:[@index] pending_embeddings:int last_seq:int"},
  {"metrics", "hours:int calls:int errors:int tools:[@latency] process?:obj"},
  {"errors", "errors:[(at:time name op project source session? duration_ms:num error message?)] count:int"},
  {"maintain", "expired?:int faded?:int archived?:int stale?:int transcripts?:int transcripts_failed? embedded?:int "
   "now_active? dropped_vectors?:int judged?:int suspect?:int suspect_txns?:[int] degraded? duration_ms?:int ids?:{[int]} "
   "skipped?:bool reason? txn?:int"},
  {"reembed", "model? newly_embedded?:int failed?:int complete?:bool flipped?:bool previous? note? embedder? "
   "embedded?:any indexes?:[@index] abandoned? dropped_index? dropped?:int txn?:int"},
  {"export", "project? memories:int links:int tombstones:int transactions:int events:int file?"},
  {"import", "format imported:int already:int tombstoned:int duplicates?:int links:int tombstones?:int transactions?:int "
   "events?:int redacted?:int refused_count:int refused:[obj] warnings:[@warning] more_warnings?:int embedded?:int "
   "dry_run?:bool ok?:bool message? fix? degraded? txn?:int"},
  {"sync", "file project written:bool created:bool dry_run:bool shown:int left_out:int hidden:int "
   "added:[(line:int id:int headline supersedes?:int)] changed:[(line:int id:int headline supersedes?:int)] "
   "removed:[(id:int headline)] finished:[obj] refused:[(line?:int id?:int code error fix?)] "
   "conflicts:[(line:int id:int text stored)] txn?:int"},
  {"page", "text shown:int left_out:int hidden:int"},
  {"backup", "file bytes:int transcripts?:obj"},
  {"restore", "file safety_backup? memories:int tokens_live?:int tokens_revoked?:int grants_revoked?:int transcripts?:obj"},
  {"migrate", "from to start copied:int verified:bool missing_transactions:int epoch ms:int tables:[(name rows:int hash)] "
   "rows:int"},
  {"team list", "teams?:[(team memories:int changed_at?:time)] removed?:[(team at:time by rows:any)] count:int"},
  {"team delete", "team at:time by rows:{int} total:int files_removed:int files_left:[text] log_emptied:bool "
   "backups:[text]"},
  {"doctor", "ok:bool db checks:[(name ok:bool message fix? left?:int)]"},
  {"eval", "sets?:[obj] pairs?:[obj] kept?"},
  {"config", "settings?:[@setting] file? name? value? default? origin? line?:int environment? help? overridden_by? note? "
   "txn?:int"},
  {"model convert", "file? " MODEL},
  {"model show", "file? " MODEL},

  {"source add", "sources:[@folder] embedded?:int waiting?:bool degraded?"},
  {"source list", "sources:[@folder] count:int"},
  {"source refresh", "sources:[@folder] embedded?:int waiting?:bool degraded?"},
  {"source remove", "folder files:int removed:int"},
  {"extract", "folder project file items:int types:{int} written:bool files:int read:int unchanged:int gone:int added:int "
   "changed:int removed:int redacted?:int skipped:{int} embedded?:int waiting?:bool degraded? txn?:int"},

  {"file view", "path directory:bool text entries?:[(path size:int directory:bool untrusted?:bool)] id?:int uid? "
   "size?:int lines?:int "
   "truncated?:bool raw?:bool " MARKS},
  {"file create", FILE_WRITTEN},
  {"file str_replace", FILE_WRITTEN},
  {"file insert", FILE_WRITTEN},
  {"file delete", "path files:int text txn?:int"},
  {"file rename", "path files:int text txn?:int"},
  {"graph read", "entities:[@entity] relations:[@relation]"},
  {"graph create", "entities:[@entity] relations:[@relation] txn?:int"},
  {"graph observe", "results:[(entityName addedObservations:[text])] txn?:int"},
  {"graph delete", "memories:int txn?:int"},
  {"vault set", SEALED " action=created|updated held_by?:[int] warnings?:[@warning] txn?:int"},
  {"vault get", SEALED},
  {"vault list", "entries:[@sealed] count:int"},
  {"vault add", "key value:int txn?:int"},
  {"vault delete", "key deleted:bool txn?:int"},
  {"vault grant", "+grant txn?:int"},
  {"vault grants", "grants:[@grant] count:int"},
  {"vault revoke", "key to revoked:bool txn?:int"},
  {"vault rotate", "secrets:int from to way=key|passphrase txn?:int"},
  {NULL, NULL},
};
