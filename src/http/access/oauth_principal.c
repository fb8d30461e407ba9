/* oauth_principal.c: maps scopes (cairn:team:web) or claims (cairn_team) of an access token to a principal. */
#include "base/utf8.h"
#include "core/gate/gate.h"
#include "http/access/oauth.h"
#include "mcp/mcp.h"

enum { SUBJECT_MAX = 100 };

struct grants {
  struct arena *a;
  struct str team, role, profile;
  struct strs projects;
  bool read, write;
  bool contradictory;
};

/* Repeating a value is fine; two different values are a contradiction. */
static void set_once(struct grants *s, struct str *what, struct str value) {
  s->contradictory |= what->p && !str_eq(*what, value);
  *what = value;
}

static void set_grant(struct grants *s, struct str name, struct str value) {
  if (str_is(name, "team"))
    set_once(s, &s->team, value);
  else if (str_is(name, "role"))
    set_once(s, &s->role, value);
  else if (str_is(name, "profile"))
    set_once(s, &s->profile, value);
  else if (str_is(name, "project") && !strs_has(&s->projects, value))
    strs_push(s->a, &s->projects, value);
}

/* "cairn:read", "cairn:team:web"; scopes without our prefix are ignored. */
static void read_scopes(struct grants *s, struct str list) {
  struct str scope, name;
  while (str_next(&list, ' ', &scope)) {
    s->read |= str_is(scope, "cairn:read");
    s->write |= str_is(scope, "cairn:write");
    if (!str_starts(scope, STR("cairn:")))
      continue;
    scope = str_slice(scope, 6, scope.n);
    if (str_next(&scope, ':', &name) && scope.n)
      set_grant(s, name, scope);
  }
}

/* Issuers send a string or a list of strings. */
static void read_each(struct grants *s, yyjson_val *v, void (*read_one)(struct grants *, struct str)) {
  size_t i, n;
  yyjson_val *one;
  if (yyjson_is_str(v))
    read_one(s, json_val_str(v));
  yyjson_arr_foreach(v, i, n, one) {
    if (yyjson_is_str(one))
      read_one(s, json_val_str(one));
  }
}

static void read_project(struct grants *s, struct str name) { set_grant(s, STR("project"), name); }

static void read_claims(struct grants *s, yyjson_val *claims, struct str prefix) {
  static const char *const names[] = {"team", "role", "profile"};
  struct str value;
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    value = json_str(claims, arena_printf(s->a, "%.*s%s", STR_ARG(prefix), names[i]).p);
    if (value.p)
      set_grant(s, str_from(names[i]), value);
  }
  read_each(s, yyjson_obj_get(claims, arena_printf(s->a, "%.*sprojects", STR_ARG(prefix)).p), read_project);
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

static bool projects_fit(const struct grants *s, enum role role) {
  struct error ignored;
  if (role != ROLE_PROJECT)
    return s->projects.n == 0;
  for (size_t i = 0; i < s->projects.n; i++)
    if (str_empty(s->projects.v[i]) || s->projects.v[i].n > REACH_PROJECT_MAX ||
        gate_check_project(s->projects.v[i], &ignored) != STATUS_OK)
      return false;
  return s->projects.n > 0 && s->projects.n <= REACH_PROJECTS_MAX;
}

static enum status deny(const char *what, struct error *err) {
  error_set(err, STATUS_DENIED, "the token %s", what);
  return error_fix(err, "have the issuer grant cairn:read or cairn:write, cairn:team:NAME, and cairn:project:NAME or "
                        "cairn:role:ROLE");
}

enum status oauth_principal(struct arena *a, yyjson_val *claims, struct str prefix, struct principal *ret_principal,
                            struct error *err) {
  struct grants s = {.a = a};
  struct str subject = json_str(claims, "sub");
  enum role role = ROLE_PROJECT; /* the default if only projects are named */
  struct error ignored;
  read_each(&s, yyjson_obj_get(claims, "scope"), read_scopes);
  read_each(&s, yyjson_obj_get(claims, "scp"), read_scopes);
  read_claims(&s, claims, prefix);
  if (!is_name(subject))
    return deny("has no valid subject (sub)", err);
  if (s.contradictory)
    return deny("names two teams, roles or profiles", err);
  if (gate_check_team(s.team, &ignored) != STATUS_OK)
    return deny("names no team", err);
  if (!s.read && !s.write)
    return deny("allows neither reading nor writing", err);
  if (s.role.p && !role_find(s.role, &role))
    return deny("names an unknown role", err);
  if (!projects_fit(&s, role))
    return deny("needs either projects or another role, not both", err);
  if (s.profile.p && !profile_find(s.profile))
    return deny("names an unknown profile", err);
  *ret_principal = (struct principal){.name = arena_printf(a, "oauth:%.*s", STR_ARG(subject)),
                                      .team = s.team,
                                      .role = role,
                                      .projects = s.projects,
                                      .read_only = !s.write || str_is(s.profile, PROFILE_READ_ONLY),
                                      .profile = s.profile};
  return STATUS_OK;
}
