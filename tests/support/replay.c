/* replay.c: runs every fuzz target on its corpus and on mutations of it, the same ones each time. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/harness.h"

enum { MUTATIONS = 2000, INPUT_MAX = 64 * 1024, FILES_MAX = 1000, SHOWN = 200 };

typedef int (*target_fn)(const uint8_t *data, size_t size);

struct corpus {
  char *names[FILES_MAX];
  uint8_t *data[FILES_MAX];
  size_t sizes[FILES_MAX], n;
};

/* Tells the harness the current input, so a crash can be reproduced. */
static void note_input(const char *file, int mutation, const uint8_t *data, size_t size) {
  char hex[3 * SHOWN + 1] = "";
  for (size_t i = 0; i < size && i < SHOWN; i++)
    snprintf(hex + 3 * i, 4, " %02x", data[i]);
  test_note("%s, mutation %d, %zu bytes:%s", file, mutation, size, hex);
}

static uint64_t next_random(uint64_t *state) { /* splitmix64 */
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static int load(struct corpus *c, const char *dir, const char *name) {
  char path[1024];
  snprintf(path, sizeof(path), "%s/%s", dir, name);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  uint8_t *data = malloc(INPUT_MAX);
  ssize_t size = fd < 0 || !data ? -1 : read(fd, data, INPUT_MAX);
  if (fd >= 0)
    close(fd);
  if (size < 0) {
    free(data);
    return -1;
  }
  c->names[c->n] = strdup(name);
  c->data[c->n] = data;
  c->sizes[c->n++] = (size_t)size;
  return 0;
}

static void load_corpus(struct corpus *c, const char *target) {
  char dir[512];
  snprintf(dir, sizeof(dir), "%s/tests/fuzz/corpus/%s", CAIRN_SOURCE_DIR, target);
  struct dirent **entries;
  int n = scandir(dir, &entries, NULL, alphasort);
  for (int i = 0; i < n; i++) {
    if (entries[i]->d_name[0] != '.' && c->n < FILES_MAX && load(c, dir, entries[i]->d_name) != 0)
      FAIL("cannot read %s/%s", dir, entries[i]->d_name);
    free(entries[i]);
  }
  if (n >= 0)
    free(entries);
  if (c->n == 0)
    FAIL("the corpus %s is empty", dir);
}

/* Each input gets a heap block of its exact size, so reads past its end are detected. */
static void run_one(target_fn fn, const char *file, int mutation, const uint8_t *data, size_t size) {
  uint8_t *copy = malloc(size ? size : 1);
  CHECK(copy);
  if (size)
    memcpy(copy, data, size);
  note_input(file, mutation, data, size);
  fn(copy, size);
  free(copy);
}

/* Changes 1 to 4 places: a bit, a byte, a cut, a repeated piece, a piece of another input. */
static size_t mutate(uint8_t *data, size_t size, const struct corpus *c, uint64_t *seed) {
  for (uint64_t left = 1 + next_random(seed) % 4; left; left--) {
    size_t at = size ? next_random(seed) % size : 0;
    switch (next_random(seed) % 5) {
    case 0:
      if (size)
        data[at] ^= (uint8_t)(1U << next_random(seed) % 8);
      break;
    case 1:
      if (size)
        data[at] = (uint8_t)next_random(seed);
      break;
    case 2:
      size = at;
      break;
    case 3: {
      size_t n = size ? 1 + next_random(seed) % (size - at) : 0;
      if (size + n > INPUT_MAX)
        break;
      memmove(data + at + n, data + at, size - at);
      size += n;
      break;
    }
    default: {
      size_t from = next_random(seed) % c->n;
      if (!c->sizes[from])
        break;
      size_t start = next_random(seed) % c->sizes[from];
      size_t n = 1 + next_random(seed) % (c->sizes[from] - start);
      n = n > INPUT_MAX - at ? INPUT_MAX - at : n;
      memcpy(data + at, c->data[from] + start, n);
      size = at + n > size ? at + n : size;
    }
    }
  }
  return size;
}

static void replay(const char *name, target_fn fn) {
  static struct corpus c;
  static uint8_t work[INPUT_MAX];
  load_corpus(&c, name);
  CHECK(c.n > 0);
  run_one(fn, "(empty)", 0, NULL, 0);
  for (size_t i = 0; i < c.n; i++)
    run_one(fn, c.names[i], 0, c.data[i], c.sizes[i]);
  uint64_t seed = 20260101;
  for (int i = 1; i <= MUTATIONS / test_slowness(); i++) {
    size_t from = next_random(&seed) % c.n;
    memcpy(work, c.data[from], c.sizes[from]);
    run_one(fn, c.names[from], i, work, mutate(work, c.sizes[from], &c, &seed));
  }
}

/* One test per target; the build generates the list. */
#define X(name)                                                                                                        \
  int fuzz_##name##_one(const uint8_t *data, size_t size);                                                             \
  TEST(replay_##name, .seconds = 60) { replay(#name, fuzz_##name##_one); }
#include "replay_targets.h"
#undef X
