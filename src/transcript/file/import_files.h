/* import_files.h: transcripts of other programs on disk: where they are, and how far each was read. */
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

/* Adds the transcripts at `path`, a file or a folder, in the order of their names. Of a folder: "*.jsonl" below it, of
 * Codex "rollout-*.jsonl" alone; hidden files and symbolic links are passed over. `from` may be IMPORT_UNKNOWN. */
NODISCARD enum status import_find(struct str path, enum import_from from, struct arena *a, struct import_paths *list,
                                  struct error *err);
/* The folders where a program leaves its transcripts, whether they are there or not: CLAUDE_CONFIG_DIR, else ~/.claude
 * and the XDG folder; CODEX_HOME, else ~/.codex. */
void import_folders(enum import_from from, struct arena *a, struct strs *list);

/* ---- how far ---- */

/* What was read of a file, and what must be known to go on. */
struct import_mark {
  struct str path;
  enum import_from from;
  int64_t size, changed_at; /* when it was read */
  int64_t offset, lines;    /* read up to here: whole lines */
  struct str tail;          /* hash of the bytes before the offset: another file may have its name now */
  struct str session, cwd, repository;
  bool versioned, header;
  int64_t at;
};
struct import_place {
  struct str session, project;
};
/* All of them: "imports.json" beside the transcripts. */
struct import_marks {
  struct import_mark *v;
  size_t n, cap;
  size_t near; /* where the last one was found: files come in the same order each time */
  struct {
    struct import_place *v;
    size_t n, cap;
  } places; /* a session stays where its first message went */
};

/* A file that is lost or damaged holds nothing: what is read again is known by its ids. */
void import_marks_read(struct str folder, struct arena *a, struct import_marks *ret_marks);
NODISCARD enum status import_marks_write(struct str folder, const struct import_marks *marks, struct arena *a,
                                         struct error *err);
/* The mark of a file, NULL when there is none; a new or changed one. */
const struct import_mark *import_mark_find(struct import_marks *marks, struct str path);
void import_mark_put(struct arena *a, struct import_marks *marks, const struct import_mark *mark);
/* The project of a session; false when it has none yet. */
bool import_place_find(const struct import_marks *marks, struct str session, struct str *ret_project);
void import_place_put(struct arena *a, struct import_marks *marks, struct str session, struct str project);
