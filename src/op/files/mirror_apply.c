/* mirror_apply.c: edits of MEMORY.md as writes to the store. */
#include <assert.h>

#include "core/memory/headline.h"
#include "op/files/mirror.h"
#include "op/transfer/import.h"

static const struct str reason_edited = STR_INIT("edited in MEMORY.md");
static const struct str reason_removed = STR_INIT("removed from MEMORY.md");

struct edit {
  struct mirror_block *block;
  struct write write;
  bool ready; /* prepared and not refused */
};

struct applying {
  struct op_call *call;
  const struct mirror_knowns *known;
  struct mirror_report *report;
  struct txn txn;
  LIST(struct edit) edits;
};

/* ---- report ---- */

static yyjson_mut_val *report_line(struct applying *p, yyjson_mut_val *list, const struct mirror_block *b) {
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(p->call->doc, list);
  json_put_int(p->call->doc, v, "line", (int64_t)b->line);
  return v;
}

static void report_write(struct applying *p, const struct edit *e) {
  bool add = e->block->fate == MIRROR_ADD;
  yyjson_mut_val *v = report_line(p, add ? p->report->added : p->report->changed, e->block);
  json_put_int(p->call->doc, v, "id", e->write.id);
  json_put(p->call->doc, v, "headline", e->write.headline);
  if (e->write.old_id)
    json_put_int(p->call->doc, v, "supersedes", e->write.old_id);
}

/* Leaves the line on the page, with a note that says why it was refused. */
static void refuse_line(struct applying *p, struct mirror_block *b, const struct error *err) {
  yyjson_mut_val *v = report_line(p, p->report->refused, b);
  json_put(p->call->doc, v, "code", str_from(status_name(err->code)));
  json_put(p->call->doc, v, "error", str_from(err->message));
  if (err->fix[0])
    json_put(p->call->doc, v, "fix", str_from(err->fix));
  mirror_hold(p->call->arena, b, MIRROR_REFUSED, arena_printf(p->call->arena, "refused: %s", err->message));
}

static void report_conflict(struct applying *p, struct mirror_block *b) {
  assert(b->fate == MIRROR_CLASH && b->id);
  struct op_call *call = p->call;
  yyjson_mut_val *v = report_line(p, p->report->conflicts, b);
  struct str now = STR("");
  for (size_t i = 0; i < p->known->n; i++)
    if (p->known->v[i].head == b->id)
      now = p->known->v[i].head_text;
  json_put_int(call->doc, v, "id", b->id);
  json_put(call->doc, v, "text", b->text);
  json_put(call->doc, v, "stored", now);
  mirror_hold(call->arena, b, MIRROR_CONFLICT,
              arena_printf(call->arena,
                           "both changed: memory %lld was kept: %.*s. To use this line instead, edit it again, or "
                           "remove the other one; otherwise remove this one",
                           (long long)b->id, STR_ARG(now)));
}

/* ---- before the transaction ---- */

/* Under a heading that is not a section of ours, a text with a cue of a rule is a rule; any other is a fact. */
static struct str type_of(const struct mirror_block *b) {
  const struct mem_type *t = mirror_section_type(b->section);
  size_t row = phrase_first_cue(b->text, kind_cues, kind_cue_count - 1);
  enum kind kind = KIND_FACT;
  if (t)
    return str_from(t->name);
  if (b->box)
    return str_from(type_of_kind(KIND_TASK)->name);
  (void)kind_parse(str_from(kind_cues[row].type), &kind);
  return str_from(type_of_kind(kind == KIND_RULE ? kind : KIND_FACT)->name);
}

static const struct mirror_known *known_by_id(const struct applying *p, int64_t id, struct str *ret_uid, int *section) {
  for (size_t i = 0; i < p->known->n; i++) {
    const struct mirror_known *k = &p->known->v[i];
    if (k->id != id && k->head != id)
      continue;
    *ret_uid = k->id == id ? k->uid : k->head_uid;
    *section = k->id == id ? k->section : k->head_section;
    return k;
  }
  return NULL;
}

/* The page may come from a repository and not from the caller, so suspect lines are not stored. */
static enum status refuse_suspect(struct op_call *call, struct str why) {
  error_set(call->err, STATUS_REFUSED, "it reads like instructions to a model (%.*s)", STR_ARG(why));
  error_step(call->err, "trust");
  return error_fix(call->err, "if these are your own words, store them with 'cairn remember TEXT'");
}

static enum status prepare(struct applying *p, struct mirror_block *b) {
  assert(b->kind == MIRROR_BULLET && (b->fate == MIRROR_ADD || b->fate == MIRROR_EDIT));
  struct op_call *call = p->call;
  struct edit e = {.block = b};
  int section = MIRROR_SECTION_NONE;
  struct memory *m = &e.write.m;
  m->body = b->text;
  m->headline = headline_derive(call->arena, b->text);
  if (str_empty(m->headline))
    m->headline = STR_NONE;
  call_set_author(call, m);
  if (b->fate == MIRROR_EDIT && known_by_id(p, b->id, &e.write.supersedes, &section)) {
    e.write.reason = reason_edited;
    e.write.inherit_pin = e.write.inherit_skill = e.write.inherit_key = true;
  }
  assert(b->fate == MIRROR_ADD || e.write.supersedes.p);
  if (b->fate == MIRROR_ADD || (b->section != MIRROR_SECTION_NONE && b->section != section))
    m->type = type_of(b);
  enum status s = write_prepare(call, &e.write);
  if (s == STATUS_OK && m->suspect.p)
    s = refuse_suspect(call, m->suspect);
  if (s == STATUS_OK)
    e.ready = true;
  else if (import_is_row_error(s))
    refuse_line(p, b, call->err);
  else
    return s;
  list_push(call->arena, &p->edits, e);
  return STATUS_OK;
}

/* ---- writing ---- */

static enum status forget(struct applying *p, int64_t id) {
  struct op_call *call = p->call;
  struct memory was, now;
  bool found;
  TRY(memory_by_id(call->engine->store, call->caller.team, id, call->arena, &was, &found, call->err));
  if (!found || !str_is(was.state, "active"))
    return STATUS_OK;
  now = was;
  memory_retire(&now, "forgotten", reason_removed, p->txn.source, p->txn.now);
  TRY(memory_change(&p->txn, call->arena, &was, &now, "memory:forget", call->err));
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, p->report->removed);
  json_put_int(call->doc, v, "id", id);
  json_put(call->doc, v, "headline", was.headline);
  put_untrusted(call, v, &was);
  return STATUS_OK;
}

/* Names a bullet that leaves the page because its memory is no longer active, with the reason. */
static enum status report_gone(struct applying *p, const struct mirror_block *b) {
  struct op_call *call = p->call;
  struct memory m;
  bool found;
  size_t i, n;
  yyjson_mut_val *named;
  TRY(memory_by_id(call->engine->store, call->caller.team, b->id, call->arena, &m, &found, call->err));
  yyjson_mut_arr_foreach(p->report->removed, i, n, named) {
    found &= yyjson_mut_get_sint(yyjson_mut_obj_get(named, "id")) != b->id; /* in an earlier round */
  }
  if (!found)
    return STATUS_OK;
  show_expired(call, &m);
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, p->report->removed);
  json_put_int(call->doc, v, "id", m.id);
  json_put(call->doc, v, "headline", m.headline);
  json_put(call->doc, v, "state", str_is(m.state, "active") && m.status.p ? m.status : m.state);
  put_untrusted(call, v, &m);
  return STATUS_OK;
}

/* The write was a duplicate. If the page shows the existing memory with the same text, the line stands for it;
 * otherwise the line stays, with a note. */
static enum status report_duplicate(struct applying *p, struct edit *e) {
  assert(e->write.action == WRITE_SKIPPED && e->write.id);
  struct op_call *call = p->call;
  struct memory m;
  bool found;
  TRY(memory_by_id(call->engine->store, call->caller.team, e->write.id, call->arena, &m, &found, call->err));
  if (found)
    TRY(memory_load_body(call->engine->store, call->arena, &m, call->err));
  if (found && mirror_shows(call, &m) && str_eq(mirror_text(call->arena, m.headline, m.body), e->block->text)) {
    e->block->fate = MIRROR_KEEP;
    e->block->id = m.id;
    return STATUS_OK;
  }
  yyjson_mut_val *v = report_line(p, p->report->refused, e->block);
  json_put(call->doc, v, "code", str_from(status_name(STATUS_DUPLICATE)));
  struct str why = arena_printf(call->arena, "memory %lld says the same: %.*s%s", (long long)e->write.id,
                                STR_ARG(e->write.headline), memory_is_trusted(e->write.met) ? "" : " (untrusted)");
  json_put(call->doc, v, "error", why);
  mirror_hold(call->arena, e->block, MIRROR_SAME, why);
  return STATUS_OK;
}

static enum status write_one(struct applying *p, struct edit *e) {
  enum status s = write_try(p->call, &p->txn, &e->write);
  if (s != STATUS_OK && import_is_row_error(s)) {
    refuse_line(p, e->block, p->call->err);
    return STATUS_OK;
  }
  TRY(s);
  if (e->write.action == WRITE_SKIPPED)
    return report_duplicate(p, e);
  report_write(p, e);
  e->block->id = e->write.id;
  e->block->fate = MIRROR_KEEP;
  e->block->note = MIRROR_NO_NOTE;
  return STATUS_OK;
}

/* For a checkbox that was ticked. */
static enum status finish_task(struct applying *p, const struct mirror_block *b) {
  struct op_call *call = p->call;
  struct memory was, now;
  bool found;
  TRY(memory_by_id(call->engine->store, call->caller.team, b->id, call->arena, &was, &found, call->err));
  if (!found || !str_is(was.kind, kind_names[KIND_TASK]) || !mirror_shows(call, &was))
    return STATUS_OK;
  now = was;
  now.status = STR("done");
  now.updated_at = call->now;
  now.claimed_by = STR_NONE;
  now.claimed_at = 0;
  TRY(memory_change(&p->txn, call->arena, &was, &now, "task:status", call->err));
  yyjson_mut_val *v = report_line(p, p->report->finished, b);
  json_put_int(call->doc, v, "id", b->id);
  json_put(call->doc, v, "headline", was.headline);
  put_untrusted(call, v, &was);
  return STATUS_OK;
}

static bool is_ticked(const struct mirror_block *b) {
  return b->kind == MIRROR_BULLET && b->box == 'x' && b->fate == MIRROR_KEEP && b->id;
}

static enum status write_all(struct applying *p, struct mirror_page *page, const struct mirror_ids *removed) {
  TRY(call_begin(p->call, &p->txn));
  p->txn.foreign = true; /* a page is a person's, also if a server syncs it */
  /* Removals first, so a new line with the same text is not a duplicate; then edits, then additions. */
  for (size_t i = 0; i < removed->n; i++)
    TRY(forget(p, removed->v[i]));
  for (int adds = 0; adds < 2; adds++)
    for (size_t i = 0; i < p->edits.n; i++)
      if (p->edits.v[i].ready && (p->edits.v[i].block->fate == MIRROR_ADD) == adds) {
        p->edits.v[i].ready = false;
        TRY(write_one(p, &p->edits.v[i]));
      }
  for (size_t i = 0; i < page->blocks.n; i++)
    if (is_ticked(&page->blocks.v[i]))
      TRY(finish_task(p, &page->blocks.v[i]));
  return STATUS_OK;
}

enum status mirror_apply(struct op_call *call, struct mirror_page *page, const struct mirror_knowns *known,
                         const struct mirror_ids *removed, bool dry_run, struct mirror_report *report) {
  struct applying p = {.call = call, .known = known, .report = report};
  bool changes = removed->n > 0;
  for (size_t i = 0; i < page->blocks.n; i++) {
    struct mirror_block *b = &page->blocks.v[i];
    if (b->kind != MIRROR_BULLET)
      continue;
    if (b->fate == MIRROR_CLASH)
      report_conflict(&p, b);
    else if (b->fate == MIRROR_ADD || b->fate == MIRROR_EDIT)
      TRY(prepare(&p, b));
    else if (b->fate == MIRROR_DROP && b->id)
      TRY(report_gone(&p, b));
    changes |= is_ticked(b);
    if (cancelled(call))
      return error_set(call->err, STATUS_INTERRUPTED, "stopped; nothing was changed");
  }
  for (size_t i = 0; i < p.edits.n; i++)
    changes |= p.edits.v[i].ready;
  if (!changes)
    return STATUS_OK;
  TRY(write_all(&p, page, removed));
  return dry_run ? STATUS_OK : call_commit(call, &p.txn);
}
