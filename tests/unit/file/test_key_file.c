/* test_key_file.c: parsing, permissions and concurrent changes of the key file. */
#include "file/key_file.h"

#include <sodium.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "support/harness.h"
#include "support/proc.h"

static struct arena a;
static struct error err;

#define KEY "7d8af3923ad33eb0 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

static enum status parse(const char *text, struct master_keys *ret_keys) {
  *ret_keys = (struct master_keys){0};
  CHECK(sodium_init() >= 0);
  return key_file_parse(&a, str_from(text), "keys", ret_keys, &err);
}

static struct master_keys read_ok(const char *path) {
  struct master_keys keys = {0};
  CHECK_OK(key_file_read(&a, path, &keys, &err), &err);
  return keys;
}

TEST(each_line_is_a_key) {
  struct master_keys keys;
  CHECK_OK(parse("", &keys), &err);
  CHECK_INT(keys.n, 0);
  CHECK_OK(parse("# a remark\n\n  " KEY "  \r\n", &keys), &err);
  CHECK_INT(keys.n, 1);
  CHECK_STR(str_from(keys.v[0].id), "7d8af3923ad33eb0");
  CHECK_INT(keys.v[0].bytes[31], 31);
  CHECK_OK(parse(KEY "\n" KEY, &keys), &err);
  CHECK_INT(keys.n, 2);
}

TEST(a_damaged_line_is_named_and_no_key_is_printed) {
  struct master_keys keys;
  const char *const bad[] = {
      "x",
      "7d8af3923ad33eb0",
      "7d8af3923ad33eb0 ",
      "7d8af3923ad33eb1 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", /* another id */
      "7d8af3923ad33eb0 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1e", /* another key */
      "7d8af3923ad33eb0 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f 00",
  };
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
    test_note("%s", bad[i]);
    char text[300];
    snprintf(text, sizeof(text), "# head\n%s\n", bad[i]);
    CHECK_INT(parse(text, &keys), STATUS_CORRUPT);
    CHECK(strstr(err.message, "line 2") && err.fix[0]);
    CHECK(!strstr(err.message, "0001020304"));
  }
}

TEST(a_new_file_is_private_and_kept) {
  const char *path = path_join(NULL, "a/b/vault.key");
  struct master_key first, again, added;
  struct stat st;
  CHECK_INT(read_ok(path).n, 0);
  CHECK_OK(key_file_first(&a, path, &first, &err), &err);
  CHECK(stat(path, &st) == 0);
  CHECK_INT(st.st_mode & 07777, 0600);
  CHECK_OK(key_file_first(&a, path, &again, &err), &err);
  CHECK_STR(str_from(again.id), first.id);
  CHECK_OK(key_file_add(&a, path, &added, &err), &err);
  struct master_keys keys = read_ok(path);
  CHECK_INT(keys.n, 2);
  CHECK_STR(str_from(keys.v[0].id), first.id);
  CHECK_STR(str_from(keys.v[1].id), added.id);
  CHECK(memcmp(keys.v[0].bytes, keys.v[1].bytes, MASTER_BYTES) != 0);
  CHECK_OK(key_file_first(&a, path, &again, &err), &err);
  CHECK_STR(str_from(again.id), added.id); /* the newest */
  CHECK(stat(path, &st) == 0);
  CHECK_INT(st.st_mode & 07777, 0600);
}

TEST(files_that_others_can_read_are_refused) {
  const char *path = path_join(NULL, "vault.key"), *link = path_join(NULL, "link");
  struct master_keys keys = {0};
  struct master_key key;
  file_write(path, STR(KEY "\n"));
  static const mode_t modes[] = {0640, 0604, 0660, 0644, 0601, 0620};
  for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
    CHECK(chmod(path, modes[i]) == 0);
    CHECK_INT(key_file_read(&a, path, &keys, &err), STATUS_REFUSED);
    CHECK_INT(key_file_add(&a, path, &key, &err), STATUS_REFUSED);
    CHECK_STR(file_read(path), KEY "\n");
  }
  CHECK(chmod(path, 0600) == 0);
  CHECK_INT(read_ok(path).n, 1);
  CHECK(symlink(path, link) == 0); /* containers mount secrets as links */
  CHECK_INT(read_ok(link).n, 1);
  CHECK_INT(key_file_read(&a, test_dir(), &keys, &err), STATUS_REFUSED);
  const char *pipe_path = path_join(NULL, "pipe");
  CHECK(mkfifo(pipe_path, 0600) == 0);
  CHECK_INT(key_file_read(&a, pipe_path, &keys, &err), STATUS_REFUSED);
  if (geteuid() == 0) {
    CHECK(chown(path, 12345, 12345) == 0);
    CHECK_INT(key_file_read(&a, path, &keys, &err), STATUS_REFUSED);
  }
}

TEST(concurrent_additions_lose_no_key) {
  enum { WRITERS = 6, EACH = 5 };
  const char *path = path_join(NULL, "vault.key");
  for (int i = 0; i < WRITERS; i++)
    if (fork() == 0) {
      struct master_key key;
      for (int k = 0; k < EACH; k++)
        if (key_file_add(&a, path, &key, &err) != STATUS_OK)
          _exit(1);
      _exit(0);
    }
  for (int i = 0, status; i < WRITERS; i++)
    CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK_INT(read_ok(path).n, WRITERS * EACH);
}

static enum status read_in(struct arena *own, const char *path, struct master_keys *keys) {
  jmp_buf oom;
  if (ARENA_BOUNDARY(own, oom))
    return STATUS_NOMEM;
  return key_file_read(own, path, keys, &err);
}

static enum status add_in(struct arena *own, const char *path, struct master_key *key) {
  jmp_buf oom;
  if (ARENA_BOUNDARY(own, oom))
    return STATUS_NOMEM;
  return key_file_add(own, path, key, &err);
}

/* A server that is short of memory must not run out of descriptors as well, nor keep the folder locked. */
TEST(no_descriptor_is_left_open_without_memory) {
  const char *path = path_join(NULL, "vault.key");
  file_write(path, STR(KEY "\n"));
  CHECK(chmod(path, 0600) == 0);
  int before = open_descriptors(), failures = 0;
  bool failed = true;
  for (long n = 1; failed; n++) {
    struct arena own;
    struct master_keys keys = {0};
    struct master_key key;
    test_note("allocation %ld", n);
    arena_init(&own);
    alloc_fail_at(n, 0);
    enum status s = read_in(&own, path, &keys);
    failed = alloc_failures() > 0;
    CHECK_INT(s, failed ? STATUS_NOMEM : STATUS_OK);
    arena_release(&own);
    CHECK_INT(open_descriptors(), before);
    alloc_fail_at(n, 0);
    s = add_in(&own, path, &key);
    failed |= s != STATUS_OK;
    alloc_fail_at(0, 0);
    arena_release(&own);
    CHECK_INT(open_descriptors(), before);
    failures += failed;
  }
  CHECK(failures >= 1);
}
