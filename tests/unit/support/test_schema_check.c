/* test_schema_check.c: the checker of schemas finds what does not fit. */
#include "support/schema_check.h"

#include "support/harness.h"

static struct arena a;

static yyjson_val *json(const char *text) {
  struct error err;
  yyjson_val *v;
  CHECK_OK(json_read(&a, str_from(text), &v, &err), &err);
  return v;
}

static bool fits(const char *schema, const char *value, bool strict) {
  yyjson_val *s = json(schema);
  return schema_fault(&a, s, s, json(value), strict) == NULL;
}

TEST(types_are_distinguished) {
  static const char *const types[] = {"object", "array", "string", "integer", "boolean", "null"};
  static const char *const values[] = {"{}", "[]", "\"\"", "1", "true", "null"};
  for (size_t i = 0; i < ARRAY_LEN(types); i++)
    for (size_t k = 0; k < ARRAY_LEN(values); k++)
      CHECK(fits(arena_printf(&a, "{\"type\":\"%s\"}", types[i]).p, values[k], false) == (i == k));
  CHECK(fits("{\"type\":\"number\"}", "1", false));
  CHECK(fits("{\"type\":\"number\"}", "1.5", false));
  CHECK(!fits("{\"type\":\"integer\"}", "1.5", false));
  CHECK(fits("{\"type\":[\"string\",\"null\"]}", "null", false));
  CHECK(!fits("{\"type\":[\"string\",\"null\"]}", "1", false));
}

TEST(members_and_items_are_checked) {
  const char *schema =
      "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}},"
      "\"required\":[\"a\"]}";
  CHECK(fits(schema, "{\"a\":[1,2]}", true));
  CHECK(!fits(schema, "{\"a\":[1,\"2\"]}", false));
  CHECK(!fits(schema, "{}", false));
  CHECK(fits(schema, "{\"a\":[],\"b\":1}", false));
  CHECK(!fits(schema, "{\"a\":[],\"b\":1}", true));
  CHECK(!fits("{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}", "{\"x\":true}", false));
}

TEST(choices_alternatives_and_references) {
  CHECK(fits("{\"enum\":[\"a\",\"b\"]}", "\"b\"", false));
  CHECK(!fits("{\"enum\":[\"a\",\"b\"]}", "\"c\"", false));
  const char *either = "{\"anyOf\":[{\"required\":[\"a\"]},{\"required\":[\"error\"]}]}";
  CHECK(fits(either, "{\"error\":1}", false));
  CHECK(!fits(either, "{\"b\":1}", false));
  const char *self = "{\"type\":\"object\",\"properties\":{\"next\":{\"$ref\":\"#/properties/end\"},\"end\":{\"type\":"
                     "\"string\"}}}";
  CHECK(fits(self, "{\"next\":\"x\"}", false));
  CHECK(!fits(self, "{\"next\":1}", false));
  CHECK(!fits("{\"$ref\":\"#/nowhere\"}", "1", false));
  CHECK(!fits("{\"minimum\":3}", "1", false)); /* an unknown keyword is an error */
}
