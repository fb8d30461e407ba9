/* test_tool_shape.c: conversions of the tables in mcp/tools/shape.h. */
#include "mcp/tools/shape.h"

#include "support/harness.h"
#include "tooling.h"

/* The shaped JSON as compact text; `args` are the arguments of the call. */
static struct str shaped(const char *args, const char *json, const struct shape *rows) {
  struct tool_run run = {.arena = &tooling_arena, .doc = json_new(&tooling_arena), .err = &tooling_error};
  yyjson_val *v;
  CHECK_INT(json_read(run.arena, str_from(args), &run.args, run.err), STATUS_OK);
  CHECK_INT(json_read(run.arena, str_from(json), &v, run.err), STATUS_OK);
  return json_write(run.arena, shape_object(&run, yyjson_val_mut_copy(run.doc, v), rows), false);
}

static const struct shape nested[] = {
    EACH("all=list none", COPY("i=id")),
    PLUCK("ids=list", "id"),
    OBJECT("wrapped", COPY("i=id"), OBJECT("inner", INTEGER("id"))),
    WHEN("list", FIXED("\"found\":true")),
    UNLESS("list", FIXED("\"found\":false")),
    ARGUMENT("text=body|content k"),
    {0},
};

TEST(members_are_copied_renamed_and_defaulted) {
  static const struct shape rows[] = {SUCCESS,
                                      COPY("id name=title gone"),
                                      NULLABLE("none"),
                                      LIST_OR_EMPTY("tags people"),
                                      INTEGER("n zero"),
                                      REAL("r"),
                                      ROUND("score=exact"),
                                      TEXT_OR_EMPTY("title empty"),
                                      BOOLEAN("on off"),
                                      FIXED("\"a\":[],\"b\":null"),
                                      {0}};
  CHECK_STR(shaped("{}",
                   "{\"id\":7,\"title\":\"t\",\"tags\":[1],\"n\":3,\"exact\":0.123456,\"on\":true,\"people\":\"x\"}",
                   rows),
            "{\"success\":true,\"id\":7,\"name\":\"t\",\"none\":null,\"tags\":[1],\"people\":[],\"n\":3,\"zero\":0,"
            "\"r\":0.0,\"score\":0.1235,\"title\":\"t\",\"empty\":\"\",\"on\":true,\"off\":false,\"a\":[],\"b\":null}");
}

TEST(sources_are_paths_with_alternatives) {
  static const struct shape rows[] = {COPY("deep=a.b.c"), COPY("first=x|y|z"), COUNT("n=a.list m=a.none"), {0}};
  CHECK_STR(shaped("{}", "{\"a\":{\"b\":{\"c\":1},\"list\":[1,2]},\"y\":\"why\",\"z\":0}", rows),
            "{\"deep\":1,\"first\":\"why\",\"n\":2,\"m\":0}");
}

TEST(texts_are_converted) {
  static const struct shape rows[] = {UPPER("severity none"),
                                      PREVIEW("cut=text", 3),
                                      IS("pinned=how", "pinned"),
                                      FORMAT("said", "{who} has {list} of {n}{gone}."),
                                      {0}};
  CHECK_STR(
      shaped("{}",
             "{\"severity\":\"blocker\",\"text\":\"\xc3\xa4\xc3\xb6\xc3\xbcx\",\"how\":\"pinned\",\"who\":\"Ann\","
             "\"list\":[1,2],\"n\":5}",
             rows),
      "{\"severity\":\"BLOCKER\",\"none\":null,\"cut\":\"\xc3\xa4\xc3\xb6\xc3\xbc\",\"pinned\":true,"
      "\"said\":\"Ann has 2 of 50.\"}");
}

TEST(objects_and_lists_have_their_own_rows) {
  static const struct shape one[] = {COPY("i=id"), {0}};
  static const struct shape rows[] = {EACH_OF("all=list", one), OBJECT_OF("wrapped", one), {0}};
  CHECK_STR(shaped("{\"content\":\"c\"}", "{\"id\":9,\"list\":[{\"id\":1},{},{\"id\":2}]}", nested),
            "{\"all\":[{\"i\":1},{},{\"i\":2}],\"none\":[],\"ids\":[1,2],\"wrapped\":{\"i\":9,\"inner\":{\"id\":9}},"
            "\"found\":true,\"text\":\"c\"}");
  CHECK_STR(shaped("{}", "{\"id\":9,\"list\":[{\"id\":1}]}", rows), "{\"all\":[{\"i\":1}],\"wrapped\":{\"i\":9}}");
}

TEST(conditions_choose_rows) {
  static const struct shape yes[] = {FIXED("\"set\":true"), {0}}, no[] = {FIXED("\"set\":false"), {0}};
  static const struct shape old[] = {FIXED("\"old\":true"), {0}};
  static const struct shape rows[] = {
      WHEN_OF("x", yes), UNLESS_OF("x", no), WHEN_OF("state=superseded", old), NOT("unset=x"), {0}};
  static const char *const unset[] = {"{}", "{\"x\":false}", "{\"x\":0}", "{\"x\":\"\"}", "{\"x\":null}"};
  static const char *const set[] = {"{\"x\":true}", "{\"x\":2}", "{\"x\":\"a\"}", "{\"x\":{}}"};
  for (size_t i = 0; i < ARRAY_LEN(unset); i++)
    CHECK_STR(shaped("{}", unset[i], rows), "{\"set\":false,\"unset\":true}");
  for (size_t i = 0; i < ARRAY_LEN(set); i++)
    CHECK_STR(shaped("{}", set[i], rows), "{\"set\":true,\"unset\":false}");
  CHECK_STR(shaped("{}", "{\"state\":\"superseded\"}", rows), "{\"set\":false,\"old\":true,\"unset\":true}");
}
