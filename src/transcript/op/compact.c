/* compact.c: operations transcript flush and transcript compact. */
#include <assert.h>

#include "base/utf8.h"
#include "op/files/file_event.h"
#include "op/handlers.h"
#include "transcript/file/summary.h"
#include "transcript/op/flush.h"

enum { SUMMARY_TOKENS = 2000, SUMMARY_LEAST = 200, SHOWN_MESSAGES = 200, SHOWN_BYTES = 300 };

static void add_event(struct op_call *call, const char *action, struct str session, const char *reason,
                      const struct transcript_compacted *done) {
  yyjson_mut_doc *doc = json_new(call->arena);
  yyjson_mut_val *detail = yyjson_mut_obj(doc);
  json_put(doc, detail, "sessionId", session);
  if (reason)
    json_put(doc, detail, "reason", str_from(reason));
  if (done) {
    json_put_int(doc, detail, "before", done->before);
    json_put_int(doc, detail, "after", done->after);
  }
  file_event(call, action, detail);
}

/* The session, its thresholds, and the number of messages that compaction would remove. */
struct leaving {
  struct transcripts folder;
  struct str session;
  struct transcript tr;
  struct transcript_limits limits;
  struct transcript_info info;
  size_t count;
};

static enum status find_leaving(struct op_call *call, struct leaving *ret) {
  struct leaving l = {0};
  int64_t keep = 0;
  TRY(transcript_of_call(call, &l.folder, &l.session));
  TRY(transcript_limits(call, &l.limits));
  TRY(call_int(call, "keep", l.limits.keep, 1, 1000000, &keep));
  TRY(transcript_read(&l.folder, l.session, false, call->arena, &l.tr, call->err));
  TRY(transcript_find(&l.folder, l.session, call->arena, &l.info, call->err));
  l.count = transcript_cut(&l.tr.list, keep);
  if (l.count == 1 && l.tr.list.v[0].role == SPEAKER_SUMMARY)
    l.count = 0; /* do not summarise a summary */
  *ret = l;
  return STATUS_OK;
}

/* ---- flush ---- */

static void put_leaving(struct op_call *call, const struct leaving *l) {
  assert(l->count <= l->tr.list.n);
  yyjson_mut_val *v = json_put_obj(call->doc, call->result, "leaving");
  int64_t tokens = 0;
  for (size_t i = 0; i < l->count; i++)
    tokens += (int64_t)message_tokens(&l->tr.list.v[i]);
  json_put_int(call->doc, v, "messages", (int64_t)l->count);
  json_put_int(call->doc, v, "tokens", tokens);
  yyjson_mut_val *arr = json_put_arr(call->doc, v, "list");
  size_t from = l->count > SHOWN_MESSAGES ? l->count - SHOWN_MESSAGES : 0;
  if (from)
    json_put_int(call->doc, v, "not_listed", (int64_t)from);
  for (size_t i = from; i < l->count; i++) {
    const struct message *m = &l->tr.list.v[i];
    if (m->damaged || m->role == SPEAKER_TOOL_RESULT)
      continue;
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(call->doc, arr);
    json_put_opt(call->doc, item, "id", m->id);
    json_put(call->doc, item, "role", str_from(speaker_names[m->role]));
    json_put_opt(call->doc, item, "name", m->name);
    if (m->content.p)
      json_put(call->doc, item, "text", utf8_cut(m->content, SHOWN_BYTES));
  }
}

static void put_question(struct op_call *call, const struct leaving *l) {
  json_put(call->doc, call->result, "question",
           arena_printf(call->arena,
                        "%zu of the %zu messages of this session are about to be replaced by a summary. "
                        "Answer with the memories to keep, as a JSON array or in a fenced block labelled "
                        "'memory', or [NO_REPLY]. Without an answer, only labelled sentences (decision:, agreed:, "
                        "todo:, remember that ...) are kept, with low trust.",
                        l->count, l->tr.list.n));
  json_put(call->doc, call->result, "answer_with",
           arena_printf(call->arena, "cairn transcript flush %.*s --memories '[\"...\"]'", STR_ARG(l->session)));
}

enum status op_transcript_flush(struct op_call *call) {
  struct leaving l;
  struct drafts list = {0};
  struct str answer = json_str(call->args, "memories"), reason = json_str(call->args, "reason");
  TRY(find_leaving(call, &l));
  if (answer.p)
    TRY(flush_read_answer(call, answer, &list));
  if (answer.p)
    TRY(write_drafts(call, &list, "flush"));
  if (!l.tr.archived)
    TRY(transcript_set_flushed(&l.folder, l.session, answer.p != NULL, call->arena, call->err));
  json_put(call->doc, call->result, "session", l.session);
  json_put_int(call->doc, call->result, "tokens", l.tr.tokens);
  json_put_int(call->doc, call->result, "threshold", l.limits.flush);
  json_put_bool(call->doc, call->result, "due", l.limits.flush && l.tr.tokens >= l.limits.flush);
  json_put_bool(call->doc, call->result, "answered", answer.p || l.info.answered);
  if (!answer.p) {
    put_leaving(call, &l);
    put_question(call, &l);
  }
  add_event(call, "memory:flush", l.session, reason.p ? arena_cstr(call->arena, reason) : "manual", NULL);
  return STATUS_OK;
}

/* ---- compact ---- */

static enum status skip_compaction(struct op_call *call, const struct leaving *l, const char *why) {
  json_put(call->doc, call->result, "session", l->session);
  json_put_bool(call->doc, call->result, "compacted", false);
  json_put(call->doc, call->result, "reason", str_from(why));
  json_put_int(call->doc, call->result, "tokens", l->tr.tokens);
  json_put_int(call->doc, call->result, "threshold", l->limits.compact);
  return STATUS_OK;
}

/* The agent has not answered the flush: store labelled sentences before the messages are removed. */
static enum status keep_labelled(struct op_call *call, const struct leaving *l) {
  struct drafts list = {0};
  if (l->limits.flush == 0 || l->info.answered)
    return STATUS_OK;
  flush_draft_labelled(call, l->tr.list.v, l->count, &list);
  TRY(write_drafts(call, &list, "flush"));
  add_event(call, "memory:flush", l->session, "compaction_pending", NULL);
  return STATUS_OK;
}

static size_t summary_room(const struct leaving *l) {
  int64_t room = l->limits.compact / 4;
  if (room > SUMMARY_TOKENS)
    room = SUMMARY_TOKENS;
  return room < SUMMARY_LEAST ? SUMMARY_LEAST : (size_t)room;
}

enum status op_transcript_compact(struct op_call *call) {
  struct leaving l;
  struct transcript_compacted done;
  struct str summary = str_trim(json_str(call->args, "summary"));
  TRY(find_leaving(call, &l));
  if (l.tr.archived)
    return skip_compaction(call, &l, "the session is archived");
  if (l.tr.tokens < l.limits.compact && !json_bool(call->args, "force", false))
    return skip_compaction(call, &l, "the session is below the threshold; use --force to compact it anyway");
  if (l.count == 0)
    return skip_compaction(call, &l, "all messages are recent enough to be kept");
  TRY(keep_labelled(call, &l));
  bool extractive = str_empty(summary);
  if (extractive)
    summary = summary_make(call->arena, l.tr.list.v, l.count, summary_room(&l));
  struct compaction c = {.seen = &l.tr, .count = l.count, .summary = summary, .extractive = extractive};
  TRY(transcript_compact(&l.folder, &c, call->arena, &done, call->err));
  json_put(call->doc, call->result, "session", l.session);
  json_put_bool(call->doc, call->result, "compacted", true);
  json_put_int(call->doc, call->result, "before", done.before);
  json_put_int(call->doc, call->result, "after", done.after);
  json_put_int(call->doc, call->result, "messages_before", done.messages_before);
  json_put_int(call->doc, call->result, "messages_after", done.messages_after);
  json_put_int(call->doc, call->result, "taken", done.taken);
  json_put(call->doc, call->result, "summary_id", done.summary_id);
  json_put_bool(call->doc, call->result, "extractive", extractive);
  json_put(call->doc, call->result, "summary", summary);
  json_put(call->doc, call->result, "path", call_path(call, done.path));
  json_put(call->doc, call->result, "originals", call_path(call, done.originals));
  add_event(call, "memory:compact", l.session, NULL, &done);
  return STATUS_OK;
}
