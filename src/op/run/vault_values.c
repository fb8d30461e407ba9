/* vault_values.c: a small table of the secrets of teams, as they were when the vault was last looked at. */
#include "op/run/vault_values.h"

#include <sodium.h>

#include "base/alloc.h"
#include "core/gate/gate.h"
#include "core/secrets/redact.h"
#include "op/vault/key.h"
#include "store/memories/memories.h"

/* A key that was not at hand may be there later: a server looks again. */
enum { TEAMS = 8, LOOK_AGAIN_US = 60 * 1000 * 1000, LATELY_US = 1000 * 1000 };

struct known {
  char team[TEAM_BYTES + 1]; /* "": the place is free */
  struct strs values;
  struct arena memory; /* of the values; guarded */
  struct db_stamp stamp;
  uint8_t digest[32]; /* of the sealed texts that the values came from */
  bool complete;
  int64_t looked; /* ticks */
  int64_t asked;  /* ticks, when the store was last asked; 0: never */
  uint64_t writes;
  uint64_t used, number;
};

struct secrets {
  struct known teams[TEAMS];
  uint64_t uses, numbers;
};

void secrets_free(struct secrets **secrets) {
  for (size_t i = 0; *secrets && i < TEAMS; i++)
    arena_release(&(*secrets)->teams[i].memory);
  mem_free(*secrets);
  *secrets = NULL;
}

/* The team's place; a new team takes that of the one that was not asked for for longest. NULL: no memory. */
static struct known *place_of(struct engine *engine, struct str team) {
  if (!engine->secrets)
    engine->secrets = mem_zalloc(sizeof(*engine->secrets));
  struct secrets *all = engine->secrets;
  if (!all)
    return NULL;
  struct known *oldest = &all->teams[0];
  for (size_t i = 0; i < TEAMS; i++) {
    struct known *k = &all->teams[i];
    if (str_is(team, k->team))
      return k;
    if (k->used < oldest->used)
      oldest = k;
  }
  arena_release(&oldest->memory);
  *oldest = (struct known){.number = ++all->numbers};
  memcpy(oldest->team, team.p, team.n);
  return oldest;
}

static void digest_of(const struct vault_entries *list, uint8_t out[32]) {
  crypto_generichash_state st;
  crypto_generichash_init(&st, NULL, 0, 32);
  for (size_t i = 0; i < list->n; i++) /* each begins with a nonce of its own, so no two lists are alike */
    crypto_generichash_update(&st, (const uint8_t *)list->v[i].sealed.p, list->v[i].sealed.n);
  crypto_generichash_final(&st, out, 32);
}

static enum status open_key(struct engine *engine, struct str team, struct arena *a, struct master_key *ret_key,
                            struct error *err) {
  struct vault_key row;
  bool found;
  TRY(vault_key_find(engine->store, team, a, &row, &found, err));
  if (!found) {
    error_set(err, STATUS_CORRUPT, "the store does not say which key the secrets are sealed with");
    return error_fix(err, "'cairn restore' brings a backup back");
  }
  struct key_search in = {.engine = engine, .team = team, .a = a, .err = err};
  return key_open(&in, &row, ret_key);
}

/* Opens what can be opened, into guarded memory; true when that is all. */
static bool open_all(struct engine *engine, struct str team, const struct vault_entries *list, struct arena *a,
                     struct strs *ret_values) {
  if (list->n == 0)
    return true;
  struct error ignored;
  struct master_key *key = arena_new(a, struct master_key);
  bool all = open_key(engine, team, a, key, &ignored) == STATUS_OK;
  if (!all)
    return false;
  for (size_t i = 0; i < list->n; i++) {
    struct str value;
    if (unseal(a, key, team, list->v[i].key, list->v[i].sealed, &value))
      strs_push(a, ret_values, value);
    else
      all = false;
  }
  return all;
}

/* A file tells by itself whether anything has changed; a server would have to be asked. */
static bool asked_lately(const struct engine *engine, const struct known *k) {
  return db_engine(store_db(engine->store)) != DB_SQLITE && k->asked && engine->writes &&
         k->writes == atomic_load(engine->writes) && clock_ticks_us() - k->asked < LATELY_US;
}

static void refresh(struct engine *engine, struct known *k, struct arena *scratch, struct arena *memory) {
  struct str team = str_from(k->team);
  struct vault_entries list = {0};
  struct db_stamp stamp;
  struct error ignored;
  uint8_t digest[32];
  int64_t asked = clock_ticks_us();
  uint64_t writes = engine->writes ? atomic_load(engine->writes) : 0;
  bool again = k->looked == 0 || (!k->complete && clock_ticks_us() - k->looked > LOOK_AGAIN_US);
  if (db_stamp(store_db(engine->store), &stamp, &ignored) != STATUS_OK ||
      (!again && stamp.own == k->stamp.own && stamp.others == k->stamp.others) ||
      vault_secrets(engine->store, team, scratch, &list, &ignored) != STATUS_OK)
    return;
  digest_of(&list, digest);
  if (again || memcmp(digest, k->digest, sizeof(digest)) != 0) {
    struct strs values = {0};
    bool complete = open_all(engine, team, &list, memory, &values);
    arena_release(&k->memory);
    k->memory = *memory;
    k->memory.oom = NULL;
    *memory = (struct arena){0};
    k->values = values;
    k->complete = complete;
    k->looked = clock_ticks_us();
    k->number = ++engine->secrets->numbers;
    memcpy(k->digest, digest, sizeof(digest));
  }
  k->stamp = stamp;
  k->asked = asked;
  k->writes = writes;
}

/* Without memory, what was known stays known. */
static void refresh_guarded(struct engine *engine, struct known *k) {
  struct arena scratch, memory;
  struct store_boundary oom;
  arena_init(&scratch);
  arena_init(&memory);
  arena_guard(&memory);
  if (!STORE_BOUNDARY(engine->store, &scratch, oom)) {
    memory.oom = scratch.oom;
    refresh(engine, k, &scratch, &memory);
  }
  arena_release(&memory);
  arena_release(&scratch);
}

const struct strs *secrets_known_as(struct engine *engine, struct str team, bool lately, uint64_t *ret_number) {
  static const struct strs none = {0};
  struct known *k = engine->store && team.n && team.n <= TEAM_BYTES ? place_of(engine, team) : NULL;
  *ret_number = 0;
  if (!k)
    return &none;
  if (!lately || !asked_lately(engine, k))
    refresh_guarded(engine, k);
  k->used = ++engine->secrets->uses;
  *ret_number = k->number;
  return &k->values;
}

const struct strs *secrets_known(struct engine *engine, struct str team) {
  uint64_t number;
  return secrets_known_as(engine, team, false, &number);
}

/* ---- doctor ---- */

static struct str name_damaged(const struct vault_entries *list, struct str team, const struct master_key *key,
                               struct arena *a) {
  struct buf b = BUF(a);
  struct str value;
  for (size_t i = 0; i < list->n; i++)
    if (!unseal(a, key, team, list->v[i].key, list->v[i].sealed, &value))
      buf_addf(&b, "%s%.*s", b.n ? ", " : "these secrets are damaged: ", STR_ARG(list->v[i].key));
  return buf_str(&b);
}

enum status secrets_check(struct engine *engine, struct str team, struct arena *a, struct str *ret_fault,
                          struct str *ret_fix, struct error *err) {
  struct vault_entries list = {0};
  struct error why;
  struct arena *own = arena_child(a); /* values must not stay */
  arena_guard(own);
  struct master_key *key = arena_new(own, struct master_key);
  *ret_fault = STR("");
  enum status s = vault_secrets(engine->store, team, own, &list, err);
  if (s == STATUS_OK && list.n && open_key(engine, team, own, key, &why) != STATUS_OK) {
    *ret_fault = arena_printf(a, "%zu secrets cannot be opened: %s", list.n, why.message);
    *ret_fix = arena_dup(a, str_from(why.fix));
  } else if (s == STATUS_OK) {
    *ret_fault = arena_dup(a, name_damaged(&list, team, key, own));
    *ret_fix = STR("store them again: cairn vault set KEY - --secret");
  }
  arena_release(own);
  return s;
}

/* ---- texts that hold a value ---- */

enum status secrets_held(struct op_call *call, struct str value, struct int64s *ret_ids) {
  enum { PAGE = 200 };
  struct strs known = {&value, 1, 1};
  const struct redactor *what = redactor_new(call->arena, &known);
  struct arena *texts = arena_child(call->arena), *forms = arena_child(call->arena);
  struct bodies page = {0};
  enum status s = STATUS_OK;
  int64_t after = 0;
  texts->guarded = false; /* memories are no secrets; what they are compared with is */
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
