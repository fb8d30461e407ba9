/* settings.c: the table of settings, and their values in a store. */
#include "store/settings.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "store/events.h"
#include "store/store_internal.h"

static const char *const gate_modes[] = {"assist", "strict", NULL};
static const char *const secrets_modes[] = {"refuse", "redact", NULL};
static const char *const embedders[] = {"hash-v1", NULL};

/* clang-format off */
const struct setting setting_table[SET_COUNT] = {
  [SET_GATE_MODE] = {"gate.mode", "assist", gate_modes, 0, 0,
    "assist derives a missing headline and accepts long facts; strict refuses both"},
  [SET_SECRETS_MODE] = {"secrets.mode", "refuse", secrets_modes, 0, 0,
    "what happens to a text that holds a secret"},
  [SET_EMBEDDER] = {"embedder", "hash-v1", embedders, 0, 0, "what turns text into vectors"},
  [SET_DECAY_HALF_LIFE] = {"decay.half_life_days", "30", NULL, 1, 3650,
    "days after which age halves a score in search"},
  [SET_FACT_HALF_LIFE] = {"fact.half_life_days", "7", NULL, 1, 3650,
    "days without access after which the retention of a fact halves"},
  [SET_FACT_FADE_BELOW] = {"fact.fade_below", "0.1", NULL, 0.001, 0.9, "retention below which a fact fades"},
  [SET_ARCHIVE_DAYS] = {"incident.archive_days", "90", NULL, 1, 3650,
    "days without access after which an incident is archived"},
  [SET_STALE_DAYS] = {"task.stale_days", "90", NULL, 1, 3650,
    "days without a change after which an open task that nobody claimed is stale"},
  [SET_MAINTAIN_HOURS] = {"maintain.interval_hours", "24", NULL, 1, 720, "how often maintenance runs by itself"},
  [SET_BOOT_BUDGET] = {"boot.budget_tokens", "2000", NULL, 200, 100000, "size of the boot payload"},
};
/* clang-format on */

int setting_find(struct str name) {
  for (int i = 0; i < SET_COUNT; i++)
    if (str_is(name, setting_table[i].name))
      return i;
  return -1;
}

struct str setting_env_name(struct arena *a, enum setting_id id) {
  struct buf b = BUF(a);
  buf_adds(&b, "CAIRN_");
  for (const char *p = setting_table[id].name; *p; p++)
    buf_addc(&b, *p == '.' ? '_' : ascii_alpha(*p) ? (char)(*p & ~32) : *p);
  return buf_str(&b);
}

static enum status bad_value(enum setting_id id, struct str value, struct error *err) {
  const struct setting *t = &setting_table[id];
  error_set(err, STATUS_USAGE, "'%.*s' is not a value of %s", STR_ARG(value), t->name);
  if (!t->choices)
    return error_fix(err, "a number from %g to %g", t->low, t->high);
  char list[200];
  size_t n = 0;
  for (size_t i = 0; t->choices[i] && n < sizeof(list); i++)
    n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", i ? ", " : "", t->choices[i]);
  return error_fix(err, "one of: %s", list);
}

enum status setting_check(enum setting_id id, struct str value, struct error *err) {
  const struct setting *t = &setting_table[id];
  double number;
  if (!t->choices)
    return str_double(value, &number) && number >= t->low && number <= t->high ? STATUS_OK : bad_value(id, value, err);
  for (const char *const *c = t->choices; *c; c++)
    if (str_is(value, *c))
      return STATUS_OK;
  return bad_value(id, value, err);
}

static enum status stored(struct store *st, struct str team, enum setting_id id, struct arena *a, struct str *ret,
                          struct error *err) {
  struct rows r;
  db_query(st->db, &r, err, "SELECT value FROM setting WHERE team = ?1 AND name = ?2", "ss", team,
           str_from(setting_table[id].name));
  *ret = rows_next(&r) ? rows_dup(&r, 0, a) : STR_NONE;
  return rows_end(&r);
}

enum status setting_get(struct store *st, struct str team, enum setting_id id, struct arena *a,
                        struct setting_value *ret_value, struct error *err) {
  struct setting_value v = {.origin = "environment"};
  const char *env = getenv(setting_env_name(a, id).p);
  enum status s = STATUS_OK;
  if (env) {
    v.value = arena_dup(a, str_from(env));
    s = setting_check(id, v.value, err);
  } else {
    v.origin = "store";
    s = stored(st, team, id, a, &v.value, err);
  }
  if (s != STATUS_OK)
    return s;
  if (!v.value.p) {
    v.origin = "default";
    v.value = str_from(setting_table[id].fallback);
  }
  if (!str_double(v.value, &v.number))
    v.number = 0;
  *ret_value = v;
  return STATUS_OK;
}

enum status setting_number(struct store *st, struct str team, enum setting_id id, struct arena *a, double *ret_value,
                           struct error *err) {
  struct setting_value v;
  enum status s = setting_get(st, team, id, a, &v, err);
  if (s == STATUS_OK)
    *ret_value = v.number;
  return s;
}

static struct str value_json(struct arena *a, const char *name, struct str value) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *obj = yyjson_mut_obj(doc);
  json_put(doc, obj, "name", str_from(name));
  json_put_opt(doc, obj, "value", value);
  return json_write(a, obj, false);
}

enum status setting_set(struct txn *txn, struct arena *a, enum setting_id id, struct str value, struct error *err) {
  const char *name = setting_table[id].name;
  struct str was;
  enum status s = value.p ? setting_check(id, value, err) : STATUS_OK;
  if (s == STATUS_OK)
    s = stored(txn->store, txn->team, id, a, &was, err);
  if (s != STATUS_OK)
    return s;
  if (value.p)
    s = db_exec(txn->store->db, err,
                "INSERT INTO setting (team, name, value) VALUES (?1, ?2, ?3)"
                " ON CONFLICT (team, name) DO UPDATE SET value = excluded.value",
                "sss", txn->team, str_from(name), value);
  else
    s = db_exec(txn->store->db, err, "DELETE FROM setting WHERE team = ?1 AND name = ?2", "ss", txn->team,
                str_from(name));
  struct event e = {.action = STR("config:set"),
                    .change = "setting",
                    .before = value_json(a, name, was),
                    .after = value_json(a, name, value)};
  return s == STATUS_OK ? event_add(txn, &e, err) : s;
}
