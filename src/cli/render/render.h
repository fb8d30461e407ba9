/* render.h: results as text for people. One renderer for each shape of result, chosen by the operation's name. */
#pragma once

#include "base/json.h"
#include "cli/term.h"
#include "op/op.h"

/* What a renderer writes to. */
struct page {
  struct buf b;
  struct term term;
  int64_t now;
  bool quiet;
};

/* A result, from its table entry or, where there is none, as "name: value". */
void render_result(struct page *page, const struct op *op, yyjson_val *result);
/* One line of a streaming operation; false: print the line as it is. */
bool render_line(struct page *page, const struct op *op, yyjson_val *line);
/* The warnings of a write, and the lines of an error, for standard error. */
void render_warnings(struct page *page, yyjson_val *result);
void render_error(struct page *page, const char *message, const char *fix);

/* ---- for renderers ---- */

struct renderer {
  const char *op;
  void (*result)(struct page *page, yyjson_val *result);
  void (*line)(struct page *page, yyjson_val *line); /* NULL: lines are raw data */
};
/* Each ends with op == NULL. */
extern const struct renderer memory_renderers[], store_renderers[], eval_renderers[], session_renderers[],
    observe_renderers[], file_renderers[], transcript_renderers[], agent_renderers[], knowledge_renderers[];

/* Text from the store: harmless on a terminal, verbatim elsewhere. */
void page_text(struct page *page, struct str text);
/* The same on one line, cut to the columns that are left on a terminal; in a style, when there is colour. */
void page_line(struct page *page, const char *style, struct str text, size_t columns_used);
void page_styled(struct page *page, const char *style, struct str text);
/* "  name: value" for each given member that the object has; times get their age. */
void page_members(struct page *page, yyjson_val *obj, const char *const *names);
/* "  (transaction 7)" where there is one, and the line's end: what every change ends with. */
void page_txn(struct page *page, yyjson_val *result);
/* A value as text: strings as they are, arrays joined by commas. */
struct str page_value(struct page *page, yyjson_val *value);
/* "fact", or "fact/decision" when the type says more than the kind. */
struct str page_kind(struct page *page, yyjson_val *memory);

/* Rows of text in columns that are as wide as their widest cell; the last one is cut to the terminal. */
enum { TABLE_COLUMNS = 12 };
struct table {
  struct arena *a;
  size_t columns;
  bool right[TABLE_COLUMNS]; /* numbers */
  LIST(struct str *) rows;
};
void table_add(struct table *t, const struct str cells[]);
/* The first column is dim, as ids are. */
void table_print(struct table *t, struct page *page);
