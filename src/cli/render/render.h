/* render.h: results as text for people, by operation: from a layout, or by a function if a layout cannot express it. */
#pragma once

#include "base/json.h"
#include "cli/term.h"
#include "op/op.h"

/* Output of a renderer. */
struct page {
  struct buf b;
  struct term term;
  int64_t now;
  struct str project; /* of the caller; memories of this project do not name it */
  bool quiet;
};

/* A result, by its table entry, or as "name: value" lines if there is none. */
void render_result(struct page *page, const struct op *op, yyjson_val *result);
/* One line of a streaming operation; false: print the line unchanged. */
bool render_line(struct page *page, const struct op *op, yyjson_val *line);
/* The warnings of a write, and the lines of an error, for standard error. */
void render_warnings(struct page *page, yyjson_val *result);
void render_error(struct page *page, const char *message, const char *fix);

/* ---- for renderers ---- */

struct renderer {
  const char *op;
  const char *layout; /* see layout.h; NULL: `result` renders it */
  void (*result)(struct page *page, yyjson_val *result);
  void (*line)(struct page *page, yyjson_val *line); /* NULL: lines are raw data */
};
/* Each ends with op == NULL. */
extern const struct renderer memory_renderers[], store_renderers[], eval_renderers[], session_renderers[],
    observe_renderers[], transcript_renderers[], other_renderers[];

/* Text from the store: escaped on a terminal, verbatim elsewhere. */
void page_text(struct page *page, struct str text);
/* The same for a text that people read: a terminal wraps it between words. Ends with a line end. */
void page_prose(struct page *page, struct str text);
/* Text without line breaks, escaped on a terminal. */
struct str page_one_line(struct page *page, struct str text);
/* The same on one line, cut to the remaining columns of a terminal; styled if there is colour. */
void page_line(struct page *page, const char *style, struct str text, size_t columns_used);
void page_styled(struct page *page, const char *style, struct str text);
/* Text on one line that a terminal wraps between words; it starts at column `at`, and so does every further line. */
void page_wrap(struct page *page, struct str text, size_t at);
void page_wrap_styled(struct page *page, const char *style, struct str text, size_t at);
/* A member name for people: "last_seq" is "last seq", "created_at" is "created". */
struct str page_label(struct page *page, struct str name);
/* "  label: value" for each given member that the object has; times get their age. */
void page_members(struct page *page, yyjson_val *obj, const char *const *names);
/* A value as text: strings unchanged, arrays joined by commas. */
struct str page_value(struct page *page, yyjson_val *value);
/* A value from a fixed set, such as a status: "already_done" is "already done" on a terminal. */
struct str page_choice(struct page *page, struct str value);
/* The most specific name that a memory's kind has: "decision" for a fact of this type, "blocker" for such a rule. */
struct str page_kind(yyjson_val *memory);
/* Style of a kind: blockers are red, tasks yellow. */
const char *page_kind_style(const struct page *page, struct str kind);
/* True if the text starts with the headline, which may be shortened; *ret_bytes is its size without blanks. */
bool page_starts_with_headline(struct arena *a, struct str text, struct str headline, size_t *ret_bytes);
/* " · project shop" or " · global", or nothing for the caller's own project. */
struct str page_scope(struct page *page, yyjson_val *memory);

/* Rows in columns as wide as their widest cell; the last column is cut or wrapped to the terminal. If a terminal is too
 * narrow for the columns, each row takes several lines. */
enum { TABLE_COLUMNS = 12 };
struct table {
  struct arena *a;
  size_t columns;
  bool right[TABLE_COLUMNS]; /* numbers */
  bool kind[TABLE_COLUMNS];  /* kinds of memories */
  bool heading;              /* the first row has the names of the columns */
  bool wrap;                 /* wrap the last column */
  LIST(struct str *) rows;
};
void table_add(struct table *t, const struct str cells[]);
/* The first column is dim, like ids. */
void table_print(struct table *t, struct page *page);
