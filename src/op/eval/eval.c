/* eval.c: the operation eval, which measures retrieval quality: finds the sets, parses options. */
#include "op/eval/eval.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fs.h"
#include "op/handlers.h"
#include "op/run/common.h"
#include "store/db/db.h"

/* ---- directories ---- */

struct folder {
  struct str path;
  bool set;            /* holds a retrieval set */
  struct strs pairs;   /* *.tsv */
  struct strs folders; /* names of subdirectories */
  struct str archive;  /* name of an archive in it; absent: none */
};

static int by_name(const void *x, const void *y) { return str_cmp(*(const struct str *)x, *(const struct str *)y); }

static void sort(struct strs *list) {
  if (list->n)
    qsort(list->v, list->n, sizeof(*list->v), by_name);
}

static void note_entry(struct arena *a, struct folder *f, const char *cname) {
  struct str name = arena_dup(a, str_from(cname));
  struct stat st;
  if (cname[0] == '.' || stat(arena_printf(a, "%.*s/%s", STR_ARG(f->path), cname).p, &st) != 0)
    return;
  if (S_ISDIR(st.st_mode))
    strs_push(a, &f->folders, name);
  else if (str_is(name, "corpus.jsonl") || str_is(name, "queries.jsonl"))
    f->set = true;
  else if (str_ends(name, STR(".tsv")))
    strs_push(a, &f->pairs, name);
  else if (str_find(name, STR(".tar"), 0) != SIZE_MAX)
    f->archive = name;
}

static void close_dir(void *p) {
  DIR **dir = p;
  if (*dir)
    closedir(*dir);
  *dir = NULL;
}

static enum status scan_folder(struct op_call *call, struct str path, struct folder *ret_folder) {
  struct arena *a = call->arena;
  struct folder f = {.path = path};
  DIR **dir = arena_new(a, DIR *); /* closed by the arena if an allocation below jumps out of memory */
  arena_defer(a, close_dir, dir);
  *dir = opendir(arena_cstr(a, path));
  if (!*dir) {
    error_errno(call->err, errno, "cannot read the directory %.*s", STR_ARG(path));
    return error_fix(call->err, "name the directory of a test set, or one that holds such directories; unpack archives "
                                "first: tar -xf FILE -C DIR");
  }
  for (struct dirent *e; (e = readdir(*dir));)
    note_entry(a, &f, e->d_name);
  close_dir(dir);
  sort(&f.folders);
  sort(&f.pairs);
  *ret_folder = f;
  return STATUS_OK;
}

/* ---- selection ---- */

bool eval_wants(struct eval *e, struct str name) {
  bool wanted = !e->only.n || strs_has(&e->only, name);
  e->chosen += wanted;
  return wanted;
}

static enum status measure_folder(struct eval *e, const struct folder *f) {
  struct str name = fs_basename(f->path);
  if (f->set)
    return eval_wants(e, name) ? eval_retrieval(e, f->path, name) : STATUS_OK;
  return f->pairs.n ? eval_pairs(e, f->path, &f->pairs) : STATUS_OK;
}

/* If subdirectories hold sets, other files in the top directory are ignored. */
static enum status measure_all(struct eval *e, const struct folder *top) {
  struct op_call *call = e->call;
  bool inside = false;
  for (size_t i = 0; !top->set && i < top->folders.n; i++) {
    struct folder f;
    TRY(scan_folder(call, arena_printf(call->arena, "%.*s/%.*s", STR_ARG(top->path), STR_ARG(top->folders.v[i])), &f));
    inside |= f.set || f.pairs.n;
    TRY(measure_folder(e, &f));
  }
  return inside ? STATUS_OK : measure_folder(e, top);
}

static enum status nothing_found(struct eval *e, const struct folder *top) {
  struct error *err = e->call->err;
  if (e->only.n) {
    error_set(err, STATUS_NOT_FOUND, "%.*s holds no set named '%.*s'", STR_ARG(top->path), STR_ARG(e->only.v[0]));
    return error_fix(err, "omit --set, or name one of its subdirectories");
  }
  error_set(err, STATUS_NOT_FOUND, "%.*s holds no test set", STR_ARG(top->path));
  if (top->archive.p)
    return error_fix(err, "unpack the archives first: tar -xf %.*s/%.*s -C DIR", STR_ARG(top->path),
                     STR_ARG(top->archive));
  return error_fix(err, "a set is a directory with corpus.jsonl, queries.jsonl and qrels.tsv; see docs/quality.md");
}

/* ---- options ---- */

static void close_file(void *p) {
  struct eval *e = p;
  if (e->queries_out)
    fclose(e->queries_out);
  e->queries_out = NULL;
}

static enum status open_queries_out(struct eval *e) {
  struct op_call *call = e->call;
  struct str path = json_str(call->args, "queries_out");
  if (!path.p)
    return STATUS_OK;
  if (str_is(path, "-")) {
    error_set(call->err, STATUS_USAGE, "queries_out must be a file: the report goes to standard output");
    return error_fix(call->err, "--queries-out found.jsonl");
  }
  e->queries_out = fopen(arena_cstr(call->arena, path), "we");
  if (e->queries_out)
    return STATUS_OK;
  error_errno(call->err, errno, "cannot write %.*s", STR_ARG(path));
  return error_fix(call->err, "name another file");
}

static enum status finish_queries_out(struct eval *e) {
  if (!e->queries_out)
    return STATUS_OK;
  int failed = fclose(e->queries_out);
  e->queries_out = NULL;
  return failed ? error_errno(e->call->err, errno, "cannot write the file of --queries-out") : STATUS_OK;
}

static enum status read_options(struct eval *e) {
  static const char *const names[EVAL_MODES] = {"hybrid", "keyword", "vector"};
  struct op_call *call = e->call;
  struct strs modes = {0};
  int64_t limit;
  json_strs(call->arena, call->args, "modes", &modes);
  json_strs(call->arena, call->args, "set", &e->only);
  for (int i = 0; i < EVAL_MODES; i++)
    e->modes[i] = !modes.n || strs_has(&modes, str_from(names[i]));
  e->fast = json_bool(call->args, "fast", false);
  struct str dates = json_str(call->args, "dates");
  e->dates = str_is(dates, "none") ? DATES_NONE : str_is(dates, "written") ? DATES_WRITTEN : DATES_VALID;
  TRY(call_int(call, "limit", 0, 0, 1000000000, &limit));
  e->limit = (size_t)limit;
  return open_queries_out(e);
}

/* ---- the operation ---- */

/* Resolves "." and removes a trailing slash: the last component is the name of the set. */
static struct str full_path(struct arena *a, struct str dir) {
  char real[PATH_MAX];
  return realpath(arena_cstr(a, dir), real) ? arena_dup(a, str_from(real)) : dir;
}

static enum status make_store(struct eval *e) {
  struct op_call *call = e->call;
  struct str server = json_str(call->args, "server");
  if (server.p && !db_is_url(server.p)) {
    error_set(call->err, STATUS_USAGE, "--server must be the URL of a PostgreSQL server");
    return error_fix(call->err, "--server postgresql://USER@HOST/DATABASE");
  }
  return eval_store_make(call, server.p ? arena_dup(call->arena, server) : STR_NONE,
                         json_bool(call->args, "keep", false), &e->store);
}

static enum status measure(struct eval *e, const struct folder *top) {
  TRY(measure_all(e, top));
  if (!e->chosen)
    return nothing_found(e, top);
  return finish_queries_out(e);
}

enum status op_eval(struct op_call *call) {
  struct eval *e = arena_new(call->arena, struct eval);
  struct folder top;
  e->call = call;
  e->sets = json_put_arr(call->doc, call->result, "sets");
  e->pairs = yyjson_mut_arr(call->doc);
  arena_defer(call->arena, close_file, e);
  TRY(scan_folder(call, full_path(call->arena, json_str(call->args, "dir")), &top));
  TRY(read_options(e));
  TRY(make_store(e));
  enum status s = measure(e, &top);
  if (s == STATUS_OK && e->store->keep)
    json_put(call->doc, call->result, "kept",
             arena_dup(call->arena, e->store->server.p ? e->store->path : str_from(e->store->folder)));
  e->store->keep &= s == STATUS_OK;
  eval_store_remove(e->store);
  if (yyjson_mut_arr_size(e->pairs))
    yyjson_mut_obj_add_val(call->doc, call->result, "pairs", e->pairs);
  return s;
}
