/* memfile.h: the files that an agent keeps under /memories: paths, lines, edits, and how they are shown.
 *
 * Pure: a file is its path and its text. The sentences are those of Anthropic's memory tool (memory_20250818), which
 * models were trained on: they are an interface, down to the comma. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

#define MEMFILE_ROOT "/memories"

/* A memory's text is never blank, a file's may be: then it is stored behind this mark, and the memory has the tag. */
#define MEMFILE_BLANK "(blank file)"
#define MEMFILE_BLANK_TAG "blank"
#define MEMFILE_TAG "file"

enum { MEMFILE_PATH_BYTES = 200, MEMFILE_SHOWN_CHARS = 16000, MEMFILE_LINES = 999999 };

/* Whether a memory's key is the path of such a file. */
bool memfile_is_path(struct str key);
/* A path without its final '/', when it lies in the folder and leads nowhere else. */
NODISCARD enum status memfile_path(struct str given, struct str *ret_path, struct error *err);

/* The empty file has no line; a final line feed ends the last line and begins no other. */
size_t memfile_count_lines(struct str text);
/* Lines from..to, counted from 1, as "     1<tab>text"; ret_last is the last one that had room. */
struct str memfile_number(struct arena *a, struct str text, size_t from, size_t to, size_t *ret_last);

/* The places where `part` occurs, as offsets; they do not overlap. */
struct places {
  size_t *v;
  size_t n, cap;
};
void memfile_find(struct arena *a, struct str text, struct str part, struct places *ret_places);
/* The line of an offset, from 1. */
size_t memfile_line_at(struct str text, size_t offset);
struct str memfile_replace(struct arena *a, struct str text, size_t at, size_t len, struct str by);
/* Puts a text behind line `line` as lines of its own. */
struct str memfile_insert(struct arena *a, struct str text, size_t line, struct str part);

/* "0B", "512B", "1.5K", "2.0M". */
struct str memfile_size(struct arena *a, int64_t bytes);

struct memfile_entry {
  struct str path;
  int64_t size;
  bool directory;
};
struct memfile_entries {
  struct memfile_entry *v;
  size_t n, cap;
};
/* What a listing of `dir` shows of the files in it, which are in the order of their paths: two levels, folders with the
 * sizes of all in them; hidden entries and node_modules are left out. The first entry is the folder itself. */
void memfile_list(struct arena *a, struct str dir, const struct memfile_entries *files,
                  struct memfile_entries *ret_entries);
