/* record.c: records of an export to and from JSON. */
#include "op/transfer/record.h"

#include <assert.h>

#include "base/id.h"

/* ---- members of records other than memories ---- */

enum member_form { MEMBER_TEXT, MEMBER_UID, MEMBER_TIME, MEMBER_FLAG, MEMBER_JSON };

struct member {
  const char *name;
  enum member_form form;
  bool optional;
  size_t offset; /* in struct record */
};

#define MEMBER(part, field, name, form, optional) {name, form, optional, offsetof(struct record, part.field)}

static const struct member link_members[] = {
    MEMBER(link, src_uid, "src", MEMBER_UID, false),
    MEMBER(link, rel, "rel", MEMBER_TEXT, false),
    MEMBER(link, dst_uid, "dst", MEMBER_UID, false),
    MEMBER(link, at, "at", MEMBER_TIME, false),
    MEMBER(link, reason, "reason", MEMBER_TEXT, true),
    MEMBER(link, prior, "prior", MEMBER_JSON, true),
    {0},
};
static const struct member tombstone_members[] = {
    MEMBER(tombstone, uid, "uid", MEMBER_UID, false),
    MEMBER(tombstone, at, "at", MEMBER_TIME, false),
    MEMBER(tombstone, by, "by", MEMBER_TEXT, false),
    {0},
};
static const struct member txn_members[] = {
    MEMBER(txn, uid, "uid", MEMBER_UID, false),
    MEMBER(txn, at, "at", MEMBER_TIME, false),
    MEMBER(txn, op, "op", MEMBER_TEXT, false),
    MEMBER(txn, source, "source", MEMBER_TEXT, false),
    MEMBER(txn, session, "session", MEMBER_TEXT, true),
    MEMBER(txn, undoes, "undoes", MEMBER_UID, true),
    {0},
};
static const struct member event_members[] = {
    MEMBER(event, at, "at", MEMBER_TIME, false),           MEMBER(event, txn, "txn", MEMBER_UID, true),
    MEMBER(event, action, "action", MEMBER_TEXT, false),   MEMBER(event, change, "change", MEMBER_TEXT, true),
    MEMBER(event, op, "op", MEMBER_TEXT, false),           MEMBER(event, uid, "uid", MEMBER_UID, true),
    MEMBER(event, project, "project", MEMBER_TEXT, false), MEMBER(event, source, "source", MEMBER_TEXT, false),
    MEMBER(event, session, "session", MEMBER_TEXT, true),  MEMBER(event, before, "before", MEMBER_JSON, true),
    MEMBER(event, after, "after", MEMBER_JSON, true),      MEMBER(event, detail, "detail", MEMBER_JSON, true),
    MEMBER(event, purged, "purged", MEMBER_FLAG, true),    {0},
};

static const struct {
  const char *name; /* of the line's only member */
  const struct member *members;
} layouts[RECORD_KINDS] = {
    [RECORD_TOMBSTONE] = {"tombstone", tombstone_members},
    [RECORD_MEMORY] = {"memory", NULL},
    [RECORD_LINK] = {"link", link_members},
    [RECORD_TXN] = {"txn", txn_members},
    [RECORD_EVENT] = {"event", event_members},
};

static void *member_at(const struct record *r, const struct member *m) { return (char *)(uintptr_t)r + m->offset; }

/* ---- writing ---- */

static void put_json(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, struct str json) {
  yyjson_val *parsed;
  struct error err;
  if (!json.p)
    return;
  /* Cairn stores only valid JSON here; anything else is kept as a string. */
  if (json_read(doc->alc.ctx, json, &parsed, &err) == STATUS_OK)
    yyjson_mut_obj_add_val(doc, obj, name, yyjson_val_mut_copy(doc, parsed));
  else
    json_put(doc, obj, name, json);
}

static void put_members(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct record *r, const struct member *m) {
  for (; m->name; m++) {
    const void *at = member_at(r, m);
    char time[TIME_TEXT_SIZE];
    switch (m->form) {
    case MEMBER_TEXT:
    case MEMBER_UID:
      if (m->optional)
        json_put_opt(doc, obj, m->name, *(const struct str *)at);
      else
        json_put(doc, obj, m->name, *(const struct str *)at);
      break;
    case MEMBER_TIME:
      json_put(doc, obj, m->name, time_format(*(const int64_t *)at, time));
      break;
    case MEMBER_FLAG:
      if (*(const int64_t *)at)
        json_put_bool(doc, obj, m->name, true);
      break;
    case MEMBER_JSON:
      put_json(doc, obj, m->name, *(const struct str *)at);
      break;
    }
  }
}

struct str record_write(struct arena *a, const struct record *r) {
  assert(r->kind < RECORD_KINDS);
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  if (r->kind == RECORD_HEADER) {
    json_put(doc, root, "cairn", STR("export"));
    json_put_int(doc, root, "version", r->version);
    json_put_int(doc, root, "schema", r->schema);
    return json_write(a, root, false);
  }
  yyjson_mut_val *obj = json_put_obj(doc, root, layouts[r->kind].name);
  if (r->kind == RECORD_MEMORY) {
    memory_put_fields(doc, obj, &r->m, 0, FIELD_LOCAL);
    json_put(doc, obj, "body", r->m.body);
    memory_put_lists(doc, obj, &r->m);
    notes_put(doc, obj, &r->notes);
  } else {
    put_members(doc, obj, r, layouts[r->kind].members);
  }
  return json_write(a, root, false);
}

/* ---- reading ---- */

static enum status fail(struct error *err, const char *fix) { return error_fix(err, "%s", fix); }

static enum status unknown_member(struct error *err, struct str name, const char *where) {
  error_set(err, STATUS_USAGE, "unknown member '%.*s' in '%s'", STR_ARG(name), where);
  return fail(err, "remove it; docs/export-format.md lists the members");
}

static enum status repeated_member(struct error *err, struct str name, const char *where) {
  error_set(err, STATUS_USAGE, "duplicate member '%.*s' in '%s'", STR_ARG(name), where);
  return fail(err, "keep one of them");
}

static enum status missing_member(struct error *err, const char *name, const char *where) {
  error_set(err, STATUS_USAGE, "member '%s' of '%s' is missing", name, where);
  return fail(err, "add it; docs/export-format.md says what belongs there");
}

static enum status wrong_member(struct error *err, const char *name, const char *want) {
  error_set(err, STATUS_USAGE, "member '%s' is not %s", name, want);
  return fail(err, "correct it; docs/export-format.md says what belongs there");
}

static enum status read_member(struct arena *a, yyjson_val *v, const struct member *m, struct record *r,
                               struct error *err) {
  void *at = member_at(r, m);
  struct str text = json_val_str(v);
  switch (m->form) {
  case MEMBER_TEXT:
    *(struct str *)at = text;
    return text.p ? STATUS_OK : wrong_member(err, m->name, "a text");
  case MEMBER_UID:
    *(struct str *)at = text;
    return uuid_is_valid(text) ? STATUS_OK : wrong_member(err, m->name, "a uid (lower-case 8-4-4-4-12)");
  case MEMBER_TIME:
    return text.p && time_parse(text, at) ? STATUS_OK
                                          : wrong_member(err, m->name, "a timestamp such as 2026-03-31T12:00:00.000Z");
  case MEMBER_FLAG:
    *(int64_t *)at = yyjson_get_bool(v);
    return yyjson_is_bool(v) ? STATUS_OK : wrong_member(err, m->name, "true or false");
  case MEMBER_JSON:
    *(struct str *)at = json_write_val(a, v);
    return STATUS_OK;
  }
  return STATUS_INTERNAL;
}

static enum status read_members(struct arena *a, yyjson_val *obj, const char *where, const struct member *members,
                                struct record *r, struct error *err) {
  uint64_t seen = 0;
  size_t i, n;
  yyjson_val *key, *v;
  yyjson_obj_foreach(obj, i, n, key, v) {
    struct str name = json_val_str(key);
    size_t at = 0;
    while (members[at].name && !str_is(name, members[at].name))
      at++;
    if (!members[at].name)
      return unknown_member(err, name, where);
    assert(at < 64);
    if (seen & UINT64_C(1) << at)
      return repeated_member(err, name, where);
    seen |= UINT64_C(1) << at;
    TRY(read_member(a, v, &members[at], r, err));
  }
  for (size_t at = 0; members[at].name; at++)
    if (!members[at].optional && !(seen & UINT64_C(1) << at))
      return missing_member(err, members[at].name, where);
  return STATUS_OK;
}

/* ---- memories ---- */

/* Members of a memory: the fields, then the lists, then these. */
static const char *const own_members[] = {"body", "annotations"};

static size_t memory_member_count(void) { return memory_field_count + memory_list_count + ARRAY_LEN(own_members); }

/* "" for fields that are local to a store. */
static const char *memory_member(size_t i) {
  assert(i < memory_member_count());
  if (i < memory_field_count)
    return memory_fields[i].flags & FIELD_LOCAL ? "" : memory_fields[i].name;
  i -= memory_field_count;
  return i < memory_list_count ? memory_lists[i].name : own_members[i - memory_list_count];
}

/* Members are usually in the order of the table, so the search starts at the last one that was found. */
static size_t find_memory_member(struct str name, size_t from) {
  size_t count = memory_member_count();
  assert(from < count);
  for (size_t k = 0; k < count; k++) {
    size_t at = from + k < count ? from + k : from + k - count;
    if (name.n && str_is(name, memory_member(at)))
      return at;
  }
  return count;
}

static enum status read_list(yyjson_val *v, const char *name, struct error *err) {
  size_t i, n;
  yyjson_val *e;
  if (!yyjson_is_arr(v))
    return wrong_member(err, name, "a list of texts");
  yyjson_arr_foreach(v, i, n, e) {
    if (!yyjson_is_str(e) || yyjson_get_len(e) == 0)
      return wrong_member(err, name, "a list of texts that are not empty");
  }
  return STATUS_OK;
}

static enum status read_note(struct arena *a, yyjson_val *v, struct notes *notes, struct error *err) {
  static const char *const names[] = {"at", "by", "text"};
  struct note note = {.by = json_str(v, "by"), .text = json_str(v, "text")};
  if (!yyjson_is_obj(v) || yyjson_obj_size(v) != ARRAY_LEN(names) || !note.by.p || str_empty(note.text) ||
      !time_parse(json_str(v, "at"), &note.at))
    return wrong_member(err, "annotations", "a list of {\"at\": timestamp, \"by\": text, \"text\": text}");
  list_push(a, notes, note);
  return STATUS_OK;
}

static enum status read_notes(struct arena *a, yyjson_val *v, struct notes *notes, struct error *err) {
  size_t i, n;
  yyjson_val *e;
  if (!yyjson_is_arr(v))
    return wrong_member(err, "annotations", "a list");
  yyjson_arr_foreach(v, i, n, e) {
    TRY(read_note(a, e, notes, err));
  }
  return STATUS_OK;
}

static enum status read_memory_member(struct arena *a, yyjson_val *v, size_t at, struct record *r, struct error *err) {
  if (at < memory_field_count)
    return STATUS_OK; /* memory_get_fields() reads all of them */
  at -= memory_field_count;
  if (at < memory_list_count)
    return read_list(v, memory_lists[at].name, err);
  if (at - memory_list_count == 1)
    return read_notes(a, v, &r->notes, err);
  r->m.body = json_val_str(v);
  return yyjson_is_str(v) ? STATUS_OK : wrong_member(err, "body", "a text");
}

static bool memory_member_required(size_t at) {
  if (at >= memory_field_count)
    return at == memory_field_count + memory_list_count;
  const struct field *f = &memory_fields[at];
  return !(f->flags & (FIELD_NULL | FIELD_LOCAL)) && f->form != FIELD_BOOL;
}

static enum status read_memory(struct arena *a, yyjson_val *obj, struct record *r, struct error *err) {
  uint64_t seen = 0;
  size_t i, n, at = 0;
  yyjson_val *key, *v;
  assert(memory_member_count() <= 64);
  yyjson_obj_foreach(obj, i, n, key, v) {
    struct str name = json_val_str(key);
    at = find_memory_member(name, at);
    if (at == memory_member_count())
      return unknown_member(err, name, "memory");
    if (seen & UINT64_C(1) << at)
      return repeated_member(err, name, "memory");
    seen |= UINT64_C(1) << at;
    TRY(read_memory_member(a, v, at, r, err));
  }
  for (at = 0; at < memory_member_count(); at++)
    if (memory_member_required(at) && !(seen & UINT64_C(1) << at))
      return missing_member(err, memory_member(at), "memory");
  if (memory_get_fields(a, obj, &r->m, 0, FIELD_LOCAL, err) != STATUS_OK)
    return fail(err, "correct it; docs/export-format.md says what belongs there");
  memory_get_lists(a, obj, &r->m);
  return STATUS_OK;
}

/* ---- lines ---- */

static enum status read_header(yyjson_val *root, struct record *r, struct error *err) {
  r->version = json_int(root, "version", 0);
  r->schema = json_int(root, "schema", 0);
  if (!str_is(json_str(root, "cairn"), "export") || r->version < 1) {
    error_set(err, STATUS_USAGE, "this is not the header of an export");
    return fail(err, "the first line is {\"cairn\":\"export\",\"version\":1,\"schema\":1}");
  }
  if (r->version > EXPORT_VERSION) {
    error_set(err, STATUS_SCHEMA, "the export has format version %lld, this program reads up to version %d",
              (long long)r->version, EXPORT_VERSION);
    return fail(err, "update Cairn, or export again with this version");
  }
  if (yyjson_obj_size(root) != 3 || r->schema < 1) {
    error_set(err, STATUS_USAGE, "the header must have exactly: cairn, version, schema");
    return fail(err, "the first line is {\"cairn\":\"export\",\"version\":1,\"schema\":1}");
  }
  return STATUS_OK;
}

static bool has_nul(yyjson_val *v) {
  struct str s = json_val_str(v);
  if (s.n && memchr(s.p, 0, s.n))
    return true;
  size_t i, n;
  yyjson_val *key, *e;
  yyjson_arr_foreach(v, i, n, e) {
    if (has_nul(e))
      return true;
  }
  yyjson_obj_foreach(v, i, n, key, e) {
    if (has_nul(key) || has_nul(e))
      return true;
  }
  return false;
}

static enum status not_a_record(struct error *err) {
  error_set(err, STATUS_USAGE, "a line holds one of: memory, link, tombstone, txn, event");
  return fail(err, "write {\"memory\": {...}}; docs/export-format.md describes the format");
}

enum status record_read(struct arena *a, struct str line, struct record *ret_record, struct error *err) {
  yyjson_val *root, *obj = NULL;
  struct record r = {0};
  if (json_read(a, line, &root, err) != STATUS_OK)
    return fail(err, "every line is one JSON object in UTF-8");
  /* JSON can contain a NUL only as an escape. */
  if (str_find(line, STR("\\u0000"), 0) != SIZE_MAX && has_nul(root)) {
    error_set(err, STATUS_USAGE, "a text holds a NUL character");
    return fail(err, "remove it: memories are text");
  }
  if (yyjson_obj_get(root, "cairn")) {
    TRY(read_header(root, &r, err));
  } else {
    for (size_t kind = RECORD_HEADER + 1; kind < RECORD_KINDS && !obj; kind++) {
      obj = yyjson_obj_get(root, layouts[kind].name);
      r.kind = (enum record_kind)kind;
    }
    if (!yyjson_is_obj(obj) || yyjson_obj_size(root) != 1)
      return not_a_record(err);
    TRY(r.kind == RECORD_MEMORY ? read_memory(a, obj, &r, err)
                                : read_members(a, obj, layouts[r.kind].name, layouts[r.kind].members, &r, err));
  }
  *ret_record = r;
  return STATUS_OK;
}
