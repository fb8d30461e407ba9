/* test_json.c: reading and writing JSON in an arena. */
#include "base/json.h"

#include "base/alloc.h"
#include "support/harness.h"

/* Lives as long as the test. */
static struct arena a;

static yyjson_val *must_read(const char *text) {
  yyjson_val *root = NULL;
  struct error err;
  CHECK_OK(json_read(&a, str_from(text), &root, &err), &err);
  return root;
}

TEST(members_are_read_by_type) {
  yyjson_val *o =
      must_read("{\"s\":\"t\\u00e9xt\",\"i\":-7,\"d\":2.5,\"b\":true,\"n\":null,\"list\":[\"a\",1,\"b\",null]}");
  CHECK_STR(json_str(o, "s"), "t\u00e9xt");
  CHECK(json_str(o, "i").p == NULL);
  CHECK(json_str(o, "missing").p == NULL);
  CHECK_INT(json_int(o, "i", 99), -7);
  CHECK_INT(json_int(o, "d", 99), 99);
  CHECK_INT(json_int(o, "s", 99), 99);
  CHECK_INT(json_int(o, "missing", 99), 99);
  CHECK_NEAR(json_num(o, "d", 0), 2.5, 0);
  CHECK_NEAR(json_num(o, "i", 0), -7, 0);
  CHECK_NEAR(json_num(o, "n", 0.5), 0.5, 0);
  CHECK(json_bool(o, "b", false));
  CHECK(json_bool(o, "n", true));
  CHECK(!json_bool(o, "missing", false));
  struct strs list = {0};
  json_strs(&a, o, "list", &list);
  CHECK_INT(list.n, 2);
  CHECK_STR(list.v[1], "b");
  struct strs none = {0};
  json_strs(&a, o, "s", &none);
  CHECK_INT(none.n, 0);
}

TEST(readers_accept_values_that_are_not_objects) {
  CHECK(json_str(must_read("[1]"), "a").p == NULL);
  CHECK(json_str(must_read("\"a\""), "a").p == NULL);
  CHECK(json_str(NULL, "a").p == NULL);
  CHECK_INT(json_int(NULL, "a", 3), 3);
}

TEST(integers_are_exact_over_the_whole_range) {
  yyjson_val *o = must_read("{\"max\":9223372036854775807,\"min\":-9223372036854775808,\"id\":9007199254740993}");
  CHECK_INT(json_int(o, "max", 0), INT64_MAX);
  CHECK_INT(json_int(o, "min", 0), INT64_MIN);
  CHECK_INT(json_int(o, "id", 0), INT64_C(9007199254740993)); /* 2^53 + 1: a double cannot hold it */
}

TEST(large_integers_do_not_become_negative) {
  yyjson_val *o = must_read("{\"u\":18446744073709551615,\"v\":9223372036854775808,\"w\":99999999999999999999}");
  CHECK_INT(json_int(o, "u", 5), 5);
  CHECK_INT(json_int(o, "v", 5), 5);
  CHECK_INT(json_int(o, "w", 5), 5);
}

TEST(reading_is_strict) {
  static const char *const bad[] = {
      "",           " ",        "{",           "{]",      "[1,]",
      "{\"a\":1,}", "{a:1}",    "{'a':1}",     "[1 2]",   "nul",
      "NaN",        "01",       "1.",          ".5",      "+1",
      "\"a",        "\"\\x\"",  "\"\\u12\"",   "// c\n1", "1 2",
      "\"\t\"",     "\"\xff\"", "\"\\ud800\"", "[1]]",    "\xef\xbb\xbf[]",
  };
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    yyjson_val *root = NULL;
    struct error err = {0};
    if (json_read(&a, str_from(bad[i]), &root, &err) != STATUS_USAGE)
      FAIL("'%s' was taken", bad[i]);
    CHECK(root == NULL);
    CHECK(str_starts(str_from(err.message), STR("not valid JSON: ")));
  }
  yyjson_val *root = NULL;
  struct error err;
  CHECK_STATUS(json_read(&a, STR_NONE, &root, &err), STATUS_USAGE);
}

TEST(nesting_has_a_limit) {
  char text[4 * JSON_MAX_DEPTH];
  for (int depth = JSON_MAX_DEPTH - 1; depth <= JSON_MAX_DEPTH + 1; depth++) {
    memset(text, '[', (size_t)depth);
    memset(text + depth, ']', (size_t)depth);
    yyjson_val *root;
    struct error err;
    enum status want = depth <= JSON_MAX_DEPTH ? STATUS_OK : STATUS_USAGE;
    CHECK_STATUS(json_read(&a, (struct str){text, 2 * (size_t)depth}, &root, &err), want);
  }
  /* Brackets in a string, after an escaped quote, do not count. */
  struct buf quoted = BUF(&a);
  buf_adds(&quoted, "\"\\\"");
  for (int i = 0; i < 2 * JSON_MAX_DEPTH; i++)
    buf_adds(&quoted, "[{");
  buf_adds(&quoted, "\"");
  must_read(quoted.p);
}

TEST(the_text_may_be_freed_after_reading) {
  char text[] = "{\"k\":\"value\"}";
  yyjson_val *o = must_read(text);
  memset(text, 'x', sizeof(text) - 1);
  CHECK_STR(json_str(o, "k"), "value");
}

TEST(writing) {
  yyjson_mut_doc *doc = json_new(&a);
  yyjson_mut_val *o = yyjson_mut_obj(doc);
  char text[] = "a \"quoted\" line\n";
  json_put(doc, o, "text", str_from(text));
  memset(text, 'x', sizeof(text) - 1); /* it was copied */
  json_put(doc, o, "none", STR_NONE);
  json_put_opt(doc, o, "absent", STR_NONE);
  json_put_opt(doc, o, "empty", STR(""));
  json_put_int(doc, o, "int", INT64_MIN);
  json_put_num(doc, o, "num", 0.1);
  json_put_bool(doc, o, "yes", true);
  struct strs list = {0};
  strs_push(&a, &list, STR("x"));
  strs_push(&a, &list, STR("\u00e9"));
  json_put_strs(doc, o, "list", &list);
  yyjson_mut_val *inner = json_put_obj(doc, o, "obj");
  json_put_int(doc, inner, "k", 1);
  json_add_str(doc, json_put_arr(doc, o, "arr"), STR("e"));
  CHECK_STR(
      json_write(&a, o, false),
      "{\"text\":\"a \\\"quoted\\\" line\\n\",\"none\":\"\",\"empty\":\"\",\"int\":-9223372036854775808,\"num\":0.1,"
      "\"yes\":true,\"list\":[\"x\",\"\u00e9\"],\"obj\":{\"k\":1},\"arr\":[\"e\"]}");
}

TEST(pretty_writing_indents_by_two) {
  yyjson_mut_doc *doc = json_new(&a);
  yyjson_mut_val *o = yyjson_mut_obj(doc);
  json_put_int(doc, o, "k", 1);
  CHECK_STR(json_write(&a, o, true), "{\n  \"k\": 1\n}");
}

TEST(numbers_that_json_lacks_become_null) {
  yyjson_mut_doc *doc = json_new(&a);
  yyjson_mut_val *o = yyjson_mut_obj(doc);
  json_put_num(doc, o, "nan", (double)__builtin_nanf(""));
  json_put_num(doc, o, "inf", __builtin_inf());
  CHECK_STR(json_write(&a, o, false), "{\"nan\":null,\"inf\":null}");
}

TEST(invalid_utf8_is_replaced) {
  yyjson_mut_doc *doc = json_new(&a);
  yyjson_mut_val *o = yyjson_mut_obj(doc);
  json_put(doc, o, "bad",
           STR("a\xff"
               "b\xe2\x82"));
  json_add_str(doc, json_put_arr(doc, o, "list"), STR("\xc3"));
  json_put(doc, o, "good", STR("\u20ac"));
  CHECK_STR(json_write(&a, o, false), "{\"bad\":\"a\ufffdb\ufffd\ufffd\",\"list\":[\"\ufffd\"],\"good\":\"\u20ac\"}");
}

TEST(values_are_written_back) {
  CHECK_STR(json_write_val(&a, must_read(" { \"a\" : [ 1 , 2.5 , \"\\u00e9\" ] } ")), "{\"a\":[1,2.5,\"\u00e9\"]}");
}

TEST(out_of_memory_in_the_parser_jumps_to_the_boundary) {
  struct buf text = BUF(&a);
  buf_adds(&text, "[0");
  for (int i = 1; i < 5000; i++)
    buf_addf(&text, ",{\"k\":%d}", i);
  buf_adds(&text, "]");
  volatile long nth = 1;
  for (bool done = false; !done; nth = nth + 1) {
    struct arena own;
    arena_init(&own);
    jmp_buf boundary;
    if (ARENA_BOUNDARY(&own, boundary) == 0) {
      alloc_fail_at(nth, 0);
      yyjson_val *root;
      struct error err;
      CHECK_OK(json_read(&own, buf_str(&text), &root, &err), &err);
      CHECK_INT(yyjson_arr_size(root), 5000);
      done = true;
    }
    alloc_fail_at(0, 0);
    arena_release(&own);
  }
  CHECK(nth > 2); /* at least one failure occurred */
}

TEST(the_size_of_a_result_is_that_of_its_texts) {
  yyjson_mut_doc *doc = json_new(&a);
  yyjson_mut_val *v = yyjson_mut_obj(doc), *list = json_put_arr(doc, v, "list");
  CHECK_INT(json_text_size(v), 0);
  json_put(doc, v, "text", STR("four"));
  json_put_int(doc, v, "number", 12345);
  json_add_str(doc, list, STR("ab"));
  json_put(doc, yyjson_mut_arr_add_obj(doc, list), "inner", STR("\"quoted\""));
  CHECK_INT(json_text_size(v), 4 + 2 + 8);
}
