/* config.c: configuration of an embedder; opens the embedder. */
#include "op/embedding/config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/id.h"
#include "base/os/fs.h"
#include "embed/builtin.h"
#include "embed/encoder/model_file.h"
#include "embed/remote/http.h"

/* ---- reading and storing ---- */

static const char calibration_name[] = "calibration";

static struct str write_json(struct arena *a, const struct embed_config *c, struct str calibration) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *obj = yyjson_mut_obj(doc);
  for (int i = 0; i < EMBED_SETTINGS; i++)
    if (i == 0 || !str_is(c->v[i], setting_table[SET_EMBEDDER + i].fallback))
      json_put(doc, obj, setting_table[SET_EMBEDDER + i].name, c->v[i]);
  json_put_opt(doc, obj, calibration_name, calibration);
  return json_write(a, obj, false);
}

struct str embed_config_kept(struct arena *a, const struct embed_config *c) {
  return c->calibration.p ? write_json(a, c, c->calibration) : c->json;
}

enum status embed_config_read(struct store *st, struct str team, struct arena *a, struct embed_config *ret,
                              struct error *err) {
  struct setting_value values[EMBED_SETTINGS];
  TRY(settings_get(st, team, SET_EMBEDDER, SET_EMBEDDER_LAST, a, values, err));
  *ret = (struct embed_config){0};
  for (int i = 0; i < EMBED_SETTINGS; i++) {
    ret->v[i] = values[i].value;
    ret->environment |= str_is(str_from(values[i].origin), "environment");
  }
  ret->json = write_json(a, ret, STR_NONE);
  return STATUS_OK;
}

enum status embed_config_parse(struct arena *a, struct str json, struct embed_config *ret, struct error *err) {
  yyjson_val *root;
  TRY(json_read(a, json, &root, err));
  *ret = (struct embed_config){0};
  for (int i = 0; i < EMBED_SETTINGS; i++) {
    struct str value = json_str(root, setting_table[SET_EMBEDDER + i].name);
    ret->v[i] = value.p ? value : str_from(setting_table[SET_EMBEDDER + i].fallback);
  }
  ret->json = write_json(a, ret, STR_NONE);
  ret->calibration = json_str(root, calibration_name);
  return STATUS_OK;
}

enum status embed_config_restore(struct txn *txn, struct arena *a, const struct embed_config *c, struct error *err) {
  struct embed_config now;
  TRY(embed_config_read(txn->store, txn->team, a, &now, err));
  for (int i = 0; i < EMBED_SETTINGS; i++)
    if (!str_eq(now.v[i], c->v[i]))
      TRY(setting_set(txn, a, (enum setting_id)(SET_EMBEDDER + i),
                      str_is(c->v[i], setting_table[SET_EMBEDDER + i].fallback) ? STR_NONE : c->v[i], err));
  return STATUS_OK;
}

bool embed_config_same(const struct embed_config *x, const struct embed_config *y) {
  static const enum setting_id relevant[] = {SET_EMBEDDER, SET_EMBEDDER_MODEL, SET_EMBEDDER_DIMS, SET_EMBEDDER_FILE,
                                             SET_EMBEDDER_TEXT_PREFIX};
  /* Built-in embedders ignore all settings but the first. */
  size_t n = embed_config_costly(x) || str_is(x->v[0], "file") ? ARRAY_LEN(relevant) : 1;
  for (size_t i = 0; i < n; i++)
    if (!str_eq(embed_config_value(x, relevant[i]), embed_config_value(y, relevant[i])))
      return false;
  return true;
}

bool embed_config_off(const struct embed_config *c) { return str_is(c->v[0], "none"); }

bool embed_config_costly(const struct embed_config *c) {
  return str_is(c->v[0], "openai") || str_is(c->v[0], "ollama");
}

/* ---- opening ---- */

/* The header of a model file holds a checksum of the rest: files with the same header are the same model, whatever
 * their names. */
static enum status name_file(const char *path, const struct embedder *e, char *name, struct error *err) {
  char head[MODEL_HEADER_SIZE], hash[HASH_TEXT_SIZE];
  FILE *f = fopen(path, "rbe");
  size_t n = f ? fread(head, 1, sizeof(head), f) : 0;
  if (f)
    fclose(f);
  if (n != sizeof(head))
    return error_set(err, STATUS_IO, "cannot read the model %s", path);
  hash_text((struct str){head, n}, hash);
  snprintf(name, EMBED_NAME_SIZE, "file:%.90s+%.8s", e->model, hash);
  return STATUS_OK;
}

static enum status open_file(struct arena *a, const struct embed_config *c, struct embedder **ret, char *name,
                             struct error *err) {
  struct str path = embed_config_value(c, SET_EMBEDDER_FILE);
  if (str_empty(path)) {
    error_set(err, STATUS_USAGE, "the embedder is 'file', but embedder.file is not set");
    return error_fix(err, "cairn config embedder.file FILE");
  }
  const char *file = arena_cstr(a, path);
  struct embedder *e = NULL;
  enum status s = embedder_file_open(file, &e, err);
  if (s == STATUS_OK)
    s = name_file(file, e, name, err);
  if (s == STATUS_OK) {
    *ret = e;
    return STATUS_OK;
  }
  if (e)
    e->close(e);
  struct error cause = *err;
  bool named = str_find(str_from(cause.message), path, 0) != SIZE_MAX;
  error_set(err, s, "%s%s%s%s", named ? "" : "the model ", named ? "" : file, named ? "" : ": ", cause.message);
  return error_fix(err, "%s",
                   cause.fix[0] ? cause.fix : "restore the converted model, or set embedder.file to another");
}

/* The text prefix and the number of dimensions change the vectors, so they are part of the name. */
static void name_http(const struct embed_config *c, const struct embedder *e, char name[EMBED_NAME_SIZE]) {
  struct str prefix = embed_config_value(c, SET_EMBEDDER_TEXT_PREFIX);
  char hash[HASH_TEXT_SIZE];
  hash_text(prefix, hash);
  snprintf(name, EMBED_NAME_SIZE, "%.100s@%d%s%.8s", e->model, e->dims, prefix.n ? "+" : "", prefix.n ? hash : "");
}

static int number(const struct embed_config *c, enum setting_id id) {
  double n;
  return str_double(embed_config_value(c, id), &n) ? (int)n : 0;
}

static enum status open_http(struct arena *a, const struct embed_config *c, int dims, struct embedder **ret, char *name,
                             struct error *err) {
  bool openai = str_is(c->v[0], "openai");
  struct str variable = embed_config_value(c, SET_EMBEDDER_KEY_ENV);
  int wanted = number(c, SET_EMBEDDER_DIMS);
  struct http_embedder_config http = {
      .api = openai ? HTTP_OPENAI : HTTP_OLLAMA,
      .url = embed_config_value(c, SET_EMBEDDER_URL),
      .model = embed_config_value(c, SET_EMBEDDER_MODEL),
      .dims = wanted ? wanted : dims,
      .key = openai && variable.n ? str_from(getenv(arena_cstr(a, variable))) : STR_NONE,
      .query_prefix = embed_config_value(c, SET_EMBEDDER_QUERY_PREFIX),
      .text_prefix = embed_config_value(c, SET_EMBEDDER_TEXT_PREFIX),
      .timeout_ms = number(c, SET_EMBEDDER_TIMEOUT_MS),
  };
  TRY(http_embedder_open(&http, ret, err)); /* *ret is set now: the next call may be left by an out-of-memory jump */
  enum status s = http_embedder_probe(*ret, a, err);
  if (s == STATUS_OK) {
    name_http(c, *ret, name);
    return STATUS_OK;
  }
  (*ret)->close(*ret);
  *ret = NULL;
  return s;
}

static enum status open_known(const struct embedder *e, const struct embedder **ret, char *name) {
  snprintf(name, EMBED_NAME_SIZE, "%s", e->model);
  *ret = e;
  return STATUS_OK;
}

static enum status unknown(const struct embed_config *c, struct error *err) {
  error_set(err, STATUS_USAGE, "unknown embedder '%.*s'", STR_ARG(c->v[0]));
  return error_fix(err,
                   "'cairn config embedder' shows the setting; 'cairn config embedder --unset' restores the default");
}

enum status embed_config_open(struct arena *a, const struct embed_config *c, int dims, const struct embedder **ret,
                              struct embedder **ret_own, char name[EMBED_NAME_SIZE], struct error *err) {
  *ret_own = NULL;
  const struct embedder *known = embedder_hash();
  if (str_is(c->v[0], "cairn-embed-v2"))
    TRY(embedder_builtin(&known, err));
  if (str_is(c->v[0], known->model))
    return open_known(known, ret, name);
  if (str_is(c->v[0], "file"))
    TRY(open_file(a, c, ret_own, name, err));
  else if (embed_config_costly(c))
    TRY(open_http(a, c, dims, ret_own, name, err));
  else
    return unknown(c, err);
  *ret = *ret_own;
  return STATUS_OK;
}
