/* import.h: what the import of each format shares: the input, the report of bad rows, and the pure parsers.
 *
 * A format's function works inside one transaction that it opens itself; import_finish() decides whether it stays. */
#pragma once

#include <sys/stat.h>

#include "op/write/write.h"

enum {
  IMPORT_REPORTED = 100,         /* bad rows and warnings that are listed; the rest is counted */
  IMPORT_LINE_MAX = 16 << 20,    /* bytes of one line */
  IMPORT_MAX = 1 << 30,          /* bytes of one input */
  IMPORT_MARKDOWN_MAX = 1000000, /* bytes of one Markdown file */
};

/* ---- input ---- */

/* A seekable input; what cannot be read twice was copied to a file without a name. */
struct source {
  const char *name; /* for messages */
  int fd;
  struct stat st;
};
/* "-" is standard input. The file is closed with the arena. */
NODISCARD enum status source_open(struct op_call *call, struct str path, struct source *ret_source);
/* Reading it twice is only right while nobody changes it. */
NODISCARD enum status source_unchanged(const struct source *s, struct error *err);

/* Its lines, from any line's beginning on, without line ends; a byte order mark at the very beginning is passed over.
 */
struct lines {
  const struct source *source;
  struct arena *arena;
  char *buffer;
  size_t cap, start, end; /* buffer[start..end) is not handed out yet */
  int64_t offset;         /* of buffer[end] in the file */
  int64_t at;             /* where the line that was handed out begins in the file */
  int64_t number;         /* of that line, from 1 */
  bool too_long;          /* it was longer than IMPORT_LINE_MAX; its text is cut */
};
void lines_open(struct lines *l, const struct source *source, struct arena *a, int64_t offset, int64_t number);
/* False in ret_more at the end. The text is valid until the next call. */
NODISCARD enum status lines_next(struct lines *l, struct str *ret_line, bool *ret_more, struct error *err);

/* ---- an import under way ---- */

struct import {
  struct op_call *call;
  struct txn txn;
  const char *format;
  bool skip_bad, dry_run;
  bool keep_trust; /* a person vouches for the file: what it says of trust holds */
  int64_t imported, already, tombstoned, duplicates, links, tombstones, txns, events, redacted;
  int64_t bad, warned;
  int64_t last_chunk;                 /* before the first of this import */
  yyjson_mut_val *refused, *warnings; /* lists of the result */
};

/* Whether a failure concerns one row; anything else (a full disk) ends the import. */
bool import_is_row_error(enum status s);
/* Reports a bad row; `where` is its line number, or a path with one. */
void import_refuse(struct import *im, yyjson_mut_val *where, const struct error *err);
void import_refuse_line(struct import *im, int64_t line, const struct error *err);
void import_warn(struct import *im, const char *code, struct str message, struct str fix);
/* STATUS_INTERRUPTED when the caller wants to stop. */
NODISCARD enum status import_check_cancelled(struct import *im);
/* Commits, or takes everything back; fills the result. */
NODISCARD enum status import_finish(struct import *im);

/* Sends a draft of a foreign format through the gate and stores it under m.uid, in memory of `a`. ret_id is the memory
 * that stands for it now: the new one, the one that was there, or 0 when it was purged. A refusal is a row error. */
NODISCARD enum status import_store(struct import *im, struct arena *a, struct memory *m, int64_t *ret_id,
                                   struct error *err);
/* A uid that depends on these texts alone. */
struct str import_uid(struct arena *a, const struct str *texts, size_t n);

/* ---- formats ---- */

NODISCARD enum status import_native(struct import *im, const struct source *source);
NODISCARD enum status import_graph(struct import *im, const struct source *source);
NODISCARD enum status import_markdown(struct import *im, struct str path);

/* ---- pure parsers ---- */

enum import_format { FORMAT_UNKNOWN, FORMAT_NATIVE, FORMAT_GRAPH };
/* What a file is, from its first line that is not blank. */
enum import_format import_guess(struct arena *a, struct str line);

/* One line of the official memory server's graph. */
struct graph_line {
  bool relation;
  struct str name, type; /* of an entity */
  struct strs observations;
  struct str from, to; /* of a relation, whose kind is `type` */
};
NODISCARD enum status graph_read(struct arena *a, struct str line, struct graph_line *ret_line, struct error *err);
/* A memory of an observation, "NAME: observation", or of an entity that has none yet, "NAME: type". */
void graph_draft(struct arena *a, struct str name, struct str type, struct str observation, struct memory *m);
/* The observation that a memory's text holds; absent when it only says that the entity is there. */
struct str graph_observation(struct arena *a, struct str name, struct str type, struct str body);
/* "Programming Language" becomes "programming-language"; may be empty. */
struct str graph_slug(struct arena *a, struct str type);

/* What the front matter of a Markdown file says; absent where it says nothing. */
struct front_matter {
  struct str title, type, project;
  struct strs tags;
  size_t end; /* where the text behind it begins */
};
void markdown_front(struct arena *a, struct str text, struct front_matter *ret_front);

/* A memory made of a section, or of a part of a long one. */
struct section {
  struct str headline;
  struct str path;  /* headings that lead to it, "Guide: Install" */
  struct str topic; /* what the whole text is about: its title or first heading; absent where there is none */
  struct str body;  /* as it stands in the text */
  size_t line;      /* of its beginning, from 1 */
};
struct sections {
  struct section *v;
  size_t n, cap;
};
/* Cuts a text into its sections; they lie in it in order. What holds no letter is left out. */
void markdown_split(struct arena *a, struct str text, const struct front_matter *front, struct sections *ret_sections);
