/* test_buf.c: growable strings and lists. */
#include "base/buf.h"

#include "base/alloc.h"
#include "support/harness.h"

TEST(empty_buffer_is_empty_text) {
  struct arena a;
  arena_init(&a);
  struct buf b = BUF(&a);
  CHECK_STR(buf_str(&b), "");
  CHECK(buf_str(&b).p != NULL);
  buf_add(&b, STR_NONE);
  CHECK_STR(buf_str(&b), "");
  arena_release(&a);
}

TEST(text_grows_and_stays_terminated) {
  struct arena a;
  arena_init(&a);
  struct buf b = BUF(&a);
  for (int i = 0; i < 1000; i++) {
    buf_addc(&b, (char)('a' + i % 26));
    CHECK_INT(b.n, i + 1);
    CHECK_INT(b.p[b.n], 0);
  }
  for (size_t i = 0; i < 1000; i++)
    CHECK_INT(b.p[i], 'a' + (int)(i % 26));
  arena_release(&a);
}

TEST(every_size_around_the_first_allocation) {
  struct arena a;
  arena_init(&a);
  char text[300];
  memset(text, 'x', sizeof(text));
  for (size_t n = 0; n < sizeof(text); n++) {
    struct buf b = BUF(&a);
    buf_add(&b, (struct str){text, n});
    buf_adds(&b, "!");
    CHECK_INT(b.n, n + 1);
    CHECK(b.p[n] == '!' && b.p[n + 1] == 0);
    struct buf f = BUF(&a);
    buf_addf(&f, "%.*s!", (int)n, text);
    CHECK(str_eq(buf_str(&f), buf_str(&b)));
  }
  arena_release(&a);
}

TEST(bytes_are_kept_as_they_are) {
  struct arena a;
  arena_init(&a);
  struct buf b = BUF(&a);
  buf_add(&b, (struct str){"a\0b", 3});
  buf_add(&b, (struct str){"\xff", 1});
  CHECK_INT(b.n, 4);
  CHECK(memcmp(b.p, "a\0b\xff", 5) == 0);
  buf_adds(&b, NULL);
  CHECK_INT(b.n, 4);
  arena_release(&a);
}

TEST(a_buffer_can_be_added_to_itself) {
  struct arena a;
  arena_init(&a);
  struct buf b = BUF(&a);
  buf_adds(&b, "abc");
  for (int i = 0; i < 8; i++)
    buf_add(&b, buf_str(&b));
  CHECK_INT(b.n, 3 * 256);
  for (size_t i = 0; i < b.n; i++)
    CHECK(b.p[i] == "abc"[i % 3]);
  arena_release(&a);
}

TEST(lists_grow) {
  struct arena a;
  arena_init(&a);
  LIST(int64_t) squares = {0};
  for (int64_t i = 0; i < 1000; i++)
    list_push(&a, &squares, (i * i));
  CHECK_INT(squares.n, 1000);
  for (int64_t i = 0; i < 1000; i++)
    CHECK_INT(squares.v[i], i * i);
  LIST(struct str) pairs = {0};
  list_push(&a, &pairs, (struct str){"x", 1});
  CHECK_STR(pairs.v[0], "x");
  arena_release(&a);
}

TEST(slices_in_a_list) {
  struct arena a;
  arena_init(&a);
  struct strs list = {0};
  CHECK(!strs_has(&list, STR("a")));
  strs_push(&a, &list, STR("a"));
  strs_push(&a, &list, STR("bc"));
  CHECK(strs_has(&list, STR("bc")));
  CHECK(!strs_has(&list, STR("b")));
  CHECK(!strs_has(&list, STR("")));
  arena_release(&a);
}

/* A list may be used after an out-of-memory jump, so its capacity must be right. */
TEST(a_list_that_cannot_grow_stays_valid) {
  struct big {
    char bytes[100000];
  };
  static const struct big one;
  static LIST(struct big) list;
  struct arena a;
  jmp_buf oom;
  arena_init(&a);
  for (volatile int i = 0; i < 8; i++)
    list_push(&a, &list, one);
  CHECK_INT(list.cap, 8);
  alloc_fail_at(1, 1);
  volatile bool jumped = false;
  if (ARENA_BOUNDARY(&a, oom))
    jumped = true;
  else
    list_push(&a, &list, one);
  alloc_fail_at(0, 0);
  CHECK(jumped);
  CHECK_INT(list.n, 8);
  CHECK_INT(list.cap, 8);
  arena_release(&a);
}
