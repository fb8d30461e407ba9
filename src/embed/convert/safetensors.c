/* safetensors.c: parser for safetensors files; validates every number before use. */
#include "embed/convert/safetensors.h"

#include <assert.h>
#include <stdlib.h>

#include "base/json.h"

enum { LENGTH_SIZE = 8, HEADER_MAX = 16 * 1024 * 1024 };

static const struct {
  const char *name;
  unsigned size; /* bytes of an element */
} types[] = {{"F32", 4}, {"F16", 2}, {"BF16", 2}, {"F64", 8}, {"I64", 8},  {"I32", 4},     {"I16", 2},    {"I8", 1},
             {"U64", 8}, {"U32", 4}, {"U16", 2},  {"U8", 1},  {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};

static enum status bad_file(struct error *err, const char *what) {
  error_set(err, STATUS_USAGE, "not a valid safetensors file: %s", what);
  return error_fix(err, "download the file again; save pickled checkpoints (.bin, .pt) as safetensors first");
}

static enum status bad_tensor(struct error *err, struct str name, const char *what) {
  error_set(err, STATUS_USAGE, "not a valid safetensors file: tensor '%.*s' %s", STR_ARG(name), what);
  return error_fix(err, "download the file again");
}

/* ---- header ---- */

static enum status read_type(struct safetensor *t, struct str type, unsigned *ret_size, struct error *err) {
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    if (str_is(type, types[i].name)) {
      t->type = types[i].name;
      *ret_size = types[i].size;
      return STATUS_OK;
    }
  return bad_tensor(err, t->name, "has an unknown type");
}

static enum status read_shape(struct safetensor *t, yyjson_val *shape, struct error *err) {
  if (!yyjson_is_arr(shape) || yyjson_arr_size(shape) > SAFETENSORS_DIMS_MAX)
    return bad_tensor(err, t->name, "has no valid shape");
  size_t i, n;
  yyjson_val *v;
  t->count = 1;
  yyjson_arr_foreach(shape, i, n, v) {
    if (!yyjson_is_uint(v) || __builtin_mul_overflow(t->count, yyjson_get_uint(v), &t->count))
      return bad_tensor(err, t->name, "has no valid shape");
    assert(t->dims < SAFETENSORS_DIMS_MAX);
    t->shape[t->dims++] = yyjson_get_uint(v);
  }
  return STATUS_OK;
}

static enum status read_offsets(struct safetensor *t, yyjson_val *offsets, unsigned size, struct str data,
                                struct error *err) {
  yyjson_val *first = yyjson_arr_get(offsets, 0), *last = yyjson_arr_get(offsets, 1);
  if (!yyjson_is_arr(offsets) || yyjson_arr_size(offsets) != 2 || !yyjson_is_uint(first) || !yyjson_is_uint(last))
    return bad_tensor(err, t->name, "has no valid offsets");
  uint64_t from = yyjson_get_uint(first), to = yyjson_get_uint(last), bytes;
  if (from > to || to > data.n)
    return bad_tensor(err, t->name, "is outside the file");
  if (__builtin_mul_overflow(t->count, size, &bytes) || bytes != to - from)
    return bad_tensor(err, t->name, "has a shape that does not match its size");
  t->data = str_slice(data, from, to);
  return STATUS_OK;
}

static enum status read_tensor(struct safetensor *t, yyjson_val *entry, struct str data, struct error *err) {
  unsigned size = 0;
  if (!yyjson_is_obj(entry) || yyjson_obj_size(entry) != 3)
    return bad_tensor(err, t->name, "is not described by type, shape and offsets");
  TRY(read_type(t, json_str(entry, "dtype"), &size, err));
  TRY(read_shape(t, yyjson_obj_get(entry, "shape"), err));
  return read_offsets(t, yyjson_obj_get(entry, "data_offsets"), size, data, err);
}

static enum status read_tensors(struct arena *a, yyjson_val *root, struct str data, struct safetensors *list,
                                struct error *err) {
  size_t i, n;
  yyjson_val *key, *entry;
  list->v = arena_array(a, struct safetensor, yyjson_obj_size(root));
  yyjson_obj_foreach(root, i, n, key, entry) {
    struct safetensor *t = &list->v[list->n];
    t->name = json_val_str(key);
    if (str_is(t->name, "__metadata__"))
      continue;
    list->n++;
    TRY(read_tensor(t, entry, data, err));
  }
  return STATUS_OK;
}

/* ---- file ---- */

static int by_offset(const void *x, const void *y) {
  const struct safetensor *a = x, *b = y;
  if (a->data.p != b->data.p)
    return a->data.p < b->data.p ? -1 : 1;
  return a->data.n < b->data.n ? -1 : a->data.n > b->data.n;
}

static int by_name(const void *x, const void *y) {
  const struct safetensor *a = x, *b = y;
  return str_cmp(a->name, b->name);
}

/* Each byte must belong to one tensor, and names must be unique. Leaves the list sorted by name. */
static enum status check_cover(struct safetensors *list, struct str data, struct error *err) {
  const char *next = data.p;
  if (list->n == 0)
    return bad_file(err, "it has no tensors");
  qsort(list->v, list->n, sizeof(*list->v), by_offset);
  for (size_t i = 0; i < list->n; i++) {
    if (list->v[i].data.p != next)
      return bad_tensor(err, list->v[i].name, "overlaps another or follows a gap");
    next += list->v[i].data.n;
  }
  if (next != data.p + data.n)
    return bad_file(err, "there are bytes after its last tensor");
  qsort(list->v, list->n, sizeof(*list->v), by_name);
  for (size_t i = 1; i < list->n; i++)
    if (str_eq(list->v[i].name, list->v[i - 1].name))
      return bad_tensor(err, list->v[i].name, "occurs twice");
  return STATUS_OK;
}

static enum status read_header(struct arena *a, struct str bytes, yyjson_val **ret_root, struct str *ret_data,
                               struct error *err) {
  if (bytes.n < LENGTH_SIZE)
    return bad_file(err, "it is too short");
  uint64_t length = 0;
  for (size_t i = 0; i < LENGTH_SIZE; i++)
    length |= (uint64_t)(unsigned char)bytes.p[i] << 8 * i;
  if (length > HEADER_MAX || length > bytes.n - LENGTH_SIZE)
    return bad_file(err, "its header is longer than the file or than 16 MiB");
  struct str text = str_slice(bytes, LENGTH_SIZE, LENGTH_SIZE + length);
  struct error why;
  if (json_read(a, text, ret_root, &why) != STATUS_OK)
    return bad_file(err, "its header is not JSON");
  if (!yyjson_is_obj(*ret_root))
    return bad_file(err, "its header is not a JSON object");
  *ret_data = str_slice(bytes, LENGTH_SIZE + length, bytes.n);
  return STATUS_OK;
}

enum status safetensors_parse(struct arena *a, struct str bytes, struct safetensors *ret_tensors, struct error *err) {
  struct safetensors list = {0};
  struct str data;
  yyjson_val *root;
  TRY(read_header(a, bytes, &root, &data, err));
  TRY(read_tensors(a, root, data, &list, err));
  TRY(check_cover(&list, data, err));
  *ret_tensors = list;
  return STATUS_OK;
}

const struct safetensor *safetensors_find(const struct safetensors *tensors, struct str name) {
  struct safetensor key = {.name = name};
  return tensors->n ? bsearch(&key, tensors->v, tensors->n, sizeof(*tensors->v), by_name) : NULL;
}

/* ---- elements ---- */

static uint32_t bits16(const char *p) { return (uint32_t)(unsigned char)p[0] | (uint32_t)(unsigned char)p[1] << 8; }

static float from_bits(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof(f));
  return f;
}

/* IEEE half precision: 1 sign, 5 exponent, 10 fraction bits. */
static float from_half(uint32_t h) {
  uint32_t sign = (h & 0x8000U) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff;
  if (exponent == 31)
    return from_bits(sign | 0x7f800000U | fraction << 13);
  if (exponent)
    return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
  float small = (float)fraction * 0x1p-24F; /* subnormal */
  return sign ? -small : small;
}

static float from_single(const char *p) { return from_bits(bits16(p) | bits16(p + 2) << 16); }

enum status safetensor_floats(struct arena *a, const struct safetensor *t, const float **ret_floats,
                              struct error *err) {
  bool single = strcmp(t->type, "F32") == 0, half = strcmp(t->type, "F16") == 0, brain = strcmp(t->type, "BF16") == 0;
  if (!single && !half && !brain) {
    error_set(err, STATUS_USAGE, "tensor '%.*s' has type %s", STR_ARG(t->name), t->type);
    return error_fix(err, "save the model in F32, F16 or BF16");
  }
  assert(t->data.n == t->count * (single ? 4 : 2));
  bool in_place = (uintptr_t)t->data.p % _Alignof(float) == 0 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  if (single && in_place) {
    *ret_floats = (const float *)(const void *)t->data.p;
    return STATUS_OK;
  }
  float *out = arena_alloc(a, arena_mul(a, t->count, sizeof(*out)));
  const char *p = t->data.p;
  for (uint64_t i = 0; i < t->count; i++)
    out[i] = single ? from_single(p + 4 * i) : half ? from_half(bits16(p + 2 * i)) : from_bits(bits16(p + 2 * i) << 16);
  *ret_floats = out;
  return STATUS_OK;
}

struct str safetensor_shape(struct arena *a, const struct safetensor *t) {
  struct buf b = BUF(a);
  buf_addc(&b, '[');
  for (int i = 0; i < t->dims; i++)
    buf_addf(&b, "%s%llu", i ? ", " : "", (unsigned long long)t->shape[i]);
  buf_addc(&b, ']');
  return buf_str(&b);
}
