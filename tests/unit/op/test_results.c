/* test_results.c: the table of results is complete and valid; schemas from its notation. */
#include "op/run/results.h"

#include "core/memory/memory.h"
#include "support/harness.h"
#include "support/schema_check.h"

static struct arena a;

static struct str schema_text(const char *members, struct result_style style) {
  yyjson_mut_val *schema = result_schema(&a, json_new(&a), members, &style);
  return schema ? json_write(&a, schema, false) : STR("none");
}

TEST(every_operation_has_a_result_in_the_notation) {
  static const struct result_style styles[] = {{0}, {.refs = "#/x/"}, {.shallow = true}, {.loose = true}};
  for (size_t i = 0; i < ARRAY_LEN(styles); i++) {
    EACH_OP(op) {
      test_note("%s", op->name);
      CHECK(str_starts(schema_text(op->result, styles[i]), STR("{\"type\":\"object\",\"properties\":{\"")));
    }
    for (const struct shape *s = result_shapes; s->name; s++) {
      test_note("%s", s->name);
      CHECK(str_starts(schema_text(s->members, styles[i]), STR("{\"type\":\"object\",\"properties\":{\"")));
    }
  }
}

/* The table of results must have all fields of a memory. */
TEST(a_memory_has_all_its_fields) {
  static const char *const types[] = {"string", "integer", "boolean", "number", "string"};
  const struct result_style style = {0};
  yyjson_mut_val *schema = result_schema(&a, json_new(&a), result_shape(STR("memory"))->members, &style);
  yyjson_mut_val *properties = yyjson_mut_obj_get(schema, "properties");
  for (size_t i = 0; i < memory_field_count; i++) {
    const struct field *f = &memory_fields[i];
    if ((f->flags & FIELD_LOCAL) && strcmp(f->name, "id") != 0)
      continue;
    test_note("%s", f->name);
    const char *type = yyjson_mut_get_str(yyjson_mut_obj_get(yyjson_mut_obj_get(properties, f->name), "type"));
    CHECK(type && strcmp(type, types[f->form]) == 0);
  }
  for (size_t i = 0; i < memory_list_count; i++) {
    test_note("%s", memory_lists[i].name);
    CHECK(yyjson_mut_obj_get(properties, memory_lists[i].name));
  }
}

TEST(the_notation_as_schema) {
  static const struct {
    const char *members, *schema;
  } cases[] = {
      {"uid", "{\"type\":\"object\",\"properties\":{\"uid\":{\"type\":\"string\"}},\"required\":[\"uid\"]}"},
      {"n?:int", "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}"},
      {"at:time",
       "{\"type\":\"object\",\"properties\":{\"at\":{\"type\":\"string\",\"format\":\"date-time\"}},\"required\":["
       "\"at\"]}"},
      {"x?:[num]", "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"array\",\"items\":{\"type\":\"number\"}}}}"},
      {"x?:{bool}", "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"object\",\"additionalProperties\":{"
                    "\"type\":\"boolean\"}}}}"},
      {"x?:(a b?:obj)", "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"object\",\"properties\":{\"a\":{"
                        "\"type\":\"string\"},\"b\":{\"type\":\"object\"}},\"required\":[\"a\"]}}}"},
      {"x?=on|off", "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"string\",\"enum\":[\"on\",\"off\"]}}}"},
      {"x?:int|null", "{\"type\":\"object\",\"properties\":{\"x\":{\"anyOf\":[{\"type\":\"integer\"},{\"type\":"
                      "\"null\"}]}}}"},
      {"x?:any", "{\"type\":\"object\",\"properties\":{\"x\":{}}}"},
      {"x?:@progress", "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"object\",\"properties\":{\"done\":{"
                       "\"type\":\"integer\"},\"total\":{\"type\":\"integer\"}},\"required\":[\"done\",\"total\"]}}}"},
      {"+progress", "{\"type\":\"object\",\"properties\":{\"done\":{\"type\":\"integer\"},\"total\":{\"type\":"
                    "\"integer\"}},\"required\":[\"done\",\"total\"]}"},
  };
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    test_note("%s", cases[i].members);
    CHECK_STR(schema_text(cases[i].members, (struct result_style){0}), cases[i].schema);
  }
}

TEST(styles_of_a_schema) {
  const char *members = "a:[(b:int)] c:@progress";
  CHECK_STR(schema_text(members, (struct result_style){.shallow = true}),
            "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\"},\"c\":{\"type\":\"object\"}},"
            "\"required\":[\"a\",\"c\"]}");
  CHECK_STR(schema_text("a:[(b:int)]", (struct result_style){.loose = true}),
            "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
            "\"properties\":{\"b\":{\"type\":\"integer\"}}}}},\"required\":[\"a\"]}");
  CHECK_STR(schema_text("c?:[@progress]", (struct result_style){.refs = "#/x/"}),
            "{\"type\":\"object\",\"properties\":{\"c\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/x/Progress\"}}}}");
}

TEST(invalid_notation_is_refused) {
  static const char *const bad[] = {"a:",   "a:whatever", "a:[int", "a:(b", "a:{int", "a:@nobody", "+nobody", "a=",
                                    "a=b|", "a:int|none", ":int",   "?",    "a  b",   "a,b",       "a:int)"};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    test_note("%s", bad[i]);
    CHECK_STR(schema_text(bad[i], (struct result_style){0}), "none");
  }
}

TEST(names_of_schemas) {
  CHECK_STR(result_name(&a, "task add"), "TaskAdd");
  CHECK_STR(result_name(&a, "file str_replace"), "FileStrReplace");
}
