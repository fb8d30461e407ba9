/* settings.c: table of settings, and rows of their values. */
#include "store/tables/settings.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/utf8.h"
#include "embed/vec.h"
#include "store/store_internal.h"
#include "store/tables/events.h"

static const char *const gate_modes[] = {"assist", "strict", NULL};
static const char *const secrets_modes[] = {"refuse", "redact", NULL};
static const char *const on_off[] = {"on", "off", NULL};
static const char *const auto_on_off[] = {"auto", "on", "off", NULL};
static const char *const providers[] = {"hybrid", "fts5", NULL};
static const char *const embedders[] = {"cairn-embed-v2", "hash-v1", "file", "openai", "ollama", "none", NULL};

/* Without a built-in model, fall back to hashed vectors. */
#ifdef CAIRN_HAS_MODEL
#define DEFAULT_EMBEDDER "cairn-embed-v2"
#else
#define DEFAULT_EMBEDDER "hash-v1"
#endif

/* ---- checks of text values ---- */

static bool is_plain(struct str s, size_t longest) {
  for (size_t i = 0; i < s.n; i++)
    if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
      return false;
  return s.n <= longest && utf8_check(s) == s.n;
}

/* A password in a URL would be shown, logged and copied with the store. */
static const char *check_url(struct str s) {
  struct str rest;
  if (str_empty(s))
    return NULL;
  if (str_starts(s, STR("http://")))
    rest = str_slice(s, 7, s.n);
  else if (str_starts(s, STR("https://")))
    rest = str_slice(s, 8, s.n);
  else
    return "a URL that starts with http:// or https://";
  size_t slash = str_find(rest, STR("/"), 0);
  struct str host = str_slice(rest, 0, slash == SIZE_MAX ? rest.n : slash);
  if (str_empty(host) || !is_plain(s, 500) || str_find(s, STR(" "), 0) != SIZE_MAX)
    return "a URL such as http://localhost:11434/v1";
  if (str_find(host, STR("@"), 0) != SIZE_MAX)
    return "a URL without user or password: embedder.key_env names the variable that holds the key";
  return NULL;
}

static const char *check_model(struct str s) {
  return is_plain(s, 80) ? NULL : "a model name of at most 80 bytes, on one line";
}

static const char *check_dims(struct str s) {
  int64_t n;
  return str_int64(s, &n) && n >= 0 && n <= VEC_MAX_DIMS
             ? NULL
             : "a whole number from 1 to 4096, or 0 for the model's default";
}

static const char *check_file(struct str s) {
  return str_empty(s) || (is_plain(s, 4000) && s.p[0] == '/') ? NULL : "an absolute path of a file";
}

/* Only capitals, so a key given instead of the variable's name is refused. */
static const char *check_variable(struct str s) {
  bool ok = s.n <= 100 && (str_empty(s) || !ascii_digit(s.p[0]));
  for (size_t i = 0; ok && i < s.n; i++)
    ok = ascii_upper(s.p[i]) || ascii_digit(s.p[i]) || s.p[i] == '_';
  return ok ? NULL
            : "the name of an environment variable, in capitals, or empty for no key; the key itself is never stored";
}

static const char *check_prefix(struct str s) {
  return is_plain(s, 500) ? NULL : "a text of at most 500 bytes, on one line";
}

static const char *check_path(struct str s) {
  return is_plain(s, 4000) ? NULL : "a path of at most 4000 bytes, on one line; <agent> is the agent's own folder";
}

/* Only whole numbers: 0.5 must not be truncated to 0, which means unlimited. */
static const char *check_count(struct str s) {
  int64_t n;
  return str_int64(s, &n) && n >= 0 && n <= 1000000 ? NULL : "a whole number from 0 to 1000000";
}

static const char *check_percent(struct str s) {
  int64_t n;
  return str_int64(s, &n) && n >= 0 && n <= 100 ? NULL : "a whole number from 0 to 100";
}

/* No user, query or fragment: the value is compared and shown literally. */
static const char *check_identifier(struct str s) {
  bool ok = str_empty(s) || (str_starts(s, STR("https://")) && s.n > 8) || (str_starts(s, STR("http://")) && s.n > 7);
  for (size_t i = 0; i < s.n; i++)
    ok = ok && s.p[i] > ' ' && s.p[i] < 0x7f && !memchr("\"'<>@?#\\", s.p[i], 8);
  return ok && s.n <= 500 ? NULL : "a URL such as https://memory.example.org/mcp, without a query";
}

/* Separated by colons, as in PATH. */
static const char *check_paths(struct str s) {
  struct str rest = s, one;
  bool ok = is_plain(s, 4000);
  while (ok && str_next(&rest, ':', &one))
    ok = str_empty(one) || one.p[0] == '/';
  return ok ? NULL : "absolute paths separated by colons: /srv/notes:/mnt/models";
}

/* ---- the table ---- */

#define CHOICE(n, f, list, h) {.name = n, .fallback = f, .choices = list, .help = h}
#define NUMBER(n, f, lowest, highest, h) {.name = n, .fallback = f, .low = lowest, .high = highest, .help = h}
#define TEXT(n, f, how, h) {.name = n, .fallback = f, .check = how, .help = h}
#define AGENTS_CHOICE(n, f, list, h) {.name = n, .fallback = f, .choices = list, .help = h, .agents = true}
#define AGENTS_NUMBER(n, f, lowest, highest, h)                                                                        \
  {.name = n, .fallback = f, .low = lowest, .high = highest, .help = h, .agents = true}

/* clang-format off */
const struct setting setting_table[SET_COUNT] = {
#define SETTING(id, ...) [id] = __VA_ARGS__,
#include "store/tables/setting_rows.h"
#undef SETTING
};
/* clang-format on */

int setting_find(struct str name) {
  for (int i = 0; i < SET_COUNT; i++)
    if (str_is(name, setting_table[i].name))
      return i;
  return -1;
}

struct str setting_env_name(struct arena *a, enum setting_id id) {
  assert((unsigned)id < SET_COUNT);
  struct buf b = BUF(a);
  buf_adds(&b, "CAIRN_");
  for (const char *p = setting_table[id].name; *p; p++)
    buf_addc(&b, *p == '.' ? '_' : ascii_alpha(*p) ? (char)(*p & ~32) : *p);
  return buf_str(&b);
}

bool setting_is_switch(enum setting_id id) { return setting_table[id].choices == on_off; }

/* Recognised by its default, which also covers embedder.dims, a text setting that must be a number. */
bool setting_is_number(enum setting_id id) {
  double number;
  return !setting_table[id].choices && str_double(str_from(setting_table[id].fallback), &number);
}

static enum status bad_value(enum setting_id id, struct str value, const char *fix, struct error *err) {
  const struct setting *t = &setting_table[id];
  if (t->secretive)
    error_set(err, STATUS_USAGE, "not a valid value of %s", t->name);
  else
    error_set(err, STATUS_USAGE, "'%.*s' is not a valid value of %s", STR_ARG(value), t->name);
  if (fix)
    return error_fix(err, "%s", fix);
  if (!t->choices)
    return error_fix(err, "a number from %.15g to %.15g", t->low, t->high);
  char list[200];
  size_t n = 0;
  for (size_t i = 0; t->choices[i] && n < sizeof(list); i++)
    n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", i ? ", " : "", t->choices[i]);
  return error_fix(err, "one of: %s", list);
}

enum status setting_check(enum setting_id id, struct str value, struct error *err) {
  assert((unsigned)id < SET_COUNT);
  const struct setting *t = &setting_table[id];
  double number;
  if (t->check) {
    const char *fix = t->check(value);
    return fix ? bad_value(id, value, fix, err) : STATUS_OK;
  }
  if (!t->choices)
    return str_double(value, &number) && number >= t->low && number <= t->high ? STATUS_OK
                                                                               : bad_value(id, value, NULL, err);
  for (const char *const *c = t->choices; *c; c++)
    if (str_is(value, *c))
      return STATUS_OK;
  return bad_value(id, value, NULL, err);
}

static enum status read_value(struct store *st, struct str team, enum setting_id id, struct arena *a, struct str *ret,
                              struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "SELECT value FROM setting WHERE team = ?1 AND name = ?2", "ss", team,
           str_from(setting_table[id].name));
  *ret = rows_next(&r) ? rows_dup(&r, 0, a) : STR_NONE;
  return rows_end(&r);
}

/* The value from the command line, the environment or the configuration file, which override the store. */
static enum status find_override(const struct settings_given *given, enum setting_id id, struct arena *a,
                                 struct setting_value *ret, struct error *err) {
  *ret = (struct setting_value){0};
  if (given && given->flag[id].value.p) {
    *ret = (struct setting_value){.value = given->flag[id].value, .origin = "flag"};
    return STATUS_OK;
  }
  const char *env = getenv(setting_env_name(a, id).p);
  if (env) {
    *ret = (struct setting_value){.value = arena_dup(a, str_from(env)), .origin = "environment"};
    return setting_check(id, ret->value, err);
  }
  if (given && given->file[id].value.p)
    *ret = (struct setting_value){
        .value = given->file[id].value, .origin = "file", .file = given->path, .line = given->file[id].line};
  return STATUS_OK;
}

struct str setting_overridden_by(const struct setting_value *v, enum setting_id id, struct arena *a) {
  if (strcmp(v->origin, "flag") == 0)
    return STR("--set");
  if (strcmp(v->origin, "environment") == 0)
    return setting_env_name(a, id);
  return v->line ? arena_printf(a, "%.*s:%d", STR_ARG(v->file), v->line) : STR_NONE;
}

static void apply_default(enum setting_id id, struct setting_value *v) {
  assert((unsigned)id < SET_COUNT && setting_table[id].fallback);
  if (!v->value.p) {
    v->origin = "default";
    v->value = str_from(setting_table[id].fallback);
  }
  if (!str_double(v->value, &v->number))
    v->number = 0;
}

enum status setting_get_without_store(const struct settings_given *given, enum setting_id id, struct arena *a,
                                      struct setting_value *ret_value, struct error *err) {
  struct setting_value v;
  TRY(find_override(given, id, a, &v, err));
  apply_default(id, &v);
  *ret_value = v;
  return STATUS_OK;
}

enum status setting_get(struct store *st, struct str team, enum setting_id id, struct arena *a,
                        struct setting_value *ret_value, struct error *err) {
  struct setting_value v;
  TRY(find_override(st->settings, id, a, &v, err));
  if (!v.origin && !setting_table[id].machine) {
    v.origin = "store";
    TRY(read_value(st, team, id, a, &v.value, err));
  }
  apply_default(id, &v);
  *ret_value = v;
  return STATUS_OK;
}

enum status settings_get(struct store *st, struct str team, enum setting_id first, enum setting_id last,
                         struct arena *a, struct setting_value *ret_values, struct error *err) {
  assert(first <= last && last < SET_COUNT);
  for (int id = (int)first; id <= (int)last; id++)
    TRY(find_override(st->settings, (enum setting_id)id, a, &ret_values[id - (int)first], err));
  struct rows r;
  db_query(st->db, &r, err, "SELECT name, value FROM setting WHERE team = ?1", "s", team);
  while (rows_next(&r)) {
    int id = setting_find(rows_text(&r, 0));
    if (id >= (int)first && id <= (int)last && !ret_values[id - (int)first].origin && !setting_table[id].machine)
      ret_values[id - (int)first] = (struct setting_value){.value = rows_dup(&r, 1, a), .origin = "store"};
  }
  for (int id = (int)first; id <= (int)last; id++)
    apply_default((enum setting_id)id, &ret_values[id - (int)first]);
  return rows_end(&r);
}

enum status setting_number(struct store *st, struct str team, enum setting_id id, struct arena *a, double *ret_value,
                           struct error *err) {
  const struct setting *t = &setting_table[id];
  struct setting_value v;
  double number = 0;
  assert(!t->choices && !t->check);
  TRY(setting_get(st, team, id, a, &v, err));
  /* The store may have a value that this version does not allow. */
  if (!(v.number >= t->low && v.number <= t->high) && str_double(str_from(t->fallback), &number))
    v.number = number;
  *ret_value = v.number;
  return STATUS_OK;
}

static struct str value_json(struct arena *a, const char *name, struct str value) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *obj = yyjson_mut_obj(doc);
  json_put(doc, obj, "name", str_from(name));
  json_put_opt(doc, obj, "value", value);
  return json_write(a, obj, false);
}

enum status setting_set(struct txn *txn, struct arena *a, enum setting_id id, struct str value, struct error *err) {
  assert((unsigned)id < SET_COUNT && db_in_transaction(txn->store->db));
  const char *name = setting_table[id].name;
  struct str was;
  TRY(reach_check_admin(txn->store, "changing a setting", err));
  if (setting_table[id].machine) {
    error_set(err, STATUS_REFUSED, "%s belongs to this machine, not to the store", name);
    return error_fix(err, "set it in cairn.toml, with %s, or with --set %s=VALUE", setting_env_name(a, id).p, name);
  }
  if (value.p)
    TRY(setting_check(id, value, err));
  TRY(read_value(txn->store, txn->team, id, a, &was, err));
  if (value.p)
    TRY(db_exec(txn->store->db, err,
                "INSERT INTO setting (team, name, value) VALUES (?1, ?2, ?3)"
                " ON CONFLICT (team, name) DO UPDATE SET value = excluded.value",
                "sss", txn->team, str_from(name), value));
  else
    TRY(db_exec(txn->store->db, err, "DELETE FROM setting WHERE team = ?1 AND name = ?2", "ss", txn->team,
                str_from(name)));
  struct event e = {.action = STR("config:set"),
                    .change = "setting",
                    .before = value_json(a, name, was),
                    .after = value_json(a, name, value)};
  return event_add(txn, &e, err);
}
