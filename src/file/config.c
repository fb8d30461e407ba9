/* config.c: parsing cairn.toml and --set assignments; unknown keys and values are errors. */
#include "file/config.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/os/fs.h"
#include "base/suggest.h"
#include "base/toml/toml.h"
#include "base/utf8.h"

enum { SHOWN_BYTES = 60 };

/* Other names of settings. A TOML key cannot be both a table and a text, so embedder and sandbox have a second name in
 * [embedder] and [sandbox]. [memory] has the names of the specification that defines MEMORY.md and the transcripts. */
static const struct alias {
  const char *key;
  enum setting_id id;
} aliases[] = {
    {"embedder.name", SET_EMBEDDER},
    {"sandbox.mode", SET_SANDBOX},
    {"memory.memoryPath", SET_MEMORY_PATH},
    {"memory.maxMemorySize", SET_MEMORY_MAX_CHARS},
    {"memory.sessionsPath", SET_SESSIONS_PATH},
    {"memory.sessionRetentionDays", SET_SESSION_RETENTION_DAYS},
    {"memory.compactionThreshold", SET_COMPACTION_THRESHOLD},
    {"memory.compactionKeepRecent", SET_COMPACTION_KEEP_RECENT},
    {"memory.flushEnabled", SET_FLUSH_ENABLED},
    {"memory.flushThreshold", SET_FLUSH_THRESHOLD},
    {"memory.searchProvider", SET_SEARCH_PROVIDER},
    {"memory.vectorModel", SET_EMBEDDER_MODEL}, /* or SET_EMBEDDER: see set_model() */
    {"memory.toolResultRetention", SET_TOOL_RESULTS},
};
#define VECTOR_MODEL "memory.vectorModel"

struct reading {
  struct arena *a;
  struct str path;
  struct settings_given *given;
  const struct toml *model; /* vectorModel, if it names a model and not an embedder */
  struct error *err;
};

/* ---- errors ---- */

static enum status fail_at(struct reading *r, const struct toml *t, const char *what) {
  return error_set(r->err, STATUS_USAGE, "%.*s:%d:%d: %s", STR_ARG(r->path), t->line, t->column, what);
}

static void offer_all(struct suggest *near, bool with_aliases) {
  for (int i = 0; i < SET_COUNT; i++)
    suggest_offer(near, str_from(setting_table[i].name));
  for (size_t i = 0; with_aliases && i < ARRAY_LEN(aliases); i++)
    suggest_offer(near, str_from(aliases[i].key));
}

static enum status unknown_key(struct reading *r, const struct toml *t, struct str name) {
  struct suggest near;
  suggest_init(&near, name);
  offer_all(&near, true);
  fail_at(r, t, arena_printf(r->a, "there is no setting '%.*s'", STR_ARG(utf8_one_line(r->a, name, SHOWN_BYTES))).p);
  if (near.best.p)
    return error_fix(r->err, "did you mean '%.*s'?", STR_ARG(near.best));
  return error_fix(r->err, "'cairn config --config /dev/null' lists the settings");
}

/* ---- keys ---- */

/* -1 if there is none. */
static int find_key(struct str name) {
  for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
    if (str_is(name, aliases[i].key))
      return (int)aliases[i].id;
  return setting_find(name);
}

static bool is_in_table(const char *key, struct str table) {
  struct str k = str_from(key);
  return k.n > table.n && k.p[table.n] == '.' && str_starts(k, table);
}

/* True if any key belongs to a table of this name. */
static bool is_table(struct str name) {
  for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
    if (is_in_table(aliases[i].key, name))
      return true;
  for (int i = 0; i < SET_COUNT; i++)
    if (is_in_table(setting_table[i].name, name))
      return true;
  return false;
}

/* ---- values ---- */

static enum status wrong_form(struct reading *r, const struct toml *t, enum setting_id id, const char *wanted) {
  fail_at(r, t, arena_printf(r->a, "%s is %s, not %s", setting_table[id].name, wanted, toml_form_name(t)).p);
  return error_fix(r->err, "%s", setting_table[id].help);
}

/* The TOML value as the text of a setting. */
static enum status setting_text(struct reading *r, const struct toml *t, enum setting_id id, struct str *ret_text) {
  bool number = t->form == TOML_INTEGER || t->form == TOML_FLOAT;
  if (setting_is_number(id)) {
    if (!number)
      return wrong_form(r, t, id, "a number, without quotes");
    *ret_text = t->text;
  } else if (setting_is_switch(id) && t->form == TOML_BOOL) {
    *ret_text = t->integer ? STR("on") : STR("off");
  } else if (t->form == TOML_TEXT) {
    *ret_text = t->text;
  } else {
    return wrong_form(r, t, id, setting_is_switch(id) ? "true or false" : "a text in quotes");
  }
  return STATUS_OK;
}

static enum status set(struct reading *r, const struct toml *t, enum setting_id id, struct str value) {
  assert((unsigned)id < SET_COUNT);
  struct setting_given *to = &r->given->file[id];
  struct error why = {0};
  if (to->value.p) {
    fail_at(r, t, arena_printf(r->a, "%s is set already, in line %d", setting_table[id].name, to->line).p);
    return error_fix(r->err, "keep one of the two");
  }
  enum status s = setting_check(id, value, &why);
  if (s != STATUS_OK) {
    fail_at(r, t, why.message);
    return error_fix(r->err, "%s", why.fix);
  }
  *to = (struct setting_given){.value = arena_dup(r->a, value), .line = t->line};
  return STATUS_OK;
}

/* vectorModel names an embedder, or a model of a remote embedder. */
static enum status set_model(struct reading *r, const struct toml *t, struct str value) {
  struct error ignored;
  if (str_empty(value)) {
    fail_at(r, t, "vectorModel is empty");
    return error_fix(r->err, "remove the line for the default, or write \"none\" for full-text search only");
  }
  if (setting_check(SET_EMBEDDER, value, &ignored) == STATUS_OK)
    return set(r, t, SET_EMBEDDER, value);
  r->model = t;
  return set(r, t, SET_EMBEDDER_MODEL, value);
}

/* Setting a model that no embedder uses is an error. */
static enum status check_model(struct reading *r) {
  struct str embedder = r->given->file[SET_EMBEDDER].value;
  if (!r->model || str_is(embedder, "openai") || str_is(embedder, "ollama"))
    return STATUS_OK;
  fail_at(r, r->model, "vectorModel names a model of a remote embedder, but the file does not set such an embedder");
  return error_fix(r->err, "add [embedder] with name = \"ollama\" or \"openai\", or use one of: cairn-embed-v2, "
                           "hash-v1, none");
}

static enum status read_value(struct reading *r, const struct toml *t, struct str name) {
  int id = find_key(name);
  struct str value = STR_NONE;
  if (id < 0)
    return unknown_key(r, t, name);
  TRY(setting_text(r, t, (enum setting_id)id, &value));
  return str_is(name, VECTOR_MODEL) ? set_model(r, t, value) : set(r, t, (enum setting_id)id, value);
}

static enum status read_table(struct reading *r, const struct toml *table, struct str prefix) {
  assert(table->form == TOML_TABLE);
  for (const struct toml *t = table->first; t; t = t->next) {
    struct str name = prefix.n ? arena_printf(r->a, "%.*s.%.*s", STR_ARG(prefix), STR_ARG(t->key)) : t->key;
    /* embedder = "ollama" is a setting, [embedder] a table of others. */
    bool inside = t->form == TOML_TABLE && is_table(name);
    TRY(inside ? read_table(r, t, name) : read_value(r, t, name));
  }
  return STATUS_OK;
}

enum status config_parse(struct arena *a, struct str text, struct str path, struct settings_given *given,
                         struct error *err) {
  struct reading r = {.a = a, .path = path, .given = given, .err = err};
  struct toml *root;
  TRY(toml_read(a, text, arena_cstr(a, path), &root, err));
  TRY(read_table(&r, root, STR("")));
  return check_model(&r);
}

/* ---- assignments ---- */

enum status config_assign(struct arena *a, struct str assignment, const char *option, struct settings_given *given,
                          struct error *err) {
  size_t equals = str_find(assignment, STR("="), 0);
  struct str name = str_slice(assignment, 0, equals == SIZE_MAX ? assignment.n : equals);
  struct str label = utf8_one_line(a, name, SHOWN_BYTES);
  if (equals == SIZE_MAX) {
    error_set(err, STATUS_USAGE, "%s needs NAME=VALUE, not '%.*s'", option, STR_ARG(label));
    return error_fix(err, "%s gate.mode=strict", option);
  }
  int id = setting_find(name);
  if (id < 0) {
    struct suggest near;
    suggest_init(&near, name);
    offer_all(&near, false);
    error_set(err, STATUS_USAGE, "%s: there is no setting '%.*s'", option, STR_ARG(label));
    if (near.best.p)
      return error_fix(err, "did you mean '%.*s'?", STR_ARG(near.best));
    return error_fix(err, "'cairn config' lists the settings");
  }
  struct str value = str_slice(assignment, equals + 1, assignment.n);
  struct error why = {0};
  if (setting_check((enum setting_id)id, value, &why) != STATUS_OK) {
    error_set(err, STATUS_USAGE, "%s: %s", option, why.message);
    return error_fix(err, "%s", why.fix);
  }
  given->flag[id] = (struct setting_given){.value = arena_dup(a, value)};
  return STATUS_OK;
}

/* ---- files ---- */

/* The default file; absent if it does not exist or there is no home folder. */
static struct str default_file(struct arena *a) {
  struct str path;
  struct stat st;
  struct error ignored;
  if (fs_xdg(a, XDG_CONFIG, "cairn/cairn.toml", &path, &ignored) != STATUS_OK)
    return STR_NONE;
  bool missing = stat(path.p, &st) != 0 && (errno == ENOENT || errno == ENOTDIR);
  return missing ? STR_NONE : path;
}

static enum status find_file(struct arena *a, const struct config_source *source, struct str *ret_path,
                             struct error *err) {
  struct str variable = str_from(getenv("CAIRN_CONFIG"));
  struct str path = source->file.p ? source->file : variable.n ? variable : default_file(a);
  if (source->file.p && str_empty(path)) {
    error_set(err, STATUS_USAGE, "the name of the configuration file is empty");
    return error_fix(err, "--config FILE; /dev/null means none");
  }
  if (utf8_check(path) != path.n) {
    error_set(err, STATUS_USAGE, "the name of the configuration file is not valid UTF-8");
    return error_fix(err, "--config FILE");
  }
  *ret_path = path.p ? arena_dup(a, path) : STR_NONE;
  return STATUS_OK;
}

enum status config_load(struct arena *a, const struct config_source *source, const struct settings_given **ret_given,
                        struct error *err) {
  struct settings_given *given = arena_new(a, struct settings_given);
  struct str text;
  TRY(find_file(a, source, &given->path, err));
  if (given->path.p) {
    if (fs_read(a, given->path.p, CONFIG_BYTES, &text, err) != STATUS_OK)
      return error_fix(err,
                       "this is the configuration file; choose another with --config FILE or CAIRN_CONFIG, or none "
                       "with /dev/null");
    TRY(config_parse(a, text, given->path, given, err));
  }
  for (size_t i = 0; i < source->assignments.n; i++)
    TRY(config_assign(a, source->assignments.v[i], source->option, given, err));
  *ret_given = given;
  return STATUS_OK;
}
