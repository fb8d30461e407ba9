/* import_native.c: importing an export of Cairn.
 *
 * The file is read twice. First, without a lock, every line is checked for itself. Then, in one transaction, its
 * records are stored kind by kind, so that their order in the file does not matter: tombstones before memories, links
 * when all memories are there, the past last. */
#include "core/trust/suspect.h"
#include "op/transfer/import.h"
#include "op/transfer/record.h"
#include "store/search/lexical.h"
#include "store/tables/settings.h"

enum { LINES_PER_LOOK = 64 }; /* lines between two looks at the caller's wish to stop */

/* The part of the file that holds the records of one kind. */
struct segment {
  int64_t offset, first, last; /* where its first line begins; line numbers, 0: there are none */
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
  struct numbers bad, redacted; /* lines, in order */
  bool redact;
  bool tombstones;   /* some memories of the team were purged */
  int64_t first_new; /* ids from here on were given by this import; 0: none yet */
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
  if (lines->number % LINES_PER_LOOK)
    return STATUS_OK;
  progress(n->im->call, what, lines->at, n->source->st.st_size);
  return import_check_cancelled(n->im);
}

/* ---- first: every line for itself ---- */

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

static enum status no_header(struct native *n) {
  struct error *err = n->im->call->err;
  error_set(err, STATUS_USAGE, "%s is not an export of Cairn: it does not begin with a header", n->source->name);
  return error_fix(err, "the first line is {\"cairn\":\"export\",\"version\":1,\"schema\":1}; for another format see "
                        "--format");
}

static enum status check_all(struct native *n) {
  struct import *im = n->im;
  struct lines lines;
  struct str text;
  bool more = true, begun = false;
  enum status s = STATUS_OK;
  lines_open(&lines, n->source, im->call->arena, 0, 1);
  while (s == STATUS_OK && more) {
    struct record r;
    struct error err;
    arena_release(n->line);
    s = lines_next(&lines, &text, &more, im->call->err);
    if (s != STATUS_OK || !more || (str_empty(str_trim(text)) && !lines.too_long))
      continue;
    s = read_line(n, &lines, text, &r, &err);
    if (s == STATUS_SCHEMA) {
      *im->call->err = err;
      return s;
    }
    if (!begun && (s != STATUS_OK || r.kind != RECORD_HEADER))
      return no_header(n);
    begun = true;
    if (s == STATUS_OK)
      s = check_line(n, &lines, &r, &err);
    if (s != STATUS_OK) {
      import_refuse_line(im, lines.number, &err);
      list_push(im->call->arena, &n->bad, lines.number);
    }
    s = step(n, "check", &lines);
  }
  return s == STATUS_OK && !begun ? no_header(n) : s;
}

/* ---- then: kind by kind ---- */

static enum status differs(struct native *n, const struct record *r, int64_t id, struct buf *ret_names,
                           struct error *err) {
  struct store *st = n->im->txn.store;
  struct memory ours;
  struct notes notes = {0};
  bool found;
  TRY(memory_by_id(st, n->im->txn.team, id, n->line, &ours, &found, err));
  TRY(memory_load_body(st, n->line, &ours, err));
  TRY(memory_load_lists(st, n->line, &ours, err));
  TRY(notes_load(st, n->line, &ours, &notes, err));
  if (!found)
    return STATUS_OK;
  for (size_t i = 0; i < memory_field_count; i++) {
    const struct field *f = &memory_fields[i];
    struct str name = str_from(f->name);
    if (!n->im->keep_trust && (str_is(name, "trust") || str_is(name, "suspect")))
      continue;
    /* How often it was read differs between any two stores. */
    if (!(f->flags & FIELD_LOCAL) && !str_is(name, "access_count") && !str_is(name, "last_accessed") &&
        !str_is(name, "updated_at") && !memory_same_field(f, &ours, &r->m))
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

static enum status note_already(struct native *n, int64_t line, const struct record *r, int64_t id, struct error *err) {
  struct buf names = BUF(n->line);
  n->im->already++;
  TRY(differs(n, r, id, &names, err));
  if (names.n)
    import_warn(n->im, "differs",
                arena_printf(n->line, "line %lld: memory %lld is here already and differs in %s; ours stays",
                             (long long)line, (long long)id, names.p),
                arena_printf(n->line, "to change it: cairn supersede %lld --reason WHY TEXT", (long long)id));
  return STATUS_OK;
}

static enum status taken(struct error *err, const char *what, struct str name, const struct memory *held) {
  error_set(err, STATUS_CONFLICT, "%s '%.*s' is taken by memory %lld (%.*s): %.*s", what, STR_ARG(name),
            (long long)held->id, STR_ARG(held->uid), STR_ARG(held->headline));
  return error_fix(err, "forget or supersede that one first, or change the line");
}

/* Only one active memory may have a key in its project, or a skill's name. */
static enum status check_names(struct native *n, const struct memory *m, struct error *err) {
  struct store *st = n->im->txn.store;
  struct memory held;
  bool found = false;
  if (!str_is(m->state, "active"))
    return STATUS_OK;
  if (m->key.p)
    TRY(memory_by_key(st, m->team, m->project, m->key, n->line, &held, &found, err));
  if (found)
    return taken(err, "key", m->key, &held);
  if (m->skill_name.p)
    TRY(memory_by_skill(st, m->team, m->skill_name, n->line, &held, &found, err));
  if (found)
    return taken(err, "skill name", m->skill_name, &held);
  return STATUS_OK;
}

/* A file may say of itself what it likes: unless a person vouches for it, it is a text from outside. */
static void settle_trust(struct native *n, struct memory *m) {
  if (n->im->keep_trust)
    return;
  if (str_is(m->trust, "user") || str_is(m->trust, "agent"))
    m->trust = STR("import");
  m->suspect = suspect_memory(n->line, m);
}

static enum status store_memory(struct native *n, int64_t line, struct record *r, struct error *err) {
  struct import *im = n->im;
  struct memory *m = &r->m;
  struct notes none = {0};
  struct chunk_rows chunks = {0};
  bool purged = false;
  int64_t id;
  m->team = im->txn.team;
  settle_trust(n, m);
  enum status s = transfer_find(im->txn.store, m->team, m->uid, &id, NULL, err);
  if (s != STATUS_OK)
    return s;
  if (id)
    return note_already(n, line, r, id, err);
  if (n->tombstones)
    s = tombstone_exists(im->txn.store, m->team, m->uid, &purged, err);
  if (purged) {
    im->tombstoned++;
    return s;
  }
  if (s == STATUS_OK)
    s = check_names(n, m, err);
  if (s == STATUS_OK)
    s = memory_insert(&im->txn, n->line, m, &chunks, err);
  if (s == STATUS_OK && r->notes.n)
    s = notes_set(&im->txn, n->line, m, &none, &r->notes, err);
  im->imported += s == STATUS_OK;
  if (!n->first_new)
    n->first_new = m->id;
  /* Once the row is there, a failure is not the row's own. */
  if (s != STATUS_OK && m->id && import_is_row_error(s))
    err->code = s = STATUS_INTERNAL;
  return s;
}

static enum status store_tombstone(struct native *n, int64_t line, struct record *r, struct error *err) {
  struct import *im = n->im;
  int64_t id;
  bool added;
  enum status s = transfer_find(im->txn.store, im->txn.team, r->tombstone.uid, &id, NULL, err);
  if (s != STATUS_OK)
    return s;
  if (id) {
    import_warn(
        im, "purged_elsewhere",
        arena_printf(n->line, "line %lld: memory %lld was purged in the export and lives here; ours stays",
                     (long long)line, (long long)id),
        arena_printf(n->line, "'cairn get %lld' shows it; whether it goes here, too, is yours to say", (long long)id));
    return s;
  }
  TRY(transfer_add_tombstone(&im->txn, &r->tombstone, &added, err));
  if (added)
    im->tombstones++;
  return STATUS_OK;
}

static enum status missing_end(struct native *n, struct str uid, bool *ret_purged, struct error *err) {
  TRY(tombstone_exists(n->im->txn.store, n->im->txn.team, uid, ret_purged, err));
  if (*ret_purged)
    return STATUS_OK;
  error_set(err, STATUS_NOT_FOUND, "the link's memory %.*s is neither in the store nor imported", STR_ARG(uid));
  return error_fix(err, "add the memory to the file, or remove the line");
}

/* A correction that was made elsewhere does not retire a memory of ours; one that the file itself calls active is an
 * error of the file. */
static enum status still_active(struct native *n, int64_t line, const struct link *l, struct error *err) {
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

/* A link by which a memory that nobody vouches for would hide a trusted one, or keep a trusted task waiting. */
static enum status bears_on_trusted(struct native *n, const struct link *l, bool *ret_bears, struct error *err) {
  bool shadows = str_is(l->rel, "shadows"), waits = str_is(l->rel, "blocked_by"), found = false;
  struct memory ours, other;
  *ret_bears = false;
  if (!shadows && !waits)
    return STATUS_OK;
  struct store *st = n->im->txn.store;
  TRY(memory_by_id(st, n->im->txn.team, shadows ? l->dst : l->src, n->line, &ours, &found, err));
  if (found)
    TRY(memory_by_id(st, n->im->txn.team, shadows ? l->src : l->dst, n->line, &other, &found, err));
  if (found)
    *ret_bears = memory_trusted(&ours) && !memory_trusted(&other);
  return STATUS_OK;
}

static enum status leave_link_out(struct native *n, int64_t line, const struct link *l) {
  int64_t ours = str_is(l->rel, "shadows") ? l->dst : l->src;
  import_warn(n->im, "untrusted_link",
              arena_printf(n->line, "line %lld: an untrusted memory %s memory %lld in the file, and does not here",
                           (long long)line, str_is(l->rel, "shadows") ? "shadows" : "blocks", (long long)ours),
              STR("if the export is your own, import it with --keep-trust"));
  return STATUS_OK;
}

/* What the schema refuses is taken back alone, so that the lines behind it are looked at, too. */
static enum status add_link(struct native *n, const struct link *l, struct error *err) {
  struct txn *txn = &n->im->txn;
  struct error ignored;
  TRY(txn_mark(txn, err));
  enum status s = link_add(txn, n->line, l, err);
  enum status ended = txn_unmark(txn, s == STATUS_OK, s == STATUS_OK ? err : &ignored);
  return s == STATUS_OK ? ended : s;
}

static enum status store_link(struct native *n, int64_t line, struct record *r, struct error *err) {
  struct import *im = n->im;
  struct link *l = &r->link;
  bool standing = false, there = false, purged = false, bears = false;
  TRY(transfer_find(im->txn.store, im->txn.team, l->src_uid, &l->src, NULL, err));
  TRY(transfer_find(im->txn.store, im->txn.team, l->dst_uid, &l->dst, &standing, err));
  if (!(l->src && l->dst))
    return missing_end(n, l->src ? l->dst_uid : l->src_uid, &purged, err);
  TRY(transfer_has_link(im->txn.store, im->txn.team, l->src, l->rel, l->dst, &there, err));
  if (there)
    return STATUS_OK;
  if (standing && str_is(l->rel, "supersedes"))
    return still_active(n, line, l, err);
  enum status s = bears_on_trusted(n, l, &bears, err);
  if (s != STATUS_OK || bears)
    return s == STATUS_OK ? leave_link_out(n, line, l) : s;
  s = add_link(n, l, err);
  im->links += s == STATUS_OK;
  if (s == STATUS_CONFLICT)
    error_fix(err, "correct or remove the line; 'cairn history' and 'cairn task list' show what is linked");
  return s;
}

static enum status store_txn(struct native *n, const struct record *r, struct error *err) {
  struct import *im = n->im;
  int64_t id, undoes = 0;
  enum status s = transfer_find_txn(im->txn.store, im->txn.team, r->txn.uid, &id, err);
  if (s != STATUS_OK || id)
    return s;
  if (r->txn.undoes.p)
    s = transfer_find_txn(im->txn.store, im->txn.team, r->txn.undoes, &undoes, err);
  if (s == STATUS_OK)
    s = transfer_add_txn(&im->txn, &r->txn, undoes, &id, err);
  im->txns += s == STATUS_OK;
  return s == STATUS_CONFLICT ? error_fix(err, "remove the line and the events that name it") : s;
}

static int by_value(const void *x, const void *y) {
  uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
  return a < b ? -1 : a > b;
}

static bool is_known_read(const struct native *n, const struct event_record *e) {
  uint64_t mark = transfer_read_mark(e);
  return n->marks.n && bsearch(&mark, n->marks.v, n->marks.n, sizeof(mark), by_value);
}

static enum status store_event(struct native *n, const struct record *r, struct error *err) {
  struct import *im = n->im;
  const struct event_record *e = &r->event;
  int64_t of = 0;
  enum status s = STATUS_OK;
  if (e->txn.p)
    s = transfer_find_txn(im->txn.store, im->txn.team, e->txn, &of, err);
  if (s == STATUS_OK && e->txn.p && !of) {
    error_set(err, STATUS_NOT_FOUND, "the event's transaction %.*s is neither in the store nor imported",
              STR_ARG(e->txn));
    return error_fix(err, "add the transaction to the file, or remove the line");
  }
  /* The events of a transaction that was here before are here too. */
  bool known = e->txn.p ? of < im->txn.id : is_known_read(n, e);
  if (s == STATUS_OK && !known) {
    s = transfer_add_event(&im->txn, n->line, e, of, err);
    im->events += s == STATUS_OK;
  }
  return s;
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
    return STATUS_OK;
  }
}

/* A line of this kind that was found good before; the text was checked, so only its secrets are taken out again. */
static enum status store_line(struct native *n, enum record_kind kind, int64_t line, struct str text) {
  struct error *fatal = n->im->call->err, err;
  struct record r;
  int64_t found = 0;
  if (record_read(n->line, text, &r, &err) != STATUS_OK) {
    enum status s = source_unchanged(n->source, fatal);
    return s != STATUS_OK ? s : error_set(fatal, STATUS_INTERNAL, "line %lld reads differently now", (long long)line);
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

static enum status store_kind(struct native *n, enum record_kind kind) {
  const struct segment *segment = &n->segments[kind];
  struct arena *a = arena_child(n->im->call->arena);
  struct lines lines;
  struct str text;
  bool more = segment->first > 0;
  enum status s = STATUS_OK;
  lines_open(&lines, n->source, a, segment->offset, segment->first);
  while (s == STATUS_OK && more && lines.number < segment->last) {
    arena_release(n->line);
    s = lines_next(&lines, &text, &more, n->im->call->err);
    if (s == STATUS_OK && more && !str_empty(str_trim(text)) && !has_line(&n->bad, lines.number))
      s = store_line(n, kind, lines.number, text);
    if (s == STATUS_OK)
      s = step(n, "import", &lines);
  }
  arena_release(a);
  return s;
}

static enum status prepare_kind(struct native *n, enum record_kind kind) {
  struct import *im = n->im;
  if (kind == RECORD_MEMORY) {
    enum status s = lexical_hold(&im->txn, im->call->err);
    if (s != STATUS_OK)
      return s;
    return transfer_has_tombstones(im->txn.store, im->txn.team, &n->tombstones, im->call->err);
  }
  if (kind == RECORD_EVENT && n->segments[kind].first)
    return transfer_read_marks(im->txn.store, im->txn.team, im->call->arena, &n->marks, im->call->err);
  return STATUS_OK;
}

enum status import_native(struct import *im, const struct source *source) {
  struct op_call *call = im->call;
  struct native n = {.im = im, .source = source, .line = arena_child(call->arena)};
  struct setting_value mode;
  enum status s = setting_get(call->engine->store, call->caller.team, SET_SECRETS_MODE, call->arena, &mode, call->err);
  n.redact = s == STATUS_OK && str_is(mode.value, "redact");
  if (s == STATUS_OK)
    s = check_all(&n);
  if (s == STATUS_OK)
    s = call_begin(call, &im->txn);
  for (int kind = RECORD_TOMBSTONE; s == STATUS_OK && kind < RECORD_KINDS; kind++) {
    s = prepare_kind(&n, (enum record_kind)kind);
    if (s == STATUS_OK)
      s = store_kind(&n, (enum record_kind)kind);
    if (s == STATUS_OK && kind == RECORD_MEMORY)
      s = lexical_release(&im->txn, call->err);
  }
  return s == STATUS_OK ? source_unchanged(source, call->err) : s;
}
