/* format.c: boot formats "full" (whole texts) and "blocks" (grouped by type). */
#include "core/boot/render.h"
#include "core/text/token_count.h"
#include "op/boot/boot.h"

static enum status add_text(struct boot *b, struct memory *m, struct boot_texts *texts) {
  struct op_call *call = b->call;
  const struct mem_type *type = type_find(m->type);
  TRY(memory_load_body(call->engine->store, call->arena, m, call->err));
  if (type)
    list_push(call->arena, texts, (struct boot_text){m->id, type, m->project, m->key, m->body});
  return STATUS_OK;
}

/* One section with all items, in the same shape as in the brief format. */
static void put_items(struct boot *b, const char *name, const struct memories *list, size_t n) {
  yyjson_mut_doc *doc = b->call->doc;
  yyjson_mut_val *section = yyjson_mut_arr_add_obj(doc, json_put_arr(doc, b->call->result, "sections"));
  json_put(doc, section, "name", str_from(name));
  yyjson_mut_val *items = json_put_arr(doc, section, "items");
  for (size_t i = 0; i < n; i++) {
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(doc, items);
    json_put_int(doc, v, "id", list->v[i].id);
    json_put(doc, v, "headline", list->v[i].headline);
    list_push(b->call->arena, &b->delivered, list->v[i].id);
  }
}

/* Action items, handoff and sessions are the same in every format. */
static void put_members(struct boot *b) {
  yyjson_mut_doc *doc = b->call->doc;
  for (size_t g = 0; g < BOOT_GROUPS; g++) {
    const struct boot_group *group = &b->groups[g];
    if (!group->member)
      continue;
    yyjson_mut_val *list = group->single ? NULL : json_put_arr(doc, b->call->result, group->name);
    for (size_t i = 0; i < group->n; i++) {
      yyjson_mut_val *v = yyjson_mut_rawncpy(doc, group->v[i].json.p, group->v[i].json.n);
      if (list)
        yyjson_mut_arr_append(list, v);
      else
        yyjson_mut_obj_add_val(doc, b->call->result, group->name, v);
    }
  }
}

/* Says how many memories are missing from the text. The statistics are a list at its end. */
static struct str add_untrusted(struct arena *a, struct str text, int64_t n) {
  if (n == 0)
    return text;
  return arena_printf(a, "%.*s%s- %.*s\n", STR_ARG(text), text.n ? "" : "## Bootstrap Stats\n\n",
                      STR_ARG(boot_untrusted_note(a, n)));
}

enum status boot_as_full(struct boot *b) {
  struct op_call *call = b->call;
  struct memories found = {0};
  struct boot_texts texts = {0};
  size_t used;
  int64_t untrusted;
  TRY(memory_count(call->engine->store, &b->scope, &(struct filter){.delivery = STR("boot"), .untrusted = true},
                   call->arena, &untrusted, call->err));
  TRY(boot_list(b, (struct filter){.delivery = STR("boot")}, &found));
  for (size_t i = 0; i < found.n; i++)
    TRY(add_text(b, &found.v[i], &texts));
  /* Other systems' tools ask for this format only to serve the resources of mememory. */
  const char *from = call->caller.foreign ? "MCP resource" : call->caller.project_given ? "flag" : "surroundings";
  struct str text = boot_render_full(call->arena, call->caller.project, from, &texts, BOOT_FULL_TOKENS, &used);
  text = add_untrusted(call->arena, text, untrusted);
  json_put(call->doc, call->result, "text", text);
  json_put_int(call->doc, call->result, "tokens", (int64_t)boot_full_tokens(text.n));
  json_put_int(call->doc, call->result, "used", (int64_t)used);
  json_put_int(call->doc, call->result, "budget", BOOT_FULL_TOKENS);
  json_put_bool(call->doc, call->result, "over_budget", used > BOOT_FULL_TOKENS);
  put_items(b, "bootstrap", &found, found.n);
  json_put_arr(call->doc, call->result, "dropped");
  put_members(b);
  return STATUS_OK;
}

/* Identity first, then lessons, decisions and context: the sections of the table of types, in its order. */
static enum status list_blocks(struct boot *b, struct memories *ret, size_t *ret_protected) {
  static const enum boot_section order[] = {BOOT_IDENTITY, BOOT_LESSONS, BOOT_DECISIONS, BOOT_CONTEXT};
  for (size_t o = 0; o < ARRAY_LEN(order); o++) {
    for (size_t i = 0; i < types_count(); i++) {
      const struct mem_type *t = types_at(i);
      struct memories found = {0};
      if (t->boot != order[o] || t->stored_as)
        continue;
      TRY(boot_list(b, (struct filter){.type = str_from(t->name)}, &found));
      for (size_t k = 0; k < found.n; k++)
        list_push(b->call->arena, ret, found.v[k]);
    }
    if (order[o] == BOOT_IDENTITY)
      *ret_protected = ret->n;
  }
  return STATUS_OK;
}

static void put_overflow(struct boot *b, size_t total, size_t shown) {
  yyjson_mut_doc *doc = b->call->doc;
  yyjson_mut_val *dropped = json_put_arr(doc, b->call->result, "dropped");
  if (total > shown) {
    yyjson_mut_val *d = yyjson_mut_arr_add_obj(doc, dropped);
    json_put(doc, d, "section", STR("blocks"));
    json_put_int(doc, d, "count", (int64_t)(total - shown));
    json_put(doc, d, "fetch", STR("cairn search QUERY"));
  }
  boot_put_retired(doc, dropped, &b->groups[BOOT_G_CONTEXT]);
  struct buf warning = BUF(b->call->arena);
  if (total >= BOOT_BLOCKS_WARN)
    buf_addf(&warning, "%zu of %d entries are used: reclassify or supersede some", total, (int)BOOT_BLOCKS);
  if (b->untrusted)
    buf_addf(&warning, "%s%.*s", warning.n ? "; " : "", STR_ARG(boot_untrusted_note(b->call->arena, b->untrusted)));
  if (warning.n)
    json_put(doc, b->call->result, "warning", buf_str(&warning));
}

enum status boot_as_blocks(struct boot *b) {
  struct op_call *call = b->call;
  struct memories found = {0};
  struct boot_texts texts = {0};
  size_t kept = 0;
  TRY(list_blocks(b, &found, &kept));
  size_t shown = kept > BOOT_BLOCKS ? kept : found.n > BOOT_BLOCKS ? BOOT_BLOCKS : found.n;
  for (size_t i = 0; i < shown; i++)
    TRY(add_text(b, &found.v[i], &texts));
  struct str text = boot_render_blocks(call->arena, &texts);
  json_put(call->doc, call->result, "text", text);
  json_put_int(call->doc, call->result, "tokens", (int64_t)tokens_estimate(text));
  json_put_int(call->doc, call->result, "entries", (int64_t)found.n);
  json_put_int(call->doc, call->result, "cap", BOOT_BLOCKS);
  put_items(b, "blocks", &found, shown);
  put_overflow(b, found.n, shown);
  put_members(b);
  return STATUS_OK;
}
