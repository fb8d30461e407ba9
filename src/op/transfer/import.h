/* import.h: shared by the import formats: input, report of bad rows, parsers.
 *
 * A format's function begins one transaction; import_finish() commits it or rolls it back. */
#pragma once

#include <sys/stat.h>

#include "op/write/write.h"

enum {
  IMPORT_REPORTED = 100,         /* bad rows and warnings that are listed; the rest is only counted */
  IMPORT_LINE_MAX = 16 << 20,    /* bytes of one line */
  IMPORT_MAX = 1 << 30,          /* bytes of one input */
  IMPORT_MARKDOWN_MAX = 1000000, /* bytes of one Markdown file */
};

/* ---- input ---- */

/* A seekable input; a pipe is copied to an unnamed file. */
struct source {
  const char *name; /* for messages */
  int fd;
  struct stat st;
};
/* "-" is standard input. The file is closed with the arena. */
NODISCARD enum status source_open(struct op_call *call, struct str path, struct source *ret_source);
/* STATUS_CONFLICT if the file has changed since it was opened: it is read twice. */
NODISCARD enum status source_check_unchanged(const struct source *s, struct error *err);

/* Iterator over lines, without line ends; skips a byte order mark at the start of the file. */
struct lines {
  const struct source *source;
  struct arena *arena;
  char *buffer;
  size_t cap, start, end; /* buffer[start..end) was read, but not returned yet */
  int64_t offset;         /* file offset of buffer[end] */
  int64_t at;             /* file offset of the current line */
  int64_t number;         /* of the current line, from 1 */
  bool too_long;          /* the current line is longer than IMPORT_LINE_MAX, and its text is not complete */
};
/* Starts at the file offset of a line's beginning. */
void lines_open(struct lines *l, const struct source *source, struct arena *a, int64_t offset, int64_t number);
/* *ret_more is false at the end. The text is valid until the next call. */
NODISCARD enum status lines_next(struct lines *l, struct str *ret_line, bool *ret_more, struct error *err);

/* ---- state of an import ---- */

struct import {
  struct op_call *call;
  struct txn txn;
  const char *format;
  bool skip_bad, dry_run;
  bool own;        /* a person imports their own export: use the trust in the file, unless the text is suspect */
  bool keep_trust; /* also of suspect text; only a person may ask for it */
  int64_t imported, already, tombstoned, duplicates, links, tombstones, txns, events, redacted;
  int64_t untrusted; /* of the imported */
  int64_t bad, warned;
  int64_t last_chunk;                 /* id of the newest chunk before this import */
  yyjson_mut_val *refused, *warnings; /* lists of the result */
};

/* True if the error concerns one row; any other (a full disk) ends the import. */
bool import_is_row_error(enum status s);
/* Reports a bad row; `where` is its line number, or a path with one. */
void import_refuse(struct import *im, yyjson_mut_val *where, const struct error *err);
void import_refuse_line(struct import *im, int64_t line, const struct error *err);
void import_warn(struct import *im, const char *code, struct str message, struct str fix);
/* STATUS_INTERRUPTED if the caller has cancelled the call. */
NODISCARD enum status import_check_cancelled(struct import *im);
/* Commits or rolls back, and fills the result. */
NODISCARD enum status import_finish(struct import *im);

/* Sends a draft of a foreign format through the write pipeline and stores it with m.uid. *ret_id is the new memory, the
 * existing one if it is a duplicate, or 0 if it was purged. A refusal is a row error. Allocates from `a`. */
NODISCARD enum status import_store(struct import *im, struct arena *a, struct memory *m, int64_t *ret_id,
                                   struct error *err);
/* A uid derived from the texts. */
struct str import_uid(struct arena *a, const struct str *texts, size_t n);

/* ---- formats ---- */

NODISCARD enum status import_native(struct import *im, const struct source *source);
NODISCARD enum status import_graph(struct import *im, const struct source *source);
NODISCARD enum status import_markdown(struct import *im, struct str path);

/* ---- parsers ---- */

enum import_format { FORMAT_UNKNOWN, FORMAT_NATIVE, FORMAT_GRAPH };
/* Detects the format from the first line that is not blank. */
enum import_format import_detect_format(struct arena *a, struct str line);

/* One line of the official memory server's graph. */
struct graph_line {
  bool relation;
  struct str name, type; /* of an entity */
  struct strs observations;
  struct str from, to; /* of a relation, whose kind is `type` */
};
NODISCARD enum status graph_read(struct arena *a, struct str line, struct graph_line *ret_line, struct error *err);
/* Fills a memory for an observation, "NAME: observation", or for an entity without observations, "NAME: type". */
void graph_draft(struct arena *a, struct str name, struct str type, struct str observation, struct memory *m);
/* The observation in a memory's text; absent if the text is "NAME: type". */
struct str graph_observation(struct arena *a, struct str name, struct str type, struct str body);
/* "Programming Language" becomes "programming-language"; may be empty. */
struct str graph_slug(struct arena *a, struct str type);

/* Front matter of a Markdown file; fields that it does not have are absent. */
struct front_matter {
  struct str title, type, project;
  struct strs tags;
  size_t end; /* offset of the text after it */
};
void markdown_front(struct arena *a, struct str text, struct front_matter *ret_front);

/* A section of a text, or a part of a long one; it becomes one memory. */
struct section {
  struct str headline;
  struct str path;  /* headings that lead to it, "Guide: Install" */
  struct str topic; /* title or first heading of the whole text; may be absent */
  struct str body;  /* unchanged */
  size_t line;      /* first line, from 1 */
};
struct sections {
  struct section *v;
  size_t n, cap;
};
/* Splits a text into its sections, in order; drops sections without letters. */
void markdown_split(struct arena *a, struct str text, const struct front_matter *front, struct sections *ret_sections);
