/* index.c: indexing transcript messages as documents of the corpus "sessions".
 *
 * Opt-in with the setting sessions.indexed. Tool calls and results are not indexed: the text of a file that was read
 * would bury the conversation about it. */
#include "base/utf8.h"
#include "core/memory/headline.h"
#include "core/text/text.h"
#include "op/handlers.h"
#include "op/search/corpus.h"
#include "store/memories/documents.h"
#include "store/tables/settings.h"
#include "transcript/op/transcript.h"

enum { DOCUMENT_BYTES = 100000 };

enum status transcript_is_indexed(struct op_call *call, bool *ret_on) {
  struct setting_value v;
  TRY(setting_get(call->engine->store, call->caller.team, SET_SESSIONS_INDEXED, call->arena, &v, call->err));
  *ret_on = str_is(v.value, "on");
  return STATUS_OK;
}

static bool is_indexable(const struct message *m) {
  return !m->damaged && m->id.p &&
         (m->role == SPEAKER_USER || m->role == SPEAKER_ASSISTANT || m->role == SPEAKER_SYSTEM) &&
         text_has_letter(m->content);
}

static void make_documents(struct arena *a, const struct redactor *what, struct str session,
                           const struct messages *list, struct documents *ret) {
  const char *type = type_of_sequence()->name;
  for (size_t i = 0; i < list->n; i++) {
    struct message m = list->v[i];
    if (!is_indexable(&m))
      continue;
    (void)message_redact(a, what, &m); /* the file may have been edited manually */
    const char *role = speaker_names[m.role];
    struct str headline = arena_printf(a, "%s: %.*s", role, STR_ARG(headline_derive(a, m.content)));
    list_push(a, ret,
              (struct document){.ref = arena_printf(a, "%s:%.*s", role, STR_ARG(m.id)),
                                .type = str_from(type),
                                .headline = headline_cut(a, headline),
                                .text = utf8_cut(m.content, DOCUMENT_BYTES),
                                .session = session,
                                .at = m.at});
  }
}

static struct str group_path(const struct transcripts *t, struct str session, struct arena *a) {
  return arena_printf(a, "%.*s/%.*s.jsonl", STR_ARG(t->folder), STR_ARG(session));
}

static enum status add_messages(struct op_call *call, const struct transcripts *t, struct str session,
                                const struct messages *list, struct str hash, struct arena *a,
                                struct document_counts *counts) {
  struct documents documents = {0};
  struct document_group group = {.path = group_path(t, session, a), .hash = hash, .changed_at = call->now};
  struct txn txn;
  make_documents(a, call->secrets, session, list, &documents);
  if (documents.n == 0 && str_empty(hash))
    return STATUS_OK;
  TRY(call_begin(call, &txn));
  TRY(documents_append(&txn, a, CORPUS_SESSIONS, &group, &documents, counts, call->err));
  return txn_commit(&txn, call->err);
}

struct str transcript_index_added(struct op_call *call, const struct transcripts *t, struct str session,
                                  const struct messages *list) {
  struct document_counts counts = {0};
  struct error *own = arena_new(call->arena, struct error), *outer = call->err;
  call->err = own;
  enum status s = add_messages(call, t, session, list, STR_NONE, call->arena, &counts);
  call->err = outer;
  if (s == STATUS_OK)
    return STR_NONE;
  store_rollback(call->engine->store);
  return arena_printf(call->arena, "%s; run 'cairn transcript index' to index them", own->message);
}

/* ---- changed sessions ---- */

static struct str state_of(const struct transcript_info *info, struct arena *a) {
  return arena_printf(a, "%lld.%lld.%d", (long long)info->size, (long long)info->compactions, (int)info->archived);
}

static const struct document_group *find_group(const struct document_groups *groups, struct str path) {
  for (size_t low = 0, high = groups->n; low < high;) {
    size_t middle = (low + high) / 2;
    int c = str_cmp(groups->v[middle].path, path);
    if (c == 0)
      return &groups->v[middle];
    if (c < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

enum status transcript_index_changed(struct op_call *call, const struct transcripts *t, struct str only,
                                     int64_t *ret_sessions, int64_t *ret_added) {
  struct transcript_infos list;
  struct document_groups groups = {0};
  struct document_counts counts = {0};
  struct arena *a = arena_child(call->arena);
  int64_t sessions = 0;
  bool rebuilt;
  TRY(transcript_list(t, call->arena, &list, &rebuilt, call->err));
  TRY(documents_groups(call->engine->store, call->caller.team, call->caller.project, CORPUS_SESSIONS, call->arena,
                       &groups, call->err));
  for (size_t i = 0; i < list.n && !cancelled(call); i++) {
    const struct transcript_info *info = &list.v[i];
    const struct document_group *had = find_group(&groups, group_path(t, info->id, a));
    struct str state = state_of(info, a);
    struct transcript tr;
    if ((only.p && !str_eq(only, info->id)) || (had && str_eq(had->hash, state)))
      continue;
    TRY(transcript_read(t, info->id, true, a, &tr, call->err));
    TRY(add_messages(call, t, info->id, &tr.list, state, a, &counts));
    sessions++;
    arena_release(a);
    progress(call, "index", (int64_t)i + 1, (int64_t)list.n);
  }
  *ret_sessions = sessions;
  *ret_added = counts.added;
  return STATUS_OK;
}

/* ---- the operation ---- */

static enum status remove_from_index(struct op_call *call, struct str only, const struct transcripts *t) {
  struct document_groups groups = {0};
  struct document_counts counts = {0};
  struct str path = only.p ? group_path(t, only, call->arena) : STR_NONE;
  struct txn txn;
  int64_t sessions = 0;
  TRY(documents_groups(call->engine->store, call->caller.team, call->caller.project, CORPUS_SESSIONS, call->arena,
                       &groups, call->err));
  TRY(call_begin(call, &txn));
  for (size_t i = 0; i < groups.n; i++) {
    if (path.p && !str_eq(path, groups.v[i].path))
      continue;
    TRY(documents_remove(&txn, call->arena, CORPUS_SESSIONS, groups.v[i].path, &counts, call->err));
    sessions++;
  }
  TRY(txn_commit(&txn, call->err));
  json_put_int(call->doc, call->result, "sessions", sessions);
  json_put_int(call->doc, call->result, "removed", counts.removed);
  return STATUS_OK;
}

enum status op_transcript_index(struct op_call *call) {
  struct transcripts t;
  struct transcript_info info;
  struct str only = json_str(call->args, "session");
  bool on = false;
  int64_t sessions, added;
  TRY(transcripts_at(call->engine->store, call->caller.team, call->caller.project, call->now, call->arena, &t,
                     call->err));
  if (json_bool(call->args, "remove", false))
    return remove_from_index(call, only, &t);
  TRY(transcript_is_indexed(call, &on));
  if (!on) {
    error_set(call->err, STATUS_CONFLICT, "indexing of transcripts is off");
    return error_fix(call->err, "'cairn config sessions.indexed on' switches it on");
  }
  if (only.p)
    TRY(transcript_find(&t, only, call->arena, &info, call->err));
  TRY(transcript_index_changed(call, &t, only, &sessions, &added));
  json_put_int(call->doc, call->result, "sessions", sessions);
  json_put_int(call->doc, call->result, "added", added);
  return corpus_embed(call);
}
