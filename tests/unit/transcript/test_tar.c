/* test_tar.c: tar archives are read back as written; truncated and foreign ones are refused. */
#include "transcript/file/tar.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/buf.h"
#include "support/harness.h"
#include "support/proc.h"

static struct arena arena;
static struct error err;

static struct tar open_new(const char *name) {
  const char *path = path_join(NULL, name);
  struct tar t = {.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), .name = path, .now = 1770285600000};
  CHECK(t.fd >= 0);
  return t;
}

static void put(struct tar *t, struct str path, struct str text) {
  CHECK_OK(tar_begin(t, path, (int64_t)text.n, &err), &err);
  CHECK_OK(tar_put(t, text, &err), &err);
  CHECK_OK(tar_end(t, &err), &err);
}

static struct str content(const struct tar *t, const struct tar_file *f) {
  char *p = arena_alloc(&arena, (size_t)f->bytes + 1);
  CHECK_OK(tar_read(t, f->at, p, (size_t)f->bytes, &err), &err);
  return (struct str){p, (size_t)f->bytes};
}

static struct str name_of(size_t n) {
  struct buf b = BUF(&arena);
  for (size_t i = 0; i < n; i++)
    buf_addc(&b, i % 10 == 9 ? '/' : (char)('a' + i % 26));
  return buf_str(&b);
}

TEST(files_of_all_sizes_and_names_are_read_back) {
  static const size_t sizes[] = {0, 1, 511, 512, 513, 5000}, names[] = {1, 99, 100, 101, 111, 256, 991, 1000, 1024};
  struct tar t = open_new("a.tar");
  struct tar_file f;
  bool more;
  for (size_t i = 0; i < ARRAY_LEN(names); i++)
    put(&t, name_of(names[i]), name_of(sizes[i % ARRAY_LEN(sizes)]));
  CHECK_OK(tar_finish(&t, &err), &err);
  CHECK_INT(t.at % 512, 0);
  t.at = 0;
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    CHECK_OK(tar_next(&t, &arena, &f, &more, &err), &err);
    CHECK(more);
    CHECK(str_eq(f.path, name_of(names[i])));
    CHECK(str_eq(content(&t, &f), name_of(sizes[i % ARRAY_LEN(sizes)])));
  }
  CHECK_OK(tar_next(&t, &arena, &f, &more, &err), &err);
  CHECK(!more);
  close(t.fd);
}

TEST(names_and_sizes_that_do_not_fit_are_refused) {
  struct tar t = open_new("a.tar");
  CHECK_INT(tar_begin(&t, name_of(1025), 1, &err), STATUS_TOO_LARGE);
  CHECK_INT(tar_begin(&t, STR(""), 1, &err), STATUS_TOO_LARGE);
  CHECK_INT(tar_begin(&t, STR("a"), -1, &err), STATUS_TOO_LARGE);
  CHECK_INT(tar_begin(&t, STR("a"), INT64_MAX, &err), STATUS_TOO_LARGE);
  CHECK_INT(t.at, 0);
  close(t.fd);
}

/* True if all files can be read. */
static enum status read_all(struct tar *t) {
  struct tar_file f;
  bool more = true;
  enum status s = STATUS_OK;
  t->at = 0;
  while (s == STATUS_OK && more) {
    s = tar_next(t, &arena, &f, &more, &err);
    if (s == STATUS_OK && more)
      s = tar_read(t, f.at, arena_alloc(&arena, (size_t)f.bytes + 1), (size_t)f.bytes, &err);
  }
  return s;
}

TEST(an_archive_truncated_anywhere_is_refused) {
  struct tar t = open_new("a.tar");
  put(&t, name_of(150), STR("one"));
  put(&t, STR("b"), name_of(600));
  int64_t end = t.at;
  CHECK_OK(tar_finish(&t, &err), &err);
  CHECK_OK(read_all(&t), &err);
  for (int64_t n = end + 511; n >= 0; n--) {
    CHECK_INT(ftruncate(t.fd, n), 0);
    CHECK_INT(read_all(&t), STATUS_CORRUPT);
  }
  close(t.fd);
}

TEST(entries_of_other_programs_are_refused) {
  static const char *const commands[] = {"ln -s /etc/passwd link && tar -cf a.tar link", "mkdir d && tar -cf a.tar d",
                                         "printf 'no archive at all' >a.tar", "head -c 2048 /dev/urandom >a.tar"};
  for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
    CHECK_INT(proc_run(.argv = ARGS("sh", "-c", commands[i])).exit_code, 0);
    const char *path = path_join(NULL, "a.tar");
    struct tar t = {.fd = open(path, O_RDONLY | O_CLOEXEC), .name = path};
    CHECK_INT(read_all(&t), STATUS_CORRUPT);
    close(t.fd);
  }
}
