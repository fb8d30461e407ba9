/* test_sandbox.c: what a process can and cannot do inside the sandbox. */
#include "cli/serve/sandbox.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "support/harness.h"
#include "support/proc.h"

static struct arena a; /* lives as long as the test */
static struct error err;

/* Test folders: one writable, one readable, one not permitted. */
static const char *ours, *shown, *other;

static const char *folder(const char *name) {
  const char *path = path_join(NULL, name);
  CHECK(mkdir(path, 0700) == 0);
  file_write(path_join(path, "file"), STR("text"));
  return path;
}

static struct sandbox_level enter(bool connect) {
  struct sandbox keep = {.connect = connect};
  struct sandbox_level level;
  ours = folder("ours");
  shown = folder("shown");
  other = folder("other");
  strs_push(&a, &keep.write, str_from(ours));
  strs_push(&a, &keep.read, str_from(shown));
  strs_push(&a, &keep.read, STR("/usr"));
  strs_push(&a, &keep.read, STR("/lib"));
  strs_push(&a, &keep.read, STR("/proc")); /* for the leak check at the end of a test */
  strs_push(&a, &keep.read, STR("/nothing/is/here"));
  CHECK_OK(sandbox_enter(&keep, &level, &err), &err);
  if (!level.landlock)
    test_unable("a kernel with Landlock");
  return level;
}

#define CHECK_FAILS(call, number)                                                                                      \
  do {                                                                                                                 \
    errno = 0;                                                                                                         \
    CHECK((call) < 0);                                                                                                 \
    CHECK_INT(errno, number);                                                                                          \
  } while (0)

/* ---- files ---- */

TEST(other_files_are_not_accessible) {
  const char *secret = path_join(path_join(NULL, "other"), "file");
  enter(false);
  CHECK_FAILS(open(secret, O_RDONLY), EACCES);
  CHECK_FAILS(open(secret, O_WRONLY), EACCES);
  CHECK_FAILS(open(path_join(other, "new"), O_WRONLY | O_CREAT, 0600), EACCES);
  CHECK_FAILS(open(other, O_RDONLY | O_DIRECTORY), EACCES);
  CHECK_FAILS(unlink(secret), EACCES);
  CHECK_FAILS(mkdir(path_join(other, "d"), 0700), EACCES);
  CHECK_FAILS(rmdir(other), EACCES);
  CHECK_FAILS(open("/etc/passwd", O_RDONLY), EACCES);
}

TEST(renames_and_links_do_not_cross_the_sandbox) {
  enter(false);
  const char *own = path_join(ours, "file"), *secret = path_join(other, "file");
  CHECK_FAILS(rename(own, path_join(other, "taken")), EACCES);
  CHECK_FAILS(rename(secret, path_join(ours, "taken")), EACCES);
  CHECK_FAILS(link(own, path_join(other, "taken")), EACCES);
  CHECK_FAILS(link(secret, path_join(ours, "taken")), EXDEV); /* it would have more rights there */
  CHECK_FAILS(symlink(secret, path_join(ours, "way")), EPERM);
}

TEST(permitted_paths_work) {
  enter(false);
  char text[8];
  const char *file = path_join(ours, "file"), *below = path_join(ours, "d");
  int fd = open(path_join(shown, "file"), O_RDONLY);
  CHECK(fd >= 0 && read(fd, text, sizeof(text)) == 4);
  CHECK_FAILS(open(path_join(shown, "file"), O_RDWR), EACCES);
  CHECK_FAILS(unlink(path_join(shown, "file")), EACCES);
  fd = open(file, O_RDWR | O_TRUNC);
  CHECK(fd >= 0 && write(fd, "more", 4) == 4 && ftruncate(fd, 2) == 0 && fchmod(fd, 0600) == 0 && fsync(fd) == 0);
  CHECK(mkdir(below, 0700) == 0);
  CHECK(rename(file, path_join(below, "moved")) == 0);
  CHECK(link(path_join(below, "moved"), file) == 0);
  CHECK(unlink(file) == 0 && unlink(path_join(below, "moved")) == 0 && rmdir(below) == 0);
}

/* Only a server that connects loads libraries later. Memory that was written is never executable. */
TEST(new_code_is_refused) {
  enter(false);
  CHECK(dlopen("libcurl.so.4", RTLD_NOW) == NULL);
  CHECK(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EPERM);
  void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED);
  CHECK_FAILS(mprotect(page, 4096, PROT_READ | PROT_EXEC), EPERM);
}

TEST(a_server_that_connects_loads_libraries_and_runs_no_written_memory) {
  enter(true);
  CHECK(dlopen("libcurl.so.4", RTLD_NOW) != NULL);
  CHECK(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EPERM);
  void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED);
  CHECK_FAILS(mprotect(page, 4096, PROT_READ | PROT_EXEC), EPERM);
}

TEST(a_single_file_can_be_permitted) {
  struct sandbox keep = {0};
  struct sandbox_level level;
  const char *there = folder("there");
  file_write(path_join(there, "second"), STR("text"));
  strs_push(&a, &keep.write, str_from(path_join(there, "file")));
  strs_push(&a, &keep.remove, str_from(there));
  strs_push(&a, &keep.read, STR("/proc"));
  CHECK_OK(sandbox_enter(&keep, &level, &err), &err);
  if (!level.landlock)
    test_unable("a kernel with Landlock");
  CHECK(open(path_join(there, "file"), O_RDWR | O_TRUNC) >= 0);
  CHECK_FAILS(open(path_join(there, "second"), O_RDONLY), EACCES);
  CHECK(unlink(path_join(there, "second")) == 0);
  CHECK_FAILS(open(path_join(there, "second"), O_WRONLY | O_CREAT, 0600), EACCES);
}

/* Not covered by Landlock. */
TEST(modes_owners_and_times_cannot_be_changed) {
  enter(false);
  const char *file = path_join(ours, "file");
  CHECK_FAILS(chmod(file, 0777), EPERM);
  CHECK_FAILS(chown(file, 1, 1), EPERM);
  CHECK_FAILS(truncate(file, 0), EPERM);
  CHECK_FAILS(setxattr(file, "user.a", "b", 1, 0), EPERM);
  CHECK_FAILS(utimensat(AT_FDCWD, file, NULL, 0), EPERM);
  CHECK_FAILS(mknod(path_join(ours, "pipe"), S_IFIFO | 0600, 0), EPERM);
}

/* ---- programs and processes ---- */

TEST(programs_and_processes_are_not_accessible) {
  enter(false);
  char program[] = "/bin/true";
  char *const argv[] = {program, NULL};
  CHECK_FAILS(execve(program, argv, NULL), EPERM);
  CHECK_FAILS(kill(getppid(), SIGCONT), EPERM);
  CHECK_FAILS(syscall(SYS_tgkill, getppid(), getppid(), SIGCONT), EPERM);
  CHECK(kill(getpid(), 0) == 0);
#ifndef __SANITIZE_ADDRESS__
#ifndef __SANITIZE_THREAD__
  CHECK_FAILS(fork(), EPERM);
  CHECK_FAILS(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL), EPERM);
  CHECK_FAILS(kill(getpid(), SIGCONT), EPERM);
#endif
#endif
}

TEST(privileges_are_dropped) {
  enter(false);
  static const long calls[] = {SYS_mount,
                               SYS_bpf,
                               SYS_io_uring_setup,
                               SYS_userfaultfd,
                               SYS_keyctl,
                               SYS_unshare,
                               SYS_setns,
                               SYS_perf_event_open,
                               SYS_setuid,
                               SYS_setgroups,
                               SYS_init_module,
                               SYS_finit_module,
                               SYS_kexec_load,
                               SYS_pivot_root,
                               SYS_chroot,
                               SYS_capset,
                               SYS_process_vm_writev,
                               SYS_open_by_handle_at,
                               SYS_reboot,
                               SYS_swapon};
  for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
    test_note("system call %ld", calls[i]);
    CHECK_FAILS(syscall(calls[i], 0, 0, 0, 0, 0), EPERM);
  }
  CHECK_FAILS(syscall(100000), ENOSYS);
  CHECK_FAILS(ioctl(0, TIOCSTI, "x"), ENOSYS);
  struct rlimit core;
  CHECK(getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_cur == 0 && core.rlim_max == 0);
  CHECK_INT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
  CHECK_INT(umask(0), 077);
}

static void *try_in_thread(void *arg) {
  (void)arg;
  CHECK_FAILS(open(path_join(other, "file"), O_RDONLY), EACCES);
  CHECK_FAILS(socket(AF_INET, SOCK_STREAM, 0), EPERM);
  return &a;
}

TEST(threads_inherit_the_sandbox) {
  enter(false);
  pthread_t thread;
  void *end = NULL;
  CHECK_INT(pthread_create(&thread, NULL, try_in_thread, NULL), 0);
  CHECK_INT(pthread_join(thread, &end), 0);
  CHECK(end == &a);
}

/* ---- the network ---- */

static int listener(struct sockaddr_in *ret_address) {
  socklen_t n = sizeof(*ret_address);
  *ret_address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(fd >= 0 && bind(fd, (struct sockaddr *)ret_address, n) == 0 && listen(fd, 4) == 0);
  CHECK(getsockname(fd, (struct sockaddr *)ret_address, &n) == 0);
  return fd;
}

/* A listening socket still accepts; new sockets, and outgoing connections, are refused. */
TEST(without_network_only_open_sockets_work) {
  struct sockaddr_in address;
  char text[8];
  int server = listener(&address), client = socket(AF_INET, SOCK_STREAM, 0), spare = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(connect(client, (struct sockaddr *)&address, sizeof(address)) == 0);
  enter(false);
  int got = accept(server, NULL, NULL);
  CHECK(got >= 0 && send(client, "hi", 2, MSG_NOSIGNAL) == 2 && recv(got, text, sizeof(text), 0) == 2);
  static const int families[] = {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK, AF_PACKET};
  for (size_t i = 0; i < ARRAY_LEN(families); i++)
    CHECK_FAILS(socket(families[i], SOCK_STREAM, 0), EPERM);
  CHECK_FAILS(socket(AF_INET, SOCK_DGRAM, 0), EPERM);
  CHECK_FAILS(connect(spare, (struct sockaddr *)&address, sizeof(address)), EPERM);
  CHECK_FAILS(bind(spare, (struct sockaddr *)&address, sizeof(address)), EPERM);
  CHECK_FAILS(sendto(spare, "hi", 2, MSG_FASTOPEN, (struct sockaddr *)&address, sizeof(address)), EPERM);
  struct iovec piece = {text, 2};
  struct msghdr message = {.msg_name = &address, .msg_namelen = sizeof(address), .msg_iov = &piece, .msg_iovlen = 1};
  CHECK_FAILS(sendmsg(spare, &message, MSG_FASTOPEN), EPERM);
}

TEST(with_network_it_can_connect_but_not_listen) {
  struct sockaddr_in address, any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  listener(&address);
  struct sandbox_level level = enter(true);
  int client = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(client >= 0 && connect(client, (struct sockaddr *)&address, sizeof(address)) == 0);
  int fresh = socket(AF_INET, SOCK_STREAM, 0);
  if (level.landlock >= 4)
    CHECK_FAILS(bind(fresh, (struct sockaddr *)&any, sizeof(any)), EACCES);
  CHECK_FAILS(listen(fresh, 1), EPERM);
}

/* The checks above can fail. */
TEST(without_the_sandbox_everything_works) {
  other = folder("other");
  CHECK(open(path_join(other, "file"), O_RDWR) >= 0);
  CHECK(chmod(path_join(other, "file"), 0640) == 0);
  CHECK(socket(AF_INET, SOCK_STREAM, 0) >= 0);
  CHECK(kill(getppid(), 0) == 0);
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  CHECK(child > 0);
}
