/* flush.c: storing memories from a conversation: an agent's answer, or labelled sentences. */
#include "transcript/op/flush.h"

#include <assert.h>

#include "core/memory/headline.h"
#include "core/text/text.h"
#include "transcript/file/summary.h"

#define TAG "flush"
#define NO_REPLY "[NO_REPLY]"

/* ---- answers ---- */

static void add_draft(struct op_call *call, struct drafts *list, const struct mem_type *type, struct str text) {
  assert(type);
  struct draft k = {0};
  k.w.m = (struct memory){.type = str_from(type->name), .headline = headline_derive(call->arena, text), .body = text};
  call_set_author(call, &k.w.m);
  strs_push(call->arena, &k.w.m.tags, STR(TAG));
  list_push(call->arena, list, k);
}

static enum status bad_answer(struct op_call *call, const char *why) {
  error_set(call->err, STATUS_USAGE, "the memories cannot be read: %s", why);
  return error_fix(call->err,
                   "send a JSON array of texts, or of objects such as {\"text\": \"...\", \"type\": "
                   "\"decision\"}; or a fenced block labelled 'memory' with '## Section' and items; or " NO_REPLY);
}

static enum status read_object(struct op_call *call, yyjson_val *v, struct drafts *list) {
  struct draft k = {0};
  if (yyjson_obj_get(v, "batch") || yyjson_obj_get(v, "project"))
    return bad_answer(call, "an object takes neither 'batch' nor 'project'");
  TRY(op_check_args(op_find(STR("remember")), v, call->err));
  TRY(write_from_args(call, v, &k.w));
  if (str_empty(k.w.m.body))
    return bad_answer(call, "an object has no 'text'");
  if (!strs_has(&k.w.m.tags, STR(TAG)))
    strs_push(call->arena, &k.w.m.tags, STR(TAG));
  list_push(call->arena, list, k);
  return STATUS_OK;
}

static enum status read_element(struct op_call *call, yyjson_val *v, struct drafts *list) {
  if (yyjson_is_obj(v))
    return read_object(call, v, list);
  if (!yyjson_is_str(v))
    return bad_answer(call, "it is neither a text nor an object");
  add_draft(call, list, type_of_kind(KIND_FACT), json_val_str(v));
  return STATUS_OK;
}

/* A bad element is refused on its own: the others are memories that compaction is about to remove. */
static void add_refused(struct op_call *call, size_t element, yyjson_val *v, struct drafts *list) {
  struct draft bad = {.err = *call->err};
  error_set(&bad.err, call->err->code, "element %zu: %s", element, call->err->message);
  memcpy(bad.err.fix, call->err->fix, sizeof(bad.err.fix));
  struct str text = json_str(v, "text");
  bad.w.m.headline = text.p ? headline_derive(call->arena, text) : STR_NONE;
  list_push(call->arena, list, bad);
}

static enum status read_json(struct op_call *call, struct str answer, struct drafts *list) {
  yyjson_val *root, *v;
  size_t i, n, good = 0;
  if (json_read(call->arena, answer, &root, call->err) != STATUS_OK)
    return bad_answer(call, arena_cstr(call->arena, str_from(call->err->message)));
  if (yyjson_is_obj(root))
    return read_object(call, root, list);
  yyjson_arr_foreach(root, i, n, v) {
    if (read_element(call, v, list) == STATUS_OK)
      good++;
    else
      add_refused(call, i + 1, v, list);
  }
  if (n == 0 || good)
    return STATUS_OK;
  *call->err = list->v[0].err;
  return call->err->code;
}

/* A heading names a type with one of its words ("Key Decisions", "Lessons"); the default is fact. */
static const struct mem_type *type_of_heading(struct str heading) {
  size_t pos = 0;
  struct str word;
  while (text_next_word(heading, &pos, &word)) {
    const struct mem_type *t = type_find(word);
    if (!t && word.n > 3 && ascii_lower(word.p[word.n - 1]) == 's')
      t = type_find(str_slice(word, 0, word.n - 1));
    if (t && !t->stored_as)
      return t;
  }
  return type_of_kind(KIND_FACT);
}

static bool is_item(struct str line) { return str_starts(line, STR("- ")) || str_starts(line, STR("* ")); }

static void end_piece(struct op_call *call, struct buf *piece, const struct mem_type *type, struct drafts *list) {
  struct str text = str_trim(buf_str(piece));
  if (text.n)
    add_draft(call, list, type, arena_dup(call->arena, text));
  piece->n = 0;
}

/* Each item or paragraph becomes a memory. */
static void read_block(struct op_call *call, struct str block, struct drafts *list) {
  const struct mem_type *type = type_of_kind(KIND_FACT);
  struct buf piece = BUF(call->arena);
  struct str line;
  while (str_line(&block, &line)) {
    line = str_trim(line);
    bool heading = str_starts(line, STR("#"));
    if (heading || is_item(line) || str_empty(line))
      end_piece(call, &piece, type, list);
    if (heading) {
      type = type_of_heading(line);
      continue;
    }
    if (is_item(line))
      line = str_trim(str_slice(line, 2, line.n));
    if (piece.n)
      buf_addc(&piece, ' ');
    buf_add(&piece, line);
  }
  end_piece(call, &piece, type, list);
}

static bool is_fence(struct str line) { return str_starts(str_trim(line), STR("```")); }

/* True if there was a block. */
static bool read_blocks(struct op_call *call, struct str answer, struct drafts *list) {
  struct buf block = BUF(call->arena);
  struct str line;
  bool inside = false, ours = false, found = false;
  while (str_line(&answer, &line)) {
    if (is_fence(line)) {
      if (inside && ours)
        read_block(call, arena_dup(call->arena, buf_str(&block)), list);
      struct str fence = str_trim(line);
      ours = !inside && str_ieq(str_trim(str_slice(fence, 3, fence.n)), STR("memory"));
      inside = !inside;
      found |= ours;
      block.n = 0;
    } else if (inside) {
      buf_add(&block, line);
      buf_addc(&block, '\n');
    }
  }
  if (inside && ours) /* use a truncated answer */
    read_block(call, buf_str(&block), list);
  return found;
}

enum status flush_read_answer(struct op_call *call, struct str answer, struct drafts *ret_list) {
  struct drafts list = {0};
  answer = str_trim(answer);
  if (str_eq(answer, STR(NO_REPLY)))
    ;
  else if (str_starts(answer, STR("[")) || str_starts(answer, STR("{")))
    TRY(read_json(call, answer, &list));
  else if (!read_blocks(call, answer, &list) && str_find(answer, STR(NO_REPLY), 0) == SIZE_MAX)
    return bad_answer(call, "there is neither JSON nor a fenced block labelled 'memory'");
  *ret_list = list;
  return STATUS_OK;
}

/* ---- labelled sentences ---- */

void flush_draft_labelled(struct op_call *call, const struct message *list, size_t n, struct drafts *ret_list) {
  struct labelled_list labelled = {0};
  size_t from = 0;
  /* Sentences listed in a summary were stored by the compaction that made it. */
  while (from < n && list[from].role == SPEAKER_SUMMARY)
    from++;
  summary_labelled(call->arena, list + from, n - from, &labelled);
  for (size_t i = 0; i < labelled.n; i++) {
    const struct mem_type *t =
        labelled.v[i].label == LABEL_DECISION ? type_of_section(BOOT_DECISIONS) : type_of_kind(KIND_FACT);
    add_draft(call, ret_list, t, labelled.v[i].text);
    struct memory *m = &ret_list->v[ret_list->n - 1].w.m;
    m->trust = STR("tool");
    m->confidence = STR("low");
    m->auto_captured = 1;
  }
}
