/* sandbox_calls.c: allowlist of system calls for servers; all others fail. */
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/serve/sandbox.h"

/* clang-format off */

/* By name, because an architecture or kernel may lack some. Calls that take a path are restricted by Landlock, or
 * omitted if Landlock does not cover them: chmod, chown, truncate, setxattr, utimensat. */
static const char *const allowed[] = {
  /* memory */
  "brk", "munmap", "mremap", "madvise", "membarrier", "mlock", "mlock2", "munlock", "msync",
  /* threads and signals of this process */
  "futex", "futex_time64", "futex_waitv", "set_robust_list", "get_robust_list", "set_tid_address", "rseq", "gettid",
  "getpid", "getppid", "sched_yield", "sched_getaffinity", "sched_getparam", "sched_getscheduler", "getcpu", "exit",
  "exit_group", "restart_syscall", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigtimedwait", "rt_sigpending",
  "rt_sigsuspend", "sigaltstack",
  /* time, random numbers, this process */
  "clock_gettime", "clock_gettime64", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "time", "times",
  "getrusage", "getrandom", "uname", "sysinfo", "getrlimit", "prlimit64", "setrlimit", "prctl", "arch_prctl", "capget",
  "getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups",
  /* files by name */
  "open", "openat", "openat2", "access", "faccessat", "faccessat2", "stat", "lstat", "newfstatat", "fstatat64", "statx",
  "statfs", "readlink", "readlinkat", "getcwd", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "rename", "renameat",
  "renameat2", "link", "linkat", "umask",
  /* open files */
  "close", "close_range", "read", "pread64", "readv", "preadv", "preadv2", "write", "pwrite64", "writev", "pwritev",
  "pwritev2", "lseek", "_llseek", "fstat", "fstat64", "fstatfs", "getdents64", "ftruncate", "fallocate", "fadvise64",
  "readahead", "fsync", "fdatasync", "sync_file_range", "flock", "fcntl", "fcntl64", "fchmod", "fchown", "dup", "dup2",
  "dup3", "pipe", "pipe2", "copy_file_range", "sendfile", "splice",
  /* waiting */
  "poll", "ppoll", "select", "pselect6", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait",
  "epoll_pwait2", "eventfd2", "inotify_init1", "inotify_add_watch", "inotify_rm_watch", "timerfd_create",
  "timerfd_settime", "timerfd_gettime", "signalfd", "signalfd4",
  /* open sockets */
  "accept", "accept4", "recvfrom", "recvmsg", "shutdown", "getsockname", "getpeername", "getsockopt", "setsockopt",
  "socketpair",
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  /* The leak checker stops the process from outside. */
  "clone", "ptrace", "wait4", "tkill", "kill", "process_vm_readv", "personality", "getdents", "sched_setaffinity",
#endif
  NULL,
};

/* Connections to an embedder or a database: name resolution, address selection, datagram replies. */
static const char *const to_connect[] = {
  "socket", "connect", "bind", "sendto", "sendmsg", "sendmmsg", "recvmmsg", NULL,
};

/* Known calls that must be refused fail with EPERM. Calls in no list fail with ENOSYS, so libraries fall back from
 * a newer call to an older one. */
static const char *const refused[] = {
  "execve", "execveat", "fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp",
  "socket", "connect", "bind", "listen", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal",
  "chmod", "fchmodat", "chown", "lchown", "fchownat", "truncate", "setxattr", "lsetxattr",
  "fsetxattr", "utime", "utimes", "utimensat", "mknod", "mknodat", "symlink", "symlinkat", "chroot", "pivot_root",
  "mount", "umount2", "move_mount", "open_tree", "fsopen", "fsmount", "unshare", "setns", "setuid", "setgid", "setreuid",
  "setregid", "setresuid", "setresgid", "setfsuid", "setfsgid", "setgroups", "capset", "personality", "bpf",
  "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key", "io_uring_setup", "io_uring_enter",
  "io_uring_register", "kexec_load", "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot",
  "swapon", "swapoff", "settimeofday", "clock_settime", "adjtimex", "sethostname", "setdomainname", "acct", "quotactl",
  "name_to_handle_at", "open_by_handle_at", "syslog", "iopl", "ioperm", "modify_ldt", "vhangup", NULL,
};

/* clang-format on */

/* Ignores calls that this machine lacks; only out of memory is an error. */
static bool add(scmp_filter_ctx filter, uint32_t action, const char *name, unsigned n, struct scmp_arg_cmp arg) {
  int call = seccomp_syscall_resolve_name(name);
  return call == __NR_SCMP_ERROR || seccomp_rule_add_array(filter, action, call, n, &arg) != -ENOMEM;
}

static bool add_all(scmp_filter_ctx filter, uint32_t action, const char *const *names) {
  bool ok = true;
  for (; ok && *names; names++)
    ok = add(filter, action, *names, 0, (struct scmp_arg_cmp){0});
  return ok;
}

/* Allow only if the argument matches. */
static bool add_if(scmp_filter_ctx filter, const char *name, struct scmp_arg_cmp so, struct scmp_arg_cmp not_so) {
  return add(filter, SCMP_ACT_ALLOW, name, 1, so) && add(filter, SCMP_ACT_ERRNO(EPERM), name, 1, not_so);
}

/* Allows threads but not processes. The arguments of clone3() are in memory, which a filter cannot read, so clone3() is
 * not allowed. Allows signals to this process, and testing whether others exist. */
static bool add_threads(scmp_filter_ctx filter) {
  const scmp_datum_t own = (scmp_datum_t)getpid();
  return add_if(filter, "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD),
                SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)) &&
         add_if(filter, "tgkill", SCMP_A0(SCMP_CMP_EQ, own, 0), SCMP_A0(SCMP_CMP_NE, own, 0)) &&
         add_if(filter, "kill", SCMP_A1(SCMP_CMP_EQ, 0, 0), SCMP_A1(SCMP_CMP_NE, 0, 0));
}

static bool add_two(scmp_filter_ctx filter, uint32_t action, const char *name, struct scmp_arg_cmp a,
                    struct scmp_arg_cmp b) {
  const struct scmp_arg_cmp both[] = {a, b};
  int call = seccomp_syscall_resolve_name(name);
  return call == __NR_SCMP_ERROR || seccomp_rule_add_array(filter, action, call, 2, both) != -ENOMEM;
}

/* Memory that can be written never becomes executable, so injected bytes are not run. A server that connects may still
 * map a file: name resolution loads the system's modules on first use. */
static bool add_memory(scmp_filter_ctx filter, bool connect) {
  static const char *const maps[] = {"mmap", "mmap2"};
  const struct scmp_arg_cmp plain = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
                            code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC),
                            file = SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, 0),
                            memory = SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS);
  bool ok = add_if(filter, "mprotect", plain, code);
  for (size_t i = 0; ok && i < ARRAY_LEN(maps); i++)
    ok = connect
             ? add(filter, SCMP_ACT_ALLOW, maps[i], 1, plain) && add_two(filter, SCMP_ACT_ALLOW, maps[i], code, file) &&
                   add_two(filter, SCMP_ACT_ERRNO(EPERM), maps[i], code, memory)
             : add_if(filter, maps[i], plain, code);
  return ok;
}

/* Excludes requests that inject terminal input. */
static bool add_ioctls(scmp_filter_ctx filter) {
  static const scmp_datum_t requests[] = {FIONREAD, FIONBIO, FIOCLEX, FIONCLEX, TCGETS, TIOCGWINSZ};
  bool ok = true;
  for (size_t i = 0; ok && i < ARRAY_LEN(requests); i++)
    ok = add(filter, SCMP_ACT_ALLOW, "ioctl", 1, SCMP_A1(SCMP_CMP_EQ, requests[i], 0));
  return ok;
}

/* Excludes MSG_FASTOPEN, which connects. */
static bool add_send_without_connect(scmp_filter_ctx filter) {
  return add_if(filter, "sendto", SCMP_A3(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0),
                SCMP_A3(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN)) &&
         add_if(filter, "sendmsg", SCMP_A2(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0),
                SCMP_A2(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, MSG_FASTOPEN));
}

/* The first of two unconditional rules for a call wins, so allowed calls come first. */
static bool fill(scmp_filter_ctx filter, bool connect) {
  return add_all(filter, SCMP_ACT_ALLOW, allowed) && add_memory(filter, connect) && add_threads(filter) &&
         add_ioctls(filter) &&
         (connect ? add_all(filter, SCMP_ACT_ALLOW, to_connect) : add_send_without_connect(filter)) &&
         add_all(filter, SCMP_ACT_ERRNO(EPERM), refused);
}

enum status sandbox_filter_calls(bool connect, bool *ret_done, struct error *err) {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
  if (!filter || !fill(filter, connect)) {
    seccomp_release(filter);
    return error_set(err, STATUS_NOMEM, "out of memory");
  }
  int failed = seccomp_load(filter);
  seccomp_release(filter);
  if (failed && failed != -EINVAL && failed != -ENOSYS)
    return error_errno(err, -failed, "cannot filter system calls");
  *ret_done = failed == 0;
  return STATUS_OK;
}
