/* test_swap.c: a file is replaced only if its content is what was read. */
#include "file/swap.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/harness.h"
#include "support/proc.h"

static struct arena a; /* lives as long as the test */

static bool swap(const char *path, struct str was, struct str text) {
  bool done = false;
  struct error err;
  CHECK_OK(file_swap(&a, str_from(path), was, text, 0600, &done, &err), &err);
  return done;
}

static int files_in(const char *folder) {
  int n = 0;
  DIR *dir = opendir(folder);
  CHECK(dir != NULL);
  for (const struct dirent *e; dir && (e = readdir(dir)) != NULL;)
    n += e->d_name[0] != '.';
  closedir(dir);
  return n;
}

TEST(a_new_file_replaces_nothing) {
  const char *path = path_join(NULL, "new.md");
  struct stat st;
  CHECK(swap(path, STR_NONE, STR("one")));
  CHECK_STR(file_read(path), "one");
  CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
  CHECK(!swap(path, STR_NONE, STR("two")));
  CHECK_STR(file_read(path), "one");
  CHECK_INT(files_in(test_dir()), 1);
}

TEST(a_concurrent_edit_is_kept) {
  const char *path = path_join(NULL, "page.md");
  file_write(path, STR("read"));
  CHECK(chmod(path, 0640) == 0);
  CHECK(swap(path, STR("read"), STR("written")));
  CHECK_STR(file_read(path), "written");
  struct stat st;
  CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0640);
  file_write(path, STR("edited by a person"));
  CHECK(!swap(path, STR("written"), STR("rendered")));
  CHECK_STR(file_read(path), "edited by a person");
  unlink(path);
  CHECK(!swap(path, STR("edited by a person"), STR("rendered")));
  CHECK(access(path, F_OK) != 0);
  CHECK_INT(files_in(test_dir()), 0);
}

TEST(a_link_stays_a_link) {
  const char *path = path_join(NULL, "real.md"), *link = path_join(NULL, "link.md");
  struct stat st;
  file_write(path, STR("read"));
  CHECK(symlink(path, link) == 0);
  CHECK(swap(link, STR("read"), STR("written")));
  CHECK_STR(file_read(path), "written");
  CHECK(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
}
