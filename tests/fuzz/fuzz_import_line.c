/* fuzz_import_line.c: any bytes as a transcript of another program; every imported message is valid. */
#include "base/id.h"
#include "support/fuzz.h"
#include "transcript/file/import_line.h"

static void check(struct arena *a, const struct import_line *line) {
  for (size_t i = 0; i < line->list.n; i++) {
    const struct message *m = &line->list.v[i];
    struct error err;
    bool tool = m->role == SPEAKER_TOOL_CALL || m->role == SPEAKER_TOOL_RESULT;
    FUZZ_CHECK(m->id.n > 0 && m->role < SPEAKER_COUNT && m->at >= 0);
    FUZZ_CHECK(tool || !str_empty(str_trim(m->content)));
    FUZZ_CHECK(m->content.n <= IMPORT_TEXT_BYTES + 64);
    if (m->role == SPEAKER_TOOL_CALL) {
      yyjson_val *input;
      FUZZ_CHECK(m->name.n > 0 && json_read(a, m->input, &input, &err) == STATUS_OK);
    }
    FUZZ_CHECK(json_read(a, m->extra, &(yyjson_val *){NULL}, &err) == STATUS_OK);
  }
}

/* The same bytes give the same ids, and every line is either imported or counted as skipped. */
static void read_all(struct arena *a, enum import_from from, struct str text, struct strs *ids) {
  struct import_file *file = arena_alloc(a, sizeof(*file));
  struct str line;
  int64_t number = 0;
  import_file_open(a, from, STR("/x/rollout-2026-01-01T00-00-00-5973b6c0-94b8-487b-a530-2aeb6098ae0e.jsonl"), file);
  FUZZ_CHECK(uuid_is_valid(file->session));
  while (str_line(&text, &line)) {
    struct import_line out;
    int64_t before = 0, after = 0;
    for (size_t i = 0; i < IMPORT_SKIP_COUNT; i++)
      before += file->skipped[i];
    import_guess_line(a, line);
    import_read_line(a, file, line, ++number, &out);
    for (size_t i = 0; i < IMPORT_SKIP_COUNT; i++)
      after += file->skipped[i];
    FUZZ_CHECK(str_empty(str_trim(line)) || out.list.n + (size_t)(after - before) > 0);
    check(a, &out);
    for (size_t i = 0; i < out.list.n; i++)
      strs_push(a, ids, out.list.v[i].id);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct str text = {(const char *)data, size};
  struct arena a;
  arena_init(&a);
  for (int from = IMPORT_CLAUDE; from < IMPORT_FROM_COUNT; from++) {
    struct strs once = {0}, twice = {0};
    read_all(&a, (enum import_from)from, text, &once);
    read_all(&a, (enum import_from)from, text, &twice);
    FUZZ_CHECK(once.n == twice.n);
    for (size_t i = 0; i < once.n; i++)
      FUZZ_CHECK(str_eq(once.v[i], twice.v[i]));
  }
  arena_release(&a);
  return 0;
}
