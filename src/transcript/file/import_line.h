/* import_line.h: transcripts that other programs leave on disk, read a line at a time into messages of ours. Pure.
 *
 * Claude Code writes "<config>/projects/<folder>/<session>.jsonl", Codex "<home>/sessions/YYYY/MM/DD/rollout-*.jsonl".
 * Neither format is documented by its maker, and both change: what is not known is counted and passed over, never an
 * error. Both are append-only, so that the messages of a line depend on that line and on a little that went before. */
#pragma once

#include "base/json.h"
#include "transcript/file/message.h"

enum import_from { IMPORT_UNKNOWN, IMPORT_CLAUDE, IMPORT_CODEX, IMPORT_FROM_COUNT };
extern const char *const import_from_names[IMPORT_FROM_COUNT]; /* "unknown", "claude", "codex" */

/* Why something is not imported. */
enum import_skip {
  IMPORT_BOOKKEEPING, /* what the program notes for itself: snapshots, progress, titles, counters */
  IMPORT_CONTEXT,     /* what the program puts into the conversation: instructions, environment, reminders */
  IMPORT_THINKING,    /* the model's reasoning */
  IMPORT_REPEATED,    /* what another line says as well */
  IMPORT_EMPTY,       /* messages without text */
  IMPORT_STRANGE,     /* lines and parts of a kind that is not known */
  IMPORT_BROKEN,      /* lines that are no JSON object */
  IMPORT_TOO_LONG,    /* lines over the limit */
  IMPORT_SKIP_COUNT
};
extern const char *const import_skip_names[IMPORT_SKIP_COUNT];

enum {
  IMPORT_TEXT_BYTES = 1 << 20, /* of one message; what is longer is cut, and says so */
  IMPORT_CALLS = 256,          /* calls of tools whose results are still waited for */
};

struct import_call {
  struct str id, name;
};

/* A file that is being read. The strings live in `arena`. */
struct import_file {
  struct arena *arena;
  enum import_from from;
  struct str session;    /* by the file's name, until its header says better */
  struct str agent;      /* of a file that holds the work of a helper: its name; absent elsewhere */
  struct str cwd;        /* first recorded folder; absent: none yet */
  struct str repository; /* its name, where the file tells it */
  bool versioned;        /* the folder was in a repository */
  bool header;           /* the session's own header was seen; later ones are copies of others */
  int64_t at;            /* the last time that was told, ms: lines without one come from then */
  struct import_call calls[IMPORT_CALLS];
  size_t n_calls; /* ever; the newest IMPORT_CALLS are there */
  int64_t skipped[IMPORT_SKIP_COUNT];
};

/* What one line holds. */
struct import_line {
  struct str session; /* where its messages belong, as the program calls it */
  struct str cwd;     /* recorded with it, else the file's; may be absent */
  struct messages list;
};

/* Begins a file by its path: its name tells the session. */
void import_file_open(struct arena *a, enum import_from from, struct str path, struct import_file *ret_file);
/* Which program has written a line; IMPORT_UNKNOWN when it is neither or does not tell. */
enum import_from import_guess_line(struct arena *a, struct str line);
/* The messages of a line, by file->from, in memory of `a`; `number` is the line's, from 1. What is left out is counted
 * in file->skipped. */
void import_read_line(struct arena *a, struct import_file *file, struct str line, int64_t number,
                      struct import_line *ret_line);

/* ---- what the two share ---- */

/* `base` is an id for what has none of its own. */
void import_claude(struct arena *a, struct import_file *file, yyjson_val *root, struct str base,
                   struct import_line *out);
void import_codex(struct arena *a, struct import_file *file, yyjson_val *root, struct str base,
                  struct import_line *out);
bool import_is_claude(yyjson_val *root);
bool import_is_codex(yyjson_val *root);

static inline void import_skipped(struct import_file *file, enum import_skip why) { file->skipped[why]++; }
/* Adds a message; one without any text is counted instead. Texts that are too long are cut. */
void import_add(struct arena *a, struct import_file *file, struct import_line *out, struct message m);
/* The text of content in any of the forms that it has: a text, a list of parts, an object with content. Parts that
 * `injected` recognises are left out and counted (NULL: none); pictures and other files become "[image]" and such. */
struct str import_content(struct arena *a, struct import_file *file, yyjson_val *content, bool (*injected)(struct str));
/* Adds the text of one part of a list to what there is. */
void import_part(struct import_file *file, yyjson_val *part, bool (*injected)(struct str), struct buf *text);
void import_note_call(struct import_file *file, struct str id, struct str name);
struct str import_call_name(const struct import_file *file, struct str id);
/* Notes the folder of the file, the first one that is told. */
void import_note_cwd(struct import_file *file, struct str cwd);
/* The time of a line; the last one that was told when it has none. */
int64_t import_time(struct import_file *file, yyjson_val *line);
/* Does a text begin with one of these? The list ends with {NULL, 0}. */
bool import_begins(struct str text, const struct str *prefixes);
