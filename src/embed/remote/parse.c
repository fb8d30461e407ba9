/* parse.c: parser for the responses of embedding endpoints. */
#include "embed/remote/parse.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#include "base/json.h"
#include "embed/vec.h"

static enum status unusable(struct error *err, const char *why) {
  error_set(err, STATUS_UNAVAILABLE, "%s", why);
  return error_fix(err,
                   "Check that embedder.url and embedder.model name an embedding model, and that the endpoint has the "
                   "configured interface (openai or ollama).");
}

static enum status read_object(struct arena *a, struct str body, yyjson_val **ret_root, struct error *err) {
  yyjson_val *root = NULL;
  if (str_empty(str_trim(body)))
    return unusable(err, "it is empty");
  if (json_read(a, body, &root, err) != STATUS_OK) {
    struct str why = arena_dup(a, str_from(err->message));
    return unusable(err, why.p);
  }
  if (!yyjson_is_obj(root))
    return unusable(err, "it is JSON, but not an object");
  yyjson_val *error = yyjson_obj_get(root, "error");
  if (error && !yyjson_is_null(error)) {
    struct str text = yyjson_is_obj(error) ? json_str(error, "message") : json_val_str(error);
    return unusable(err, arena_printf(a, "it reports an error: %.*s", STR_ARG(text)).p);
  }
  *ret_root = root;
  return STATUS_OK;
}

static bool read_numbers(yyjson_val *array, float *ret_vector) {
  size_t i = 0, max = 0;
  yyjson_val *number = NULL;
  bool any = false;
  yyjson_arr_foreach(array, i, max, number) {
    double x = yyjson_is_num(number) ? yyjson_get_num(number) : NAN;
    if (!(fabs(x) <= (double)FLT_MAX)) /* NaN, too */
      return false;
    ret_vector[i] = (float)x;
    any = any || fabsf(ret_vector[i]) > 0;
  }
  return any;
}

/* Stores one vector. The first one determines the dimensions if they are unknown. */
static enum status read_vector(struct arena *a, yyjson_val *array, size_t place, struct http_vectors *out,
                               struct error *err) {
  assert(place < out->n);
  if (yyjson_is_str(array))
    return unusable(err, "it has vectors in base64 instead of numbers");
  if (!yyjson_is_arr(array))
    return unusable(err, "a vector is missing, or is not a list of numbers");
  size_t dims = yyjson_arr_size(array);
  if (dims == 0 || dims > VEC_MAX_DIMS)
    return unusable(err, arena_printf(a, "a vector has %zu dimensions, outside 1..%d", dims, VEC_MAX_DIMS).p);
  if (!out->v) {
    out->dims = out->dims ? out->dims : (int)dims;
    /* Check before allocating, so one long vector cannot cause a large allocation. */
    if ((int)dims == out->dims)
      out->v = arena_array(a, float, arena_mul(a, out->n, dims));
  }
  if ((int)dims != out->dims) {
    error_set(err, STATUS_UNAVAILABLE, "a vector has %zu dimensions, expected %d", dims, out->dims);
    return error_fix(err, "Set embedder.dims to the model's dimensions (%zu) and re-embed, or check embedder.model.",
                     dims);
  }
  if (!read_numbers(array, out->v + place * dims))
    return unusable(err, "a vector has a component that is not a finite number, or only zeros");
  return STATUS_OK;
}

static enum status check_count(struct arena *a, yyjson_val *list, const char *name, size_t n, struct error *err) {
  if (!yyjson_is_arr(list))
    return unusable(err, arena_printf(a, "it has no list \"%s\"", name).p);
  size_t found = yyjson_arr_size(list);
  if (found != n)
    return unusable(err, arena_printf(a, "it has %zu vectors for %zu texts", found, n).p);
  return STATUS_OK;
}

/* The item's index, or its position if no item has an index. */
static bool place_of(yyjson_val *item, bool indexed, size_t position, size_t n, size_t *ret_place) {
  yyjson_val *index = yyjson_obj_get(item, "index");
  if (!indexed) {
    *ret_place = position;
    return !index;
  }
  if (!yyjson_is_uint(index) || yyjson_get_uint(index) >= n)
    return false;
  *ret_place = (size_t)yyjson_get_uint(index);
  return true;
}

enum status http_parse_openai(struct arena *a, struct str body, size_t n, int dims, struct http_vectors *ret_vectors,
                              struct error *err) {
  yyjson_val *root = NULL, *item = NULL;
  TRY(read_object(a, body, &root, err));
  yyjson_val *data = yyjson_obj_get(root, "data");
  TRY(check_count(a, data, "data", n, err));
  struct http_vectors out = {.n = n, .dims = dims};
  bool *seen = arena_array(a, bool, n);
  bool indexed = yyjson_obj_get(yyjson_arr_get_first(data), "index") != NULL;
  yyjson_arr_iter iter = yyjson_arr_iter_with(data);
  for (size_t i = 0, place = 0; (item = yyjson_arr_iter_next(&iter)); i++) {
    if (!place_of(item, indexed, i, n, &place) || seen[place])
      return unusable(err, "the \"index\" of its vectors is missing, repeated or out of range");
    seen[place] = true;
    TRY(read_vector(a, yyjson_obj_get(item, "embedding"), place, &out, err));
  }
  assert(out.v || n == 0);
  *ret_vectors = out;
  return STATUS_OK;
}

enum status http_parse_ollama(struct arena *a, struct str body, size_t n, int dims, struct http_vectors *ret_vectors,
                              struct error *err) {
  yyjson_val *root = NULL, *item = NULL;
  TRY(read_object(a, body, &root, err));
  yyjson_val *list = yyjson_obj_get(root, "embeddings");
  TRY(check_count(a, list, "embeddings", n, err));
  struct http_vectors out = {.n = n, .dims = dims};
  yyjson_arr_iter iter = yyjson_arr_iter_with(list);
  for (size_t i = 0; (item = yyjson_arr_iter_next(&iter)); i++)
    TRY(read_vector(a, item, i, &out, err));
  *ret_vectors = out;
  return STATUS_OK;
}
