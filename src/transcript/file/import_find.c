/* import_find.c: finding transcripts of Claude Code and Codex. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/os/fs.h"
#include "base/utf8.h"
#include "transcript/file/import_files.h"
#include "transcript/file/internal.h"

enum { DEPTH = 16 };

static int by_bytes(const void *x, const void *y) { return str_cmp(*(const struct str *)x, *(const struct str *)y); }

/* Sorted names in a folder without hidden ones; none if it cannot be read. */
static void list_names(struct arena *a, const char *folder, struct strs *names) {
  DIR **dir = arena_new(a, DIR *);
  struct dirent *e;
  arena_defer(a, transcript_close_dir, dir);
  *dir = opendir(folder);
  while (*dir && (e = readdir(*dir)))
    if (e->d_name[0] != '.')
      strs_push(a, names, arena_dup(a, str_from(e->d_name)));
  transcript_close_dir(dir);
  if (names->n)
    qsort(names->v, names->n, sizeof(*names->v), by_bytes);
}

/* Skips a file that one of the `earlier` arguments has already added. */
static void add_file(struct arena *a, struct import_paths *list, size_t earlier, struct str path, enum import_from from,
                     const struct stat *st) {
  assert(earlier <= list->n);
  int64_t changed = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;
  for (size_t i = 0; i < earlier; i++)
    if (str_eq(list->v[i].path, path))
      return;
  list_push(a, list,
            (struct import_path){.path = path, .from = from, .size = (int64_t)st->st_size, .changed_at = changed});
}

/* "agent-acompact-" is an internal file of Claude Code's compaction. */
static bool is_transcript(struct str name, enum import_from from) {
  if (!str_ends(name, STR(".jsonl")) || str_starts(name, STR("agent-acompact-")))
    return false;
  return from != IMPORT_CODEX || str_starts(name, STR("rollout-"));
}

static void walk(struct str folder, enum import_from from, int depth, size_t earlier, struct arena *a,
                 struct import_paths *list) {
  struct strs names = {0};
  struct stat st;
  list_names(a, folder.p, &names);
  for (size_t i = 0; i < names.n; i++) {
    struct str path = arena_printf(a, "%.*s/%.*s", STR_ARG(folder), STR_ARG(names.v[i]));
    if (lstat(path.p, &st) != 0 || utf8_check(path) != path.n)
      continue;
    if (S_ISDIR(st.st_mode) && depth < DEPTH)
      walk(path, from, depth + 1, earlier, a, list);
    else if (S_ISREG(st.st_mode) && is_transcript(names.v[i], from))
      add_file(a, list, earlier, path, from, &st);
  }
}

enum status import_find(struct str path, enum import_from from, struct arena *a, struct import_paths *list,
                        struct error *err) {
  char real[PATH_MAX];
  struct stat st;
  const char *name = arena_cstr(a, path);
  if (!realpath(name, real) || stat(real, &st) != 0) {
    error_errno(err, errno, "cannot read %s", name);
    return error_fix(err, "check the path; without one, the usual folders of Claude Code and Codex are read");
  }
  struct str at = arena_dup(a, str_from(real));
  if (S_ISDIR(st.st_mode))
    walk(at, from, 0, list->n, a, list);
  else if (S_ISREG(st.st_mode))
    add_file(a, list, list->n, at, from, &st);
  else {
    error_set(err, STATUS_USAGE, "%s is neither a file nor a folder", name);
    return error_fix(err, "name a transcript, or a folder of them");
  }
  return STATUS_OK;
}

static struct str variable(const char *name) {
  struct str value = str_from(getenv(name));
  return utf8_check(value) == value.n ? value : STR_NONE;
}

static void add_folder(struct arena *a, struct strs *list, struct str base, const char *rest) {
  if (base.n)
    strs_push(a, list, arena_printf(a, "%.*s/%s", STR_ARG(base), rest));
}

static void claude_folders(struct arena *a, struct strs *list) {
  struct str home = variable("HOME"), chosen = variable("CLAUDE_CONFIG_DIR"), config = variable("XDG_CONFIG_HOME");
  if (chosen.n) {
    add_folder(a, list, chosen, "projects");
    return;
  }
  add_folder(a, list, home, ".claude/projects");
  if (config.n)
    add_folder(a, list, config, "claude/projects");
  else
    add_folder(a, list, home, ".config/claude/projects");
}

static void codex_folders(struct arena *a, struct strs *list) {
  struct str home = variable("HOME"), chosen = variable("CODEX_HOME");
  add_folder(a, list, chosen.n ? chosen : home, chosen.n ? "sessions" : ".codex/sessions");
  add_folder(a, list, chosen.n ? chosen : home, chosen.n ? "archived_sessions" : ".codex/archived_sessions");
}

void import_folders(enum import_from from, struct arena *a, struct strs *list) {
  assert(from == IMPORT_CLAUDE || from == IMPORT_CODEX);
  if (from == IMPORT_CLAUDE)
    claude_folders(a, list);
  else
    codex_folders(a, list);
}
