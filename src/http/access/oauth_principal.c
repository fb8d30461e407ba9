/* oauth_principal.c: what an access token says of its bearer: by scopes (cairn:team:web), or by claims (cairn_team). */
#include "base/utf8.h"
#include "core/gate/gate.h"
#include "http/access/oauth.h"
#include "mcp/mcp.h"

enum { SUBJECT_MAX = 100 };

struct said {
  struct arena *a;
  struct str team, role, profile;
  struct strs projects;
  bool read, write;
  bool contradictory;
};

/* Said twice is fine, said in two ways is not. */
static void say(struct said *s, struct str *what, struct str value) {
  s->contradictory |= what->p && !str_eq(*what, value);
  *what = value;
}

static void say_one(struct said *s, struct str name, struct str value) {
  if (str_is(name, "team"))
    say(s, &s->team, value);
  else if (str_is(name, "role"))
    say(s, &s->role, value);
  else if (str_is(name, "profile"))
    say(s, &s->profile, value);
  else if (str_is(name, "project") && !strs_has(&s->projects, value))
    strs_push(s->a, &s->projects, value);
}

/* "cairn:read", "cairn:team:web"; other scopes are none of ours. */
static void hear_scopes(struct said *s, struct str list) {
  struct str scope, name;
  while (str_next(&list, ' ', &scope)) {
    s->read |= str_is(scope, "cairn:read");
    s->write |= str_is(scope, "cairn:write");
    if (!str_starts(scope, STR("cairn:")))
      continue;
    scope = str_slice(scope, 6, scope.n);
    if (str_next(&scope, ':', &name) && scope.n)
      say_one(s, name, scope);
  }
}

/* A text, or a list of texts: issuers differ. */
static void hear_each(struct said *s, yyjson_val *v, void (*hear)(struct said *, struct str)) {
  size_t i, n;
  yyjson_val *one;
  if (yyjson_is_str(v))
    hear(s, json_val_str(v));
  yyjson_arr_foreach(v, i, n, one) {
    if (yyjson_is_str(one))
      hear(s, json_val_str(one));
  }
}

static void hear_project(struct said *s, struct str name) { say_one(s, STR("project"), name); }

static void hear_claims(struct said *s, yyjson_val *claims, struct str prefix) {
  static const char *const names[] = {"team", "role", "profile"};
  struct str value;
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    value = json_str(claims, arena_printf(s->a, "%.*s%s", STR_ARG(prefix), names[i]).p);
    if (value.p)
      say_one(s, str_from(names[i]), value);
  }
  hear_each(s, yyjson_obj_get(claims, arena_printf(s->a, "%.*sprojects", STR_ARG(prefix)).p), hear_project);
  value = json_str(claims, arena_printf(s->a, "%.*saccess", STR_ARG(prefix)).p);
  s->read |= str_is(value, "read");
  s->write |= str_is(value, "write");
}

static bool is_name(struct str s) {
  bool plain = s.n > 0 && s.n <= SUBJECT_MAX && utf8_check(s) == s.n;
  for (size_t i = 0; plain && i < s.n; i++)
    plain = (unsigned char)s.p[i] > ' ' && s.p[i] != 0x7f;
  return plain;
}

static bool projects_fit(const struct said *s, enum role role) {
  struct error ignored;
  if (role != ROLE_PROJECT)
    return s->projects.n == 0;
  for (size_t i = 0; i < s->projects.n; i++)
    if (str_empty(s->projects.v[i]) || s->projects.v[i].n > REACH_PROJECT_MAX ||
        gate_check_project(s->projects.v[i], &ignored) != STATUS_OK)
      return false;
  return s->projects.n > 0 && s->projects.n <= REACH_PROJECTS_MAX;
}

static enum status too_little(const char *what, struct error *err) {
  error_set(err, STATUS_DENIED, "the token %s", what);
  return error_fix(err, "have the issuer grant cairn:read or cairn:write, cairn:team:NAME, and cairn:project:NAME or "
                        "cairn:role:ROLE");
}

enum status oauth_principal(struct arena *a, yyjson_val *claims, struct str prefix, struct principal *ret_principal,
                            struct error *err) {
  struct said s = {.a = a};
  struct str subject = json_str(claims, "sub");
  enum role role = ROLE_PROJECT; /* of whom projects are named, and nothing else is said */
  struct error ignored;
  hear_each(&s, yyjson_obj_get(claims, "scope"), hear_scopes);
  hear_each(&s, yyjson_obj_get(claims, "scp"), hear_scopes);
  hear_claims(&s, claims, prefix);
  if (!is_name(subject))
    return too_little("does not name its bearer (sub)", err);
  if (s.contradictory)
    return too_little("names two teams, roles or profiles", err);
  if (gate_check_team(s.team, &ignored) != STATUS_OK)
    return too_little("names no team", err);
  if (!s.read && !s.write)
    return too_little("allows neither reading nor writing", err);
  if (s.role.p && !role_find(s.role, &role))
    return too_little("names a role that there is not", err);
  if (!projects_fit(&s, role))
    return too_little("names neither a role nor projects that go together", err);
  if (s.profile.p && !profile_find(s.profile))
    return too_little("names a profile that there is not", err);
  *ret_principal = (struct principal){.name = arena_printf(a, "oauth:%.*s", STR_ARG(subject)),
                                      .team = s.team,
                                      .role = role,
                                      .projects = s.projects,
                                      .read_only = !s.write,
                                      .profile = s.profile};
  return STATUS_OK;
}
