/* shape.h: tables that turn the result of an operation into the result of another system's tool.
 *
 * A table is a list of rows that ends with {0}. A row applies one conversion to some members, written as
 * "to=from to=from ..."; "name" is short for "name=name". `from` may be a path (ids.faded), and have alternatives
 * (body|headline), of which the first that exists is used. Members appear in the order of the table. */
#pragma once

#include "mcp/tools/tool.h"

enum shape_how {
  SHAPE_END,
  SHAPE_COPY,     /* the member, if it exists */
  SHAPE_NULLABLE, /* the member, else null */
  SHAPE_LIST,     /* the list, else an empty one */
  SHAPE_EACH,     /* list of the elements, each shaped by `rows` */
  SHAPE_OBJECT,   /* an object shaped by `rows`, from the whole result; `members` is its name */
  SHAPE_PLUCK,    /* list of the member `name` of each element */
  SHAPE_COUNT,    /* length of the list */
  SHAPE_TEXT,     /* the text, else "" */
  SHAPE_UPPER,    /* the text in upper case, else null */
  SHAPE_PREVIEW,  /* the first `characters` of the text */
  SHAPE_INT,      /* the number, else 0 */
  SHAPE_REAL,     /* the number, else 0.0 */
  SHAPE_ROUND,    /* the number with 4 decimals, else 0.0 */
  SHAPE_BOOL,     /* true or false, else false */
  SHAPE_NOT,      /* true unless the member is set: not false, 0, "" or null */
  SHAPE_IS,       /* true if the member is the text `is` */
  SHAPE_ARG,      /* an argument of the call, if it exists */
  SHAPE_NOW,      /* the time */
  SHAPE_FORMAT,   /* text from `format`, in which {path} stands for a text, a whole number, or the length of a list */
  SHAPE_WHEN,     /* applies `rows` if the member is set, or with "member=text" if it is that text */
  SHAPE_UNLESS,   /* the opposite */
  SHAPE_FIXED,    /* `members` are members of a JSON object, as in struct tool */
  SHAPE_CALL,     /* for results that rows cannot express: `call` adds the members */
};

struct shape {
  enum shape_how how;
  const char *members;
  union {
    const struct shape *rows;
    size_t characters;
    const char *is, *name, *format;
    void (*call)(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *from);
  };
};

/* Nested rows, at file scope; the macros that end with _OF take the name of a table instead. */
#define ROWS(...) ((const struct shape[]){__VA_ARGS__, {0}})

#define COPY(members_) {.how = SHAPE_COPY, .members = members_}
#define NULLABLE(members_) {.how = SHAPE_NULLABLE, .members = members_}
#define LIST_OR_EMPTY(members_) {.how = SHAPE_LIST, .members = members_}
#define EACH(members_, ...) {.how = SHAPE_EACH, .members = members_, .rows = ROWS(__VA_ARGS__)}
#define EACH_OF(members_, rows_) {.how = SHAPE_EACH, .members = members_, .rows = rows_}
#define OBJECT(name_, ...) {.how = SHAPE_OBJECT, .members = name_, .rows = ROWS(__VA_ARGS__)}
#define OBJECT_OF(name_, rows_) {.how = SHAPE_OBJECT, .members = name_, .rows = rows_}
#define PLUCK(members_, name_) {.how = SHAPE_PLUCK, .members = members_, .name = name_}
#define COUNT(members_) {.how = SHAPE_COUNT, .members = members_}
#define TEXT_OR_EMPTY(members_) {.how = SHAPE_TEXT, .members = members_}
#define UPPER(members_) {.how = SHAPE_UPPER, .members = members_}
#define PREVIEW(members_, characters_) {.how = SHAPE_PREVIEW, .members = members_, .characters = characters_}
#define INTEGER(members_) {.how = SHAPE_INT, .members = members_}
#define REAL(members_) {.how = SHAPE_REAL, .members = members_}
#define ROUND(members_) {.how = SHAPE_ROUND, .members = members_}
#define BOOLEAN(members_) {.how = SHAPE_BOOL, .members = members_}
#define NOT(members_) {.how = SHAPE_NOT, .members = members_}
#define IS(members_, text_) {.how = SHAPE_IS, .members = members_, .is = text_}
#define ARGUMENT(members_) {.how = SHAPE_ARG, .members = members_}
#define NOW(name_) {.how = SHAPE_NOW, .members = name_}
#define FORMAT(members_, format_) {.how = SHAPE_FORMAT, .members = members_, .format = format_}
#define WHEN(condition_, ...) {.how = SHAPE_WHEN, .members = condition_, .rows = ROWS(__VA_ARGS__)}
#define WHEN_OF(condition_, rows_) {.how = SHAPE_WHEN, .members = condition_, .rows = rows_}
#define UNLESS(condition_, ...) {.how = SHAPE_UNLESS, .members = condition_, .rows = ROWS(__VA_ARGS__)}
#define UNLESS_OF(condition_, rows_) {.how = SHAPE_UNLESS, .members = condition_, .rows = rows_}
#define FIXED(json_) {.how = SHAPE_FIXED, .members = json_}
#define CALL(function_) {.how = SHAPE_CALL, .call = function_}
#define SUCCESS FIXED("\"success\":true")

/* Adds the members of a table to an object. */
void shape_add(struct tool_run *run, yyjson_mut_val *to, yyjson_mut_val *from, const struct shape *rows);
/* A new object. */
yyjson_mut_val *shape_object(struct tool_run *run, yyjson_mut_val *from, const struct shape *rows);
/* A new list with the elements of a list; a missing one has none. */
yyjson_mut_val *shape_list(struct tool_run *run, yyjson_mut_val *list, const struct shape *rows);

/* The first `characters` characters. */
struct str text_preview(struct str text, size_t characters);
