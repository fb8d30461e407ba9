/* reply_cache.c: set-associative cache of search results with LRU eviction. Teams share it: each reply has the
 * generation that it was computed in, and a change drops the replies of its team. */
#include "op/run/reply_cache.h"

#include <assert.h>

#include "base/alloc.h"
#include "op/run/common.h"

enum { SLOTS = 256, WAYS = 8, REPLY_MAX = 64 << 10, CACHE_BYTES = 4 << 20, MINUTE_MS = 60 * 1000 };

struct reply {
  int64_t until; /* when the next memory expires */
  uint64_t used; /* value of cache->uses at the last use */
  uint64_t team; /* hash of its name */
  struct generation generation;
  struct db_stamp stamp; /* of the store when the generation was last compared */
  size_t key_n, json_n, note_n;
  char text[]; /* key, json, note */
};

struct reply_cache {
  size_t bytes;
  uint64_t uses;
  struct reply *slots[SLOTS];
};

static void drop(struct reply_cache *c, size_t slot) {
  assert(slot < SLOTS);
  struct reply *r = c->slots[slot];
  if (!r)
    return;
  size_t n = r->key_n + r->json_n + r->note_n;
  assert(c->bytes >= n);
  c->bytes -= n;
  mem_free(r);
  c->slots[slot] = NULL;
}

/* Drops the replies of a team from other generations. */
static void drop_stale(struct reply_cache *c, uint64_t team, const struct generation *now) {
  for (size_t i = 0; i < SLOTS; i++)
    if (c->slots[i] && c->slots[i]->team == team && !generation_same(&c->slots[i]->generation, now))
      drop(c, i);
}

/* Evicts the least recently used replies until `bytes` more fit. */
static void make_room(struct reply_cache *c, size_t bytes) {
  while (c->bytes > 0 && c->bytes + bytes > CACHE_BYTES) {
    size_t oldest = SLOTS;
    for (size_t i = 0; i < SLOTS; i++)
      if (c->slots[i] && (oldest == SLOTS || c->slots[i]->used < c->slots[oldest]->used))
        oldest = i;
    drop(c, oldest);
  }
  assert(c->bytes + bytes <= CACHE_BYTES);
}

void reply_cache_free(struct reply_cache **cache) {
  if (!*cache)
    return;
  for (size_t i = 0; i < SLOTS; i++)
    drop(*cache, i);
  assert((*cache)->bytes == 0);
  mem_free(*cache);
  *cache = NULL;
}

struct str reply_cache_key(struct op_call *call) {
  const struct caller *c = &call->caller;
  struct buf b = BUF(call->arena);
  /* Length prefixes make the key unambiguous. */
  buf_addf(&b, "%s %zu:%.*s %zu:%.*s %d %d %lld ", call->op->name, c->team.n, STR_ARG(c->team), c->project.n,
           STR_ARG(c->project), c->all_projects, (int)store_reach(call->engine->store).role,
           (long long)(call->now / MINUTE_MS));
  buf_add(&b, json_write_val(call->arena, call->args));
  return buf_str(&b);
}

/* First slot of the key's set. */
static size_t set_of(struct str key) {
  uint64_t h = str_hash(STR_HASH, key);
  return (size_t)((h ^ (h >> 32)) % (SLOTS / WAYS)) * WAYS;
}

static struct reply *find(const struct reply_cache *c, struct str key) {
  size_t set = set_of(key);
  for (size_t i = set; i < set + WAYS; i++) {
    struct reply *r = c->slots[i];
    if (r && str_eq(key, (struct str){r->text, r->key_n}))
      return r;
  }
  return NULL;
}

/* Slot of the same key, or an empty one, or the least recently used one. */
static size_t slot_for(const struct reply_cache *c, struct str key) {
  size_t set = set_of(key), best = set;
  for (size_t i = set; i < set + WAYS; i++) {
    const struct reply *r = c->slots[i];
    if (r && str_eq(key, (struct str){r->text, r->key_n}))
      return i;
    if (c->slots[best] && (!r || r->used < c->slots[best]->used))
      best = i;
  }
  return best;
}

static uint64_t team_hash(const struct op_call *call) { return str_hash(STR_HASH, call->caller.team); }

/* An unchanged stamp means no writes at all. Otherwise compare generations: the writes may be only read events. Drops
 * stale replies. */
static bool is_current(struct op_call *call, struct reply_cache *c, struct reply *r) {
  struct store *st = call->engine->store;
  struct db_stamp stamp;
  struct generation now;
  struct error ignored;
  if (db_stamp(store_db(st), &stamp, &ignored) != STATUS_OK)
    return false;
  if (stamp.own == r->stamp.own && stamp.others == r->stamp.others)
    return true;
  if (store_generation(st, call->caller.team, &now, &ignored) != STATUS_OK)
    return false;
  if (!generation_same(&now, &r->generation)) {
    drop_stale(c, r->team, &now);
    return false;
  }
  r->stamp = stamp;
  return true;
}

bool reply_cache_find(struct op_call *call, struct str key) {
  struct reply_cache *c = call->engine->replies;
  struct reply *r = c ? find(c, key) : NULL;
  struct error ignored;
  yyjson_val *found;
  if (!r || call->now >= r->until || !is_current(call, c, r) ||
      json_read(call->arena, (struct str){r->text + r->key_n, r->json_n}, &found, &ignored) != STATUS_OK)
    return false;
  size_t i, n;
  yyjson_val *name, *value;
  yyjson_obj_foreach(found, i, n, name, value) {
    yyjson_mut_obj_add(call->result, yyjson_val_mut_copy(call->doc, name), yyjson_val_mut_copy(call->doc, value));
  }
  r->used = ++c->uses;
  struct txn who = call_author(call);
  reads_queue(call->engine->store, &who, STR("memory:search"), 0, STR_NONE,
              (struct str){r->text + r->key_n + r->json_n, r->note_n});
  return true;
}

static struct reply_cache *cache_of(struct engine *e) {
  if (!e->replies)
    e->replies = mem_zalloc(sizeof(*e->replies));
  return e->replies;
}

void reply_cache_store(struct op_call *call, struct str key, const struct generation *generation, struct str note) {
  struct error ignored;
  int64_t until;
  if (yyjson_mut_obj_get(call->result, "degraded") ||
      store_next_expiry(call->engine->store, call->caller.team, call->now, &until, &ignored) != STATUS_OK)
    return;
  struct str json = json_write(call->arena, call->result, false);
  size_t n = key.n + json.n + note.n;
  struct reply_cache *c = n <= REPLY_MAX ? cache_of(call->engine) : NULL;
  struct reply *r = c ? mem_alloc(sizeof(*r) + n) : NULL;
  if (!r)
    return;
  drop_stale(c, team_hash(call), generation);
  make_room(c, n);
  /* The stamp matches none, so the first lookup compares generations. */
  *r = (struct reply){.until = until,
                      .used = ++c->uses,
                      .team = team_hash(call),
                      .generation = *generation,
                      .stamp = {-1, -1},
                      .key_n = key.n,
                      .json_n = json.n,
                      .note_n = note.n};
  memcpy(r->text, key.p, key.n);
  memcpy(r->text + key.n, json.p, json.n);
  memcpy(r->text + key.n + json.n, note.p, note.n);
  size_t slot = slot_for(c, key);
  drop(c, slot);
  c->slots[slot] = r;
  c->bytes += n;
}
