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
/* The same on one line, cut to the remaining columns of a terminal; styled if there is colour. */
void page_line(struct page *page, const char *style, struct str text, size_t columns_used);
void page_styled(struct page *page, const char *style, struct str text);
/* "  name: value" for each given member that the object has; times get their age. */
void page_members(struct page *page, yyjson_val *obj, const char *const *names);
/* "  (transaction 7)" if there is one, and the line end: the end of every change. */
void page_txn(struct page *page, yyjson_val *result);
/* A value as text: strings unchanged, arrays joined by commas. */
struct str page_value(struct page *page, yyjson_val *value);
/* "fact", or "fact/decision" if the type says more than the kind. */
struct str page_kind(struct page *page, yyjson_val *memory);

/* Rows in columns as wide as their widest cell; the last column is cut to the terminal. */
enum { TABLE_COLUMNS = 12 };
struct table {
  struct arena *a;
  size_t columns;
  bool right[TABLE_COLUMNS]; /* numbers */
  LIST(struct str *) rows;
};
void table_add(struct table *t, const struct str cells[]);
/* The first column is dim, like ids. */
void table_print(struct table *t, struct page *page);
