/* test_examples.c: the programs of docs/examples and the header, compiled as users do: from the build folder and from
 * an installed tree, with the static and the shared library. */
#include <stdarg.h>
#include <unistd.h>

#include "support/harness.h"
#include "support/proc.h"

/* Sanitizer builds link only with the same sanitizer. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZE "-fsanitize=address,undefined"
#elif defined(__SANITIZE_THREAD__)
#define SANITIZE "-fsanitize=thread"
#else
#define SANITIZE ""
#endif

#define STRICT "-std=c99 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"

static struct run shell(const char *command) {
  struct run r = proc_run(.argv = ARGS("sh", "-euc", command), .timeout_ms = 60000, .merge = true);
  if (r.exit_code != 0)
    FAIL("%s\n%s", command, r.out.p);
  return r;
}

/* Formats a shell command; valid until the next call. */
static const char *format(const char *fmt, ...) PRINTF_FMT(1, 2);
static const char *format(const char *fmt, ...) {
  static char text[8000];
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(text, sizeof(text), fmt, ap);
  va_end(ap);
  CHECK(n > 0 && (size_t)n < sizeof(text));
  return text;
}

/* ---- output of the examples ---- */

static void check_remember(const char *run) {
  struct run r = shell(format("%s ./remember a.db", run));
  CHECK_STR(r.out, "stored Staging database port is 5433\n"
                   "now    The staging database listens on port 5434.\n"
                   "supersedes  Staging database port is 5433: another service took 5433\n"
                   "found  Staging database port is 5434\n");
}

static void check_two_stores(const char *run) {
  /* The second time there is nothing to copy, and nothing fails. */
  for (int i = 0; i < 2; i++) {
    struct run r = shell(format("%s ./two_stores mine.db team.db", run));
    struct str line;
    CHECK(str_line(&r.out, &line));
    CHECK_STR(line, "memory:write by copier");
    CHECK(str_line(&r.out, &line));
    CHECK(str_starts(line, STR("{\"memories\":[")));
    CHECK(str_find(line, STR("\"headline\":\"Decision: sessions live in Redis\""), 0) != SIZE_MAX);
    CHECK(str_find(line, STR("\"total\":1"), 0) != SIZE_MAX);
    CHECK(str_find(line, STR("printer"), 0) == SIZE_MAX);
    CHECK(!str_line(&r.out, &line));
  }
}

static void check_errors(const char *run) {
  struct run r = proc_run(.argv = ARGS("sh", "-c", format("%s ./remember /no/such/folder/a.db", run)));
  CHECK_INT(r.exit_code, 1);
  CHECK(str_starts(r.err, STR("open: ")));
  CHECK(str_find(r.err, STR("/no/such/folder/a.db"), 0) != SIZE_MAX);
  CHECK(str_find(r.err, STR("(not_found)"), 0) != SIZE_MAX);
}

static void check_examples(const char *run) {
  check_remember(run);
  check_two_stores(run);
  check_errors(run);
}

static void compile(const char *flags, const char *libraries) {
  static const char *const names[] = {"remember", "two_stores"};
  for (size_t i = 0; i < ARRAY_LEN(names); i++)
    shell(format("cc " STRICT " " SANITIZE " %s " CAIRN_SOURCE_DIR "/docs/examples/%s.c -o %s %s", flags, names[i],
                 names[i], libraries));
}

/* ---- the build folder ---- */

/* The static library and its dependencies. Prefers the yyjson bundled with Cairn to the system's. */
static const char *static_libraries(void) {
  static char libraries[4000];
  const char *yyjson = CAIRN_BINARY_DIR "/lib/cairn/libyyjson.so.0";
  if (access(yyjson, R_OK) != 0)
    yyjson = "-lyyjson";
  snprintf(libraries, sizeof(libraries),
           CAIRN_BINARY_DIR "/libcairn.a $(pkg-config --libs sqlite3 libsodium libutf8proc libcmark) %s -lpthread -lm",
           yyjson);
  return libraries;
}

TEST(examples_with_the_static_library, .seconds = 120) {
  compile("-I" CAIRN_SOURCE_DIR "/include", static_libraries());
  check_examples("LD_LIBRARY_PATH=" CAIRN_BINARY_DIR "/lib/cairn");
}

/* The first program of the guide, verbatim. */
TEST(the_program_of_the_guide, .seconds = 60) {
  shell("awk '/^```c$/ && !n++ { on = 1; next } /^```/ { on = 0 } on' " CAIRN_SOURCE_DIR "/docs/library.md >first.c");
  CHECK(str_starts(file_read(path_join(NULL, "first.c")), STR("#include <cairn.h>\n")));
  shell(format("cc " STRICT " " SANITIZE " -I" CAIRN_SOURCE_DIR "/include first.c -o first %s", static_libraries()));
  CHECK_STR(shell("LD_LIBRARY_PATH=" CAIRN_BINARY_DIR "/lib/cairn ./first").out, "");
  struct run r = proc_run(.argv = ARGS(CAIRN_BIN, "--db", "notes.db", "--project", "shop", "get", "1", "--json"));
  CHECK_INT(r.exit_code, 0);
  CHECK(str_find(r.out, STR("\"body\":\"Staging listens on port 5433\""), 0) != SIZE_MAX);
}

/* ---- the header ---- */

static void syntax_only(const char *compiler, const char *flags) {
  file_write(path_join(NULL, "use.c"), STR("#include <cairn.h>\n#include <cairn.h>\n"
                                           "static struct cairn_draft draft;\n"
                                           "int use(struct cairn *db);\n"
                                           "int use(struct cairn *db) {\n"
                                           "  draft.text = \"x\";\n"
                                           "  return cairn_remember(db, &draft, NULL) == CAIRN_OK;\n"
                                           "}\n"));
  shell(format("%s %s -Wall -Wextra -Wpedantic -Werror -I" CAIRN_SOURCE_DIR "/include -fsyntax-only use.c", compiler,
               flags));
}

TEST(the_header_is_plain_c) {
  syntax_only("cc", "-std=c99");
  syntax_only("cc", "-std=c17");
}

/* clang can read C++ that includes only C headers without a C++ library. g++ may be missing. */
TEST(the_header_is_valid_cplusplus) {
  syntax_only("clang-19", "-x c++ -std=c++11");
  syntax_only("clang-19", "-x c++ -std=c++20");
  if (proc_run(.argv = ARGS("sh", "-c", "command -v g++")).exit_code == 0)
    syntax_only("g++", "-x c++ -std=c++11");
}

/* ---- an installed tree ---- */

/* Nobody installs sanitizer builds. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/* Installs into the test's folder and returns the folder of the libraries. */
static const char *install(void) {
  shell("cmake --install " CAIRN_BINARY_DIR " --prefix \"$PWD/tree\"");
  struct run r = shell("dirname \"$(dirname \"$(find \"$PWD/tree\" -name cairn.pc)\")\"");
  static char folder[4000];
  snprintf(folder, sizeof(folder), "%.*s", STR_ARG(str_trim(r.out)));
  setenv("PKG_CONFIG_PATH", path_join(folder, "pkgconfig"), 1);
  return folder;
}

static bool needs_shared_cairn(void) {
  struct run r = shell("readelf -d remember");
  return str_find(r.out, STR("libcairn.so"), 0) != SIZE_MAX;
}

TEST(only_one_header_is_installed, .seconds = 60) {
  install();
  struct run r = shell("find tree -name '*.h'");
  CHECK_STR(r.out, "tree/include/cairn.h\n");
  CHECK_STR(shell("pkg-config --modversion cairn").out, CAIRN_VERSION "\n");
}

TEST(examples_with_pkg_config, .seconds = 120) {
  const char *libraries = install();
  char run[4100];
  snprintf(run, sizeof(run), "LD_LIBRARY_PATH=%s", libraries);
  compile("$(pkg-config --cflags cairn)", "$(pkg-config --libs cairn)");
  CHECK(needs_shared_cairn());
  check_examples(run);
}

TEST(examples_with_pkg_config_static, .seconds = 120) {
  char archive[4100];
  snprintf(archive, sizeof(archive), "%s/libcairn.a -Wl,--as-needed $(pkg-config --static --libs cairn)", install());
  compile("$(pkg-config --cflags cairn)", archive);
  CHECK(!needs_shared_cairn());
  check_examples("");
}

/* A tree is relocatable: it contains no installation path. */
TEST(an_installed_tree_can_be_moved, .seconds = 60) {
  install();
  shell("mv tree elsewhere");
  struct run r = shell("elsewhere/bin/cairn --version; grep -rlF \"$PWD/tree\" elsewhere || true");
  CHECK(str_find(r.out, STR(CAIRN_VERSION), 0) != SIZE_MAX);
  CHECK(str_find(r.out, STR("elsewhere/"), 0) == SIZE_MAX);
}

#endif
