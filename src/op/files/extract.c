/* extract.c: the extract operation: finds items in the files of a folder, stores them, and writes items.json.
 *
 * Files are read before the transaction. One transaction then stores changed items and removes those of deleted files.
 * items.json is written from the store before the commit: the write lock serializes concurrent runs, and if the file
 * cannot be written, nothing is changed. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/id.h"
#include "base/os/fs.h"
#include "base/os/project.h"
#include "core/files/comments.h"
#include "core/files/items.h"
#include "core/memory/types.h"
#include "core/secrets/redact.h"
#include "file/items_json.h"
#include "file/place.h"
#include "file/walk.h"
#include "op/files/output.h"
#include "op/handlers.h"
#include "op/run/common.h"
#include "op/search/corpus.h"
#include "store/memories/documents.h"
#include "store/search/lexical.h"

enum {
  RACY_MS = 2000, /* a file changed this recently may change again with the same size and timestamp */
  PROGRESS_EVERY = 50,
  HASH_HEX = 32,
  HOLD_FROM = 100, /* with this many changed files, updating the full-text index once at the end is faster */
};

/* A changed file, and its items. */
struct changed {
  struct document_group group;
  struct documents documents;
};

struct extraction {
  struct op_call *call;
  struct str root;   /* paths are relative to it: the top of the repository, else the folder */
  struct str folder; /* searched */
  struct str prefix; /* folder relative to the root: "" or "docs/" */
  struct walk_files files;
  struct walk_counts counts;
  struct document_groups old; /* by path */
  bool *kept;                 /* for each of `old`: its file exists, or belongs to another run */
  LIST(struct changed) changed;
  struct document_counts stored;
  int64_t read, unchanged, other, redacted;
};

/* ---- paths ---- */

/* Paths are relative to the repository, so its parts can be extracted separately, and ids are the same on every
 * machine. */
static void find_root(struct extraction *x) {
  struct arena *a = x->call->arena;
  struct str top = project_top(a, x->folder);
  x->root = top.p ? top : x->folder;
  struct str below = str_slice(x->folder, x->root.n, x->folder.n);
  x->prefix = below.n ? arena_printf(a, "%.*s/", STR_ARG(str_slice(below, 1, below.n))) : STR("");
  if (str_is(x->root, "/"))
    x->prefix = STR("");
}

/* Items belong to the project of the folder, unless the caller names one. */
static void find_project(struct extraction *x) {
  struct caller *caller = &x->call->caller;
  struct str name;
  if (!caller->project_given && project_find(x->call->arena, x->folder.p, &name))
    caller->project = name;
}

static enum status find_output(struct extraction *x, struct str *ret_path) {
  struct op_call *call = x->call;
  struct str out = json_str(call->args, "out"), folder;
  struct stat st;
  if (out.p) {
    if (str_empty(out) || (stat(arena_cstr(call->arena, out), &st) == 0 && !S_ISREG(st.st_mode))) {
      error_set(call->err, STATUS_USAGE, "'%.*s' is not a regular file", STR_ARG(out));
      return error_fix(call->err, "name a file, for example: cairn extract . --out items.json");
    }
    *ret_path = out;
    TRY(call_refuse_store_path(call, out));
    return output_check(call, out);
  }
  TRY(agent_folder(call->engine->store, call->caller.team, call->caller.project, call->arena, &folder, call->err));
  *ret_path = arena_printf(call->arena, "%.*s/items.json", STR_ARG(folder));
  return STATUS_OK;
}

/* ---- stored items ---- */

/* "RULES:HASH:ROOT": version of the rules, hash of the file, root folder. A run must not remove items that another root
 * of the project has brought. */
static struct str hash_of(struct extraction *x, struct str text) {
  char hex[HASH_TEXT_SIZE];
  hash_text(text, hex);
  hex[HASH_HEX] = 0;
  return arena_printf(x->call->arena, "%d:%s:%.*s", ITEM_RULES, hex, STR_ARG(x->root));
}

static struct str root_of(const struct document_group *g) {
  size_t rules = str_find(g->hash, STR(":"), 0);
  size_t end = rules == SIZE_MAX ? SIZE_MAX : str_find(g->hash, STR(":"), rules + 1);
  return end == SIZE_MAX ? STR_NONE : str_slice(g->hash, end + 1, g->hash.n);
}

static bool has_our_rules(const struct document_group *g) {
  struct str rest = g->hash, part;
  int64_t rules;
  return str_next(&rest, ':', &part) && str_int64(part, &rules) && rules == ITEM_RULES;
}

/* A run owns the items of its folder, and those of roots that no longer exist. */
static bool is_ours(const struct extraction *x, const struct document_group *g) {
  struct str root = root_of(g);
  if (str_eq(root, x->root))
    return str_starts(g->path, x->prefix);
  return !root.p || access(arena_cstr(x->call->arena, root), F_OK) != 0;
}

static enum status load_old(struct extraction *x) {
  struct op_call *call = x->call;
  TRY(documents_groups(call->engine->store, call->caller.team, call->caller.project, CORPUS_ITEMS, call->arena, &x->old,
                       call->err));
  x->kept = arena_array(call->arena, bool, x->old.n + 1);
  for (size_t i = 0; i < x->old.n; i++)
    x->kept[i] = !is_ours(x, &x->old.v[i]);
  return STATUS_OK;
}

static const struct document_group *find_old(const struct extraction *x, struct str path, bool **ret_kept) {
  const struct document_group *g = document_group_find(&x->old, path);
  *ret_kept = g ? &x->kept[g - x->old.v] : NULL;
  return g;
}

/* ---- reading ---- */

static struct str without_secrets(struct extraction *x, struct arena *a, struct str text) {
  struct secret_hits hits = {0};
  redact_find(a, text, x->call->secrets, &hits);
  x->redacted += (int64_t)hits.n;
  return redact_apply(a, text, &hits);
}

/* Memory type of an item; a fact if several types match. */
static struct str type_of_item(enum item_type type) {
  for (size_t i = 0; i < types_count(); i++) {
    const struct mem_type *t = types_at(i);
    if ((t->kind == KIND_FACT || t->kind == KIND_TASK) && t->item && str_is(str_from(t->item), item_type_names[type]))
      return str_from(t->name);
  }
  return str_from(type_of_prose()->name);
}

/* `a` is recycled after each file. */
static void add_items(struct extraction *x, struct arena *a, struct str path, struct str text, struct changed *c) {
  struct items items;
  struct arena *keep = x->call->arena;
  items_find(a, path, text, &items);
  for (size_t i = 0; i < items.n; i++) {
    struct item *item = &items.v[i];
    char id[ITEM_ID_SIZE];
    item->content = without_secrets(x, a, item->content);
    item->title = without_secrets(x, a, item->title);
    item_id(a, path, item, id);
    list_push(keep, &c->documents,
              (struct document){.ref = arena_dup(keep, str_from(id)),
                                .type = type_of_item(item->type),
                                .headline = arena_dup(keep, item->title),
                                .text = arena_dup(keep, item->content),
                                .line = item->line,
                                .confidence = item->confidence,
                                .at = x->call->now});
  }
}

static void read_file(struct extraction *x, struct arena *a, const struct walk_file *file) {
  struct op_call *call = x->call;
  struct changed c = {.group = {.path = arena_printf(call->arena, "%.*s%.*s", STR_ARG(x->prefix), STR_ARG(file->path)),
                                .size = file->size}};
  bool *kept;
  const struct document_group *old = find_old(x, c.group.path, &kept);
  bool ours = old && str_eq(root_of(old), x->root) && has_our_rules(old);
  if (ours && old->changed_at > 0 && old->changed_at == file->changed_at && old->size == file->size) {
    *kept = true;
    x->unchanged++;
    return;
  }
  int64_t unreadable = x->counts.unreadable;
  struct str text = walk_read(x->folder.p, file, a, &x->counts);
  if (!text.p) {
    if (kept && x->counts.unreadable > unreadable)
      *kept = true; /* its items may still be right */
    return;
  }
  c.group.hash = hash_of(x, text);
  c.group.changed_at = file->changed_at < call->now - RACY_MS ? file->changed_at : 0;
  if (kept)
    *kept = true;
  x->read++;
  if (ours && str_eq(old->hash, c.group.hash)) {
    x->unchanged++;
    return;
  }
  add_items(x, a, c.group.path, text, &c);
  list_push(call->arena, &x->changed, c);
}

static enum status interrupted(struct op_call *call) {
  return error_set(call->err, STATUS_INTERRUPTED, "stopped; nothing was changed");
}

static enum status read_files(struct extraction *x) {
  struct op_call *call = x->call;
  struct arena *a = arena_child(call->arena);
  TRY(walk_list(x->folder.p, call->arena, &x->files, &x->counts, call->err));
  for (size_t i = 0; i < x->files.n; i++) {
    if (i % PROGRESS_EVERY == 0) {
      progress(call, "reading", (int64_t)i, (int64_t)x->files.n);
      if (cancelled(call))
        return interrupted(call);
    }
    if (comments_kind(x->files.v[i].path) == PROSE_NONE) {
      x->other++;
      continue;
    }
    read_file(x, a, &x->files.v[i]);
    arena_recycle(a, 1 << 20);
  }
  progress(call, "reading", (int64_t)x->files.n, (int64_t)x->files.n);
  return STATUS_OK;
}

/* ---- storing ---- */

static enum status store_changes(struct extraction *x, struct txn *txn, struct arena *a) {
  struct op_call *call = x->call;
  bool hold = x->changed.n >= HOLD_FROM;
  if (hold)
    TRY(lexical_hold(txn, call->err));
  for (size_t i = 0; i < x->old.n; i++)
    if (!x->kept[i])
      TRY(documents_remove(txn, a, CORPUS_ITEMS, x->old.v[i].path, &x->stored, call->err));
  for (size_t i = 0; i < x->changed.n; i++) {
    struct changed *c = &x->changed.v[i];
    if (i % PROGRESS_EVERY == 0) {
      progress(call, "storing", (int64_t)i, (int64_t)x->changed.n);
      if (cancelled(call))
        return interrupted(call);
    }
    TRY(documents_replace(txn, a, CORPUS_ITEMS, &c->group, &c->documents, &x->stored, call->err));
    arena_recycle(a, 1 << 20);
  }
  return hold ? lexical_release(txn, call->err) : STATUS_OK;
}

/* One event for the whole run. */
static enum status note_run(struct extraction *x, struct txn *txn, struct str out) {
  yyjson_mut_doc *doc = json_new(x->call->arena);
  yyjson_mut_val *detail = yyjson_mut_obj(doc);
  json_put(doc, detail, "type", STR("extracted"));
  json_put(doc, detail, "path", out);
  json_put_int(doc, detail, "delta", x->stored.added - x->stored.removed);
  json_put_int(doc, detail, "added", x->stored.added);
  json_put_int(doc, detail, "changed", x->stored.changed);
  json_put_int(doc, detail, "removed", x->stored.removed);
  struct event e = {.action = STR("memory:write"), .detail = json_write(x->call->arena, detail, false)};
  return event_add(txn, &e, x->call->err);
}

/* Writes items.json and its counts in the result. */
static enum status save(struct extraction *x, struct str out) {
  struct op_call *call = x->call;
  struct arena *a = arena_child(call->arena);
  struct stored_items items;
  int64_t by_type[ITEM_TYPES] = {0};
  bool written;
  TRY(items_stored(call->engine->store, call->caller.team, call->caller.project, a, &items, call->err));
  struct str text = items_json_render(a, &items);
  TRY(agent_claim(call->engine->store, call->caller.team, call->caller.project, a, call->err));
  TRY(items_json_save(a, arena_cstr(a, out), text, &written, call->err));
  if (json_str(call->args, "out").p)
    TRY(output_note(call, out, text));
  json_put_int(call->doc, call->result, "items", (int64_t)items.n);
  for (size_t i = 0; i < items.n; i++)
    for (int t = 0; t < ITEM_TYPES; t++)
      by_type[t] += strcmp(items_json_type(items.v[i].type), item_type_names[t]) == 0;
  yyjson_mut_val *types = json_put_obj(call->doc, call->result, "types");
  for (int t = 0; t < ITEM_TYPES; t++)
    json_put_int(call->doc, types, item_type_names[t], by_type[t]);
  json_put_bool(call->doc, call->result, "written", written);
  arena_release(a);
  return STATUS_OK;
}

static void put_counts(const struct extraction *x, int64_t gone) {
  yyjson_mut_doc *doc = x->call->doc;
  yyjson_mut_val *r = x->call->result;
  json_put_int(doc, r, "files", (int64_t)x->files.n);
  json_put_int(doc, r, "read", x->read);
  json_put_int(doc, r, "unchanged", x->unchanged);
  json_put_int(doc, r, "gone", gone);
  json_put_int(doc, r, "added", x->stored.added);
  json_put_int(doc, r, "changed", x->stored.changed);
  json_put_int(doc, r, "removed", x->stored.removed);
  if (x->redacted)
    json_put_int(doc, r, "redacted", x->redacted);
  yyjson_mut_val *skipped = json_put_obj(doc, r, "skipped");
  json_put_int(doc, skipped, "other", x->other);
  json_put_int(doc, skipped, "binary", x->counts.binary);
  json_put_int(doc, skipped, "pages", x->counts.pages);
  json_put_int(doc, skipped, "huge", x->counts.huge);
  json_put_int(doc, skipped, "unreadable", x->counts.unreadable);
  json_put_int(doc, skipped, "hidden", x->counts.hidden);
  json_put_int(doc, skipped, "links", x->counts.links);
}

static enum status finish(struct extraction *x, struct str out) {
  struct op_call *call = x->call;
  struct txn txn;
  int64_t gone = 0;
  for (size_t i = 0; i < x->old.n; i++)
    gone += !x->kept[i];
  bool change = x->changed.n || gone;
  if (change) {
    TRY(call_begin(call, &txn));
    TRY(store_changes(x, &txn, arena_child(call->arena)));
    TRY(note_run(x, &txn, out));
  }
  TRY(save(x, out));
  put_counts(x, gone);
  if (!change)
    return STATUS_OK;
  TRY(call_commit(call, &txn));
  return corpus_embed(call);
}

enum status op_extract(struct op_call *call) {
  struct extraction x = {.call = call};
  struct str out;
  TRY(call_folder(call, &x.folder));
  find_root(&x);
  find_project(&x);
  TRY(find_output(&x, &out));
  TRY(load_old(&x));
  TRY(read_files(&x));
  json_put(call->doc, call->result, "folder", x.folder);
  json_put(call->doc, call->result, "project", call->caller.project);
  json_put(call->doc, call->result, "file", out);
  return finish(&x, out);
}
