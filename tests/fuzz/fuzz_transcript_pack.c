/* fuzz_transcript_pack.c: any bytes as an archive of transcripts: rejected, or the files of every session lie within
 * it. */
#include <sys/mman.h>
#include <unistd.h>

#include "base/os/fs.h"
#include "support/fuzz.h"
#include "transcript/file/pack.h"

static void check_file(const struct tar_file *f, size_t size) {
  FUZZ_CHECK(!f->path.p || (f->at >= 0 && f->bytes >= 0 && (size_t)(f->at + f->bytes) <= size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena a;
  struct error err;
  struct unpacking u;
  struct tar t = {.fd = memfd_create("archive", MFD_CLOEXEC), .name = "archive"};
  FUZZ_CHECK(t.fd >= 0 && fs_write_all(t.fd, (struct str){(const char *)data, size}));
  arena_init(&a);
  if (transcripts_check_pack(&t, &a, &u, &err) == STATUS_OK)
    for (size_t i = 0; i < u.sessions.n; i++) {
      FUZZ_CHECK(transcript_id_ok(u.sessions.v[i].session) && transcripts_agent_ok(u.sessions.v[i].agent));
      check_file(&u.sessions.v[i].live, size);
      check_file(&u.sessions.v[i].archived, size);
      check_file(&u.sessions.v[i].originals, size);
      check_file(&u.sessions.v[i].torn, size);
    }
  arena_release(&a);
  close(t.fd);
  return 0;
}
