/* tiny_model.c: a BERT encoder of a few kilobytes, in the published format. */
#include "support/tiny_model.h"

#include <stdio.h>

const char tiny_vocab[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\n##a\n##b\n,\n.\nboat\ngreen\n";
const char tiny_config[] = "{\"model_type\": \"bert\", \"architectures\": [\"BertModel\"], \"hidden_act\": \"gelu\","
                           " \"num_attention_heads\": 2, \"num_hidden_layers\": 2, \"layer_norm_eps\": 1e-12}";

/* ---- files ---- */

static void add_bytes(struct buf *b, uint64_t v, int n) {
  for (int i = 0; i < n; i++)
    buf_addc(b, (char)(v >> 8 * i & 0xff));
}

static uint32_t bits_of(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof(bits));
  return bits;
}

/* Exact for the values of this file: normal numbers with few bits, and zero. */
static uint32_t half_of(float f) {
  uint32_t bits = bits_of(f), sign = bits >> 16 & 0x8000;
  return f == 0 ? sign : sign | (((bits >> 23 & 255) - 112) << 10) | (bits >> 13 & 0x3ff);
}

void tensor_begin(struct tensor_file *f, struct arena *a) {
  *f = (struct tensor_file){.a = a, .header = BUF(a), .data = BUF(a)};
  buf_adds(&f->header, "{\"__metadata__\":{\"format\":\"pt\"}");
}

void tensor_add(struct tensor_file *f, const char *name, const char *type, int rows, int columns, const float *values) {
  size_t from = f->data.n, n = (size_t)rows * (size_t)(columns ? columns : 1);
  for (size_t i = 0; i < n; i++) {
    if (strcmp(type, "F32") == 0)
      add_bytes(&f->data, bits_of(values[i]), 4);
    else
      add_bytes(&f->data, strcmp(type, "F16") == 0 ? half_of(values[i]) : bits_of(values[i]) >> 16, 2);
  }
  buf_addf(&f->header, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%d", name, type, rows);
  if (columns)
    buf_addf(&f->header, ",%d", columns);
  buf_addf(&f->header, "],\"data_offsets\":[%zu,%zu]}", from, f->data.n);
}

struct str tensor_raw(struct arena *a, struct str header, struct str data) {
  struct buf b = BUF(a);
  add_bytes(&b, header.n, 8);
  buf_add(&b, header);
  buf_add(&b, data);
  return buf_str(&b);
}

struct str tensor_end(struct tensor_file *f) {
  buf_addc(&f->header, '}');
  return tensor_raw(f->a, buf_str(&f->header), buf_str(&f->data));
}

/* ---- the model ---- */

/* Multiples of 1/64 below 2: exact in every type. */
const float *tiny_values(struct arena *a, const char *name, size_t n) {
  float *v = arena_array(a, float, n);
  uint32_t h = 2166136261U;
  for (; *name; name++)
    h = (h ^ (unsigned char)*name) * 16777619U;
  for (size_t i = 0; i < n; i++) {
    h = h * 1664525U + 1013904223U;
    v[i] = (float)((int)(h >> 24) % 127 - 63) / 64.0F;
  }
  return v;
}

static void add(struct tensor_file *f, const struct tiny_spec *spec, const char *name, int rows, int columns) {
  const char *shown = name;
  struct str full = str_from(name);
  if (spec->without && strcmp(spec->without, name) == 0)
    return;
  if (spec->old_norms && strstr(name, "LayerNorm.weight"))
    full = arena_printf(f->a, "%.*sgamma", (int)(full.n - strlen("weight")), shown);
  else if (spec->old_norms && strstr(name, "LayerNorm.bias"))
    full = arena_printf(f->a, "%.*sbeta", (int)(full.n - strlen("bias")), shown);
  rows += spec->wrong && strcmp(spec->wrong, name) == 0;
  const float *values = tiny_values(f->a, name, (size_t)rows * (size_t)(columns ? columns : 1));
  tensor_add(f, arena_printf(f->a, "%s%s", spec->prefix ? spec->prefix : "", full.p).p, spec->type ? spec->type : "F32",
             rows, columns, values);
}

static void add_pair(struct tensor_file *f, const struct tiny_spec *spec, const char *name, int rows, int columns) {
  add(f, spec, arena_printf(f->a, "%s.weight", name).p, rows, columns);
  add(f, spec, arena_printf(f->a, "%s.bias", name).p, rows, 0);
}

struct str tiny_weights(struct arena *a, const struct tiny_spec *spec) {
  struct tensor_file f;
  tensor_begin(&f, a);
  add(&f, spec, "embeddings.word_embeddings.weight", TINY_WORDS, TINY_HIDDEN);
  add(&f, spec, "embeddings.position_embeddings.weight", TINY_POSITIONS, TINY_HIDDEN);
  add(&f, spec, "embeddings.token_type_embeddings.weight", TINY_TYPES, TINY_HIDDEN);
  add_pair(&f, spec, "embeddings.LayerNorm", TINY_HIDDEN, 0);
  for (int i = 0; i < TINY_LAYERS; i++) {
    const char *base = arena_printf(a, "encoder.layer.%d", i).p;
    add_pair(&f, spec, arena_printf(a, "%s.attention.self.query", base).p, TINY_HIDDEN, TINY_HIDDEN);
    add_pair(&f, spec, arena_printf(a, "%s.attention.self.key", base).p, TINY_HIDDEN, TINY_HIDDEN);
    add_pair(&f, spec, arena_printf(a, "%s.attention.self.value", base).p, TINY_HIDDEN, TINY_HIDDEN);
    add_pair(&f, spec, arena_printf(a, "%s.attention.output.dense", base).p, TINY_HIDDEN, TINY_HIDDEN);
    add_pair(&f, spec, arena_printf(a, "%s.attention.output.LayerNorm", base).p, TINY_HIDDEN, 0);
    add_pair(&f, spec, arena_printf(a, "%s.intermediate.dense", base).p, TINY_FFN, TINY_HIDDEN);
    add_pair(&f, spec, arena_printf(a, "%s.output.dense", base).p, TINY_HIDDEN, TINY_FFN);
    add_pair(&f, spec, arena_printf(a, "%s.output.LayerNorm", base).p, TINY_HIDDEN, 0);
  }
  add_pair(&f, spec, "pooler.dense", TINY_HIDDEN, TINY_HIDDEN);
  if (spec->extra)
    tensor_add(&f, spec->extra, "F32", 3, 0, tiny_values(a, spec->extra, 3));
  return tensor_end(&f);
}
