/* json.c: yyjson with arena memory. */
#include "base/json.h"

#include <assert.h>

#include "base/utf8.h"

static void *alc_malloc(void *ctx, size_t size) { return arena_alloc(ctx, size); }

static void *alc_realloc(void *ctx, void *p, size_t old_size, size_t size) {
  void *q = arena_alloc(ctx, size);
  if (p)
    memcpy(q, p, old_size < size ? old_size : size);
  return q;
}

static void alc_free(void *ctx UNUSED, void *p UNUSED) {}

static yyjson_alc *alc_of(struct arena *a) {
  yyjson_alc *alc = arena_new(a, yyjson_alc);
  *alc = (yyjson_alc){alc_malloc, alc_realloc, alc_free, a};
  return alc;
}

/* yyjson parses without recursion, but code that walks the result may recurse. */
static bool too_deep(struct str text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.n; i++) {
    char c = text.p[i];
    if (quoted) {
      if (c == '\\')
        i++;
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > JSON_MAX_DEPTH)
        return true;
    } else if (c == '}' || c == ']') {
      depth--;
    }
  }
  return false;
}

enum status json_read(struct arena *a, struct str text, yyjson_val **ret_root, struct error *err) {
  if (too_deep(text))
    return error_set(err, STATUS_USAGE, "JSON nested deeper than %d levels", JSON_MAX_DEPTH);
  yyjson_read_err e = {0};
  /* Without YYJSON_READ_INSITU the text is not written to. */
  yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)text.p, text.n, 0, alc_of(a), &e);
  if (!doc)
    return error_set(err, STATUS_USAGE, "not valid JSON: %s at byte %zu", e.msg, e.pos);
  *ret_root = yyjson_doc_get_root(doc);
  return STATUS_OK;
}

yyjson_mut_doc *json_new(struct arena *a) { return yyjson_mut_doc_new(alc_of(a)); }

struct str json_write(struct arena *a, const yyjson_mut_val *root, bool pretty) {
  assert(root);
  size_t n = 0;
  yyjson_write_flag flags = pretty ? YYJSON_WRITE_PRETTY_TWO_SPACES : 0;
  char *p = yyjson_mut_val_write_opts(root, flags | YYJSON_WRITE_INF_AND_NAN_AS_NULL, alc_of(a), &n, NULL);
  return p ? (struct str){p, n} : STR("null");
}

struct str json_write_val(struct arena *a, const yyjson_val *root) {
  assert(root);
  size_t n = 0;
  char *p = yyjson_val_write_opts(root, 0, alc_of(a), &n, NULL);
  return p ? (struct str){p, n} : STR("null");
}

size_t json_text_size(yyjson_mut_val *v) {
  size_t i, n, size = yyjson_mut_is_str(v) || yyjson_mut_is_raw(v) ? yyjson_mut_get_len(v) : 0;
  yyjson_mut_val *key, *e;
  if (yyjson_mut_is_arr(v)) {
    yyjson_mut_arr_foreach(v, i, n, e) {
      size += json_text_size(e);
    }
  } else if (yyjson_mut_is_obj(v)) {
    yyjson_mut_obj_foreach(v, i, n, key, e) {
      size += json_text_size(e);
    }
  }
  return size;
}

struct str json_str(yyjson_val *obj, const char *name) { return json_val_str(yyjson_obj_get(obj, name)); }

int64_t json_int(yyjson_val *obj, const char *name, int64_t missing) {
  yyjson_val *v = yyjson_obj_get(obj, name);
  bool fits = yyjson_is_sint(v) || (yyjson_is_uint(v) && yyjson_get_uint(v) <= INT64_MAX);
  return fits ? yyjson_get_sint(v) : missing;
}

double json_num(yyjson_val *obj, const char *name, double missing) {
  yyjson_val *v = yyjson_obj_get(obj, name);
  return yyjson_is_num(v) ? yyjson_get_num(v) : missing;
}

bool json_bool(yyjson_val *obj, const char *name, bool missing) {
  yyjson_val *v = yyjson_obj_get(obj, name);
  return yyjson_is_bool(v) ? yyjson_get_bool(v) : missing;
}

void json_strs(struct arena *a, yyjson_val *obj, const char *name, struct strs *ret_list) {
  yyjson_val *arr = yyjson_obj_get(obj, name);
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(arr, i, n, v) {
    if (yyjson_is_str(v))
      strs_push(a, ret_list, json_val_str(v));
  }
}

/* yyjson refuses to write a document with invalid UTF-8. */
static struct str valid_text(const yyjson_mut_doc *doc, struct str s) {
  return s.p ? utf8_repair(doc->alc.ctx, s, SIZE_MAX) : STR("");
}

void json_put(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, struct str value) {
  assert(yyjson_mut_is_obj(obj));
  struct str text = valid_text(doc, value);
  yyjson_mut_obj_add_strncpy(doc, obj, name, text.p, text.n);
}

void json_put_opt(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, struct str value) {
  if (value.p)
    json_put(doc, obj, name, value);
}

void json_put_int(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, int64_t value) {
  assert(yyjson_mut_is_obj(obj));
  yyjson_mut_obj_add_sint(doc, obj, name, value);
}

void json_put_num(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, double value) {
  assert(yyjson_mut_is_obj(obj));
  yyjson_mut_obj_add_real(doc, obj, name, value);
}

double json_round(double value, int decimals) {
  assert(decimals >= 0);
  double scale = 1;
  for (int i = 0; i < decimals; i++)
    scale *= 10;
  return (double)(int64_t)(value * scale + 0.5) / scale;
}

void json_put_bool(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, bool value) {
  assert(yyjson_mut_is_obj(obj));
  yyjson_mut_obj_add_bool(doc, obj, name, value);
}

void json_put_strs(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, const struct strs *list) {
  yyjson_mut_val *arr = json_put_arr(doc, obj, name);
  for (size_t i = 0; i < list->n; i++)
    json_add_str(doc, arr, list->v[i]);
}

yyjson_mut_val *json_put_obj(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name) {
  assert(yyjson_mut_is_obj(obj));
  return yyjson_mut_obj_add_obj(doc, obj, name);
}

yyjson_mut_val *json_put_arr(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name) {
  assert(yyjson_mut_is_obj(obj));
  return yyjson_mut_obj_add_arr(doc, obj, name);
}

void json_add_str(yyjson_mut_doc *doc, yyjson_mut_val *arr, struct str value) {
  assert(yyjson_mut_is_arr(arr));
  struct str text = valid_text(doc, value);
  yyjson_mut_arr_add_strncpy(doc, arr, text.p, text.n);
}
