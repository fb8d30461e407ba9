/* sandbox.c: privileges, limits and files: the sandbox without its system call filter. */
#include "cli/serve/sandbox.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Landlock ---- */

/* Declared here because system headers are often older than the kernel. Each group of rights came with an ABI version;
 * version 1 cannot rename between folders and counts as unsupported. */
enum {
  EXECUTE = 1 << 0,
  WRITE_FILE = 1 << 1,
  READ_FILE = 1 << 2,
  READ_DIR = 1 << 3,
  REMOVE_DIR = 1 << 4,
  REMOVE_FILE = 1 << 5,
  MAKE_DIR = 1 << 7,
  MAKE_REG = 1 << 8,
  REFER = 1 << 13,
  TRUNCATE = 1 << 14,
  IOCTL_DEV = 1 << 15,

  VERSION_2_RIGHTS = (1 << 14) - 1,
  READ = READ_FILE | READ_DIR,
  WRITE = READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | REFER | TRUNCATE,
  FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV, /* the others apply to folders */
};
enum { BIND_TCP = 1 << 0, CONNECT_TCP = 1 << 1 };
enum { ABSTRACT_SOCKETS = 1 << 0, SIGNALS = 1 << 1 };
enum { OLDEST = 2, ASK_VERSION = 1, RULE_PATH = 1 };

struct ruleset {
  uint64_t files, network, scopes; /* denied unless a rule allows it */
};
struct rule {
  uint64_t allowed;
  int32_t place;
} __attribute__((packed));

static int landlock_version(void) {
  long version = syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION);
  return version < OLDEST ? 0 : (int)version;
}

static struct ruleset rights_of_version(int version, bool connect) {
  struct ruleset all = {.files = VERSION_2_RIGHTS};
  assert(version >= OLDEST);
  if (version >= 3)
    all.files |= TRUNCATE;
  if (version >= 4)
    all.network = connect ? BIND_TCP : BIND_TCP | CONNECT_TCP;
  if (version >= 5)
    all.files |= IOCTL_DEV;
  if (version >= 6)
    all.scopes = ABSTRACT_SOCKETS | SIGNALS;
  return all;
}

static enum status allow(int rules, const char *path, uint64_t rights, struct error *err) {
  struct stat st;
  struct rule rule = {.allowed = rights, .place = open(path, O_PATH | O_CLOEXEC)};
  if (rule.place < 0)
    return STATUS_OK;
  if (fstat(rule.place, &st) == 0 && !S_ISDIR(st.st_mode))
    rule.allowed &= FILE_RIGHTS;
  int failed = syscall(SYS_landlock_add_rule, rules, RULE_PATH, &rule, 0) == 0 ? 0 : errno;
  close(rule.place);
  return failed ? error_errno(err, failed, "cannot add '%s' to the sandbox", path) : STATUS_OK;
}

static enum status allow_all(int rules, const struct strs *places, uint64_t rights, struct error *err) {
  for (size_t i = 0; i < places->n; i++) {
    char path[4096];
    snprintf(path, sizeof(path), "%.*s", STR_ARG(places->v[i]));
    TRY(allow(rules, path, rights, err));
  }
  return STATUS_OK;
}

static enum status apply_rules(int rules, const struct sandbox *keep, uint64_t known, struct error *err) {
  TRY(allow_all(rules, &keep->read, READ, err));
  TRY(allow_all(rules, &keep->write, WRITE & known, err));
  TRY(allow_all(rules, &keep->remove, REMOVE_FILE, err));
  if (syscall(SYS_landlock_restrict_self, rules, 0) != 0)
    return error_errno(err, errno, "cannot enter the sandbox");
  return STATUS_OK;
}

static enum status restrict_files(const struct sandbox *keep, int version, struct error *err) {
  struct ruleset all = rights_of_version(version, keep->connect);
  int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
  if (rules < 0)
    return error_errno(err, errno, "cannot create the sandbox");
  enum status s = apply_rules(rules, keep, all.files, err);
  close(rules);
  return s;
}

/* ---- privileges ---- */

/* Root keeps the right to access other users' files, such as a folder mounted into a container; Landlock limits where.
 */
static void drop_capabilities(void) {
  struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
  const uint32_t kept = 1U << CAP_DAC_OVERRIDE | 1U << CAP_FOWNER | 1U << CAP_CHOWN;
  if (syscall(SYS_capget, &head, sets) != 0)
    return;
  for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
    sets[i].effective &= i == 0 ? kept : 0;
    sets[i].permitted &= i == 0 ? kept : 0;
    sets[i].inheritable = 0;
  }
  (void)syscall(SYS_capset, &head, sets);
}

static enum status drop_privileges(struct error *err) {
  const struct rlimit none = {0, 0};
  umask(077);
  drop_capabilities();
  if (setrlimit(RLIMIT_CORE, &none) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return error_errno(err, errno, "cannot drop privileges");
  return STATUS_OK;
}

enum status sandbox_enter(const struct sandbox *keep, struct sandbox_level *ret_level, struct error *err) {
  struct sandbox_level level = {.landlock = landlock_version()};
  TRY(drop_privileges(err));
  if (level.landlock)
    TRY(restrict_files(keep, level.landlock, err));
  TRY(sandbox_filter_calls(keep->connect, &level.seccomp, err));
  *ret_level = level;
  return STATUS_OK;
}
