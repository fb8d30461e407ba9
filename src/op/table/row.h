/* row.h: macros for the rows of this folder: arguments, and members that several results share.
 * The rows are data; an operation needs only a row and a handler. */
#pragma once

#include "core/memory/memory.h"
#include "op/handlers.h"
#include "op/op.h"
#include "op/search/corpus.h"

extern const struct op memories_ops[], correction_ops[], tasks_ops[], sessions_ops[], transcripts_ops[], agents_ops[],
    store_ops[], knowledge_ops[], vault_ops[];

/* clang-format off */

#define ROUTE(method_, path_, ...) {.method = method_, .path = path_, __VA_ARGS__}
#define ROUTES(...) (const struct op_route[]){__VA_ARGS__, {0}}

/* ---- arguments ---- */

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
static const char *const write_severities[] = {"blocker", "pattern", NULL};
static const char *const origins[] = {"tool", NULL};
static const char *const search_modes[] = {"hybrid", "keyword", "vector", NULL};
#define ORIGIN CHOICE("origin", origins, "label it as text from a tool, web page or file: untrusted until promoted")
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
  MANY("skill_projects", "skill-project", "NAME", "offer the skill only in this project, or with '*' in every project; may be repeated"), \
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
  TEXT("idempotency_key", 0, "KEY", "repeating this call with the same key within 7 days returns the first result")

/* ---- results, in the notation of op/run/results.h ---- */

#define WRITTEN "id:int uid action=stored|skipped|superseded|updated txn?:int kind type severity? project headline supersedes?:int " \
  "mode?=hard|soft|shadow inherited?:(pin:bool skill:bool key:bool) old_id?:int changed?:(was:obj is:obj) similarity?:num redacted?:int suspect? " \
  "untrusted?:bool embedded?:bool warnings:[@warning] hash? degraded?:advice"
#define EMBEDDED "embedded:@progress"
#define CHANGED "txn?:int hash?"
/* Labels of untrusted text. */
#define TRUST_MEMBERS "trust? suspect? untrusted?:bool"
#define SEALED "key value? handle? is_secret:bool created_at:time updated_at:time updated_by"
#define AGENT "name role project? note? created_at:time"
#define TOKEN "name id state role projects?:[text] access profile? created_at:time created_by expires_at?:time " \
  "revoked_at?:time used_at?:time"

/* clang-format on */
