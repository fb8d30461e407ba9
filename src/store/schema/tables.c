/* tables.c: list of tables and columns. */
#include "store/schema/tables.h"

#include <assert.h>

#include "store/store.h"

#define I(name) {'i', #name}
#define D(name) {'d', #name}
#define S(name) {'s', #name}
#define B(name) {'b', #name}
#define COLUMNS(...)                                                                                                   \
  (const struct table_column[]) { __VA_ARGS__, {0} }

/* clang-format off */
const struct store_table store_tables[] = {
  {"txn", TABLE_ROWS, "id", {"id"}, false,
   COLUMNS(I(id), S(uid), S(team), I(at), S(op), S(source), S(session), I(undoes))},
  {"memory", TABLE_ROWS, "id", {"id"}, false,
   COLUMNS(I(id), S(uid), S(team), S(project), S(kind), S(type), S(severity), S(key), S(headline), S(delivery),
           S(skill_name), I(skill_always_on), D(weight), S(confidence), I(corroborated), I(verified_at), S(trust),
           I(auto_captured), S(state), S(state_reason), S(state_by), I(state_at), I(valid_from), I(created_at),
           I(updated_at), I(expires_at), I(access_count), I(last_accessed), I(upvotes), I(downvotes), S(status),
           S(priority), S(milestone), S(due), S(claimed_by), I(claimed_at), S(root_cause), S(resolution), S(source),
           S(session), S(corpus), S(suspect))},
  {"body", TABLE_ROWS, NULL, {"memory_id"}, false, COLUMNS(I(memory_id), S(team), S(text), S(hash))},
  {"label", TABLE_ROWS, NULL, {"memory_id", "field", "pos"}, false,
   COLUMNS(S(team), I(memory_id), S(field), I(pos), S(value))},
  {"annotation", TABLE_ROWS, "id", {"id"}, false, COLUMNS(I(id), S(team), I(memory_id), I(at), S(by), S(text))},
  {"link", TABLE_ROWS, NULL, {"src", "rel", "dst"}, false,
   COLUMNS(S(team), I(src), S(rel), I(dst), I(at), S(reason), S(prior))},
  {"chunk", TABLE_CHUNKS, "id", {"id"}, false,
   COLUMNS(I(id), S(team), I(memory_id), I(seq), S(hash), S(headline), S(body), S(extra), S(terms))},
  {"document_group", TABLE_ROWS, NULL, {"corpus", "project", "path"}, true,
   COLUMNS(S(team), S(corpus), S(project), S(path), S(hash), I(size), I(changed_at))},
  {"document", TABLE_ROWS, NULL, {"memory_id"}, false,
   COLUMNS(I(memory_id), S(team), S(corpus), S(project), S(path), S(ref), I(line), D(confidence), S(hash))},
  {"source_root", TABLE_ROWS, NULL, {"project", "path"}, true,
   COLUMNS(S(team), S(project), S(path), I(added_at))},
  {"vec_index", TABLE_ROWS, NULL, {"model"}, true,
   COLUMNS(S(team), S(model), I(dims), S(state), S(config), I(started_at), I(flipped_at))},
  /* A virtual table: the vectors, wherever the engine stores them. */
  {"vectors", TABLE_VECTORS, NULL, {"model", "chunk_id"}, true,
   COLUMNS(S(team), S(model), I(chunk_id), I(dims), B(vector))},
  {"embed_cache", TABLE_ROWS, NULL, {"hash", "model", "dims"}, true,
   COLUMNS(S(team), S(hash), S(model), I(dims), B(vector), I(used_at))},
  {"event", TABLE_ROWS, "seq", {"seq"}, false,
   COLUMNS(I(seq), S(team), I(txn), I(at), S(action), S(change), S(op), I(memory_id), S(uid), S(project), S(source),
           S(session), S(before), S(after), S(detail), I(purged))},
  {"idempotency", TABLE_ROWS, NULL, {"key"}, true, COLUMNS(S(team), S(key), I(at), I(memory_id), S(result))},
  {"tombstone", TABLE_ROWS, NULL, {"uid"}, true, COLUMNS(S(team), S(uid), I(at), S(by))},
  {"setting", TABLE_ROWS, NULL, {"name"}, true, COLUMNS(S(team), S(name), S(value))},
  {"session", TABLE_ROWS, "id", {"id"}, false,
   COLUMNS(I(id), S(team), S(handle), S(project), S(source), S(cwd), S(host), I(pid), I(started), S(connection),
           S(client), S(client_version), S(task), I(last_item), I(booted_at), I(heartbeat_at), I(ended_at),
           S(end_reason))},
  {"handoff", TABLE_ROWS, "id", {"id"}, false,
   COLUMNS(I(id), S(team), S(project), S(session), S(source), S(text), I(created_at))},
  {"action_item", TABLE_ROWS, "id", {"id"}, false,
   COLUMNS(I(id), S(team), S(project), I(memory_id), S(text), S(kind), S(status), S(reason), S(source), I(created_at),
           S(decided_by), S(decided_session), I(decided_at))},
  {"scratch", TABLE_ROWS, NULL, {"session", "key"}, true,
   COLUMNS(S(team), S(session), S(key), S(value), I(updated_at))},
  {"checkpoint", TABLE_ROWS, NULL, {"project", "source", "action_hash"}, true,
   COLUMNS(S(team), S(project), S(source), S(action_hash), I(at))},
  {"tool_call", TABLE_ROWS, "id", {"id"}, false,
   COLUMNS(I(id), S(event_id), S(team), S(session), S(tool), S(op), S(project), S(source), I(at), I(duration_us),
           S(error), S(message))},
  {"vault", TABLE_ROWS, NULL, {"key"}, true,
   COLUMNS(S(team), S(key), S(value), I(is_secret), B(cipher), I(created_at), I(updated_at), S(updated_by))},
  {"vault_key", TABLE_ROWS, NULL, {"id"}, true,
   COLUMNS(S(team), S(id), S(way), B(salt), I(passes), I(memory), B(proof), I(created_at))},
  {"vault_grant", TABLE_ROWS, NULL, {"key", "grantee"}, true,
   COLUMNS(S(team), S(key), S(grantee), I(uses), I(created_at), S(created_by), I(expires_at))},
  {"token", TABLE_ROWS, NULL, {"id"}, true,
   COLUMNS(S(team), S(id), S(name), B(hash), S(role), S(projects), S(access), S(profile), I(created_at), S(created_by),
           I(expires_at), I(revoked_at), I(used_at))},
  {"team_removal", TABLE_ROWS, NULL, {"at"}, true, COLUMNS(S(team), I(at), S(by), S(counts))},
  {"agent", TABLE_ROWS, NULL, {"name"}, true,
   COLUMNS(S(team), S(name), S(role), S(project), S(note), I(created_at))},
  {0},
};
/* clang-format on */

_Static_assert(ARRAY_LEN(store_tables) == STORE_TABLES, "STORE_TABLES counts the list and its end");

const char *const derived_tables[] = {
    "meta",                          /* metadata of this store; entries that belong to the content are below */
    "schema_version", "memory_type", /* filled from the program's list of types */
    "chunk_count",    "chunk_fts*",  "chunk_text*", "term_count", "vec_block", "vec_head",
    "vec_slot",       "vec_centre",  "vec",         "vec_count",  "sqlite_*",  NULL,
};

const char *const content_facts[] = {"created_at", META_REPLACED, "maintained_at", META_TRANSCRIPTS, NULL};

size_t table_columns(const struct store_table *t) {
  size_t n = 0;
  while (t->columns[n].name)
    n++;
  return n;
}

size_t table_column(const struct store_table *t, const char *name) {
  size_t i = 0;
  while (strcmp(t->columns[i].name, name) != 0) {
    i++;
    assert(t->columns[i].name);
  }
  return i;
}
