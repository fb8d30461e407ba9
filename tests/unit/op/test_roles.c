/* test_roles.c: what roles may call: a closed list, and everything that is not on it. */
#include "op/roles.h"

#include "support/harness.h"

/* What an agent of a project may call, by the specification: memories, tasks and sessions of its own. */
static const char *const families[] = {"task ", "skill ", "session ", "action ", "scratch ", "file ", "graph ", NULL};
static const char *const others[] = {"remember",
                                     "capture",
                                     "get",
                                     "search",
                                     "list",
                                     "boot",
                                     "supersede",
                                     "unsupersede",
                                     "history",
                                     "repeats",
                                     "annotate",
                                     "rate",
                                     "pin",
                                     "unpin",
                                     "promote",
                                     "link",
                                     "unlink",
                                     "forget",
                                     "checkpoint",
                                     "agent message",
                                     "page",
                                     "transcript append",
                                     "transcript read",
                                     "transcript list",
                                     "transcript flush",
                                     "transcript compact",
                                     NULL};

static bool expected(struct str op) {
  if (str_is(op, "task sync")) /* names a file */
    return false;
  for (const char *const *f = families; *f; f++)
    if (str_starts(op, str_from(*f)))
      return true;
  for (const char *const *o = others; *o; o++)
    if (str_is(op, *o))
      return true;
  return false;
}

TEST(an_agent_of_a_project_may_call_what_is_about_memories) {
  for (const struct op *op = ops; op->name; op++) {
    test_note("%s", op->name);
    CHECK(role_may(ROLE_PROJECT, str_from(op->name)) == expected(str_from(op->name)));
  }
}

TEST(an_agent_with_the_role_skill_may_call_nothing) {
  for (const struct op *op = ops; op->name; op++)
    CHECK(!role_may(ROLE_SKILL, str_from(op->name)));
}

TEST(what_is_not_known_is_closed) {
  static const char *const names[] = {
      "",     "sear",    "search ",    "transcript archive", "transcript index", "transcript import",
      "sync", "extract", "source add", "task sync",          "vault get",        "export",
      "undo"};
  for (size_t i = 0; i < ARRAY_LEN(names); i++) {
    test_note("%s", names[i]);
    CHECK(!role_may(ROLE_PROJECT, str_from(names[i])));
    CHECK(!role_may(ROLE_SKILL, str_from(names[i])));
    CHECK(role_may(ROLE_ADMIN, str_from(names[i])));
  }
}
