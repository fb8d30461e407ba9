/* bench_fair.c: searches and writes of one team while a token of another team sends the largest texts and captures it
 * may: 99th percentile with it, without it, and their ratio. Also for searches so rare that the hostile caller counts
 * as alone before each of them.
 *
 * Usage: bench_fair PROGRAM FOLDER SECONDS
 * FOLDER is for generated files; each of four measurements takes SECONDS, and two more RARE_SECONDS. */
#include <arpa/inet.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "support/child.h"
#include "support/load.h"

enum { HOSTILE = 12, MEMORIES = 3000, LARGE = 900000, NOTES = 196000, ANSWER = 65536 };
/* A caller that is alone for ten seconds gets all shared engines (op/run/fair.h). */
enum { RARE_US = 11 * 1000 * 1000, RARE_SECONDS = 56, BUSY_US = 25000 };

static struct arena memory;
static struct arena sent; /* of the request being sent */

static const char *token(const char *program, const char *store, const char *team, const char *more) {
  char line[1000] = "";
  FILE *f = popen(
      arena_printf(&memory, "CAIRN_TEAM=%s '%s' --db '%s' --json token add %s %s", team, program, store, team, more).p,
      "r");
  if (!f || !fgets(line, sizeof(line), f) || pclose(f) != 0)
    fail("no token: %s", line);
  struct error err;
  yyjson_val *v;
  if (json_read(&memory, str_from(line), &v, &err) != STATUS_OK)
    fail("no token: %s", line);
  return arena_cstr(&memory, json_str(v, "token"));
}

static void fill(const char *program, const char *store, const char *folder) {
  const char *lines = arena_printf(&memory, "%s/fair.jsonl", folder).p;
  FILE *f = fopen(lines, "w");
  if (!f)
    fail("cannot write %s", lines);
  for (int i = 0; i < MEMORIES; i++)
    fprintf(f, "{\"text\":\"Engine m%d of plant %d drives pump %d in hall h%d\"}\n", i, i % 53, i * 7, i % 31);
  fclose(f);
  const char *command =
      arena_printf(&memory, "CAIRN_TEAM=honest '%s' --db '%s' --project p --json remember --batch '%s' >/dev/null",
                   program, store, lines)
          .p;
  if (system(command) != 0)
    fail("cannot fill the store");
  unlink(lines);
}

/* ---- the hostile caller ---- */

static struct str text_of(size_t bytes, long number) {
  struct buf b = BUF(&sent);
  buf_addf(&b, "{\"text\":\"Report %ld. ", number);
  for (int i = 0; b.n < bytes; i++)
    buf_addf(&b, "The machine m%ldx%d stands in room %d of hall h%d. %s", number, i, i % 97, i % 31,
             i % 8 == 7 ? "\\n\\n" : "");
  buf_adds(&b, "\"}");
  return buf_str(&b);
}

static bool ask(int fd, struct str request) {
  char answer[ANSWER];
  for (size_t done = 0; done < request.n;) {
    ssize_t n = send(fd, request.p + done, request.n - done, MSG_NOSIGNAL);
    if (n <= 0)
      return false;
    done += (size_t)n;
  }
  return recv(fd, answer, sizeof(answer), 0) > 0;
}

static int dial(int port) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
    _exit(1);
  return fd;
}

/* A process that sends as fast as it is answered, until it is killed. It stands for another machine, so it runs only on
 * a core that nobody else wants. With a nice value of 19 it would still keep a core for some milliseconds when a thread
 * of the server wakes up. */
static pid_t attack(int port, const char *token, int number) {
  pid_t pid = fork();
  if (pid != 0)
    return pid;
  if (sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0}) != 0)
    _exit(1);
  for (long i = 0;; i++) {
    bool capture = (number + i) % 2;
    struct str body = text_of(capture ? NOTES : LARGE, number * 100000 + i);
    int fd = dial(port);
    ask(fd, arena_printf(&sent,
                         "POST /api/v1/%s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: Bearer "
                         "%s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%.*s",
                         capture ? "capture" : "memories", token, body.n, STR_ARG(body)));
    close(fd);
    arena_release(&sent);
  }
}

/* ---- the honest caller ---- */

struct honest {
  const char *token;
  bool writes;
  unsigned pause_us; /* before each request */
  long number;       /* texts and questions are all different */
  struct arena arena;
};

static const char *honest_request(void *arg, long n, size_t *ret_size) {
  struct honest *h = arg;
  (void)n;
  arena_release(&h->arena);
  long i = h->number++;
  struct str body = h->writes
                        ? arena_printf(&h->arena, "{\"text\":\"Valve v%ld of line %ld opens to the left\"}", i, i * 3)
                        : STR("");
  struct str head = h->writes ? STR("POST /api/v1/capture") /* answers 200, as the searches do */
                              : arena_printf(&h->arena, "GET /api/v1/search?query=pump+in+hall+%ld&project=p", i);
  struct str all = arena_printf(&h->arena,
                                "%.*s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
                                "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%.*s",
                                STR_ARG(head), h->token, body.n, STR_ARG(body));
  *ret_size = all.n;
  usleep(h->pause_us);
  return all.p;
}

static double measure(struct honest *h, int port, double seconds, const char *name) {
  static struct load load;
  load = (struct load){
      .port = port, .connections = 1, .seconds = seconds, .request = honest_request, .arg = h, .expect = "{"};
  load_run(&load);
  report_tail(name, &load.ms, "ms", "");
  return samples_at(&load.ms, 0.99);
}

static int port_of(struct child *c) {
  for (;;) {
    const char *line = child_line(c), *at = strstr(line, "http://127.0.0.1:");
    if (at)
      return (int)strtol(at + 17, NULL, 10);
  }
}

int main(int argc, char **argv) {
  if (argc != 4)
    fail("usage: bench_fair PROGRAM FOLDER SECONDS");
  arena_init(&memory);
  const char *store = arena_printf(&memory, "%s/fair.db", argv[2]).p;
  double seconds = strtod(argv[3], NULL), alone[3], pressed[3];
  fill(argv[1], store, argv[2]);
  struct honest search = {.token = token(argv[1], store, "honest", ""), .pause_us = BUSY_US};
  struct honest write = search, rare = search; /* a busy client, below the rate limit, and a quiet one */
  const char *bad = token(argv[1], store, "hostile", "--project p");
  write.writes = true;
  rare.pause_us = RARE_US;
  arena_init(&search.arena);
  arena_init(&write.arena);
  arena_init(&rare.arena);
  struct child server;
  const char *const command[] = {argv[1], "--db", store, "serve", "--port", "0", NULL};
  child_start(&server, command);
  int port = port_of(&server);
  measure(&search, port, 1, "(warming up)");
  alone[0] = measure(&search, port, seconds, "searches, alone");
  alone[1] = measure(&write, port, seconds, "writes, alone");
  alone[2] = measure(&rare, port, RARE_SECONDS, "searches every 11 s, alone");
  pid_t pids[HOSTILE];
  for (int i = 0; i < HOSTILE; i++)
    pids[i] = attack(port, bad, i);
  pressed[2] = measure(&rare, port, RARE_SECONDS, "searches every 11 s, beside 12 hostile connections");
  pressed[0] = measure(&search, port, seconds, "searches, beside 12 hostile connections");
  pressed[1] = measure(&write, port, seconds, "writes, beside 12 hostile connections");
  for (int i = 0; i < HOSTILE; i++) {
    kill(pids[i], SIGKILL);
    waitpid(pids[i], NULL, 0);
  }
  report_text("ratio of the 99th percentiles, searches", "%9.2f   target: at most 2", pressed[0] / alone[0]);
  report_text("ratio of the 99th percentiles, writes", "%9.2f   target: at most 2", pressed[1] / alone[1]);
  report_text("ratio of the slowest, searches every 11 s", "%9.2f   target: at most 2", pressed[2] / alone[2]);
  child_end(&server);
  return 0;
}
