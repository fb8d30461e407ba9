/* typed.c: remember, supersede, forget and get with C structures instead of JSON. */
#include <assert.h>

#include "lib/convert.h"

/* ---- writing ---- */

#define DRAFT(name, form) {#name, form, offsetof(struct cairn_draft, name)}
static const struct member draft_members[] = {
    DRAFT(headline, FORM_TEXT),      DRAFT(kind, FORM_TEXT),          DRAFT(type, FORM_TEXT),
    DRAFT(severity, FORM_TEXT),      DRAFT(key, FORM_TEXT),           DRAFT(project, FORM_TEXT),
    DRAFT(tags, FORM_LIST),          DRAFT(people, FORM_LIST),        DRAFT(weight, FORM_NUMBER),
    DRAFT(ttl, FORM_TEXT),           DRAFT(valid_from, FORM_TEXT),    DRAFT(delivery, FORM_TEXT),
    DRAFT(supersedes, FORM_TEXT),    DRAFT(reason, FORM_TEXT),        DRAFT(soft, FORM_BOOL),
    DRAFT(distinct_from, FORM_LIST), DRAFT(inherit_pin, FORM_BOOL),   DRAFT(idempotency_key, FORM_TEXT),
    DRAFT(inherit_key, FORM_BOOL),   DRAFT(inherit_skill, FORM_BOOL),
};

struct write_call {
  const char *operation, *ref;
  const struct cairn_draft *draft;
  struct cairn_written *written;
};

static enum cairn_action action_of(struct str name) {
  if (str_is(name, "skipped"))
    return CAIRN_SKIPPED;
  if (str_is(name, "updated"))
    return CAIRN_UPDATED;
  return str_is(name, "superseded") ? CAIRN_SUPERSEDED : CAIRN_STORED;
}

static const struct cairn_warning *warnings_of(struct lib_call *c, yyjson_val *arr) {
  struct cairn_warning *list = arena_array(&c->result, struct cairn_warning, yyjson_arr_size(arr) + 1);
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(arr, i, n, v) {
    list[i] = (struct cairn_warning){text_of(v, "code"), text_of(v, "message"), text_of(v, "fix")};
  }
  return list;
}

static struct cairn_written *written_of(struct lib_call *c, struct str json, yyjson_val *root) {
  struct cairn_written *w = lib_result_new(c, sizeof(*w));
  yyjson_val *warnings = yyjson_obj_get(root, "warnings");
  *w = (struct cairn_written){.id = json_int(root, "id", 0),
                              .uid = text_of(root, "uid"),
                              .action = action_of(json_str(root, "action")),
                              .txn = json_int(root, "txn", 0),
                              .kind = text_of(root, "kind"),
                              .type = text_of(root, "type"),
                              .project = text_of(root, "project"),
                              .headline = text_of(root, "headline"),
                              .supersedes = json_int(root, "supersedes", 0),
                              .warning_count = yyjson_arr_size(warnings),
                              .warnings = warnings_of(c, warnings),
                              .json = json.p,
                              .json_n = json.n};
  return w;
}

static enum status run_write(struct lib_call *c, void *arg) {
  struct write_call *w = arg;
  struct cairn_draft d;
  struct str json;
  yyjson_val *root;
  if (!w->draft)
    return error_set(&c->err, STATUS_USAGE, "the draft is missing");
  if (!lib_copy_sized(&d, sizeof(d), w->draft, SIZE_UP_TO(struct cairn_draft, more)))
    return newer_structure(c, "the draft");
  struct args a = args_new(c);
  args_string(&a, "id", str_from(w->ref));
  args_string(&a, "text", d.text && d.text_n ? (struct str){d.text, d.text_n} : str_from(d.text));
  args_members(&a, draft_members, ARRAY_LEN(draft_members), &d);
  args_more(&a, d.more);
  TRY(args_run(&a, w->operation, &json, &root));
  w->written = written_of(c, json, root);
  return STATUS_OK;
}

static int write_memory(struct cairn *db, struct write_call *w, struct cairn_written **ret_written) {
  int s = lib_guard(db, run_write, w);
  if (s != CAIRN_OK)
    return s;
  assert(w->written);
  if (ret_written)
    *ret_written = w->written;
  else
    cairn_written_free(w->written);
  return s;
}

int cairn_remember(struct cairn *db, const struct cairn_draft *draft, struct cairn_written **ret_written) {
  struct write_call w = {.operation = "remember", .draft = draft};
  return write_memory(db, &w, ret_written);
}

int cairn_supersede(struct cairn *db, const char *ref, const struct cairn_draft *draft,
                    struct cairn_written **ret_written) {
  struct write_call w = {.operation = "supersede", .ref = ref, .draft = draft};
  return write_memory(db, &w, ret_written);
}

void cairn_written_free(struct cairn_written *written) { lib_result_free(written); }

struct forget_call {
  const char *ref, *reason;
  int64_t txn;
};

static enum status run_forget(struct lib_call *c, void *arg) {
  struct forget_call *f = arg;
  struct str json;
  yyjson_val *root;
  struct args a = args_new(c);
  const char *const refs[] = {f->ref, NULL};
  args_list(&a, "ids", f->ref ? refs : NULL);
  args_string(&a, "reason", str_from(f->reason));
  TRY(args_run(&a, "forget", &json, &root));
  f->txn = json_int(root, "txn", 0);
  return STATUS_OK;
}

int cairn_forget(struct cairn *db, const char *ref, const char *reason, int64_t *ret_txn) {
  struct forget_call f = {.ref = ref, .reason = reason};
  int s = lib_guard(db, run_forget, &f);
  if (s == CAIRN_OK && ret_txn)
    *ret_txn = f.txn;
  return s;
}

/* ---- reading ---- */

struct get_call {
  const char *ref;
  struct cairn_memory *memory;
};

#define TEXT_MEMBER(name) {#name, offsetof(struct cairn_memory, name)}
static const struct {
  const char *name;
  size_t offset;
} memory_texts[] = {
    TEXT_MEMBER(uid),        TEXT_MEMBER(project),      TEXT_MEMBER(kind),       TEXT_MEMBER(type),
    TEXT_MEMBER(severity),   TEXT_MEMBER(key),          TEXT_MEMBER(headline),   TEXT_MEMBER(body),
    TEXT_MEMBER(delivery),   TEXT_MEMBER(skill_name),   TEXT_MEMBER(trust),      TEXT_MEMBER(state),
    TEXT_MEMBER(banner),     TEXT_MEMBER(state_reason), TEXT_MEMBER(status),     TEXT_MEMBER(priority),
    TEXT_MEMBER(milestone),  TEXT_MEMBER(due),          TEXT_MEMBER(claimed_by), TEXT_MEMBER(root_cause),
    TEXT_MEMBER(resolution), TEXT_MEMBER(source),       TEXT_MEMBER(session),
};

static const struct cairn_note *notes_of(struct lib_call *c, yyjson_val *arr) {
  struct cairn_note *list = arena_array(&c->result, struct cairn_note, yyjson_arr_size(arr) + 1);
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(arr, i, n, v) {
    list[i] = (struct cairn_note){time_of(v, "at"), text_of(v, "by"), text_of(v, "text")};
  }
  return list;
}

static const struct cairn_link *link_array(struct lib_call *c, yyjson_val *arr) {
  struct cairn_link *list = arena_array(&c->result, struct cairn_link, yyjson_arr_size(arr) + 1);
  size_t i, n;
  yyjson_val *v;
  yyjson_arr_foreach(arr, i, n, v) {
    list[i] = (struct cairn_link){.rel = text_of(v, "rel"),
                                  .outgoing = str_is(json_str(v, "direction"), "out"),
                                  .id = json_int(v, "id", 0),
                                  .uid = text_of(v, "uid"),
                                  .headline = text_of(v, "headline"),
                                  .state = text_of(v, "state"),
                                  .reason = text_of(v, "reason")};
  }
  return list;
}

static struct cairn_memory *memory_of(struct lib_call *c, struct str json, yyjson_val *root) {
  struct cairn_memory *m = lib_result_new(c, sizeof(*m));
  yyjson_val *notes = yyjson_obj_get(root, "annotations"), *links = yyjson_obj_get(root, "links");
  *m = (struct cairn_memory){.id = json_int(root, "id", 0),
                             .body_n = json_str(root, "body").n,
                             .head = json_int(root, "head", 0),
                             .weight = json_num(root, "weight", 0),
                             .valid_from = time_of(root, "valid_from"),
                             .created_at = time_of(root, "created_at"),
                             .updated_at = time_of(root, "updated_at"),
                             .expires_at = time_of(root, "expires_at"),
                             .last_accessed = time_of(root, "last_accessed"),
                             .access_count = json_int(root, "access_count", 0),
                             .upvotes = json_int(root, "upvotes", 0),
                             .downvotes = json_int(root, "downvotes", 0),
                             .tags = list_of(c, root, "tags"),
                             .people = list_of(c, root, "people"),
                             .topics = list_of(c, root, "topics"),
                             .note_count = yyjson_arr_size(notes),
                             .notes = notes_of(c, notes),
                             .link_count = yyjson_arr_size(links),
                             .links = link_array(c, links),
                             .json = json.p,
                             .json_n = json.n};
  for (size_t i = 0; i < ARRAY_LEN(memory_texts); i++)
    *(const char **)((char *)m + memory_texts[i].offset) = text_of(root, memory_texts[i].name);
  return m;
}

static enum status run_get(struct lib_call *c, void *arg) {
  struct get_call *g = arg;
  struct str json;
  yyjson_val *root;
  struct args a = args_new(c);
  args_string(&a, "id", str_from(g->ref));
  TRY(args_run(&a, "get", &json, &root));
  g->memory = memory_of(c, json, root);
  return STATUS_OK;
}

int cairn_get(struct cairn *db, const char *ref, struct cairn_memory **ret_memory) {
  struct get_call g = {.ref = ref};
  int s = lib_guard(db, run_get, &g);
  if (s != CAIRN_OK)
    return s;
  assert(g.memory);
  if (ret_memory)
    *ret_memory = g.memory;
  else
    cairn_memory_free(g.memory);
  return s;
}

void cairn_memory_free(struct cairn_memory *memory) { lib_result_free(memory); }
