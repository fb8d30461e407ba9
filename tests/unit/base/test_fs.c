/* test_fs.c: whole files, directories, XDG paths. */
#include "base/os/fs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/harness.h"
#include "support/proc.h"

/* Lives as long as the test. */
static struct arena a;
static struct error err;

static mode_t mode_of(const char *path) {
  struct stat st;
  CHECK(stat(path, &st) == 0);
  return st.st_mode & 07777;
}

/* Number of entries in the test's directory, without "." and "..". */
static int entries(void) {
  struct run r = proc_run(.argv = ARGS("find", test_dir(), "-mindepth", "1"));
  int n = 0;
  for (struct str line; str_line(&r.out, &line);)
    n++;
  return n;
}

TEST(read_gives_all_bytes) {
  const char *path = path_join(NULL, "f");
  enum { SIZE = 300 * 1000 };
  static char text[SIZE];
  for (size_t i = 0; i < SIZE; i++)
    text[i] = (char)(i * 7 % 256);
  file_write(path, (struct str){text, SIZE});
  struct str got;
  CHECK_OK(fs_read(&a, path, SIZE, &got, &err), &err);
  CHECK_INT(got.n, SIZE);
  CHECK(memcmp(got.p, text, SIZE) == 0);
  CHECK_INT(got.p[SIZE], 0);
  file_write(path, STR(""));
  CHECK_OK(fs_read(&a, path, 10, &got, &err), &err);
  CHECK_STR(got, "");
}

TEST(read_has_a_limit) {
  const char *path = path_join(NULL, "f");
  file_write(path, STR("12345"));
  struct str got = STR("untouched");
  CHECK_OK(fs_read(&a, path, 5, &got, &err), &err);
  CHECK_STR(got, "12345");
  got = STR("untouched");
  CHECK_STATUS(fs_read(&a, path, 4, &got, &err), STATUS_TOO_LARGE);
  CHECK_STR(got, "untouched");
  /* Also for files that report no size. */
  CHECK_STATUS(fs_read(&a, "/dev/zero", 100 * 1000, &got, &err), STATUS_TOO_LARGE);
  CHECK_STR(got, "untouched");
}

TEST(read_of_a_missing_file) {
  struct str got = STR("untouched");
  CHECK_STATUS(fs_read(&a, path_join(NULL, "none"), 10, &got, &err), STATUS_NOT_FOUND);
  CHECK(str_find(str_from(err.message), STR("none"), 0) != SIZE_MAX);
  CHECK_STATUS(fs_read(&a, test_dir(), 10, &got, &err), STATUS_IO);
  CHECK_STR(got, "untouched");
}

TEST(read_from_a_pipe_in_pieces) {
  int fd[2];
  CHECK(pipe(fd) == 0);
  enum { PIECES = 50, PIECE = 4000 };
  if (fork() == 0) {
    char piece[PIECE];
    memset(piece, 'p', sizeof(piece));
    for (int i = 0; i < PIECES; i++)
      if (write(fd[1], piece, sizeof(piece)) != PIECE)
        _exit(1);
    _exit(0);
  }
  close(fd[1]);
  struct str got;
  CHECK_OK(fs_read_fd(&a, fd[0], "standard input", 1 << 20, &got, &err), &err);
  CHECK_INT(got.n, PIECES * PIECE);
  close(fd[0]);
}

TEST(write_replaces_and_leaves_nothing_else) {
  const char *path = path_join(NULL, "f");
  CHECK_OK(fs_write(path, STR("one"), 0640, &err), &err);
  CHECK_STR(file_read(path), "one");
  CHECK_INT(mode_of(path), 0640);
  CHECK(chmod(path, 0604) == 0);
  CHECK_OK(fs_write(path, STR("two"), 0600, &err), &err);
  CHECK_STR(file_read(path), "two");
  CHECK_INT(mode_of(path), 0604);
  CHECK_INT(entries(), 1);
}

TEST(write_is_a_rename) {
  /* A reader that has the old file open still sees all of the old text. */
  const char *path = path_join(NULL, "f");
  file_write(path, STR("old text"));
  int fd = open(path, O_RDONLY);
  CHECK_OK(fs_write(path, STR("new"), 0600, &err), &err);
  char text[16] = "";
  CHECK_INT(read(fd, text, sizeof(text) - 1), 8);
  CHECK_STR(str_from(text), "old text");
  close(fd);
}

TEST(write_follows_a_link) {
  const char *path = path_join(NULL, "target"), *link = path_join(NULL, "link");
  file_write(path, STR("old"));
  CHECK(symlink("target", link) == 0);
  CHECK_OK(fs_write(link, STR("new"), 0600, &err), &err);
  CHECK_STR(file_read(path), "new");
  struct stat st;
  CHECK(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
}

TEST(failed_writes) {
  CHECK_STATUS(fs_write(path_join(NULL, "no/such/folder"), STR("x"), 0600, &err), STATUS_NOT_FOUND);
  CHECK(fs_write(test_dir(), STR("x"), 0600, &err) != STATUS_OK);
  CHECK_INT(entries(), 0);
}

TEST(folders_are_made_with_their_parents) {
  const char *path = path_join(NULL, "a/b//c/");
  CHECK_OK(fs_mkdirs(path, &err), &err);
  CHECK_INT(mode_of(path), 0700);
  CHECK_OK(fs_mkdirs(path, &err), &err);
  CHECK_OK(fs_mkdirs("/", &err), &err);
  file_write(path_join(NULL, "a/file"), STR(""));
  CHECK(fs_mkdirs(path_join(NULL, "a/file"), &err) != STATUS_OK);
  CHECK(fs_mkdirs(path_join(NULL, "a/file/x"), &err) != STATUS_OK);
  CHECK(fs_mkdirs("", &err) != STATUS_OK);
}

TEST(xdg_folders) {
  struct str path;
  setenv("HOME", "/home/someone", 1);
  unsetenv("XDG_DATA_HOME");
  setenv("XDG_CONFIG_HOME", "/etc/other", 1);
  setenv("XDG_STATE_HOME", "relative/is/ignored", 1);
  CHECK_OK(fs_xdg(&a, XDG_DATA, "cairn/x.db", &path, &err), &err);
  CHECK_STR(path, "/home/someone/.local/share/cairn/x.db");
  CHECK_OK(fs_xdg(&a, XDG_CONFIG, "cairn", &path, &err), &err);
  CHECK_STR(path, "/etc/other/cairn");
  CHECK_OK(fs_xdg(&a, XDG_STATE, "cairn", &path, &err), &err);
  CHECK_STR(path, "/home/someone/.local/state/cairn");
  unsetenv("HOME");
  CHECK_OK(fs_xdg(&a, XDG_CONFIG, "cairn", &path, &err), &err);
  CHECK_STATUS(fs_xdg(&a, XDG_DATA, "cairn", &path, &err), STATUS_USAGE);
}

TEST(parts_of_a_path) {
  static const struct {
    const char *path, *dir, *base;
  } cases[] = {{"/usr/lib", "/usr", "lib"}, {"/usr", "/", "usr"}, {"usr", ".", "usr"},
               {"a/b/c", "a/b", "c"},       {"/", "/", ""},       {"", ".", ""}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    CHECK_STR(fs_dirname(str_from(cases[i].path)), cases[i].dir);
    CHECK_STR(fs_basename(str_from(cases[i].path)), cases[i].base);
  }
}
