/* message.c: reading and writing a transcript message, a line of JSON. */
#include "transcript/file/message.h"

#include <assert.h>

#include "base/json.h"
#include "base/os/clock.h"
#include "base/utf8.h"
#include "core/text/token_count.h"

/* Overhead of a message, in tokens. */
enum { MESSAGE_TOKENS = 4 };

const char *const speaker_names[SPEAKER_COUNT + 1] = {
    "user", "assistant", "system", "tool_call", "tool_result", "summary", NULL,
};

bool speaker_parse(struct str name, enum speaker *ret_role) {
  for (int i = 0; i < SPEAKER_COUNT; i++)
    if (str_is(name, speaker_names[i])) {
      *ret_role = (enum speaker)i;
      return true;
    }
  return false;
}

/* ---- reading ---- */

static const char *const own_members[] = {"id", "role", "name", "input", "content", "timestamp", NULL};

static bool is_own(struct str name) {
  for (size_t i = 0; own_members[i]; i++)
    if (str_is(name, own_members[i]))
      return true;
  return false;
}

/* Unknown members as a JSON object; absent if there are none. */
static struct str read_extra(struct arena *a, yyjson_val *line) {
  yyjson_mut_doc *doc = NULL;
  yyjson_mut_val *rest = NULL;
  size_t i, n;
  yyjson_val *key, *value;
  yyjson_obj_foreach(line, i, n, key, value) {
    if (is_own(json_val_str(key)))
      continue;
    if (!doc) {
      doc = json_new(a);
      rest = yyjson_mut_obj(doc);
    }
    yyjson_mut_obj_add(rest, yyjson_val_mut_copy(doc, key), yyjson_val_mut_copy(doc, value));
  }
  return doc ? json_write(a, rest, false) : STR_NONE;
}

/* A string verbatim, nothing for null, other values as JSON. */
static struct str text_of(struct arena *a, yyjson_val *v) {
  if (!v || yyjson_is_null(v))
    return STR_NONE;
  return yyjson_is_str(v) ? json_val_str(v) : json_write_val(a, v);
}

/* Accepts RFC 3339, and milliseconds or seconds since 1970. */
static bool read_time(yyjson_val *v, int64_t *ret_at) {
  if (!v || yyjson_is_null(v)) {
    *ret_at = 0;
    return true;
  }
  if (yyjson_is_str(v))
    return time_parse(json_val_str(v), ret_at);
  if (!yyjson_is_num(v))
    return false;
  double number = yyjson_get_num(v);
  if (!(number >= 0 && number < 253402300800000.0)) /* the year 10000 */
    return false;
  *ret_at = (int64_t)(number < 100000000000.0 ? number * 1000 : number);
  return true;
}

static enum status bad(struct error *err, const char *what, struct str value) {
  error_set(err, STATUS_USAGE, "%s%.*s", what, STR_ARG(utf8_cut(value, 40)));
  return error_fix(err, "a message is one JSON object on a line: {\"role\": \"user\", \"content\": \"Hello\"}; "
                        "roles are user, assistant, system, tool_call, tool_result, summary");
}

enum status message_read(struct arena *a, struct str line, struct message *ret_message, struct error *err) {
  yyjson_val *v;
  if (json_read(a, line, &v, err) != STATUS_OK)
    return error_fix(err, "a message is one JSON object on a line: {\"role\": \"user\", \"content\": \"Hello\"}");
  if (!yyjson_is_obj(v))
    return bad(err, "a message is a JSON object, not ", line);
  struct message m = {.id = text_of(a, yyjson_obj_get(v, "id")),
                      .name = text_of(a, yyjson_obj_get(v, "name")),
                      .content = text_of(a, yyjson_obj_get(v, "content")),
                      .raw = line};
  struct str role = json_str(v, "role");
  yyjson_val *input = yyjson_obj_get(v, "input");
  if (!role.p || !speaker_parse(role, &m.role))
    return bad(err, role.p ? "there is no role " : "a message needs a role", role);
  if (input && !yyjson_is_null(input))
    m.input = json_write_val(a, input);
  if (!read_time(yyjson_obj_get(v, "timestamp"), &m.at))
    return bad(err, "the timestamp is not a time such as 2026-02-05T10:00:00Z", STR_NONE);
  if (!m.content.p && !m.name.p && !m.input.p)
    return bad(err, "a message needs content", STR_NONE);
  m.extra = read_extra(a, v);
  *ret_message = m;
  return STATUS_OK;
}

/* ---- writing ---- */

static void put_parsed(struct arena *a, yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, struct str json) {
  struct error ignored;
  yyjson_val *v;
  if (json_read(a, json, &v, &ignored) == STATUS_OK)
    yyjson_mut_obj_add_val(doc, obj, name, yyjson_val_mut_copy(doc, v));
  else
    json_put(doc, obj, name, json); /* not JSON: store it as a string */
}

static void put_extra(struct arena *a, yyjson_mut_doc *doc, yyjson_mut_val *obj, struct str json) {
  struct error ignored;
  yyjson_val *v, *key, *value;
  size_t i, n;
  if (json_read(a, json, &v, &ignored) != STATUS_OK || !yyjson_is_obj(v))
    return;
  yyjson_obj_foreach(v, i, n, key, value) {
    if (!is_own(json_val_str(key)))
      yyjson_mut_obj_add(obj, yyjson_val_mut_copy(doc, key), yyjson_val_mut_copy(doc, value));
  }
}

struct str message_line(struct arena *a, const struct message *m) {
  assert((unsigned)m->role < SPEAKER_COUNT && !m->damaged);
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *v = yyjson_mut_obj(doc);
  char time[TIME_TEXT_SIZE];
  json_put_opt(doc, v, "id", m->id);
  json_put(doc, v, "role", str_from(speaker_names[m->role]));
  json_put_opt(doc, v, "name", m->name);
  if (m->input.p)
    put_parsed(a, doc, v, "input", m->input);
  json_put_opt(doc, v, "content", m->content);
  if (m->at)
    json_put(doc, v, "timestamp", time_format(m->at, time));
  if (m->extra.p)
    put_extra(a, doc, v, m->extra);
  return json_write(a, v, false);
}

size_t message_tokens(const struct message *m) {
  if (m->damaged)
    return 0;
  return MESSAGE_TOKENS + tokens_estimate(m->content) + tokens_estimate(m->name) + tokens_estimate(m->input);
}

/* ---- secrets ---- */

struct redaction {
  struct arena *a;
  const struct redactor *what;
  int64_t count;
};

static struct str redact_text(struct redaction *r, struct str text) {
  struct secret_hits hits = {0};
  if (str_empty(text))
    return text;
  redact_find(r->a, text, r->what, &hits);
  r->count += (int64_t)hits.n;
  return redact_apply(r->a, text, &hits);
}

/* Redacts the value of a member, also if only its name shows that it is a secret, as in {"password": "..."}. */
static struct str redact_member(struct redaction *r, struct str name, struct str text) {
  struct secret_hits hits = {0}, inside = {0};
  struct str both = arena_printf(r->a, "%.*s=%.*s", STR_ARG(name), STR_ARG(text));
  int64_t before = r->count;
  text = redact_text(r, text);
  if (r->count > before)
    return text;
  redact_find(r->a, both, r->what, &hits);
  for (size_t i = 0; i < hits.n; i++)
    if (hits.v[i].start > name.n) {
      struct secret_hit h = hits.v[i];
      h.start -= name.n + 1;
      list_push(r->a, &inside, h);
    }
  r->count += (int64_t)inside.n;
  return redact_apply(r->a, text, &inside);
}

/* A redacted copy of a value. The depth is bounded by json_read(). */
static yyjson_mut_val *redact_value(struct redaction *r, yyjson_mut_doc *doc, struct str name, yyjson_val *v) {
  size_t i, n;
  yyjson_val *key, *value;
  if (yyjson_is_str(v)) {
    struct str clean = redact_member(r, name, json_val_str(v));
    return yyjson_mut_strncpy(doc, clean.p, clean.n);
  }
  if (yyjson_is_arr(v)) {
    yyjson_mut_val *arr = yyjson_mut_arr(doc);
    yyjson_arr_foreach(v, i, n, value) {
      yyjson_mut_arr_append(arr, redact_value(r, doc, name, value));
    }
    return arr;
  }
  if (!yyjson_is_obj(v))
    return yyjson_val_mut_copy(doc, v);
  yyjson_mut_val *obj = yyjson_mut_obj(doc);
  yyjson_obj_foreach(v, i, n, key, value) {
    struct str label = redact_text(r, json_val_str(key));
    yyjson_mut_obj_add(obj, yyjson_mut_strncpy(doc, label.p, label.n), redact_value(r, doc, json_val_str(key), value));
  }
  return obj;
}

static struct str redact_json(struct redaction *r, struct str json) {
  struct error ignored;
  yyjson_val *v;
  if (str_empty(json))
    return json;
  if (json_read(r->a, json, &v, &ignored) != STATUS_OK)
    return redact_text(r, json);
  int64_t before = r->count;
  yyjson_mut_val *clean = redact_value(r, json_new(r->a), STR(""), v);
  return r->count > before ? json_write(r->a, clean, false) : json;
}

int64_t message_redact(struct arena *a, const struct redactor *what, struct message *m) {
  struct redaction r = {.a = a, .what = what};
  m->id = redact_text(&r, m->id);
  m->name = redact_text(&r, m->name);
  m->content = redact_text(&r, m->content);
  m->input = redact_json(&r, m->input);
  m->extra = redact_json(&r, m->extra);
  return r.count;
}
