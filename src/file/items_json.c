/* items_json.c: writing items.json. */
#include "file/items_json.h"

#include <sys/stat.h>

#include "base/json.h"
#include "base/os/fs.h"
#include "core/memory/types.h"

const char *items_json_type(struct str memory_type) {
  const struct mem_type *t = type_find(memory_type);
  return t && t->item ? t->item : "note";
}

static void put_item(yyjson_mut_doc *doc, yyjson_mut_val *v, const struct stored_item *item) {
  char time[TIME_TEXT_SIZE];
  json_put(doc, v, "id", item->id);
  json_put(doc, v, "type", str_from(items_json_type(item->type)));
  json_put(doc, v, "title", item->title);
  json_put(doc, v, "content", item->content);
  json_put(doc, v, "sourceFile", item->path);
  json_put_int(doc, v, "lineNumber", item->line);
  json_put_num(doc, v, "confidence", json_round(item->confidence, 2));
  json_put(doc, v, "extractedAt", time_format(item->at, time));
}

struct str items_json_render(struct arena *a, const struct stored_items *items) {
  yyjson_mut_doc *doc = json_new(a);
  yyjson_mut_val *list = yyjson_mut_arr(doc);
  for (size_t i = 0; i < items->n; i++)
    put_item(doc, yyjson_mut_arr_add_obj(doc, list), &items->v[i]);
  struct buf b = BUF(a);
  buf_add(&b, json_write(a, list, true));
  buf_addc(&b, '\n');
  return buf_str(&b);
}

enum status items_json_save(struct arena *a, const char *path, struct str text, bool *ret_written, struct error *err) {
  struct stat st;
  struct str there;
  struct error ignored;
  bool same_size = stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == (off_t)text.n;
  if (same_size && fs_read(a, path, text.n, &there, &ignored) == STATUS_OK && str_eq(there, text)) {
    *ret_written = false;
    return STATUS_OK;
  }
  TRY(fs_mkdirs(arena_cstr(a, fs_dirname(str_from(path))), err));
  TRY(fs_write(path, text, 0600, err));
  *ret_written = true;
  return STATUS_OK;
}
