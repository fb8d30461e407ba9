/* json.h: yyjson with arena memory, and shorthand readers and writers. */
#pragma once

#include <yyjson.h>

#include "base/buf.h"
#include "base/error.h"

enum { JSON_MAX_DEPTH = 64 };

/* Parses one value strictly. Errors give the reason and the byte offset. */
NODISCARD enum status json_read(struct arena *a, struct str text, yyjson_val **ret_root, struct error *err);
/* Empty document with its values in the arena. */
yyjson_mut_doc *json_new(struct arena *a);
/* One line, or indented by two spaces if `pretty`. */
struct str json_write(struct arena *a, const yyjson_mut_val *root, bool pretty);
struct str json_write_val(struct arena *a, const yyjson_val *root);
/* Total bytes of its texts, without names of members: a cheap measure of how much a result shows. */
size_t json_text_size(yyjson_mut_val *v);

/* Readers. A missing member, or one of another type, gives the default. */
struct str json_str(yyjson_val *obj, const char *name);
int64_t json_int(yyjson_val *obj, const char *name, int64_t missing);
double json_num(yyjson_val *obj, const char *name, double missing);
bool json_bool(yyjson_val *obj, const char *name, bool missing);
static inline struct str json_val_str(yyjson_val *v) {
  return yyjson_is_str(v) ? (struct str){yyjson_get_str(v), yyjson_get_len(v)} : STR_NONE;
}
/* Strings of an array member; elements of other types are skipped. */
void json_strs(struct arena *a, yyjson_val *obj, const char *name, struct strs *ret_list);

/* Writers. Values are copied into the document's arena; `name` is not, so it must outlive the document. Invalid UTF-8
 * becomes U+FFFD. */
void json_put(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, struct str value);
/* Writes nothing if the value is absent (p == NULL). */
void json_put_opt(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, struct str value);
void json_put_int(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, int64_t value);
void json_put_num(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, double value);
/* Rounds a number >= 0 to this number of decimals. */
double json_round(double value, int decimals);
void json_put_bool(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, bool value);
void json_put_strs(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name, const struct strs *list);
yyjson_mut_val *json_put_obj(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name);
yyjson_mut_val *json_put_arr(yyjson_mut_doc *doc, yyjson_mut_val *obj, const char *name);
void json_add_str(yyjson_mut_doc *doc, yyjson_mut_val *arr, struct str value);
