/* test_import_state.c: imports.json is read back as written, and damage is not an error. */
#include <unistd.h>

#include "base/os/fs.h"
#include "support/harness.h"
#include "support/proc.h"
#include "transcript/file/import_files.h"

static struct str folder(void) { return str_from(path_join(NULL, "sessions")); }

TEST(states_and_places_are_read_back) {
  struct arena a;
  struct error err;
  struct import_states states = {0}, again;
  struct str project;
  struct import_state state = {.path = STR("/a/\"b\".jsonl"),
                               .from = IMPORT_CODEX,
                               .size = 1234567890123,
                               .changed_at = 1771636523451,
                               .offset = 99,
                               .lines = 7,
                               .tail = STR("abc"),
                               .session = STR("s1"),
                               .cwd = STR("/home/dana"),
                               .versioned = true,
                               .at = 5};
  arena_init(&a);
  import_state_put(&a, &states, &state);
  state.offset = 100; /* replaces the first */
  import_state_put(&a, &states, &state);
  import_place_put(&a, &states, STR("s1"), STR("lamp"));
  import_place_put(&a, &states, STR("s2"), STR(""));
  CHECK_OK(import_states_write(folder(), &states, &a, &err), &err);
  import_states_read(folder(), &a, &again);
  CHECK_INT(again.n, 1);
  const struct import_state *m = import_state_find(&again, STR("/a/\"b\".jsonl"));
  CHECK(m != NULL);
  CHECK_INT(m->from, IMPORT_CODEX);
  CHECK_INT(m->size, 1234567890123);
  CHECK_INT(m->changed_at, 1771636523451);
  CHECK_INT(m->offset, 100);
  CHECK_INT(m->lines, 7);
  CHECK_STR(m->tail, "abc");
  CHECK_STR(m->session, "s1");
  CHECK_STR(m->cwd, "/home/dana");
  CHECK(!m->repository.p && m->versioned && !m->header);
  CHECK_INT(m->at, 5);
  CHECK(import_place_find(&again, STR("s1"), &project));
  CHECK_STR(project, "lamp");
  CHECK(import_place_find(&again, STR("s2"), &project));
  CHECK_STR(project, "");
  CHECK(!import_place_find(&again, STR("s3"), &project));
  CHECK(!import_state_find(&again, STR("/a/b.jsonl")));
  arena_release(&a);
}

TEST(invalid_states_are_skipped) {
  static const char *const texts[] = {
      "",
      "{",
      "[]",
      "{\"version\":2,\"files\":[{\"path\":\"/a\",\"from\":\"codex\",\"session\":\"s\"}]}",
      "{\"version\":1,\"files\":{}}",
      "{\"version\":1,\"files\":[1,{},{\"path\":\"/a\",\"session\":\"s\"},{\"path\":\"/a\",\"from\":\"codex\"}]}",
      "{\"version\":1,\"files\":[{\"path\":\"/a\",\"from\":\"codex\",\"session\":\"s\",\"offset\":-1}]}",
      "{\"version\":1,\"sessions\":{\"s\":1}}",
  };
  struct arena a;
  struct import_states states;
  struct error err;
  arena_init(&a);
  import_states_read(folder(), &a, &states); /* there is no folder yet */
  CHECK_INT(states.n, 0);
  CHECK_OK(fs_mkdirs(folder().p, &err), &err);
  for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
    test_note("%s", texts[i]);
    file_write(path_join(folder().p, "imports.json"), str_from(texts[i]));
    import_states_read(folder(), &a, &states);
    CHECK_INT(states.n, 0);
    CHECK_INT(states.places.n, 0);
  }
  arena_release(&a);
}

TEST(files_of_a_folder_are_sorted_by_name) {
  struct arena a;
  struct error err;
  struct import_paths list = {0}, codex = {0};
  arena_init(&a);
  CHECK_OK(fs_mkdirs(path_join(folder().p, "b/.hidden"), &err), &err);
  static const char *const names[] = {"c.jsonl",      "b/rollout-1.jsonl", "b/.hidden/x.jsonl",     "b/notes.txt",
                                      "b/.dot.jsonl", "a.jsonl",           "agent-acompact-1.jsonl"};
  for (size_t i = 0; i < ARRAY_LEN(names); i++)
    file_write(path_join(folder().p, names[i]), STR("{}\n"));
  CHECK(symlink("a.jsonl", path_join(folder().p, "link.jsonl")) == 0);
  CHECK_OK(import_find(folder(), IMPORT_CLAUDE, &a, &list, &err), &err);
  CHECK_INT(list.n, 3);
  CHECK(str_ends(list.v[0].path, STR("/a.jsonl")));
  CHECK(str_ends(list.v[1].path, STR("/b/rollout-1.jsonl")));
  CHECK(str_ends(list.v[2].path, STR("/c.jsonl")));
  CHECK_INT(list.v[0].size, 3);
  CHECK_OK(import_find(list.v[0].path, IMPORT_CLAUDE, &a, &list, &err), &err); /* named twice, read once */
  CHECK_INT(list.n, 3);
  CHECK_OK(import_find(folder(), IMPORT_CODEX, &a, &codex, &err), &err);
  CHECK_INT(codex.n, 1);
  CHECK_INT(import_find(STR("/no/such/folder"), IMPORT_CODEX, &a, &codex, &err), STATUS_NOT_FOUND);
  CHECK_INT(import_find(STR("/dev/null"), IMPORT_CODEX, &a, &codex, &err), STATUS_USAGE);
  arena_release(&a);
}
