/* test_source_state.c: the status file of sources is valid only while its server runs. */
#include "file/source_state.h"

#include <unistd.h>

#include "support/harness.h"
#include "support/proc.h"

static struct arena a;
static struct error err;

TEST(the_status_is_valid_while_its_writer_runs) {
  struct str root = str_from(path_join(NULL, "team"));
  struct source_states states = {0}, read = {0};
  list_push(&a, &states, (struct source_state){STR("shop"), STR("/srv/docs"), SOURCE_SCANNED});
  list_push(&a, &states, (struct source_state){STR(""), STR("/srv/more"), SOURCE_CLOSED});
  source_state_read(root, &a, &read);
  CHECK_INT(read.n, 0);
  int claim = source_state_claim(root, &a);
  CHECK(claim >= 0);
  CHECK_INT(source_state_claim(root, &a), -1);
  CHECK_OK(source_state_write(root, &states, &a, &err), &err);
  source_state_read(root, &a, &read);
  CHECK_INT(read.n, 2);
  CHECK_STR(read.v[0].project, "shop");
  CHECK_STR(read.v[0].folder, "/srv/docs");
  CHECK_INT(read.v[0].way, SOURCE_SCANNED);
  CHECK_INT(read.v[1].way, SOURCE_CLOSED);
  close(claim);
  read = (struct source_states){0};
  source_state_read(root, &a, &read);
  CHECK_INT(read.n, 0);
  claim = source_state_claim(root, &a);
  CHECK(claim >= 0);
  close(claim);
}

TEST(a_damaged_status_file_is_ignored) {
  struct str root = str_from(path_join(NULL, "team"));
  struct source_states read = {0};
  int claim = source_state_claim(root, &a);
  file_write(path_join(root.p, ".sources.json"), STR("{\"sources\":[{\"folder\":1},2"));
  source_state_read(root, &a, &read);
  CHECK_INT(read.n, 0);
  file_write(path_join(root.p, ".sources.json"), STR("{\"sources\":[{\"folder\":\"/x\",\"watch\":\"odd\"}]}"));
  source_state_read(root, &a, &read);
  CHECK_INT(read.n, 1);
  CHECK_INT(read.v[0].way, SOURCE_UNWATCHED);
  close(claim);
}
