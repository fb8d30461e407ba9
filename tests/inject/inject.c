/* inject.c: simulates an attacker's code in a server. Preloaded, it waits for a request with a trigger string, runs
 * attacks, and records the result of each. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define MARK "INJECTED-CODE-RUNS-NOW"

ssize_t read(int fd, void *to, size_t n);
ssize_t __read_chk(int fd, void *to, size_t n, size_t room);
ssize_t recv(int fd, void *to, size_t n, int flags);
ssize_t __recv_chk(int fd, void *to, size_t n, size_t room, int flags);

extern char **environ;

/* ---- attacks: return 0 or errno ---- */

static const char *setting(const char *name) {
  const char *value = getenv(name);
  return value ? value : "";
}

static int open_with(const char *path, int flags) {
  int fd = open(path, flags, 0600);
  int failed = fd < 0 ? errno : 0;
  if (fd >= 0)
    close(fd);
  return failed;
}

static int read_a_file(void) { return open_with(setting("INJECT_FILE"), O_RDONLY); }
static int write_a_file(void) { return open_with(setting("INJECT_FILE"), O_WRONLY | O_APPEND); }

static int make_a_file(void) {
  char path[4096];
  snprintf(path, sizeof(path), "%s.new", setting("INJECT_FILE"));
  return open_with(path, O_WRONLY | O_CREAT);
}

static int go_out(void) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  to.sin_port = htons((uint16_t)strtol(setting("INJECT_PORT"), NULL, 10));
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int failed = fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0 ? errno : 0;
  if (fd >= 0)
    close(fd);
  return failed;
}

static int start_a_program(void) {
  char program[] = "/bin/true";
  char *const argv[] = {program, NULL};
  pid_t child;
  int failed = posix_spawn(&child, program, NULL, NULL, argv, environ);
  if (!failed)
    waitpid(child, NULL, 0);
  return failed;
}

static int signal_the_parent(void) { return kill(getppid(), SIGCONT) == 0 ? 0 : errno; }

/* ---- new code: memory that was written, or a file, becomes executable ---- */

static int own_code = -1; /* opened before the sandbox is entered */

__attribute__((constructor)) static void open_own_code(void) {
  Dl_info own;
  if (dladdr((void *)(uintptr_t)&setting, &own) != 0)
    own_code = open(own.dli_fname, O_RDONLY | O_CLOEXEC);
}

static int map_with(int prot, int flags, int fd) {
  void *p = mmap(NULL, 4096, prot, MAP_PRIVATE | flags, fd, 0);
  int failed = p == MAP_FAILED ? errno : 0;
  if (!failed)
    munmap(p, 4096);
  return failed;
}

static int map_code(void) { return map_with(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_ANONYMOUS, -1); }
static int load_code(void) { return map_with(PROT_READ | PROT_EXEC, 0, own_code); }

static int make_code(void) {
  void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int failed = p == MAP_FAILED || mprotect(p, 4096, PROT_READ | PROT_EXEC) != 0 ? errno : 0;
  if (p != MAP_FAILED)
    munmap(p, 4096);
  return failed;
}

static const struct {
  const char *name;
  int (*run)(void);
} attacks[] = {
    {"read a file", read_a_file},
    {"write a file", write_a_file},
    {"make a file", make_a_file},
    {"go out", go_out},
    {"start a program", start_a_program},
    {"signal the parent", signal_the_parent},
    {"map code", map_code},
    {"make code", make_code},
    {"load code", load_code},
};

static void attack(void) {
  static atomic_flag done = ATOMIC_FLAG_INIT;
  char text[1024], part[4096], path[4096];
  size_t n = 0;
  if (atomic_flag_test_and_set(&done))
    return;
  for (size_t i = 0; i < sizeof(attacks) / sizeof(attacks[0]); i++)
    n += (size_t)snprintf(text + n, sizeof(text) - n, "%s: %d\n", attacks[i].name, attacks[i].run());
  /* Write atomically: the test waits for this file. */
  snprintf(path, sizeof(path), "%s", setting("INJECT_OUT"));
  snprintf(part, sizeof(part), "%.4080s.part", path);
  int fd = open(part, O_WRONLY | O_CREAT, 0600);
  if (fd >= 0 && write(fd, text, n) == (ssize_t)n)
    rename(part, path);
  if (fd >= 0)
    close(fd);
}

/* ---- trigger ---- */

static ssize_t look(const void *bytes, ssize_t n) {
  if (n > 0 && memmem(bytes, (size_t)n, MARK, sizeof(MARK) - 1))
    attack();
  return n;
}

EXPORT ssize_t read(int fd, void *to, size_t n) { return look(to, (ssize_t)syscall(SYS_read, fd, to, n)); }

EXPORT ssize_t __read_chk(int fd, void *to, size_t n, size_t room) {
  (void)room;
  return read(fd, to, n);
}

EXPORT ssize_t recv(int fd, void *to, size_t n, int flags) {
  return look(to, (ssize_t)syscall(SYS_recvfrom, fd, to, n, flags, NULL, NULL));
}

EXPORT ssize_t __recv_chk(int fd, void *to, size_t n, size_t room, int flags) {
  (void)room;
  return recv(fd, to, n, flags);
}
