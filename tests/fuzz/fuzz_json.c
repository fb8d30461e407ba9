/* fuzz_json.c: any text as JSON; accepted documents survive a write and a second read unchanged. */
#include "base/json.h"

#include "support/fuzz.h"

static void check_value(struct arena *a, yyjson_val *root) {
  struct error err;
  yyjson_val *again = NULL;
  struct str text = json_write_val(a, root);
  FUZZ_CHECK(json_read(a, text, &again, &err) == STATUS_OK);
  FUZZ_CHECK(str_eq(json_write_val(a, again), text));
  (void)json_str(root, "a");
  (void)json_int(root, "a", 0);
  (void)json_num(root, "a", 0);
  (void)json_bool(root, "a", false);
  struct strs list = {0};
  json_strs(a, root, "a", &list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct str s = {(const char *)data, size};
  struct arena a;
  arena_init(&a);
  struct error err = {0};
  yyjson_val *root = NULL;
  enum status status = json_read(&a, s, &root, &err);
  if (status == STATUS_OK) {
    FUZZ_CHECK(root != NULL);
    check_value(&a, root);
  } else {
    FUZZ_CHECK(root == NULL && err.code == status && err.message[0] != 0);
  }
  /* Strings of any bytes can be added to a document. */
  yyjson_mut_doc *doc = json_new(&a);
  yyjson_mut_val *object = yyjson_mut_obj(doc);
  json_put(doc, object, "k", s);
  FUZZ_CHECK(json_read(&a, json_write(&a, object, size % 2), &root, &err) == STATUS_OK);
  FUZZ_CHECK(json_str(root, "k").p != NULL);
  arena_release(&a);
  return 0;
}
