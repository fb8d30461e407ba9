/* repeats.c: the operation repeats: pairs of near-duplicate rules, which are corrections that had to be made twice. */
#include <assert.h>

#include "embed/vec.h"
#include "op/handlers.h"
#include "op/write/write.h"

/* All pairs are compared, so only the newest rules are taken. */
enum { COMPARED = 200, PAIRS_SHOWN = 20 };

struct pair {
  size_t a, b;
  double similarity;
};
struct pairs_found {
  struct pair *v;
  size_t n, cap;
};

static enum status read_rules(struct op_call *call, struct memories *ret_rules) {
  struct scope scope = call_scope(call);
  struct filter f = {.kind = str_from(kind_names[KIND_RULE]),
                     .severity = json_str(call->args, "severity"),
                     .trusted = json_bool(call->args, "trusted", false),
                     .limit = COMPARED};
  TRY(memory_list(call->engine->store, &scope, &f, call->arena, ret_rules, call->err));
  for (size_t i = 0; i < ret_rules->n; i++)
    TRY(memory_load_body(call->engine->store, call->arena, &ret_rules->v[i], call->err));
  return STATUS_OK;
}

/* Sorted by similarity, best first. */
static void insert(struct op_call *call, struct pairs_found *list, struct pair p) {
  list_push(call->arena, list, p);
  size_t at = list->n - 1;
  for (; at > 0 && list->v[at - 1].similarity < p.similarity; at--)
    list->v[at] = list->v[at - 1];
  list->v[at] = p;
}

/* Without an embedder nothing is compared, and the result has `degraded`. */
static enum status find_pairs(struct op_call *call, const struct memories *rules, double above,
                              struct pairs_found *ret) {
  struct arena *a = call->arena;
  struct embeddings set;
  struct error why;
  TRY(embeddings_of(call, &set));
  if (set.n && rules->n > 1) {
    const struct embedding *e = &set.v[0];
    size_t dims = (size_t)e->model.dims;
    struct str *texts = arena_array(a, struct str, rules->n);
    int8_t *vectors = arena_array(a, int8_t, arena_mul(a, rules->n, dims));
    for (size_t i = 0; i < rules->n; i++)
      texts[i] = embed_text(a, STR_NONE, rules->v[i].headline, rules->v[i].body);
    if (embed_texts(call, a, e, texts, rules->n, vectors, &why) != STATUS_OK)
      embeddings_degrade(call, &set, STR("the comparison"), &why);
    else
      for (size_t i = 0; i < rules->n; i++)
        for (size_t k = i + 1; k < rules->n; k++) {
          double similarity =
              calibrate(e->calibration, vec_cosine(vectors + i * dims, vectors + k * dims, e->model.dims));
          if (similarity > above)
            insert(call, ret, (struct pair){k, i, similarity});
        }
  }
  json_put_opt(call->doc, call->result, "degraded", set.degraded);
  return STATUS_OK;
}

static void put_side(struct op_call *call, yyjson_mut_val *to, const char *name, const struct memory *m) {
  yyjson_mut_val *v = json_put_obj(call->doc, to, name);
  json_put_int(call->doc, v, "id", m->id);
  json_put(call->doc, v, "headline", m->headline);
  put_untrusted(call, v, m);
  json_put(call->doc, v, "project", m->project);
}

static int64_t count_involved(struct op_call *call, const struct pairs_found *found, size_t rules) {
  bool *seen = arena_array(call->arena, bool, rules + 1);
  int64_t n = 0;
  for (size_t i = 0; i < found->n; i++) {
    assert(found->v[i].a < rules && found->v[i].b < rules);
    seen[found->v[i].a] = seen[found->v[i].b] = true;
  }
  for (size_t i = 0; i < rules; i++)
    n += seen[i];
  return n;
}

enum status op_repeats(struct op_call *call) {
  struct memories rules = {0};
  struct pairs_found found = {0};
  double above = json_num(call->args, "above", 0.70);
  int64_t limit;
  TRY(call_int(call, "limit", PAIRS_SHOWN, 1, 1000, &limit));
  TRY(read_rules(call, &rules));
  TRY(find_pairs(call, &rules, above, &found));
  json_put_int(call->doc, call->result, "rules", (int64_t)rules.n);
  json_put_int(call->doc, call->result, "repeated", count_involved(call, &found, rules.n));
  json_put_num(call->doc, call->result, "above", above);
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "pairs");
  for (size_t i = 0; i < found.n && (int64_t)i < limit; i++) {
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
    put_side(call, v, "a", &rules.v[found.v[i].a]);
    put_side(call, v, "b", &rules.v[found.v[i].b]);
    json_put_num(call->doc, v, "similarity", json_round(found.v[i].similarity, 4));
  }
  return STATUS_OK;
}
