/* test_batch.c: the file of a batch. */
#include <fcntl.h>
#include <unistd.h>

#include "op/op.h"
#include "support/harness.h"
#include "support/proc.h"
#include "support/store.h"

/* Standard input that can only be written opens, but cannot be read as a stream. */
TEST(an_unreadable_batch_leaves_no_descriptor_open) {
  struct engine_options o = {.path = test_store("a.db")};
  struct caller caller = {.team = STR("default"), .project = STR(""), .source = STR("test"), .trust = STR("user")};
  struct engine *engine;
  struct error err;
  struct arena a;
  yyjson_val *args;
  yyjson_mut_val *result;
  CHECK_OK(engine_open(&o, &engine, &err), &err);
  int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
  CHECK(fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
  int before = 0;
  for (int i = 0; i < 3; i++) {
    arena_init(&a);
    CHECK_OK(json_read(&a, STR("{\"batch\":\"-\"}"), &args, &err), &err);
    CHECK_INT(op_run(engine, op_find(STR("remember")), &caller, NULL, &a, args, &result, &err), STATUS_IO);
    arena_release(&a);
    if (i == 0)
      before = open_descriptors(); /* the first call may open files of the store */
  }
  CHECK_INT(open_descriptors(), before);
  close(fd);
  engine_close(&engine);
}
