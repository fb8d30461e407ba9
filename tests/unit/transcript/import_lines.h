/* import_lines.h: reads a foreign transcript from the test data, for the tests of the readers. */
#pragma once

#include "base/os/fs.h"
#include "support/harness.h"
#include "transcript/file/import_line.h"

struct imported {
  struct arena arena;
  struct import_file file;
  struct messages list;
  struct strs sessions; /* of each message */
  struct str cwd;       /* of the last line */
};

static inline void import_all(struct imported *im, enum import_from from, const char *name) {
  struct error err;
  struct str text, line;
  arena_init(&im->arena);
  struct str path = arena_printf(&im->arena, "%s/tests/data/transcripts/%s", CAIRN_SOURCE_DIR, name);
  CHECK_OK(fs_read(&im->arena, path.p, 1 << 20, &text, &err), &err);
  import_file_open(&im->arena, from, path, &im->file);
  for (int64_t number = 1; str_line(&text, &line); number++) {
    struct import_line out;
    import_read_line(&im->arena, &im->file, line, number, &out);
    im->cwd = out.cwd;
    for (size_t i = 0; i < out.list.n; i++) {
      list_push(&im->arena, &im->list, out.list.v[i]);
      strs_push(&im->arena, &im->sessions, out.session);
    }
  }
}

struct wanted {
  enum speaker role;
  const char *id, *name, *text; /* text: content of a message or a result, input of a call; NULL: any id */
};

static inline void check_wanted(const struct imported *im, const struct wanted *want, size_t n) {
  for (size_t i = 0; i < n && i < im->list.n; i++) {
    const struct message *m = &im->list.v[i];
    test_note("message %zu", i);
    CHECK_INT(m->role, want[i].role);
    if (want[i].id)
      CHECK_STR(m->id, want[i].id);
    CHECK_STR(m->name, want[i].name ? want[i].name : "");
    CHECK_STR(m->role == SPEAKER_TOOL_CALL ? m->input : m->content, want[i].text);
  }
  CHECK_INT(im->list.n, n);
}
