/* fuzz_transcript.c: any bytes as a transcript and as the index of a transcript directory: both are read, invalid
 * lines are counted, and no data in the files is lost.
 *
 * An input is the index, a NUL byte, and the transcript. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fs.h"
#include "support/fuzz.h"
#include "transcript/file/transcript.h"

static void write_file(struct arena *a, const char *folder, const char *name, struct str text) {
  struct error err;
  FUZZ_CHECK(fs_write(arena_printf(a, "%s/%s", folder, name).p, text, 0600, &err) == STATUS_OK);
}

static void read_all(struct arena *a, const char *folder, struct str text) {
  struct transcripts t = {.folder = str_from(folder), .now = 1763208000000};
  struct transcript_infos list = {0};
  struct transcript whole;
  struct error err;
  struct str after;
  bool rebuilt;
  FUZZ_CHECK(transcript_list(&t, a, &list, &rebuilt, &err) == STATUS_OK);
  FUZZ_CHECK(list.n >= 1);
  if (transcript_read(&t, STR("one"), false, a, &whole, &err) == STATUS_OK)
    FUZZ_CHECK(whole.tokens >= 0 && whole.damaged >= 0 && whole.torn >= 0 && (size_t)whole.torn <= text.n);
  if (transcript_read(&t, STR("one"), true, a, &whole, &err) == STATUS_OK)
    FUZZ_CHECK(transcript_prune(&whole.list, 1) <= 1 + text.n);
  FUZZ_CHECK(fs_read(a, arena_printf(a, "%s/one.jsonl", folder).p, 1 << 20, &after, &err) == STATUS_OK);
  FUZZ_CHECK(str_eq(after, text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"sessions.json", "one.jsonl", "one.lock", "one.torn", "sessions.lock"};
  struct arena a;
  struct str text = {(const char *)data, size};
  size_t split = str_find(text, (struct str){"", 1}, 0);
  arena_init(&a);
  const char *folder = arena_printf(&a, "/tmp/cairn-fuzz-transcript-%d", (int)getpid()).p;
  mkdir(folder, 0700);
  struct str index = str_slice(text, 0, split == SIZE_MAX ? 0 : split);
  struct str lines = split == SIZE_MAX ? text : str_slice(text, split + 1, text.n);
  write_file(&a, folder, "sessions.json", index);
  write_file(&a, folder, "one.jsonl", lines);
  read_all(&a, folder, lines);
  for (size_t i = 0; i < ARRAY_LEN(names); i++)
    unlink(arena_printf(&a, "%s/%s", folder, names[i]).p);
  rmdir(folder);
  arena_release(&a);
  return 0;
}
