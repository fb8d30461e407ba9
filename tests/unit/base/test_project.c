/* test_project.c: name of the git repository of a directory, with repositories laid out as git does. */
#include "base/os/project.h"

#include <unistd.h>

#include "base/os/fs.h"
#include "support/harness.h"
#include "support/proc.h"

/* Lives as long as the test. */
static struct arena a;
static struct error err;

static void folder(const char *name) { CHECK_OK(fs_mkdirs(path_join(NULL, name), &err), &err); }

static void file(const char *name, const char *text) { file_write(path_join(NULL, name), str_from(text)); }

static const char *in(const char *dir, const char *name) { return arena_printf(&a, "%s/%s", dir, name).p; }

/* The files by which git recognises a repository. */
static void repository(const char *dir) {
  folder(in(dir, "objects"));
  folder(in(dir, "refs"));
  file(in(dir, "HEAD"), "ref: refs/heads/main\n");
}

static void check_name(const char *dir, const char *want) {
  struct str name = STR("(none)");
  CHECK_INT(project_find(&a, path_join(NULL, dir), &name), want != NULL);
  CHECK_STR(name, want ? want : "(none)");
}

TEST(a_plain_repository_from_any_depth) {
  repository("proj/.git");
  folder("proj/src/deep");
  check_name("proj", "proj");
  check_name("proj/src/deep", "proj");
}

TEST(the_working_directory_is_the_default) {
  repository("here/.git");
  CHECK(chdir(path_join(NULL, "here")) == 0);
  struct str name;
  CHECK(project_find(&a, NULL, &name));
  CHECK_STR(name, "here");
}

TEST(worktrees_share_the_name_of_their_repository) {
  repository("proj/.git");
  folder("proj/.git/worktrees/feature");
  file("proj/.git/worktrees/feature/HEAD", "ref: refs/heads/feature\n");
  file("proj/.git/worktrees/feature/commondir", "../..\n");
  folder("feature/src");
  file("feature/.git", arena_printf(&a, "gitdir: %s/proj/.git/worktrees/feature\n", test_dir()).p);
  check_name("feature/src", "proj");
}

TEST(a_worktree_whose_repository_is_elsewhere) {
  folder("feature");
  file("feature/.git", "gitdir: /nowhere/else/proj/.git/worktrees/feature\n");
  check_name("feature", "proj");
}

TEST(a_submodule_has_its_own_name) {
  repository("proj/.git");
  repository("proj/.git/modules/lib");
  folder("proj/lib/src");
  file("proj/lib/.git", "gitdir: ../.git/modules/lib\n");
  check_name("proj/lib/src", "lib");
}

TEST(bare_repositories) {
  repository("server.git");
  check_name("server.git", "server");
  check_name("server.git/refs", "server");
  repository("tool/.bare");
  folder("tool/main");
  file("tool/.git", "gitdir: ./.bare\n");
  check_name("tool/main", "tool");
}

TEST(directories_that_only_look_like_a_repository_are_skipped) {
  repository("outer/.git");
  folder("outer/inner/.git"); /* empty */
  check_name("outer/inner", "outer");
  folder("outer/text");
  file("outer/text/.git", "not a pointer\n");
  check_name("outer/text", "outer");
  file("outer/text/.git", "gitdir:   \n");
  check_name("outer/text", "outer");
}

TEST(no_repository) {
  struct str name = STR("untouched");
  CHECK(!project_find(&a, path_join(NULL, "does-not-exist"), &name));
  if (project_find(&a, test_dir(), &name))
    return; /* the temporary directory is in a repository */
  folder("alone");
  check_name("alone", NULL);
  CHECK_STR(name, "untouched");
}
