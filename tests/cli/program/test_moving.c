/* test_moving.c: the import commands of docs/moving, run as they are written there. */
#include "support/cli.h"

/* The block of shell commands below "## Import ..." on a page of docs/moving that contains `part`. */
static struct str documented(const char *page, const char *part) {
  struct str text = file_read(textf(CAIRN_SOURCE_DIR "/docs/moving/%s", page));
  size_t at = str_find(text, STR("\n## Import "), 0);
  CHECK(at != SIZE_MAX);
  for (size_t from; (from = str_find(text, STR("\n```\n"), at)) != SIZE_MAX;) {
    size_t end = str_find(text, STR("\n```\n"), from + 1);
    CHECK(end != SIZE_MAX);
    struct str block = str_slice(text, from + 5, end + 1);
    if (has(block, part))
      return block;
    at = end + 1;
  }
  FAIL("%s has no command with %s", page, part);
}

/* Runs the commands with `export` as what curl prints. */
static void run_import(struct str commands, const char *export) {
  const char *bin = path_join(NULL, "bin");
  CHECK_INT(proc_run(.argv = ARGS("mkdir", "-p", bin)).exit_code, 0);
  file_write(path_join(NULL, "export.json"), str_from(export));
  file_write(path_join(bin, "curl"), str_from(textf("#!/bin/sh\ncat '%s'\n", path_join(NULL, "export.json"))));
  file_write(path_join(bin, "cairn"), str_from(textf("#!/bin/sh\nexec '%s' \"$@\"\n", CAIRN_BIN)));
  CHECK_INT(proc_run(.argv = ARGS("chmod", "+x", path_join(bin, "curl"), path_join(bin, "cairn"))).exit_code, 0);
  const char *script = textf("PATH='%s':/usr/bin:/bin\n%.*s", bin, STR_ARG(commands));
  struct run r = proc_run(.argv = ARGS("sh", "-euc", script), .env = cli_env(), .timeout_ms = 60000, .merge = true);
  if (r.exit_code != 0)
    FAIL("%s\n%s", script, r.out.p);
}

/* Texts of the memories that a project sees, apart from global ones; "" lists the global ones. */
static bool is_in(const char *project, const char *text) {
  yyjson_val *r = OK("list", "--project", project, "--own", "--detail", "full");
  for (size_t i = 0; i < jlen(r, "memories"); i++)
    if (str_is(jstr(r, textf("memories[%zu].body", i)), text))
      return true;
  return false;
}

#define GLOBAL(id, text, more)                                                                                         \
  "{\"id\":\"" id "\",\"content\":\"" text "\",\"scope\":\"global\",\"type\":\"decision\",\"weight\":1" more "}"
#define OF_MATCH(id, text, more)                                                                                       \
  "{\"id\":\"" id "\",\"content\":\"" text "\",\"scope\":\"project\",\"project\":\"match\",\"type\":\"fact\"" more "}"

TEST(an_export_of_mememory_is_imported_with_its_current_memories) {
  struct str commands = documented("mememory.md", "jq");
  for (int i = 0; i < 2; i++) {
    run_import(
        commands,
        "[" GLOBAL("1", "Redux is best", "") "," OF_MATCH("2", "Zustand is best", ",\"supersedes\":\"1\"") "," GLOBAL("3", "We host in Oslo", "") "," GLOBAL(
            "4", "We host in Bergen",
            ",\"supersedes\":\"3\"") "," OF_MATCH("5", "The port is 80",
                                                  "") "," OF_MATCH("6", "The port is 81",
                                                                   ",\"supersedes\":\"5\"") "," OF_MATCH("7",
                                                                                                         "Tabs are "
                                                                                                         "wide",
                                                                                                         "") "," GLOBAL("8",
                                                                                                                        "Tabs are narrow",
                                                                                                                        ",\"supersedes\":\"7\"") "]");
    CHECK_INT(jint(OK("list", "--all-projects"), "total"), 5);
  }
  CHECK(is_in("", "Redux is best") && is_in("match", "Zustand is best"));
  CHECK(is_in("", "We host in Bergen") && !is_in("", "We host in Oslo"));
  CHECK(is_in("match", "The port is 81") && !is_in("match", "The port is 80"));
  CHECK(is_in("", "Tabs are narrow") && !is_in("match", "Tabs are wide"));
}
