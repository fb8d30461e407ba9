/* test_place.c: server URLs without passwords, and side files of a store. */
#include "store/db/place.h"

#include <stdlib.h>

#include "support/harness.h"
#include "support/proc.h"

static struct str public_of(const char *store) {
  static char text[PLACE_MAX];
  place_public(store, text);
  return str_from(text);
}

TEST(a_path_is_its_own_address) {
  CHECK_STR(public_of("/home/me/a:b@c?password=x.db"), "/home/me/a:b@c?password=x.db");
  CHECK_STR(public_of("relative.db"), "relative.db");
}

TEST(an_address_is_shown_without_its_password) {
  CHECK_STR(public_of("postgresql://ann:secret@db.example/cairn"), "postgresql://ann@db.example/cairn");
  CHECK_STR(public_of("postgres://ann:secret@db.example:5433/cairn?sslmode=require"),
            "postgresql://ann@db.example:5433/cairn?sslmode=require");
  CHECK_STR(public_of("postgresql://ann@db.example:5433/cairn"), "postgresql://ann@db.example:5433/cairn");
  CHECK_STR(public_of("postgresql://db.example:5433/cairn"), "postgresql://db.example:5433/cairn");
  CHECK_STR(public_of("postgresql:///cairn?host=/run/postgresql"), "postgresql:///cairn?host=/run/postgresql");
  CHECK_STR(public_of("postgresql://[::1]:5433/cairn"), "postgresql://[::1]:5433/cairn");
}

TEST(an_address_is_shown_without_a_password_parameter) {
  CHECK_STR(public_of("postgresql://h/d?user=ann&password=secret&sslmode=require"),
            "postgresql://h/d?user=ann&sslmode=require");
  CHECK_STR(public_of("postgresql://h/d?password=secret"), "postgresql://h/d");
  CHECK_STR(public_of("postgresql://h/d?p%61ssw%6Frd=secret&a=b"), "postgresql://h/d?a=b");
  CHECK_STR(public_of("postgresql://h/d?sslpassword=secret&passfile=/x"), "postgresql://h/d?passfile=/x");
  CHECK_STR(public_of("postgresql://h/d?password=se@cret&a=b"), "postgresql://h/d?a=b");
}

/* If '@' or '/' is not escaped as %40 or %2F, no part of the password may appear in a log. */
TEST(a_password_with_special_characters_is_hidden) {
  static const char *const bad[] = {"postgresql://ann:se@cret@h/d",   "postgresql://ann:se/cret@h/d",
                                    "postgresql://ann:se?cret@h/d",   "postgresql://ann:se:cret@h/d",
                                    "postgresql://ann:se/c?r@et@h/d", "postgresql://ann:se#cret@h/d"};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++)
    CHECK_STR(public_of(bad[i]), "postgresql://ann@h/d");
}

TEST(an_unescaped_password_is_detected) {
  CHECK(place_is_broken("postgresql://ann:se/cret@h/d"));
  CHECK(place_is_broken("postgresql://ann:/cret@h/d"));
  CHECK(place_is_broken("postgresql://ann:se?cret@h/d"));
  CHECK(place_is_broken("postgresql://h:1,i:x/d"));
  CHECK(!place_is_broken("postgresql://h:1,i:2,[::1]:3/d"));
  CHECK(!place_is_broken("postgresql://h:/d"));
  CHECK(!place_is_broken("postgresql://ann:se%2Fcret@h/d"));
  CHECK(!place_is_broken("postgresql://h:5433/d@x"));
  CHECK(!place_is_broken("postgresql://h/d@x"));
  CHECK(!place_is_broken("postgresql://h:5433/d?password=a@b"));
  CHECK(!place_is_broken("postgresql://[::1]/d"));
  CHECK(!place_is_broken("/home/ann:x/a@b"));
}

static struct str side_of(const char *store) {
  static char path[4][PLACE_MAX];
  static int next;
  char *p = path[next++ % 4];
  place_side(store, ".log", p);
  return str_from(p);
}

TEST(files_lie_beside_a_file_and_in_the_state_folder_for_a_server) {
  setenv("XDG_STATE_HOME", path_join(NULL, "state"), 1);
  CHECK_STR(side_of("/x/y.db"), "/x/y.db.log");
  struct str a = side_of("postgresql://ann:one@h/d"), b = side_of("postgres://ann:two@h/d");
  CHECK(str_eq(a, b));
  CHECK(!str_eq(a, side_of("postgresql://bob@h/d")));
  CHECK(str_starts(a, str_from(path_join(NULL, "state/cairn/servers/"))));
  CHECK(str_ends(a, STR(".log")));
  CHECK(str_find(a, STR("ann"), 0) == SIZE_MAX);
  struct stat st;
  CHECK_INT(stat(path_join(NULL, "state/cairn/servers"), &st), 0);
  CHECK_INT(st.st_mode & 0777, 0700);
}

TEST(without_a_state_folder_there_are_no_files) {
  unsetenv("XDG_STATE_HOME");
  unsetenv("HOME");
  CHECK_STR(side_of("postgresql://ann@h/d"), "");
}
