/* import_files.h: finding transcripts of Claude Code and Codex, and the import progress of each file. */
#pragma once

#include "transcript/file/import_line.h"

struct import_path {
  struct str path; /* NUL-terminated, absolute */
  enum import_from from;
  int64_t size, changed_at; /* bytes, ms */
};
struct import_paths {
  struct import_path *v;
  size_t n, cap;
};

/* Adds the transcripts at `path`, a file or folder, sorted by name. In folders it finds "*.jsonl" at any depth, or only
 * "rollout-*.jsonl" for Codex, and skips hidden files and symbolic links. `from` may be IMPORT_UNKNOWN. */
NODISCARD enum status import_find(struct str path, enum import_from from, struct arena *a, struct import_paths *list,
                                  struct error *err);
/* Default folders of a program's transcripts, existing or not: CLAUDE_CONFIG_DIR, else ~/.claude and the XDG folder;
 * CODEX_HOME, else ~/.codex. */
void import_folders(enum import_from from, struct arena *a, struct strs *list);

/* ---- progress ---- */

/* Progress of one file, and the state needed to continue. */
struct import_state {
  struct str path;
  enum import_from from;
  int64_t size, changed_at; /* of the file when it was read */
  int64_t offset, lines;    /* end of the last line read */
  struct str tail;          /* hash of the bytes before the offset; detects a replaced file */
  struct str session, cwd, repository;
  bool versioned, header;
  int64_t at;
};
struct import_place {
  struct str session, project;
};
/* Content of "imports.json" beside the transcripts. */
struct import_states {
  struct import_state *v;
  size_t n, cap;
  size_t near; /* index of the last one found: files are usually asked for in the same order */
  struct {
    struct import_place *v;
    size_t n, cap;
  } places; /* a session stays in the project of its first message */
};

/* A missing or damaged file gives an empty state; messages imported again are recognised by their ids. */
void import_states_read(struct str folder, struct arena *a, struct import_states *ret_states);
NODISCARD enum status import_states_write(struct str folder, const struct import_states *states, struct arena *a,
                                          struct error *err);
/* NULL if there is none. */
const struct import_state *import_state_find(struct import_states *states, struct str path);
void import_state_put(struct arena *a, struct import_states *states, const struct import_state *state);
/* The project of a session; false if it has none yet. */
bool import_place_find(const struct import_states *states, struct str session, struct str *ret_project);
void import_place_put(struct arena *a, struct import_states *states, struct str session, struct str project);
