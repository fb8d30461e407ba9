/* show.c: renders a result as text for the model: stored text in fenced blocks, one line for each other member. */
#include <assert.h>

#include "core/trust/present.h"
#include "mcp/tools/internal.h"

bool tool_is_memory(yyjson_mut_val *v) {
  if (!yyjson_mut_is_obj(v) || !yyjson_mut_obj_get(v, "id"))
    return false;
  bool has_text = yyjson_mut_obj_get(v, "text") || yyjson_mut_obj_get(v, "snippet");
  return yyjson_mut_obj_get(v, "created_at") ? has_text || yyjson_mut_obj_get(v, "headline")
                                             : has_text && yyjson_mut_obj_get(v, "headline");
}

static void head_part(struct buf *b, const char *label, struct str value) {
  if (value.n)
    buf_addf(b, " | %s%.*s", label, STR_ARG(present_line(b->a, value)));
}

static void show_head(struct buf *b, yyjson_mut_val *m) {
  struct str date = mut_member(m, "created_at"), state = mut_member(m, "state"), by = mut_member(m, "written_by");
  buf_addf(b, "```%s %lld", yyjson_mut_obj_get(m, "headline") ? "memory" : "note",
           (long long)yyjson_mut_get_sint(yyjson_mut_obj_get(m, "id")));
  head_part(b, "", mut_member(m, "type"));
  head_part(b, "", mut_member(m, "severity"));
  head_part(b, "", (struct str){date.p, date.n > 10 ? 10 : date.n});
  head_part(b, "project ", mut_member(m, "project"));
  head_part(b, "key ", mut_member(m, "key"));
  head_part(b, "source ", by.p ? by : mut_member(m, "source"));
  head_part(b, "trust ", mut_member(m, "trust"));
  head_part(b, "", yyjson_mut_is_true(yyjson_mut_obj_get(m, "untrusted")) ? STR("untrusted") : STR_NONE);
  head_part(b, "suspect: ", mut_member(m, "suspect"));
  if (!str_is(state, "active"))
    head_part(b, "", state);
  head_part(b, "", mut_member(m, "status"));
  head_part(b, "", mut_member(m, "priority"));
  buf_addc(b, '\n');
}

/* Shown in the first line, or useless to a reader. */
static bool is_in_head(struct str name) {
  static const char *const names[] = {
      "id",      "uid",        "headline",   "kind",         "type",     "severity",  "created_at",
      "project", "key",        "source",     "trust",        "state",    "status",    "priority",
      "body",    "text",       "snippet",    "weight",       "delivery", "age_days",  "score",
      "session", "valid_from", "updated_at", "access_count", "upvotes",  "downvotes", "last_accessed",
      "topics",  "written_by", "untrusted",  "suspect",      NULL};
  for (const char *const *p = names; *p; p++)
    if (str_is(name, *p))
      return true;
  return false;
}

static void show_value(struct buf *b, yyjson_mut_val *v) {
  size_t i, n;
  yyjson_mut_val *e;
  bool plain = yyjson_mut_is_arr(v);
  if (plain)
    yyjson_mut_arr_foreach(v, i, n, e) {
      plain = plain && !yyjson_mut_is_ctn(e);
    }
  if (yyjson_mut_is_str(v)) {
    buf_add(b, present_neutral(b->a, mut_text(v)));
  } else if (plain) {
    yyjson_mut_arr_foreach(v, i, n, e) {
      buf_adds(b, i ? ", " : "");
      show_value(b, e);
    }
  } else {
    buf_add(b, present_neutral(b->a, json_write(b->a, v, false)));
  }
}

void tool_show_memory(struct buf *b, yyjson_mut_val *m) {
  struct str headline = mut_member(m, "headline"), text = mut_member(m, "body");
  if (!text.p)
    text = mut_member(m, "snippet").p ? mut_member(m, "snippet") : mut_member(m, "text");
  text = present_neutral(b->a, text);
  show_head(b, m);
  headline = present_line(b->a, headline);
  if (!str_starts(text, headline))
    buf_addf(b, "%.*s\n", STR_ARG(headline));
  if (text.n)
    buf_addf(b, "%.*s\n", STR_ARG(text));
  size_t i, n;
  yyjson_mut_val *key, *v;
  yyjson_mut_obj_foreach(m, i, n, key, v) {
    if (is_in_head(mut_text(key)))
      continue;
    buf_addf(b, "%.*s: ", STR_ARG(mut_text(key)));
    show_value(b, v);
    buf_addc(b, '\n');
  }
  buf_adds(b, "```\n");
}

static bool lists_memories(yyjson_mut_val *v) {
  return tool_is_memory(v) || (yyjson_mut_is_arr(v) && tool_is_memory(yyjson_mut_arr_get_first(v)));
}

static bool has_memories(yyjson_mut_val *result) {
  size_t i, n;
  yyjson_mut_val *key, *v;
  bool found = tool_is_memory(result);
  yyjson_mut_obj_foreach(result, i, n, key, v) {
    found = found || lists_memories(v);
  }
  return found;
}

static bool is_empty(yyjson_mut_val *v) {
  return (yyjson_mut_is_str(v) && yyjson_mut_get_len(v) == 0) ||
         (yyjson_mut_is_ctn(v) && yyjson_mut_arr_size(v) == 0 && yyjson_mut_obj_size(v) == 0);
}

static void show_warning(struct buf *b, yyjson_mut_val *w) {
  struct str fix = mut_member(w, "fix");
  buf_addf(b, "warning: %.*s", STR_ARG(present_neutral(b->a, mut_member(w, "message"))));
  if (fix.n)
    buf_addf(b, " (%.*s)", STR_ARG(present_neutral(b->a, fix)));
  buf_addc(b, '\n');
}

static void show_member(struct buf *b, struct str name, yyjson_mut_val *v) {
  size_t i, n;
  yyjson_mut_val *e;
  if (str_is(name, "query") || str_is(name, "uid") || str_is(name, "warnings")) {
    if (yyjson_mut_is_obj(yyjson_mut_arr_get_first(v)))
      yyjson_mut_arr_foreach(v, i, n, e) {
        show_warning(b, e);
      }
    return;
  }
  if (is_empty(v)) {
    /* An empty list is an answer. */
    if (yyjson_mut_is_arr(v))
      buf_addf(b, "%.*s: none\n", STR_ARG(name));
    return;
  }
  if (lists_memories(v)) {
    buf_addf(b, "%.*s:\n", STR_ARG(name));
    if (tool_is_memory(v))
      tool_show_memory(b, v);
    yyjson_mut_arr_foreach(v, i, n, e) {
      tool_show_memory(b, e);
    }
    return;
  }
  bool lines = yyjson_mut_is_str(v) && str_find(mut_text(v), STR("\n"), 0) != SIZE_MAX;
  buf_addf(b, "%.*s:%s", STR_ARG(name), lines ? "\n" : " ");
  show_value(b, v);
  buf_addc(b, '\n');
}

struct str tool_render(struct tool_run *run) {
  assert(yyjson_mut_is_obj(run->result));
  struct buf b = BUF(run->arena);
  if (has_memories(run->result))
    buf_adds(&b, TOOL_NOTICE "\n");
  size_t i, n;
  yyjson_mut_val *key, *v;
  if (tool_is_memory(run->result)) {
    tool_show_memory(&b, run->result);
    return buf_str(&b);
  }
  yyjson_mut_obj_foreach(run->result, i, n, key, v) {
    show_member(&b, mut_text(key), v);
  }
  return buf_str(&b);
}
