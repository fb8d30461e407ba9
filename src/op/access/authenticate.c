/* authenticate.c: turns a token into a verified caller. */
#include "op/access/authenticate.h"

#include <assert.h>
#include <sodium.h>

#include "base/alloc.h"
#include "store/tables/tokens.h"
#include "store/tables/vault.h"

static enum status refuse(struct error *err) {
  error_set(err, STATUS_UNKNOWN_CALLER, "the token is wrong, expired or revoked");
  return error_fix(err, "ask the administrator for a new one: cairn token add NAME");
}

static struct principal bearer(struct arena *a, const struct token *t) {
  return (struct principal){.name = grantee_of_token(a, t->name),
                            .team = t->team,
                            .role = t->role,
                            .projects = t->projects,
                            .read_only = t->read_only || str_is(t->profile, PROFILE_READ_ONLY),
                            .profile = t->profile,
                            .expires_at = t->expires_at,
                            .token = t->id};
}

/* Hashes and compares even if the id is unknown, so timing does not reveal which ids exist. */
static enum status look_up(struct engine *engine, const struct token_text *text, struct arena *a,
                           struct principal *ret_principal, struct error *err) {
  struct store *st = engine->store;
  struct token token = {0};
  bool found = false;
  uint8_t hash[TOKEN_HASH_BYTES];
  int64_t now = clock_now(&engine->clock);
  TRY(token_by_id(st, text->team, text->id, a, &token, &found, err));
  token_hash(text, hash);
  if (!token_hash_equal(hash, token.hash) || !found || !token_is_live(&token, now))
    return refuse(err);
  token_record_use(st, &token, now);
  *ret_principal = bearer(a, &token);
  return STATUS_OK;
}

enum status authenticate_token(struct engine *engine, struct str token, struct arena *a,
                               struct principal *ret_principal, struct error *err) {
  struct token_text text;
  struct store_boundary oom;
  jmp_buf *outer = a->oom;
  if (!token_parse(token, &text))
    return refuse(err);
  volatile enum status s = engine_lock_team(engine, text.team, err);
  if (STORE_BOUNDARY(engine->store, a, oom))
    s = error_set(err, STATUS_NOMEM, "out of memory");
  else if (s == STATUS_OK)
    s = look_up(engine, &text, a, ret_principal, err);
  a->oom = outer;
  s = engine_unlock_team(engine, s, err);
  sodium_memzero(text.secret, sizeof(text.secret));
  return s;
}

struct reach principal_reach(const struct principal *p) {
  return (struct reach){
      .role = p->role, .read_only = p->read_only, .projects = p->projects.v, .project_count = p->projects.n};
}

enum status principal_is_live(struct store *st, const struct principal *p, int64_t now, bool *ret_live,
                              struct error *err) {
  struct arena scratch;
  struct store_boundary oom;
  volatile enum status s = STATUS_OK;
  struct token token;
  volatile bool live = !p->expires_at || now < p->expires_at;
  arena_init(&scratch);
  if (STORE_BOUNDARY(st, &scratch, oom)) {
    s = error_set(err, STATUS_NOMEM, "out of memory");
  } else if (live && p->token.p) {
    bool found = false;
    s = token_by_id(st, p->team, p->token, &scratch, &token, &found, err);
    live = s == STATUS_OK && found && token_is_live(&token, now);
  }
  arena_release(&scratch);
  if (s == STATUS_OK)
    *ret_live = live;
  return s;
}

static struct str copy_into(char **at, struct str s) {
  struct str copy = {s.p ? *at : NULL, s.n};
  if (s.p && s.n)
    memcpy(*at, s.p, s.n);
  *at += s.n;
  return copy;
}

/* One allocation: the struct, the list of projects, all texts. */
struct principal *principal_dup(const struct principal *p) {
  size_t list = p->projects.n * sizeof(struct str);
  size_t size = sizeof(*p) + list + p->name.n + p->team.n + p->profile.n + p->token.n;
  for (size_t i = 0; i < p->projects.n; i++)
    size += p->projects.v[i].n;
  struct principal *copy = mem_zalloc(size + 1); /* + 1: an empty text at the end must not point past it */
  if (!copy)
    return NULL;
  *copy = *p;
  copy->projects.v = (struct str *)(copy + 1);
  char *at = (char *)(copy + 1) + list;
  copy->name = copy_into(&at, p->name);
  copy->team = copy_into(&at, p->team);
  copy->profile = copy_into(&at, p->profile);
  copy->token = copy_into(&at, p->token);
  for (size_t i = 0; i < p->projects.n; i++)
    copy->projects.v[i] = copy_into(&at, p->projects.v[i]);
  assert(at == (char *)copy + size);
  return copy;
}
