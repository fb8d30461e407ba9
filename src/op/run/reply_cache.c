/* reply_cache.c: a table of replies, each in one of a few places by its key's hash; the least recently used one makes
 * room. Teams share it: each reply has the generation that it was found in, and a change drops those of its team. */
#include "op/run/reply_cache.h"

#include "base/alloc.h"
#include "op/run/common.h"

enum { PLACES = 256, WAYS = 8, REPLY_MAX = 64 << 10, CACHE_BYTES = 4 << 20, MINUTE_MS = 60 * 1000 };

struct reply {
  int64_t until; /* something expires then */
  uint64_t used; /* when, counted */
  uint64_t team; /* hash of its name */
  struct generation generation;
  struct db_stamp stamp; /* of the store when the generation was last compared */
  size_t key_n, json_n, note_n;
  char text[]; /* key, json, note */
};

struct reply_cache {
  size_t bytes;
  uint64_t uses;
  struct reply *places[PLACES];
};

static void drop(struct reply_cache *c, size_t place) {
  struct reply *r = c->places[place];
  if (!r)
    return;
  c->bytes -= r->key_n + r->json_n + r->note_n;
  mem_free(r);
  c->places[place] = NULL;
}

/* The replies of a team that were found before this generation. */
static void drop_stale(struct reply_cache *c, uint64_t team, const struct generation *now) {
  for (size_t i = 0; i < PLACES; i++)
    if (c->places[i] && c->places[i]->team == team && !generation_same(&c->places[i]->generation, now))
      drop(c, i);
}

static void make_room(struct reply_cache *c, size_t bytes) {
  while (c->bytes > 0 && c->bytes + bytes > CACHE_BYTES) {
    size_t oldest = PLACES;
    for (size_t i = 0; i < PLACES; i++)
      if (c->places[i] && (oldest == PLACES || c->places[i]->used < c->places[oldest]->used))
        oldest = i;
    drop(c, oldest);
  }
}

void reply_cache_free(struct reply_cache **cache) {
  if (!*cache)
    return;
  for (size_t i = 0; i < PLACES; i++)
    drop(*cache, i);
  mem_free(*cache);
  *cache = NULL;
}

struct str reply_key(struct op_call *call) {
  const struct caller *c = &call->caller;
  struct buf b = BUF(call->arena);
  /* Lengths keep the parts apart. */
  buf_addf(&b, "%s %zu:%.*s %zu:%.*s %d %d %lld ", call->op->name, c->team.n, STR_ARG(c->team), c->project.n,
           STR_ARG(c->project), c->all_projects, (int)store_reach(call->engine->store).role,
           (long long)(call->now / MINUTE_MS));
  buf_add(&b, json_write_val(call->arena, call->args));
  return buf_str(&b);
}

/* The first of its places. */
static size_t home_of(struct str key) {
  uint64_t h = str_hash(STR_HASH, key);
  return (size_t)((h ^ (h >> 32)) % (PLACES / WAYS)) * WAYS;
}

static struct reply *find(const struct reply_cache *c, struct str key) {
  size_t home = home_of(key);
  for (size_t i = home; i < home + WAYS; i++) {
    struct reply *r = c->places[i];
    if (r && str_eq(key, (struct str){r->text, r->key_n}))
      return r;
  }
  return NULL;
}

/* Its own, else an empty one, else the one used longest ago. */
static size_t place_for(const struct reply_cache *c, struct str key) {
  size_t home = home_of(key), best = home;
  for (size_t i = home; i < home + WAYS; i++) {
    const struct reply *r = c->places[i];
    if (r && str_eq(key, (struct str){r->text, r->key_n}))
      return i;
    if (c->places[best] && (!r || r->used < c->places[best]->used))
      best = i;
  }
  return best;
}

static uint64_t team_hash(const struct op_call *call) { return str_hash(STR_HASH, call->caller.team); }

/* Nothing written at all is quickly seen; else it may have been reads alone. A stale reply is dropped. */
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

static void note_again(struct op_call *call, struct str note) {
  struct txn who = who_of(call);
  reads_note(call->engine->store, &who, STR("memory:search"), 0, STR_NONE, note);
}

bool reply_find(struct op_call *call, struct str key) {
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
  note_again(call, (struct str){r->text + r->key_n + r->json_n, r->note_n});
  return true;
}

static struct reply_cache *cache_of(struct engine *e) {
  if (!e->replies)
    e->replies = mem_zalloc(sizeof(*e->replies));
  return e->replies;
}

void reply_keep(struct op_call *call, struct str key, const struct generation *generation, struct str note) {
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
  /* A stamp that was never seen: the first look asks for the generation. */
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
  size_t place = place_for(c, key);
  drop(c, place);
  c->places[place] = r;
  c->bytes += n;
}
