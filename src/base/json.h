/* json.h: yyjson with memory from an arena, and the short calls that handlers use all day. */
#pragma once

#include <yyjson.h>

#include "base/buf.h"
#include "base/error.h"

enum { JSON_MAX_DEPTH = 64 };

/* Parses one value, strictly; errors name the byte and, for the caller's text, what is wrong. */
NODISCARD enum status json_read(struct arena *a, struct str text, yyjson_val **ret_root, struct error *err);
/* An empty document whose values live in the arena. */
yyjson_mut_doc *json_new(struct arena *a);
/* Compact text on one line; `pretty` indents by two. */
struct str json_write(struct arena *a, const yyjson_mut_val *root, bool pretty);
struct str json_write_val(struct arena *a, const yyjson_val *root);

/* Readers: a missing member, or one of another type, gives the default. */
struct str json_str(yyjson_val *obj, const char *name);
int64_t json_int(yyjson_val *obj, const char *name, int64_t missing);
double json_num(yyjson_val *obj, const char *name, double missing);
bool json_bool(yyjson_val *obj, const char *name, bool missing);
static inline struct str json_val_str(yyjson_val *v) {
  return yyjson_is_str(v) ? (struct str){yyjson_get_str(v), yyjson_get_len(v)} : STR_NONE;
}
/* The strings of an array member; other elements are left out. */
void json_strs(struct arena *a, yyjson_val *obj, const char *name, struct strs *ret_list);

/* Writers: text is copied into the document's arena by yyjson; name must outlive the document (a literal).
 * Bytes that are not UTF-8 become U+FFFD. */
void json_put(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, struct str value);
/* Nothing when the value is absent (p == NULL). */
void json_put_opt(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, struct str value);
void json_put_int(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, int64_t value);
void json_put_num(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, double value);
/* A number >= 0 with so many decimals, for figures that nobody reads further. */
double json_round(double value, int decimals);
void json_put_bool(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, bool value);
void json_put_strs(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, const struct strs *list);
yyjson_mut_val *json_put_obj(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name);
yyjson_mut_val *json_put_arr(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name);
void json_add_str(yyjson_mut_doc *doc, yyjson_mut_val *arr, struct str value);
