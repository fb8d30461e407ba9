/* import_line.h: converting transcripts of Claude Code and Codex to messages, line by line. No I/O.
 *
 * Claude Code writes "<config>/projects/<folder>/<session>.jsonl", Codex "<home>/sessions/YYYY/MM/DD/rollout-*.jsonl".
 * Both formats are undocumented and change: unknown content is counted and skipped, never an error. Both are
 * append-only, so the messages of a line depend only on that line and the state in struct import_file. */
#pragma once

#include "base/json.h"
#include "transcript/file/message.h"

enum import_from { IMPORT_UNKNOWN, IMPORT_CLAUDE, IMPORT_CODEX, IMPORT_FROM_COUNT };
extern const char *const import_from_names[IMPORT_FROM_COUNT]; /* "unknown", "claude", "codex" */

/* Reasons to skip a line or part. */
enum import_skip {
  IMPORT_BOOKKEEPING, /* internal records: snapshots, progress, titles, counters */
  IMPORT_CONTEXT,     /* text inserted by the program: instructions, environment, reminders */
  IMPORT_THINKING,    /* the model's reasoning */
  IMPORT_REPEATED,    /* repeated by another line */
  IMPORT_EMPTY,       /* messages without text */
  IMPORT_STRANGE,     /* unknown kinds of lines and parts */
  IMPORT_BROKEN,      /* lines that are not a JSON object */
  IMPORT_TOO_LONG,    /* lines over the limit */
  IMPORT_SKIP_COUNT
};
extern const char *const import_skip_names[IMPORT_SKIP_COUNT];

enum {
  IMPORT_TEXT_BYTES = 1 << 20, /* maximum bytes per message; longer ones are truncated and say so */
  IMPORT_CALLS = 256,          /* recent tool calls remembered for their results */
};

struct import_call {
  struct str id, name;
};

/* State of a file that is being read. The strings are allocated in `arena`. */
struct import_file {
  struct arena *arena;
  enum import_from from;
  struct str session;    /* from the file name, until the header is read */
  struct str agent;      /* name of the subagent that wrote the file; absent if none did */
  struct str cwd;        /* first recorded working directory; absent if none yet */
  struct str repository; /* name of the repository, if recorded */
  bool versioned;        /* the working directory was in a repository */
  bool header;           /* the session's own header was read; later ones belong to other sessions */
  int64_t at;            /* last timestamp, ms; used for lines without one */
  struct import_call calls[IMPORT_CALLS];
  size_t n_calls; /* total; the last IMPORT_CALLS are in the ring */
  int64_t skipped[IMPORT_SKIP_COUNT];
};

/* Content of one line. */
struct import_line {
  struct str session; /* the program's session id */
  struct str cwd;     /* working directory of the line, else of the file; may be absent */
  struct messages list;
};

/* Initialises the state of a file; the session id comes from the file name. */
void import_file_open(struct arena *a, enum import_from from, struct str path, struct import_file *ret_file);
/* The program that wrote the line, or IMPORT_UNKNOWN. */
enum import_from import_guess_line(struct arena *a, struct str line);
/* Converts a line in the format file->from; `number` is the line number, from 1. Counts skipped parts in file->skipped.
 */
void import_read_line(struct arena *a, struct import_file *file, struct str line, int64_t number,
                      struct import_line *ret_line);

/* ---- internal to the readers ---- */

/* `base` is the id for messages without one. */
void import_claude(struct arena *a, struct import_file *file, yyjson_val *root, struct str base,
                   struct import_line *out);
void import_codex(struct arena *a, struct import_file *file, yyjson_val *root, struct str base,
                  struct import_line *out);
bool import_is_claude(yyjson_val *root);
bool import_is_codex(yyjson_val *root);

static inline void import_skipped(struct import_file *file, enum import_skip why) { file->skipped[why]++; }
/* Adds a message, or counts it as skipped if it has no text. Truncates long texts. */
void import_add(struct arena *a, struct import_file *file, struct import_line *out, struct message m);
/* The text of content in any form: a string, a list of parts, an object with content. Skips and counts parts for which
 * `injected` is true (NULL for none). Images and files become "[image]" and such. */
struct str import_content(struct arena *a, struct import_file *file, yyjson_val *content, bool (*injected)(struct str));
/* Appends the text of one part. */
void import_part(struct import_file *file, yyjson_val *part, bool (*injected)(struct str), struct buf *text);
void import_note_call(struct import_file *file, struct str id, struct str name);
struct str import_call_name(const struct import_file *file, struct str id);
/* Sets file->cwd if it is not set. */
void import_note_cwd(struct import_file *file, struct str cwd);
/* The time of the line, else the last time in the file. */
int64_t import_time(struct import_file *file, yyjson_val *line);
/* True if the text starts with one of the prefixes; the list ends with {NULL, 0}. */
bool import_has_prefix(struct str text, const struct str *prefixes);
