/* answer.c: a tool's answer: escapes stored text, formats errors, and applies the budget. */
#include <assert.h>

#include "core/text/token_count.h"
#include "core/trust/present.h"
#include "mcp/tools/internal.h"

static void neutralise(struct tool_run *run, yyjson_mut_val *v);

/* Programs read the formats of other systems, so only invisible characters are removed there. */
static struct str clean(struct tool_run *run, struct str s) {
  return run->profile->foreign ? present_visible(run->arena, s) : present_neutral(run->arena, s);
}

/* Stored JSON that the result contains verbatim. Invalid JSON is shown as text. */
static void neutralise_raw(struct tool_run *run, yyjson_mut_val *v) {
  struct str raw = {yyjson_mut_get_raw(v), yyjson_mut_get_len(v)};
  struct error ignored;
  yyjson_val *root;
  if (json_read(run->arena, raw, &root, &ignored) == STATUS_OK) {
    yyjson_mut_val *copy = yyjson_val_mut_copy(json_new(run->arena), root);
    neutralise(run, copy);
    struct str json = json_write(run->arena, copy, false);
    yyjson_mut_set_raw(v, json.p, json.n);
  } else {
    mut_set_text(v, run->arena, clean(run, raw));
  }
}

static void neutralise(struct tool_run *run, yyjson_mut_val *v) {
  size_t i, n;
  yyjson_mut_val *key, *e;
  if (yyjson_mut_is_str(v)) {
    mut_set_text(v, run->arena, clean(run, mut_text(v)));
  } else if (yyjson_mut_is_raw(v)) {
    neutralise_raw(run, v);
  } else if (yyjson_mut_is_arr(v)) {
    yyjson_mut_arr_foreach(v, i, n, e) {
      neutralise(run, e);
    }
  } else if (yyjson_mut_is_obj(v)) {
    yyjson_mut_obj_foreach(v, i, n, key, e) {
      neutralise(run, e);
    }
  }
}

void tool_present(struct tool_run *run) {
  if (!(run->tool->flags & TOOL_EXACT))
    neutralise(run, run->result);
}

/* Truncates a text that a row's function made. */
static void fit_text(struct tool_run *run) {
  struct str note = STR("\n[cut: the answer is longer than its budget; ask for less]");
  if (tokens_estimate(run->text) <= (size_t)run->budget)
    return;
  assert(tokens_estimate(note) < (size_t)run->budget);
  struct str kept = tokens_cut(run->text, (size_t)run->budget - tokens_estimate(note));
  run->text = arena_printf(run->arena, "%.*s%.*s", STR_ARG(kept), STR_ARG(note));
}

static void shape(struct tool_run *run, bool own) {
  if (run->budget == 0) /* refused before the arguments were read */
    run->budget = tool_budget(run->profile);
  if (!run->result)
    run->result = yyjson_mut_obj(run->doc);
  tool_present(run);
  if (run->budget < 0) {
    if (own)
      run->text = json_write(run->arena, run->result, false);
    return;
  }
  if (run->tool->flags & TOOL_WHOLE) {
    if (own)
      run->text = tool_render(run);
    return;
  }
  tool_fit(run, own);
  if (!own)
    fit_text(run);
}

void tool_answer(struct tool_run *run) {
  bool own = !run->text.p;
  shape(run, own);
  assert(run->result && run->text.p);
  tool_report_untrusted(run, own);
}

void tool_answer_error(struct tool_run *run) {
  assert(run->err->code != STATUS_OK);
  run->is_error = true;
  run->result = NULL;
  run->text = STR_NONE;
  if (run->profile->error) {
    run->profile->error(run, run->err);
    assert(run->result);
    return;
  }
  struct error said = *run->err;
  struct str fix = tool_rewrite_advice(run, present_neutral(run->arena, str_from(said.fix)));
  struct str message = present_neutral(run->arena, str_from(said.message));
  error_set(&said, said.code, "%.*s", STR_ARG(message));
  said.step = run->err->step;
  said.about = run->err->about;
  said.similarity = run->err->similarity;
  if (fix.n)
    error_fix(&said, "%.*s", STR_ARG(fix));
  run->result = op_error_json(run->doc, &said);
  run->text =
      arena_printf(run->arena, "%s%s%s%s", said.message, fix.n ? "\n" : "", fix.n ? "What to do: " : "", said.fix);
}
