/* convert.h: between the structures of the public header and the JSON of the operations. */
#pragma once

#include "lib/handle.h"

/* ---- structures to arguments ---- */

enum form { FORM_TEXT, FORM_LIST, FORM_NUMBER, FORM_INT, FORM_BOOL };

/* A member of a structure and the argument that it becomes; what is zero is left out. */
struct member {
  const char *name;
  enum form form;
  size_t offset;
};

/* Arguments in the making; after the first failure nothing more is done. */
struct args {
  struct lib_call *call;
  yyjson_mut_doc *doc;
  yyjson_mut_val *root;
  enum status status;
};

struct args args_new(struct lib_call *call);
void put_arg(struct args *a, const char *name, struct str text);           /* nothing when it is absent */
void args_list(struct args *a, const char *name, const char *const *list); /* ends with NULL */
void args_int(struct args *a, const char *name, int64_t value);
void args_members(struct args *a, const struct member *list, size_t n, const void *structure);
/* Arguments that have no member of their own, as a JSON object; NULL: none. */
void args_more(struct args *a, const char *more);
/* Runs the operation; its result, parsed, in memory that the caller will get. Texts in it are NUL-terminated. */
NODISCARD enum status args_run(struct args *a, const char *operation, struct str *ret_json, yyjson_val **ret_root);

/* The error of a structure that lib_copy_sized() does not know. */
enum status newer_structure(struct lib_call *c, const char *name);

/* ---- JSON to structures ---- */

/* A member's text, NULL when there is none; a time in milliseconds, 0 when there is none; a list that ends with NULL.
 */
const char *text_of(yyjson_val *obj, const char *name);
int64_t time_of(yyjson_val *obj, const char *name);
const char *const *list_of(struct lib_call *c, yyjson_val *obj, const char *name);
