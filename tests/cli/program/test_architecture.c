/* test_architecture.c: the architecture pages name only files that exist, and every folder of src. */
#include "support/harness.h"
#include "support/proc.h"

/* Runs a script in the source folder. It prints one line per mistake, then the number of names it checked. */
static void check_names(const char *script, int64_t least) {
  struct run r = proc_run(.argv = ARGS("sh", "-c", script, CAIRN_SOURCE_DIR));
  struct str rest = r.out, line;
  int64_t checked = 0;
  int wrong = 0;
  CHECK_INT(r.exit_code, 0);
  while (str_line(&rest, &line))
    if (!str_int64(line, &checked)) {
      fprintf(stderr, "%.*s\n", STR_ARG(line));
      wrong++;
    }
  CHECK(checked >= least); /* otherwise the script no longer finds names */
  if (wrong)
    FAIL("%d of %lld names are wrong", wrong, (long long)checked);
}

/* Checks paths from the project root. A C or SQL file must be named by such a path. */
TEST(architecture_pages_name_paths_that_exist) {
  check_names("cd \"$0\" && for page in docs/architecture.md docs/architecture/*.md; do"
              " grep -oE '[A-Za-z0-9_.*/-]+' \"$page\" | sed 's|[./]*$||' |"
              " grep -E '^(bench|cmake|include|model|scripts|src|tests)/|[.](c|h|sql)$' | sort -u |"
              " while read -r path; do set -- $path; [ -e \"$1\" ] && echo ok || echo \"$page: no $path\"; done;"
              " done | awk '$0 == \"ok\" { n++; next } { n++; print } END { print n }'",
              100);
}

TEST(architecture_pages_link_to_files_that_exist) {
  check_names(
      "cd \"$0\" && for page in docs/architecture.md docs/architecture/*.md; do"
      " grep -oE '[]][(][^)#:]+' \"$page\" | cut -c3- | sort -u |"
      " while read -r link; do [ -e \"$(dirname \"$page\")/$link\" ] && echo ok || echo \"$page: no $link\"; done;"
      " done | awk '$0 == \"ok\" { n++; next } { n++; print } END { print n }'",
      20);
}

TEST(architecture_tour_names_every_folder_of_src) {
  check_names("cd \"$0\" && find src -mindepth 1 -type d | sort | while read -r folder; do"
              " grep -qF \"| \\`$folder/\\` |\" docs/architecture.md && echo ok ||"
              " echo \"docs/architecture.md: no row for $folder/\"; done |"
              " awk '$0 == \"ok\" { n++; next } { n++; print } END { print n }'",
              30);
}
