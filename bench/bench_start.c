/* bench_start.c: a whole command, from process start to exit, and its memory, compared with /bin/true as the floor
 * for starting a process.
 *
 * Usage: bench_start PROGRAM SIZE STORE */
#include <string.h>
#include <unistd.h>

#include "support/measure.h"

enum { RUNS = 40 };

int main(int argc, char **argv) {
  if (argc != 4)
    fail("usage: bench_start PROGRAM SIZE STORE");
  char text[100];
  const char *const commands[][8] = {
      {"/bin/true"},
      {argv[1], "--db", argv[3], "get", "500", "--json"},
      {argv[1], "--db", argv[3], "list", "--all-projects", "--json"},
      {argv[1], "--db", argv[3], "remember", text, "--json"},
  };
  static const char *const names[] = {"floor: /bin/true", "cold start: cairn get", "cold start: cairn list",
                                      "cold start: cairn remember"};
  static const char *const targets[] = {"", "target: under 10 ms", "", ""};
  static struct samples times[4];
  long kb[4] = {0}, now;
  for (int i = 0; i < RUNS; i++) /* alternating, so noise affects all equally */
    for (int k = 0; k < 4; k++) {
      snprintf(text, sizeof(text), "Cold start %d of process %d, never seen before", i, (int)getpid());
      samples_add(&times[k], run_command(commands[k], &now));
      kb[k] = now > kb[k] ? now : kb[k];
    }
  for (int k = 0; k < 4; k++) {
    char name[100];
    snprintf(name, sizeof(name), k ? "%s, at %s" : "%s", names[k], argv[2]);
    report(name, &times[k], "ms", targets[k]);
  }
  for (int k = 1; k < 4; k++) {
    char name[100];
    snprintf(name, sizeof(name), "memory: %s, at %s", names[k] + strlen("cold start: "), argv[2]);
    report_text(name, "%7.1f MB %s", (double)kb[k] / 1024, k < 3 ? "target: under 20 MB" : "(it embeds)");
  }
  return 0;
}
