/* memfile.h: files of an agent under /memories: paths, lines, edits, listings.
 *
 * Pure: a file is a path and a text. The messages are those of Anthropic's memory tool (memory_20250818), which models
 * were trained on: they are an interface and must match exactly. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

#define MEMFILE_ROOT "/memories"

/* A memory cannot have a blank text. A blank file is stored after this prefix, and its memory has MEMFILE_BLANK_TAG. */
#define MEMFILE_BLANK "(blank file)"
#define MEMFILE_BLANK_TAG "blank"
#define MEMFILE_TAG "file"

enum { MEMFILE_PATH_BYTES = 200, MEMFILE_SHOWN_CHARS = 16000, MEMFILE_LINES = 999999 };

/* True if the key of a memory is the path of a file. */
bool memfile_is_path(struct str key);
/* Checks that a path is inside the folder, and strips a final '/'. */
NODISCARD enum status memfile_path(struct str given, struct str *ret_path, struct error *err);

/* An empty file has no lines. A final line feed ends the last line and does not start another. */
size_t memfile_count_lines(struct str text);
/* Formats the lines from..to, counted from 1, as "     1<tab>text". *ret_last is the last line that fit. */
struct str memfile_number(struct arena *a, struct str text, size_t from, size_t to, size_t *ret_last);

/* Offsets of the occurrences of `part`, not overlapping. */
struct places {
  size_t *v;
  size_t n, cap;
};
void memfile_find(struct arena *a, struct str text, struct str part, struct places *ret_places);
/* Line number of an offset, from 1. */
size_t memfile_line_at(struct str text, size_t offset);
struct str memfile_replace(struct arena *a, struct str text, size_t at, size_t len, struct str by);
/* Inserts whole lines after line `line`; 0 inserts at the start. */
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
/* Lists two levels of `dir`. `files` are its files, ordered by path. A folder has the total size of its files. Hidden
 * entries and node_modules are left out. The first entry is `dir` itself. */
void memfile_list(struct arena *a, struct str dir, const struct memfile_entries *files,
                  struct memfile_entries *ret_entries);
