/* test_sse.c: encoding of server-sent events. */
#include "http/server/sse.h"

#include "support/harness.h"

static struct arena a;

static struct str framed(struct str id, struct str event, struct str data) {
  struct buf b = BUF(&a);
  sse_event(&b, id, event, data);
  return buf_str(&b);
}

TEST(fields_and_a_blank_line) {
  CHECK_STR(framed(STR("7"), STR("message"), STR("{\"a\":1}")), "id: 7\nevent: message\ndata: {\"a\":1}\n\n");
  CHECK_STR(framed(STR_NONE, STR_NONE, STR("x")), "data: x\n\n");
  CHECK_STR(framed(STR("1-0"), STR_NONE, STR("")), "id: 1-0\ndata: \n\n");
}

TEST(every_line_of_the_data_is_a_field) {
  CHECK_STR(framed(STR_NONE, STR_NONE, STR("a\nb\r\nc\rd")), "data: a\ndata: b\ndata: c\ndata: d\n\n");
  CHECK_STR(framed(STR_NONE, STR_NONE, STR("\n")), "data: \ndata: \n\n");
  CHECK_STR(framed(STR_NONE, STR_NONE, STR("x\n\nid: 9")), "data: x\ndata: \ndata: id: 9\n\n");
}

TEST(ids_cannot_smuggle_fields) {
  CHECK_STR(framed(STR("1\ndata: x"), STR("e\nid: 2"), STR("y")), "id: 1\nevent: e\ndata: y\n\n");
  CHECK_STR(framed((struct str){"1\0", 2}, STR_NONE, STR("y")), "data: y\n\n");
}
