/* fuzz_tasks_json.c: any bytes as a task file; accepted tasks survive a write and a second read unchanged. */
#include "base/utf8.h"
#include "file/tasks_json.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena a;
  struct error err;
  struct task_file file, again;
  arena_init(&a);
  struct str text = arena_dup(&a, (struct str){(const char *)data, size});
  if (tasks_json_read(&a, "f", text, &file, &err) == STATUS_OK) {
    struct str written = tasks_json_write(&a, &file, &file.tasks);
    FUZZ_CHECK(utf8_check(written) == written.n);
    FUZZ_CHECK(tasks_json_read(&a, "f", written, &again, &err) == STATUS_OK);
    FUZZ_CHECK(again.tasks.n == file.tasks.n);
    FUZZ_CHECK(str_eq(tasks_json_write(&a, &again, &again.tasks), written));
    for (size_t i = 0; i < file.tasks.n; i++) {
      const struct task_entry *x = &file.tasks.v[i], *y = &again.tasks.v[i];
      struct strs conflicts = {0};
      FUZZ_CHECK(!x->problem.p == !y->problem.p && task_entry_same(x, y));
      struct task_entry now = task_entry_merge(&a, x, x, x, &conflicts);
      FUZZ_CHECK(task_entry_same(&now, x) && conflicts.n == 0);
    }
  } else {
    FUZZ_CHECK(err.message[0] && err.fix[0]);
  }
  arena_release(&a);
  return 0;
}
