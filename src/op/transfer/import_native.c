/* import_native.c: import of an export of Cairn.
 *
 * The file is read twice: first, without a lock, to check each line; then, in one transaction, to store its records
 * kind by kind, so their order in the file does not matter: tombstones, memories, links, transactions, events. */
#include <assert.h>

#include "core/trust/suspect.h"
#include "op/transfer/import.h"
#include "op/transfer/record.h"
#include "store/search/lexical.h"
#include "store/tables/settings.h"

enum { LINES_PER_CHECK = 64 }; /* lines between two checks for cancellation */

/* Part of the file with the records of one kind. */
struct segment {
  int64_t offset;      /* of the first line */
  int64_t first, last; /* line numbers; 0: none */
};

struct numbers {
  int64_t *v;
  size_t n, cap;
};

struct native {
  struct import *im;
  const struct source *source;
  struct arena *line; /* released after each line */
  struct segment segments[RECORD_KINDS];
  struct numbers bad, redacted; /* line numbers, sorted */
  bool redact;
  bool tombstones;   /* the team has purged memories */
  int64_t first_new; /* first id that this import has assigned; 0: none yet */
  struct read_marks marks;
};

static bool has_line(const struct numbers *list, int64_t line) {
  size_t low = 0, high = list->n;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (list->v[mid] < line)
      low = mid + 1;
    else
      high = mid;
  }
  return low < list->n && list->v[low] == line;
}

static enum status step(struct native *n, const char *what, const struct lines *lines) {
  if (lines->number % LINES_PER_CHECK)
    return STATUS_OK;
  progress(n->im->call, what, lines->at, n->source->st.st_size);
  return import_check_cancelled(n->im);
}

/* ---- first pass: check each line ---- */

static enum status read_line(struct native *n, const struct lines *lines, struct str text, struct record *ret_record,
                             struct error *err) {
  if (lines->too_long) {
    error_set(err, STATUS_TOO_LARGE, "the line is longer than %d MiB", IMPORT_LINE_MAX >> 20);
    return error_fix(err, "a memory's text has at most 1 MB");
  }
  return record_read(n->line, text, ret_record, err);
}

static enum status check_line(struct native *n, const struct lines *lines, struct record *r, struct error *err) {
  int64_t found = 0;
  struct import *im = n->im;
  TRY(record_scrub(n->line, r, im->call->secrets, n->redact, &found, err));
  TRY(record_check(n->line, r, err));
  assert(n->redacted.n == 0 || n->redacted.v[n->redacted.n - 1] < lines->number);
  if (found)
    list_push(im->call->arena, &n->redacted, lines->number);
  im->redacted += found;
  struct segment *segment = &n->segments[r->kind];
  if (!segment->first) {
    segment->first = lines->number;
    segment->offset = lines->at;
  }
  segment->last = lines->number;
  return STATUS_OK;
}

static enum status refuse_header(struct native *n) {
  struct error *err = n->im->call->err;
  error_set(err, STATUS_USAGE, "%s is not an export of Cairn: its first line is not a header", n->source->name);
  return error_fix(err, "the first line is {\"cairn\":\"export\",\"version\":1,\"schema\":1}; for another format see "
                        "--format");
}

static enum status check_all(struct native *n) {
  struct import *im = n->im;
  struct lines lines;
  struct str text;
  bool more = true, has_header = false;
  lines_open(&lines, n->source, im->call->arena, 0, 1);
  while (more) {
    struct record r;
    struct error err;
    arena_release(n->line);
    TRY(lines_next(&lines, &text, &more, im->call->err));
    if (!more || (str_empty(str_trim(text)) && !lines.too_long))
      continue;
    enum status s = read_line(n, &lines, text, &r, &err);
    if (s == STATUS_SCHEMA) {
      *im->call->err = err;
      return s;
    }
    if (!has_header && (s != STATUS_OK || r.kind != RECORD_HEADER))
      return refuse_header(n);
    has_header = true;
    if (s == STATUS_OK)
      s = check_line(n, &lines, &r, &err);
    if (s != STATUS_OK) {
      import_refuse_line(im, lines.number, &err);
      assert(n->bad.n == 0 || n->bad.v[n->bad.n - 1] < lines.number);
      list_push(im->call->arena, &n->bad, lines.number);
    }
    TRY(step(n, "check", &lines));
  }
  return has_header ? STATUS_OK : refuse_header(n);
}

/* ---- second pass: store kind by kind ---- */

/* Names of the members in which the stored memory differs from the record. */
static enum status find_differences(struct native *n, const struct record *r, int64_t id, struct buf *ret_names,
                                    struct error *err) {
  struct store *st = n->im->txn.store;
  struct memory ours;
  struct notes notes = {0};
  bool found;
  TRY(memory_by_id(st, n->im->txn.team, id, n->line, &ours, &found, err));
  if (!found)
    return STATUS_OK;
  TRY(memory_load_body(st, n->line, &ours, err));
  TRY(memory_load_lists(st, n->line, &ours, err));
  TRY(notes_load(st, n->line, &ours, &notes, err));
  for (size_t i = 0; i < memory_field_count; i++) {
    const struct field *f = &memory_fields[i];
    struct str name = str_from(f->name);
    if (!n->im->keep_trust && (str_is(name, "trust") || str_is(name, "suspect")))
      continue;
    /* Access counts and times differ between any two stores. */
    if (!(f->flags & FIELD_LOCAL) && !str_is(name, "access_count") && !str_is(name, "last_accessed") &&
        !str_is(name, "updated_at") && !memory_field_equal(f, &ours, &r->m))
      buf_addf(ret_names, "%s%s", ret_names->n ? ", " : "", f->name);
  }
  if (!str_eq(ours.body, r->m.body))
    buf_addf(ret_names, "%sbody", ret_names->n ? ", " : "");
  for (size_t i = 0; i < memory_list_count; i++) {
    const struct strs *x = list_at(&ours, i), *y = list_at(&r->m, i);
    bool same = x->n == y->n;
    for (size_t k = 0; same && k < x->n; k++)
      same = str_eq(x->v[k], y->v[k]);
    if (!same)
      buf_addf(ret_names, "%s%s", ret_names->n ? ", " : "", memory_lists[i].name);
  }
  bool same = notes.n == r->notes.n;
  for (size_t i = 0; same && i < notes.n; i++)
    same = str_eq(notes.v[i].text, r->notes.v[i].text);
  if (!same)
    buf_addf(ret_names, "%sannotations", ret_names->n ? ", " : "");
  return STATUS_OK;
}

static enum status skip_existing(struct native *n, int64_t line, const struct record *r, int64_t id,
                                 struct error *err) {
  struct buf names = BUF(n->line);
  n->im->already++;
  TRY(find_differences(n, r, id, &names, err));
  if (names.n)
    import_warn(n->im, "differs",
                arena_printf(n->line,
                             "line %lld: memory %lld already exists and differs in %s; keeping the local version",
                             (long long)line, (long long)id, names.p),
                arena_printf(n->line, "to change it: cairn supersede %lld --reason WHY TEXT", (long long)id));
  return STATUS_OK;
}

static enum status refuse_taken(struct error *err, const char *what, struct str name, const struct memory *held) {
  error_set(err, STATUS_CONFLICT, "%s '%.*s' is taken by memory %lld (%.*s): %.*s", what, STR_ARG(name),
            (long long)held->id, STR_ARG(held->uid), STR_ARG(held->headline));
  return error_fix(err, "forget or supersede that memory first, or change the line");
}

/* Keys are unique among the active memories of a project, skill names among those of a team. */
static enum status check_names(struct native *n, const struct memory *m, struct error *err) {
  struct store *st = n->im->txn.store;
  struct memory held;
  bool found = false;
  if (!str_is(m->state, "active"))
    return STATUS_OK;
  if (m->key.p)
    TRY(memory_by_key(st, m->team, m->project, m->key, n->line, &held, &found, err));
  if (found)
    return refuse_taken(err, "key", m->key, &held);
  if (m->skill_name.p)
    TRY(memory_by_skill(st, m->team, m->skill_name, n->line, &held, &found, err));
  if (found)
    return refuse_taken(err, "skill name", m->skill_name, &held);
  return STATUS_OK;
}

/* The file may claim any trust, so text that reads like instructions is checked again and loses it. */
static void set_trust(struct native *n, struct memory *m) {
  if (n->im->keep_trust)
    return;
  m->suspect = suspect_memory(n->line, m);
  if ((!n->im->own || m->suspect.p) && (str_is(m->trust, "user") || str_is(m->trust, "agent")))
    m->trust = STR("import");
}

static enum status store_memory(struct native *n, int64_t line, struct record *r, struct error *err) {
  struct import *im = n->im;
  struct memory *m = &r->m;
  struct notes none = {0};
  struct chunk_rows chunks = {0};
  bool purged = false;
  int64_t id;
  m->team = im->txn.team;
  set_trust(n, m);
  TRY(transfer_find(im->txn.store, m->team, m->uid, &id, NULL, err));
  if (id)
    return skip_existing(n, line, r, id, err);
  if (n->tombstones)
    TRY(tombstone_exists(im->txn.store, m->team, m->uid, &purged, err));
  if (purged) {
    im->tombstoned++;
    return STATUS_OK;
  }
  TRY(check_names(n, m, err));
  enum status s = memory_insert(&im->txn, n->line, m, &chunks, err);
  if (s == STATUS_OK && r->notes.n)
    s = notes_set(&im->txn, n->line, m, &none, &r->notes, err);
  im->imported += s == STATUS_OK;
  im->untrusted += s == STATUS_OK && !memory_is_trusted(m);
  if (!n->first_new)
    n->first_new = m->id;
  /* After the row is inserted, an error is not a row error. */
  if (s != STATUS_OK && m->id && import_is_row_error(s))
    err->code = s = STATUS_INTERNAL;
  return s;
}

static enum status store_tombstone(struct native *n, int64_t line, struct record *r, struct error *err) {
  struct import *im = n->im;
  int64_t id;
  bool added;
  TRY(transfer_find(im->txn.store, im->txn.team, r->tombstone.uid, &id, NULL, err));
  if (id) {
    import_warn(im, "purged_elsewhere",
                arena_printf(n->line, "line %lld: memory %lld was purged in the export; keeping the local version",
                             (long long)line, (long long)id),
                arena_printf(n->line, "'cairn get %lld' shows it; purge it here as well to remove it", (long long)id));
    return STATUS_OK;
  }
  TRY(transfer_add_tombstone(&im->txn, &r->tombstone, &added, err));
  if (added)
    im->tombstones++;
  return STATUS_OK;
}

static enum status check_missing_end(struct native *n, struct str uid, bool *ret_purged, struct error *err) {
  TRY(tombstone_exists(n->im->txn.store, n->im->txn.team, uid, ret_purged, err));
  if (*ret_purged)
    return STATUS_OK;
  error_set(err, STATUS_NOT_FOUND, "the link's memory %.*s is neither in the store nor imported", STR_ARG(uid));
  return error_fix(err, "add the memory to the file, or remove the line");
}

/* A link of the file does not retire an existing memory. If the file itself says that the superseded memory is active,
 * the file is wrong. */
static enum status report_not_superseded(struct native *n, int64_t line, const struct link *l, struct error *err) {
  struct import *im = n->im;
  struct memory m;
  bool found;
  TRY(memory_by_id(im->txn.store, im->txn.team, l->dst, n->line, &m, &found, err));
  if (n->first_new && l->dst >= n->first_new) {
    error_set(err, STATUS_CONFLICT, "memory %.*s is %.*s in the file, and superseded by %.*s", STR_ARG(l->dst_uid),
              STR_ARG(m.state), STR_ARG(l->src_uid));
    return error_fix(err, "give it the state superseded, with state_reason and state_at, or remove the link");
  }
  import_warn(im, "not_superseded",
              arena_printf(n->line, "line %lld: memory %lld is %.*s here, and superseded in the file: %.*s",
                           (long long)line, (long long)l->dst, STR_ARG(m.state), STR_ARG(m.headline)),
              arena_printf(n->line, "to retire it: cairn forget %lld --reason WHY", (long long)l->dst));
  return STATUS_OK;
}

/* True if an untrusted memory would shadow a trusted one, or block a trusted task. */
static enum status affects_trusted(struct native *n, const struct link *l, bool *ret_affects, struct error *err) {
  bool shadows = str_is(l->rel, "shadows"), blocks = str_is(l->rel, "blocked_by"), found = false;
  struct memory ours, other;
  *ret_affects = false;
  if (!shadows && !blocks)
    return STATUS_OK;
  struct store *st = n->im->txn.store;
  TRY(memory_by_id(st, n->im->txn.team, shadows ? l->dst : l->src, n->line, &ours, &found, err));
  if (found)
    TRY(memory_by_id(st, n->im->txn.team, shadows ? l->src : l->dst, n->line, &other, &found, err));
  if (found)
    *ret_affects = memory_is_trusted(&ours) && !memory_is_trusted(&other);
  return STATUS_OK;
}

static void warn_untrusted_link(struct native *n, int64_t line, const struct link *l) {
  int64_t ours = str_is(l->rel, "shadows") ? l->dst : l->src;
  import_warn(n->im, "untrusted_link",
              arena_printf(n->line, "line %lld: left out: an untrusted memory %s memory %lld", (long long)line,
                           str_is(l->rel, "shadows") ? "shadows" : "blocks", (long long)ours),
              STR("if the export is your own, import it with --keep-trust"));
}

/* In a savepoint: if the schema refuses the link, the transaction continues with the next line. */
static enum status add_link(struct native *n, const struct link *l, struct error *err) {
  struct txn *txn = &n->im->txn;
  struct error ignored;
  TRY(txn_savepoint(txn, err));
  enum status s = link_add(txn, n->line, l, err);
  enum status ended = txn_savepoint_end(txn, s == STATUS_OK, s == STATUS_OK ? err : &ignored);
  return s == STATUS_OK ? ended : s;
}

static enum status store_link(struct native *n, int64_t line, struct record *r, struct error *err) {
  struct import *im = n->im;
  struct link *l = &r->link;
  bool live = false, exists = false, purged = false, affects = false;
  TRY(transfer_find(im->txn.store, im->txn.team, l->src_uid, &l->src, NULL, err));
  TRY(transfer_find(im->txn.store, im->txn.team, l->dst_uid, &l->dst, &live, err));
  if (!(l->src && l->dst))
    return check_missing_end(n, l->src ? l->dst_uid : l->src_uid, &purged, err);
  TRY(transfer_has_link(im->txn.store, im->txn.team, l->src, l->rel, l->dst, &exists, err));
  if (exists)
    return STATUS_OK;
  if (live && str_is(l->rel, "supersedes"))
    return report_not_superseded(n, line, l, err);
  TRY(affects_trusted(n, l, &affects, err));
  if (affects) {
    warn_untrusted_link(n, line, l);
    return STATUS_OK;
  }
  enum status s = add_link(n, l, err);
  im->links += s == STATUS_OK;
  if (s == STATUS_CONFLICT)
    error_fix(err, "correct or remove the line; 'cairn history' and 'cairn task list' show existing links");
  return s;
}

static enum status store_txn(struct native *n, const struct record *r, struct error *err) {
  struct import *im = n->im;
  int64_t id, undoes = 0;
  TRY(transfer_find_txn(im->txn.store, im->txn.team, r->txn.uid, &id, err));
  if (id)
    return STATUS_OK;
  if (r->txn.undoes.p)
    TRY(transfer_find_txn(im->txn.store, im->txn.team, r->txn.undoes, &undoes, err));
  enum status s = transfer_add_txn(&im->txn, &r->txn, undoes, &id, err);
  im->txns += s == STATUS_OK;
  return s == STATUS_CONFLICT ? error_fix(err, "remove the line and the events that name it") : s;
}

static int by_value(const void *x, const void *y) {
  uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
  return a < b ? -1 : a > b;
}

static bool is_known_read(const struct native *n, const struct event_record *e) {
  uint64_t mark = transfer_read_fingerprint(e);
  return n->marks.n && bsearch(&mark, n->marks.v, n->marks.n, sizeof(mark), by_value);
}

static enum status store_event(struct native *n, const struct record *r, struct error *err) {
  struct import *im = n->im;
  const struct event_record *e = &r->event;
  int64_t txn = 0;
  if (e->txn.p)
    TRY(transfer_find_txn(im->txn.store, im->txn.team, e->txn, &txn, err));
  if (e->txn.p && !txn) {
    error_set(err, STATUS_NOT_FOUND, "the event's transaction %.*s is neither in the store nor imported",
              STR_ARG(e->txn));
    return error_fix(err, "add the transaction to the file, or remove the line");
  }
  /* A transaction that existed before this import has its events already. */
  if (e->txn.p ? txn < im->txn.id : is_known_read(n, e))
    return STATUS_OK;
  TRY(transfer_add_event(&im->txn, n->line, e, txn, err));
  im->events++;
  return STATUS_OK;
}

static enum status store_record(struct native *n, int64_t line, struct record *r, struct error *err) {
  switch (r->kind) {
  case RECORD_TOMBSTONE:
    return store_tombstone(n, line, r, err);
  case RECORD_MEMORY:
    return store_memory(n, line, r, err);
  case RECORD_LINK:
    return store_link(n, line, r, err);
  case RECORD_TXN:
    return store_txn(n, r, err);
  case RECORD_EVENT:
    return store_event(n, r, err);
  default:
    assert(false);
    return STATUS_OK;
  }
}

/* Stores a line that the first pass has accepted, if it is of this kind; only its secrets must be redacted again. */
static enum status store_line(struct native *n, enum record_kind kind, int64_t line, struct str text) {
  struct error *fatal = n->im->call->err, err;
  struct record r;
  int64_t found = 0;
  if (record_read(n->line, text, &r, &err) != STATUS_OK) {
    TRY(source_check_unchanged(n->source, fatal));
    return error_set(fatal, STATUS_INTERNAL, "line %lld was valid when it was checked, and is not now",
                     (long long)line);
  }
  if (r.kind != kind)
    return STATUS_OK;
  enum status s = STATUS_OK;
  if (has_line(&n->redacted, line))
    s = record_scrub(n->line, &r, n->im->call->secrets, true, &found, &err);
  if (s == STATUS_OK)
    s = store_record(n, line, &r, &err);
  if (s == STATUS_OK)
    return s;
  if (!import_is_row_error(s)) {
    *fatal = err;
    return s;
  }
  import_refuse_line(n->im, line, &err);
  return STATUS_OK;
}

static enum status store_lines(struct native *n, enum record_kind kind, struct arena *a) {
  const struct segment *segment = &n->segments[kind];
  struct lines lines;
  struct str text;
  bool more = segment->first > 0;
  lines_open(&lines, n->source, a, segment->offset, segment->first);
  while (more && lines.number < segment->last) {
    arena_release(n->line);
    TRY(lines_next(&lines, &text, &more, n->im->call->err));
    if (more && !str_empty(str_trim(text)) && !has_line(&n->bad, lines.number))
      TRY(store_line(n, kind, lines.number, text));
    TRY(step(n, "import", &lines));
  }
  return STATUS_OK;
}

static enum status store_kind(struct native *n, enum record_kind kind) {
  struct arena *a = arena_child(n->im->call->arena);
  enum status s = store_lines(n, kind, a);
  arena_release(a);
  return s;
}

static enum status prepare_kind(struct native *n, enum record_kind kind) {
  struct import *im = n->im;
  if (kind == RECORD_MEMORY) {
    TRY(lexical_hold(&im->txn, im->call->err));
    return transfer_has_tombstones(im->txn.store, im->txn.team, &n->tombstones, im->call->err);
  }
  if (kind == RECORD_EVENT && n->segments[kind].first)
    return transfer_read_fingerprints(im->txn.store, im->txn.team, im->call->arena, &n->marks, im->call->err);
  return STATUS_OK;
}

enum status import_native(struct import *im, const struct source *source) {
  struct op_call *call = im->call;
  struct native n = {.im = im, .source = source, .line = arena_child(call->arena)};
  struct setting_value mode;
  TRY(setting_get(call->engine->store, call->caller.team, SET_SECRETS_MODE, call->arena, &mode, call->err));
  n.redact = str_is(mode.value, "redact");
  TRY(check_all(&n));
  TRY(call_begin(call, &im->txn));
  for (int kind = RECORD_TOMBSTONE; kind < RECORD_KINDS; kind++) {
    TRY(prepare_kind(&n, (enum record_kind)kind));
    TRY(store_kind(&n, (enum record_kind)kind));
    if (kind == RECORD_MEMORY)
      TRY(lexical_release(&im->txn, call->err));
  }
  return source_check_unchanged(source, call->err);
}
