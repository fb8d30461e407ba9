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

/* Only capitals, so that a key given instead of the variable's name is refused. */
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
#define PLACE(n, f, how, h) {.name = n, .fallback = f, .check = how, .help = h, .guarded = true}

/* clang-format off */
const struct setting setting_table[SET_COUNT] = {
  [SET_GATE_MODE] = CHOICE("gate.mode", "assist", gate_modes,
    "assist derives a missing headline and accepts long facts; strict refuses both"),
  [SET_SECRETS_MODE] = CHOICE("secrets.mode", "refuse", secrets_modes, "refuse or redact a text that contains a secret"),
  [SET_EMBEDDER] = {.name = "embedder", .fallback = DEFAULT_EMBEDDER, .choices = embedders, .guarded = true,
    .help = "embedding model that makes vectors; none: full-text search only"},
  [SET_EMBEDDER_URL] = PLACE("embedder.url", "", check_url,
    "URL of the openai or ollama embedder (default: api.openai.com, or Ollama on this machine)"),
  [SET_EMBEDDER_MODEL] = TEXT("embedder.model", "", check_model, "model name for openai or ollama"),
  [SET_EMBEDDER_DIMS] = TEXT("embedder.dims", "0", check_dims,
    "dimensions of the model's vectors; 0: the model's default"),
  [SET_EMBEDDER_FILE] = PLACE("embedder.file", "", check_file, "converted model for the embedder 'file'"),
  [SET_EMBEDDER_KEY_ENV] = {.name = "embedder.key_env", .fallback = "OPENAI_API_KEY", .check = check_variable,
    .help = "environment variable that holds the openai key", .secretive = true, .guarded = true},
  [SET_EMBEDDER_QUERY_PREFIX] = TEXT("embedder.query_prefix", "", check_prefix,
    "prefix of each query sent to openai or ollama"),
  [SET_EMBEDDER_TEXT_PREFIX] = TEXT("embedder.text_prefix", "", check_prefix,
    "prefix of each stored text sent to openai or ollama"),
  [SET_EMBEDDER_TIMEOUT_MS] = NUMBER("embedder.timeout_ms", "10000", 100, 600000,
    "timeout of requests to openai or ollama"),
  [SET_VECTOR_WEIGHT] = NUMBER("search.vector_weight", "0.6", 0, 1,
    "weight of vectors in a search, against full text"),
  [SET_DECAY_HALF_LIFE] = NUMBER("decay.half_life_days", "30", 1, 3650,
    "days after which age halves a score in search"),
  [SET_FACT_HALF_LIFE] = NUMBER("fact.half_life_days", "7", 1, 3650,
    "days without access after which the retention of a fact halves"),
  [SET_FACT_FADE_BELOW] = NUMBER("fact.fade_below", "0.1", 0.001, 0.9, "retention below which a fact fades"),
  [SET_ARCHIVE_DAYS] = NUMBER("incident.archive_days", "90", 1, 3650,
    "days without access after which an incident is archived"),
  [SET_STALE_DAYS] = NUMBER("task.stale_days", "90", 1, 3650,
    "days without a change after which an unclaimed open task becomes stale"),
  [SET_MAINTAIN_HOURS] = NUMBER("maintain.interval_hours", "24", 1, 720, "hours between automatic maintenance runs"),
  [SET_NOTIFY_ERRORS] = CHOICE("notify.errors", "on", on_off,
    "desktop notifications of internal errors of 'cairn serve', at most one a minute"),
  [SET_FILES_ROOT] = PLACE("files.root", "", check_path,
    "parent of the agents' folders (default: beside the store, its name with .files)"),
  [SET_MEMORY_PATH] = PLACE("files.memory_path", "<agent>/MEMORY.md", check_path, "path of MEMORY.md"),
  [SET_MEMORY_MAX_CHARS] = NUMBER("files.memory_max_chars", "50000", 1000, 10000000, "maximum size of MEMORY.md"),
  [SET_SESSIONS_PATH] = PLACE("files.sessions_path", "<agent>/sessions/", check_path, "folder of the transcripts"),
  [SET_SESSION_RETENTION_DAYS] = NUMBER("sessions.retention_days", "30", 1, 36500,
    "days without a message after which a transcript is archived"),
  [SET_SESSIONS_INDEXED] = CHOICE("sessions.indexed", "off", on_off,
    "index transcript messages, so that searches can include them"),
  [SET_SOURCES_WATCH] = CHOICE("sources.watch", "auto", auto_on_off,
    "a server refreshes sources when their files change; auto: if the store is a file"),
  [SET_COMPACTION_THRESHOLD] = NUMBER("compaction.threshold", "100000", 100, 100000000,
    "tokens from which a transcript should be compacted"),
  [SET_COMPACTION_KEEP_RECENT] = NUMBER("compaction.keep_recent", "10", 1, 10000,
    "most recent messages that compaction leaves unchanged"),
  [SET_FLUSH_ENABLED] = CHOICE("flush.enabled", "on", on_off,
    "ask an agent to save memories before its transcript is compacted"),
  [SET_FLUSH_THRESHOLD] = NUMBER("flush.threshold", "80000", 100, 100000000,
    "tokens of a transcript from which the agent is asked"),
  [SET_SEARCH_PROVIDER] = CHOICE("search.provider", "hybrid", providers,
    "default search mode: full text and vectors, or (fts5) full text only"),
  [SET_SERVE_REQUIRE_TOKEN] = {.name = "serve.require_token", .fallback = "off", .choices = on_off, .machine = true,
    .help = "'cairn serve' also requires a token from local clients"},
  [SET_SERVE_RATE] = {.name = "serve.rate", .fallback = "50", .check = check_count, .machine = true,
    .help = "calls per second allowed for each token at 'cairn serve'; 0: unlimited"},
  [SET_SERVE_BURST] = {.name = "serve.burst", .fallback = "200", .check = check_count, .machine = true,
    .help = "calls allowed at once before serve.rate applies; 0: no limits"},
  [SET_OAUTH_ISSUER] = {.name = "oauth.issuer", .fallback = "", .check = check_identifier, .machine = true,
    .help = "URL of an OAuth 2.1 issuer whose access tokens 'cairn serve' accepts besides its own"},
  [SET_OAUTH_AUDIENCE] = {.name = "oauth.audience", .fallback = "", .check = check_identifier, .machine = true,
    .help = "URL of /mcp as clients see it; the required audience of access tokens"},
  [SET_OAUTH_JWKS] = {.name = "oauth.jwks", .fallback = "", .check = check_file, .machine = true,
    .help = "file with the issuer's keys (JWKS); reread when it changes"},
  [SET_OAUTH_CLAIM_PREFIX] = {.name = "oauth.claim_prefix", .fallback = "cairn_", .check = check_prefix,
    .machine = true, .help = "prefix of claims that replace scopes: cairn_team, cairn_role, ..."},
  [SET_TOOL_RESULTS] = NUMBER("pruning.tool_results", "5", 0, 100000,
    "tool results shown when a transcript is read; older results are omitted, their calls stay"),
  [SET_SANDBOX] = {.name = "sandbox", .fallback = "on", .choices = on_off, .machine = true,
    .help = "'cairn mcp' and 'cairn serve' drop access to other files, network and programs"},
  [SET_SANDBOX_PATHS] = {.name = "sandbox.paths", .fallback = "", .check = check_paths, .machine = true,
    .help = "additional files and folders they may read and write, separated by colons"},
  [SET_BOOT_BUDGET] = NUMBER("boot.budget_tokens", "2000", 200, 100000, "size of the boot payload, in tokens"),
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
  if (!v->value.p) {
    v->origin = "default";
    v->value = str_from(setting_table[id].fallback);
  }
  if (!str_double(v->value, &v->number))
    v->number = 0;
}

enum status setting_outside(const struct settings_given *given, enum setting_id id, struct arena *a,
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
  struct setting_value v;
  TRY(setting_get(st, team, id, a, &v, err));
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
  const char *name = setting_table[id].name;
  struct str was;
  TRY(reach_admin(txn->store, "changing a setting", err));
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
