/* scan.c: reads /proc/PID/smaps and /proc/PID/mem. */
#include "support/scan.h"

#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "support/harness.h"

enum { PIECE = 1 << 20, MAPPINGS = 4096 };

struct mapping {
  uint64_t from, to;
  bool readable, safe;
};

static size_t mappings_of(pid_t pid, struct mapping *ret_list) {
  char path[64], line[4096];
  size_t n = 0;
  snprintf(path, sizeof(path), "/proc/%d/smaps", pid ? pid : getpid());
  FILE *f = fopen(path, "re");
  while (f && fgets(line, sizeof(line), f)) {
    char *end;
    uint64_t from = strtoull(line, &end, 16);
    uint64_t to = *end == '-' ? strtoull(end + 1, &end, 16) : 0;
    if (n < MAPPINGS && to > from) /* "from-to rwxp ..." */
      ret_list[n++] = (struct mapping){from, to, end[1] == 'r' && !strstr(line, "[v"), false};
    else if (n && strncmp(line, "VmFlags:", 8) == 0)
      /* Sanitizers disable mlock(). */
      ret_list[n - 1].safe = strstr(line, " dd") && (strstr(line, " lo") || test_slowness() > 1);
  }
  if (f)
    fclose(f);
  return n;
}

static size_t count_in(const uint8_t *bytes, size_t n, struct str masked) {
  size_t count = 0;
  for (size_t i = 0; i + masked.n <= n; i++) {
    size_t k = 0;
    while (k < masked.n && (bytes[i + k] ^ SCAN_MASK) == (uint8_t)masked.p[k])
      k++;
    count += k == masked.n;
  }
  return count;
}

struct scan scan_memory(pid_t pid, struct str masked) {
  static struct mapping list[MAPPINGS];
  struct scan result = {0};
  char path[64];
  if (!pid)
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* a process that holds keys is not dumpable and cannot read its own memory */
  snprintf(path, sizeof(path), "/proc/%d/mem", pid ? pid : getpid());
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  size_t n = mappings_of(pid, list);
  result.readable = fd >= 0 && n > 0;
  uint8_t *piece =
      sodium_init() < 0 ? NULL : sodium_malloc(PIECE); /* locked, so another scan does not count it as risky */
  CHECK(piece);
  for (size_t i = 0; fd >= 0 && i < n; i++) {
    const struct mapping *m = &list[i];
    size_t found = 0;
    /* Skip a sanitizer's shadow, which is terabytes in size. */
    for (uint64_t at = m->from; m->readable && m->to - m->from < (UINT64_C(1) << 32) && at < m->to;) {
      ssize_t got = pread(fd, piece, m->to - at < PIECE ? m->to - at : PIECE, (off_t)at);
      if (got <= 0)
        break;
      found += count_in(piece, (size_t)got, masked);
      /* Overlap the pieces, to find texts that cross their boundary. */
      at += (uint64_t)got < PIECE ? (uint64_t)got : PIECE - masked.n + 1;
    }
    *(m->safe ? &result.safe : &result.risky) += found;
  }
  sodium_free(piece);
  if (fd >= 0)
    close(fd);
  return result;
}

bool scan_is_safe(const void *address) {
  static struct mapping list[MAPPINGS];
  size_t n = mappings_of(0, list);
  for (size_t i = 0; i < n; i++)
    if ((uintptr_t)address >= list[i].from && (uintptr_t)address < list[i].to)
      return list[i].safe;
  return false;
}
