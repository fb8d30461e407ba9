/* test_walk.c: which files of a folder are listed and read. */
#include "file/walk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fs.h"
#include "support/harness.h"
#include "support/proc.h"

static struct arena a;
static struct error err;
static struct walk_files files;
static struct walk_counts counts;

static void put(const char *path, const char *text) {
  const char *full = path_join(NULL, path);
  CHECK_OK(fs_mkdirs(arena_cstr(&a, fs_dirname(str_from(full))), &err), &err);
  file_write(full, str_from(text));
}

/* The listed paths in one string. */
static struct str list(const char *folder) {
  CHECK_OK(walk_list(path_join(NULL, folder), &a, &files, &counts, &err), &err);
  struct str all = STR("");
  for (size_t i = 0; i < files.n; i++)
    all = arena_printf(&a, "%.*s%s%.*s", STR_ARG(all), i ? " " : "", STR_ARG(files.v[i].path));
  return all;
}

static struct str text_of(const char *folder, size_t i) {
  return walk_read(path_join(NULL, folder), &files.v[i], &a, &counts);
}

TEST(files_come_by_path_with_size_and_time) {
  put("d/b.md", "two");
  put("d/a/z.md", "1");
  put("d/a.md", "");
  CHECK(utimensat(AT_FDCWD, path_join(NULL, "d/b.md"),
                  (struct timespec[2]){{.tv_sec = 100}, {.tv_sec = 1700000000, .tv_nsec = 123456789}}, 0) == 0);
  CHECK_STR(list("d"), "a.md a/z.md b.md");
  CHECK_INT(files.v[2].size, 3);
  CHECK_INT(files.v[2].changed_at, 1700000000123);
  CHECK_INT(counts.files, 3);
  CHECK_INT(counts.folders, 2);
  CHECK_INT(counts.hidden + counts.links + counts.huge + counts.unreadable + counts.binary, 0);
  CHECK_STR(text_of("d", 2), "two");
  struct str empty = text_of("d", 0);
  CHECK(empty.p && empty.n == 0);
}

TEST(a_missing_folder_is_an_error) {
  files.n = 77;
  CHECK_STATUS(walk_list(path_join(NULL, "none"), &a, &files, &counts, &err), STATUS_NOT_FOUND);
  CHECK_INT(files.n, 77);
  put("file", "x");
  CHECK(walk_list(path_join(NULL, "file"), &a, &files, &counts, &err) != STATUS_OK);
}

TEST(hidden_dependency_and_generated_files_are_skipped) {
  put("d/.hidden", "x");
  put("d/.git/config", "x");
  put("d/node_modules/p/index.js", "x");
  put("d/sub/__pycache__/x.pyc", "x");
  put("d/target/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55");
  put("d/target/out.c", "x");
  put("d/env/pyvenv.cfg", "x");
  put("d/package-lock.json", "{}");
  put("d/lib.min.js", "x");
  put("d/sub/x.c", "x");
  CHECK_STR(list("d"), "sub/x.c");
  CHECK_INT(counts.hidden, 8);
  CHECK_INT(counts.files, 1);
}

TEST(links_are_not_followed_but_the_folder_may_be_one) {
  put("d/x", "x");
  put("outside/secret", "x");
  CHECK(symlink("../outside", path_join(NULL, "d/dir")) == 0);
  CHECK(symlink("../outside/secret", path_join(NULL, "d/file")) == 0);
  CHECK(symlink(".", path_join(NULL, "d/loop")) == 0);
  CHECK(symlink("d", path_join(NULL, "link")) == 0);
  CHECK_STR(list("link"), "x");
  CHECK_INT(counts.links, 3);
  /* A file that became a link after it was listed is not read. */
  CHECK(unlink(path_join(NULL, "d/x")) == 0);
  CHECK(symlink("../outside/secret", path_join(NULL, "d/x")) == 0);
  CHECK(text_of("link", 0).p == NULL);
  CHECK_INT(counts.unreadable, 1);
}

TEST(binary_huge_and_odd_files_are_counted) {
  put("d/a.txt", "caf\xc3\xa9");
  file_write(path_join(NULL, "d/b.bin"), STR("a\0b"));
  file_write(path_join(NULL, "d/c.bin"), STR("\xff\xfe\xfd\xfc\xfb"));
  put("d/d.latin1", "The caf\xe9 in the street is open today.");
  put("d/e.bom", "\xef\xbb\xbf"
                 "text");
  char *big = arena_alloc(&a, WALK_FILE_BYTES + 1);
  memset(big, 'x', WALK_FILE_BYTES + 1);
  file_write(path_join(NULL, "d/f.big"), (struct str){big, WALK_FILE_BYTES + 1});
  file_write(path_join(NULL, "d/g.limit"), (struct str){big, WALK_FILE_BYTES});
  CHECK(mkfifo(path_join(NULL, "d/h.fifo"), 0600) == 0);
  put("d/i\xff", "x");
  put("d/j\nk", "x");
  CHECK_STR(list("d"), "a.txt b.bin c.bin d.latin1 e.bom g.limit");
  CHECK_INT(counts.huge, 1);
  CHECK_INT(counts.unreadable, 3);
  CHECK_STR(text_of("d", 0), "caf\xc3\xa9");
  CHECK(text_of("d", 1).p == NULL);
  CHECK(text_of("d", 2).p == NULL);
  CHECK_INT(counts.binary, 2);
  CHECK_STR(text_of("d", 3), "The caf\xef\xbf\xbd in the street is open today.");
  CHECK_STR(text_of("d", 4), "text");
  CHECK_INT(text_of("d", 5).n, WALK_FILE_BYTES);
  file_write(path_join(NULL, "d/a.txt"), (struct str){big, WALK_FILE_BYTES + 1});
  CHECK(text_of("d", 0).p == NULL);
  CHECK_INT(counts.huge, 2);
  CHECK(unlink(path_join(NULL, "d/e.bom")) == 0);
  CHECK(text_of("d", 4).p == NULL);
  CHECK_INT(counts.unreadable, 4);
}

TEST(gitignore_applies_at_every_level) {
  put("d/.gitignore", "*.log\n/build/\n");
  put("d/a.log", "x");
  put("d/a.c", "x");
  put("d/build/x.c", "x");
  put("d/sub/build/x.c", "x");
  put("d/sub/.gitignore", "!keep.log\n");
  put("d/sub/keep.log", "x");
  put("d/sub/other.log", "x");
  CHECK_STR(list("d"), "a.c sub/build/x.c sub/keep.log");
}

TEST(rules_of_parent_folders_in_the_repository_apply) {
  put("r/.git/HEAD", "x");
  put("r/.gitignore", "*.log\n/docs/drafts/\n/out/\n");
  put("r/docs/a.md", "x");
  put("r/docs/a.log", "x");
  put("r/docs/drafts/b.md", "x");
  put("r/out/c.md", "x");
  put("r/out/c.log", "x");
  put("above.log", "x");
  CHECK_STR(list("r/docs"), "a.md");
  CHECK_STR(text_of("r/docs", 0), "x");
  /* They do not apply to an ignored folder that is named explicitly. */
  CHECK_STR(list("r/out"), "c.log c.md");
  CHECK_STR(list("r/docs/drafts"), "b.md");
}

TEST(the_depth_is_limited) {
  char path[4 * (WALK_DEPTH + 4)] = "d";
  size_t n = 1;
  for (int i = 0; i < WALK_DEPTH + 2; i++) {
    path[n++] = '/';
    path[n++] = 'x';
  }
  path[n] = 0;
  put("d/top", "x");
  put(arena_printf(&a, "%s/f", path).p, "x");
  CHECK_STR(list("d"), "top");
  CHECK_INT(counts.unreadable, 1);
  CHECK_INT(counts.folders, WALK_DEPTH + 1);
}

TEST(folders_without_files_are_listed) {
  struct strs folders = {0};
  put("d/a/b/x.md", "x");
  put("d/.git/config", "x");
  put("d/node_modules/m/x.md", "x");
  put("d/.gitignore", "out/\n");
  put("d/out/x.md", "x");
  CHECK_INT(mkdir(path_join(NULL, "d/empty"), 0700), 0);
  CHECK_OK(walk_folders(path_join(NULL, "d"), &a, &folders, &err), &err);
  CHECK_INT(folders.n, 4);
  CHECK_STR(folders.v[0], path_join(NULL, "d"));
  CHECK(strs_has(&folders, str_from(path_join(NULL, "d/a"))) && strs_has(&folders, str_from(path_join(NULL, "d/a/b"))));
  CHECK(strs_has(&folders, str_from(path_join(NULL, "d/empty"))));
  CHECK_INT(walk_folders(path_join(NULL, "none"), &a, &folders, &err), STATUS_NOT_FOUND);
}
