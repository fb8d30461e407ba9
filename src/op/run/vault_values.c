/* vault_values.c: LRU cache of the decrypted vault values of up to 8 teams. */
#include "op/run/vault_values.h"

#include <assert.h>
#include <sodium.h>

#include "base/alloc.h"
#include "core/gate/gate.h"
#include "core/secrets/redact.h"
#include "op/vault/key.h"
#include "store/memories/memories.h"

/* RETRY_US: a key that was not available may be later. */
enum { TEAMS = 8, RETRY_US = 60 * 1000 * 1000, RECENT_US = 1000 * 1000 };

struct team_values {
  char team[TEAM_BYTES + 1]; /* "": unused */
  struct strs values;
  struct arena memory; /* of the values; guarded */
  struct db_stamp stamp;
  uint8_t digest[32];   /* of the ciphertexts */
  bool complete;        /* all values could be decrypted */
  int64_t decrypted_at; /* ticks; 0: never */
  int64_t queried_at;   /* ticks of the last query of the store; 0: never */
  uint64_t writes;      /* engine->writes at that time */
  uint64_t used;        /* value of secrets->uses at the last use */
  uint64_t version;
};

struct secrets {
  struct team_values teams[TEAMS];
  uint64_t uses, versions;
};

void secrets_free(struct secrets **secrets) {
  for (size_t i = 0; *secrets && i < TEAMS; i++)
    arena_release(&(*secrets)->teams[i].memory);
  mem_free(*secrets);
  *secrets = NULL;
}

/* Entry of the team; evicts the least recently used team if it is new. NULL if out of memory. */
static struct team_values *entry_of(struct engine *engine, struct str team) {
  assert(team.n && team.n <= TEAM_BYTES);
  if (!engine->secrets)
    engine->secrets = mem_zalloc(sizeof(*engine->secrets));
  struct secrets *all = engine->secrets;
  if (!all)
    return NULL;
  struct team_values *oldest = &all->teams[0];
  for (size_t i = 0; i < TEAMS; i++) {
    struct team_values *t = &all->teams[i];
    if (str_is(team, t->team))
      return t;
    if (t->used < oldest->used)
      oldest = t;
  }
  arena_release(&oldest->memory);
  *oldest = (struct team_values){.version = ++all->versions};
  memcpy(oldest->team, team.p, team.n);
  return oldest;
}

static void digest_of(const struct vault_entries *list, uint8_t out[32]) {
  crypto_generichash_state st;
  crypto_generichash_init(&st, NULL, 0, 32);
  for (size_t i = 0; i < list->n; i++) /* each starts with a nonce, so any change gives another digest */
    crypto_generichash_update(&st, (const uint8_t *)list->v[i].sealed.p, list->v[i].sealed.n);
  crypto_generichash_final(&st, out, 32);
}

static enum status open_key(struct engine *engine, struct str team, struct arena *a, struct master_key *ret_key,
                            struct error *err) {
  struct vault_key row;
  bool found;
  TRY(vault_key_find(engine->store, team, a, &row, &found, err));
  if (!found) {
    error_set(err, STATUS_CORRUPT, "the record of the key that encrypts the secrets is missing");
    return error_fix(err, "restore a backup: cairn restore");
  }
  struct key_search in = {.engine = engine, .team = team, .a = a, .err = err};
  return key_open(&in, &row, ret_key);
}

/* Decrypts the values into guarded memory; true if all could be decrypted. */
static bool decrypt_all(struct engine *engine, struct str team, const struct vault_entries *list, struct arena *a,
                        struct strs *ret_values) {
  assert(a->guarded);
  if (list->n == 0)
    return true;
  struct error ignored;
  struct master_key *key = arena_new(a, struct master_key);
  if (open_key(engine, team, a, key, &ignored) != STATUS_OK)
    return false;
  bool all = true;
  for (size_t i = 0; i < list->n; i++) {
    struct str value;
    if (unseal(a, key, team, list->v[i].key, list->v[i].sealed, &value))
      strs_push(a, ret_values, value);
    else
      all = false;
  }
  return all;
}

/* Only for a server: checking a file for changes is cheap, a server needs a round trip. */
static bool is_recent(const struct engine *engine, const struct team_values *t) {
  return db_engine(store_db(engine->store)) != DB_SQLITE && t->queried_at && engine->writes &&
         t->writes == atomic_load(engine->writes) && clock_ticks_us() - t->queried_at < RECENT_US;
}

static void refresh(struct engine *engine, struct team_values *t, struct arena *scratch, struct arena *memory) {
  struct str team = str_from(t->team);
  struct vault_entries list = {0};
  struct db_stamp stamp;
  struct error ignored;
  uint8_t digest[32];
  int64_t queried_at = clock_ticks_us();
  uint64_t writes = engine->writes ? atomic_load(engine->writes) : 0;
  bool must_decrypt = t->decrypted_at == 0 || (!t->complete && clock_ticks_us() - t->decrypted_at > RETRY_US);
  if (db_stamp(store_db(engine->store), &stamp, &ignored) != STATUS_OK ||
      (!must_decrypt && stamp.own == t->stamp.own && stamp.others == t->stamp.others) ||
      vault_secrets(engine->store, team, scratch, &list, &ignored) != STATUS_OK)
    return;
  digest_of(&list, digest);
  if (must_decrypt || memcmp(digest, t->digest, sizeof(digest)) != 0) {
    struct strs values = {0};
    bool complete = decrypt_all(engine, team, &list, memory, &values);
    arena_release(&t->memory);
    t->memory = *memory;
    t->memory.oom = NULL;
    *memory = (struct arena){0};
    t->values = values;
    t->complete = complete;
    t->decrypted_at = clock_ticks_us();
    t->version = ++engine->secrets->versions;
    memcpy(t->digest, digest, sizeof(digest));
  }
  t->stamp = stamp;
  t->queried_at = queried_at;
  t->writes = writes;
}

/* Keeps the old values if out of memory. */
static void refresh_guarded(struct engine *engine, struct team_values *t) {
  struct arena scratch, memory;
  struct store_boundary oom;
  arena_init(&scratch);
  arena_init(&memory);
  arena_guard(&memory);
  if (!STORE_BOUNDARY(engine->store, &scratch, oom)) {
    memory.oom = scratch.oom;
    refresh(engine, t, &scratch, &memory);
  }
  arena_release(&memory);
  arena_release(&scratch);
}

const struct strs *vault_values_versioned(struct engine *engine, struct str team, bool may_be_recent,
                                          uint64_t *ret_version) {
  static const struct strs none = {0};
  struct team_values *t = engine->store && team.n && team.n <= TEAM_BYTES ? entry_of(engine, team) : NULL;
  *ret_version = 0;
  if (!t)
    return &none;
  if (!may_be_recent || !is_recent(engine, t))
    refresh_guarded(engine, t);
  t->used = ++engine->secrets->uses;
  *ret_version = t->version;
  return &t->values;
}

/* ---- doctor ---- */

static struct str list_damaged(const struct vault_entries *list, struct str team, const struct master_key *key,
                               struct arena *a) {
  struct buf b = BUF(a);
  struct str value;
  for (size_t i = 0; i < list->n; i++)
    if (!unseal(a, key, team, list->v[i].key, list->v[i].sealed, &value))
      buf_addf(&b, "%s%.*s", b.n ? ", " : "these secrets are damaged: ", STR_ARG(list->v[i].key));
  return buf_str(&b);
}

enum status vault_values_check(struct engine *engine, struct str team, struct arena *a, struct str *ret_fault,
                               struct str *ret_fix, struct error *err) {
  struct vault_entries list = {0};
  struct error why;
  struct arena *own = arena_child(a); /* guarded, and released below: holds decrypted values */
  arena_guard(own);
  struct master_key *key = arena_new(own, struct master_key);
  *ret_fault = STR("");
  enum status s = vault_secrets(engine->store, team, own, &list, err);
  if (s == STATUS_OK && list.n && open_key(engine, team, own, key, &why) != STATUS_OK) {
    *ret_fault = arena_printf(a, "%zu secret%s cannot be decrypted: %s", list.n, list.n == 1 ? "" : "s", why.message);
    *ret_fix = arena_dup(a, str_from(why.fix));
  } else if (s == STATUS_OK) {
    *ret_fault = arena_dup(a, list_damaged(&list, team, key, own));
    *ret_fix = STR("a person can store them again: cairn vault set KEY - --secret");
  }
  arena_release(own);
  return s;
}

/* ---- texts that contain a value ---- */

enum status vault_value_memories(struct op_call *call, struct str value, struct int64s *ret_ids) {
  enum { PAGE = 200 };
  struct strs known = {&value, 1, 1};
  const struct redactor *what = redactor_new(call->arena, &known);
  struct arena *texts = arena_child(call->arena), *forms = arena_child(call->arena);
  struct bodies page = {0};
  enum status s = STATUS_OK;
  int64_t after = 0;
  texts->guarded = false; /* memories are not secret; the forms of the value are */
  do {
    page = (struct bodies){0};
    s = memory_bodies(call->engine->store, call->caller.team, after, PAGE, texts, &page, call->err);
    for (size_t i = 0; s == STATUS_OK && i < page.n; i++) {
      struct secret_hits hits = {0};
      redact_find(forms, page.v[i].text, what, &hits);
      bool held = false;
      for (size_t k = 0; k < hits.n; k++)
        held |= strcmp(hits.v[k].pattern, "vault_secret") == 0;
      if (held)
        list_push(call->arena, ret_ids, page.v[i].id);
      after = page.v[i].id;
    }
    arena_release(texts);
    arena_release(forms);
    arena_guard(forms);
  } while (s == STATUS_OK && page.n == PAGE);
  return s;
}
