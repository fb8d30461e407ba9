/* corpus.c: the argument `in`, and documents in replies. */
#include "op/search/corpus.h"

#include "base/os/clock.h"
#include "op/embedding/reembed.h"

const char *const corpus_choices[] = {"memory", "items", "sessions", "sources", "all", NULL};

unsigned call_corpora(struct op_call *call) {
  struct strs names = {0};
  unsigned corpora = 0;
  json_strs(call->arena, call->args, "in", &names);
  for (size_t i = 0; i < names.n; i++) {
    enum corpus corpus;
    if (str_is(names.v[i], "all"))
      corpora |= CORPORA_ALL;
    else if (corpus_parse(names.v[i], &corpus))
      corpora |= 1U << corpus;
  }
  return corpora ? corpora : 1U << CORPUS_MEMORY;
}

void put_place(struct op_call *call, yyjson_mut_val *obj, const struct document_place *place) {
  yyjson_mut_doc *doc = call->doc;
  if (place->corpus == CORPUS_MEMORY)
    return;
  json_put(doc, obj, "corpus", str_from(corpus_names[place->corpus]));
  json_put(doc, obj, "file", place->path);
  if (place->line)
    json_put_int(doc, obj, "line", place->line);
  if (place->corpus == CORPUS_ITEMS)
    json_put_num(doc, obj, "confidence", place->confidence);
  json_put(doc, obj, "ref", place->ref);
  json_put(doc, obj, "origin",
           place->line ? arena_printf(call->arena, "%.*s:%lld", STR_ARG(place->path), (long long)place->line)
                       : place->path);
}

enum status load_and_put_place(struct op_call *call, yyjson_mut_val *obj, const struct memory *m) {
  struct document_place place;
  if (!memory_is_document(m))
    return STATUS_OK;
  TRY(documents_places(call->engine->store, m->team, &m->id, 1, call->arena, &place, call->err));
  put_place(call, obj, &place);
  return STATUS_OK;
}

/* ---- vectors ---- */

enum { EMBED_BUDGET_US = 2000000 };

enum status corpus_embed(struct op_call *call) {
  struct reembed_report r;
  TRY(reembed_run(call, clock_ticks_us() + EMBED_BUDGET_US, &r));
  json_put_int(call->doc, call->result, "embedded", r.pass.embedded);
  if (!r.pass.complete)
    json_put_bool(call->doc, call->result, "waiting", true);
  if (r.pass.why.code != STATUS_OK)
    json_put(call->doc, call->result, "degraded", call_message(call, r.pass.why.message));
  return STATUS_OK;
}
