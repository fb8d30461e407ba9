/* shapes.c: objects that several results share, in the notation of op/run/results.h; docs/json.md describes them. */
#include "op/run/results.h"
#include "op/table/row.h"

/* clang-format off */

#define LISTS "tags?:[text] people?:[text] topics?:[text] action_items?:[text] domains?:[text] acceptance?:[text] " \
  "skill_keywords?:[text] skill_projects?:[text] entity?:[text] entity_type?:[text]"
#define FIRST "id:int headline uid kind type severity? project key? state state_reason? delivery weight:num trust " \
  "suspect? untrusted?:bool skill_name? skill_always_on?:bool"
#define TASK "status? priority? milestone? due? claimed_by?"
/* Optional members of a full memory. */
#define FULL TASK " claimed_at?:time root_cause? resolution? expires_at?:time skill_name? skill_always_on?:bool confidence? " \
  "corroborated?:int verified_at?:time auto_captured?:bool state_by? state_at?:time access_count?:int last_accessed?:time " \
  "upvotes?:int downvotes?:int session? " LISTS " annotations?:[@note] links?:[@link] banner? head?:int from?:int"

const struct shape result_shapes[] = {
  {"brief", FIRST " written_by " TASK " created_at:time expires_at?:time " LISTS},
  {"memory", "id:int headline body " FIRST " source created_at:time updated_at:time valid_from:time hash " FULL},
  {"listed", FIRST " written_by? created_at:time snippet? body? source? updated_at?:time valid_from?:time hash? " FULL},
  {"hit", FIRST " written_by " TASK " created_at:time expires_at?:time " LISTS " age_days:num score:num "
   "source=hybrid|keyword|vector|skill via_skill_trigger? superseded_by?:int supersedes? upvotes?:int downvotes?:int "
   "annotations?:[@note] parts?:{num} snippet? body? corpus? file? "
   "line?:int confidence?:num ref? origin?:any"},
  {"written", WRITTEN},
  /* One of several drafts: as written, or why it was refused. */
  {"drafted", "line?:int id?:int uid? action? kind? type? headline? supersedes?:int warnings?:[@warning] error?:(code step? message fix?:advice memory?:int similarity?:num)"},
  {"warning", "code message fix?:advice memories?:[(id:int headline similarity:num difference? was? is? untrusted?:bool)]"},
  {"note", "at:time by text"},
  {"link", "rel direction=out|in id:int uid headline state at:time reason? prior? untrusted?:bool"},
  {"event", "seq:int at:time action change? op txn?:int id?:int uid? project source session? before?:any after?:any "
   "detail?:any purged?:bool untrusted?:bool"},
  {"session", "session session_id:int project source task? client? client_version? cwd? host? pid?:int booted_at:time "
   "heartbeat_at:time silent_s:int state=live|unresponsive|stale self?:bool"},
  {"handoff", "id:int text project source session? created_at:time " TRUST_MEMBERS},
  {"action", "id:int text kind=task|rule status=pending|will_execute|already_done|not_relevant project memory?:int "
   "created_at:time decided_by? decided_at?:time reason? " TRUST_MEMBERS},
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
