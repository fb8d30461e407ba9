/* sandbox.h: a process that gives up, for good, what it does not need: files outside of given places, the network,
 * other programs, capabilities. Landlock fences files off, seccomp system calls; each as far as the kernel has it. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

/* What is kept. Places are files, or folders with all that is in them; those that are not there are passed over. */
struct sandbox {
  struct strs read;
  struct strs write;  /* to be read, written, made and removed */
  struct strs remove; /* folders whose files may be removed, and nothing else */
  bool connect;       /* to open connections; those that are open, and sockets that listen, stay as they are */
};

/* What holds afterwards. */
struct sandbox_level {
  int landlock; /* version of its interface; 0: the kernel has none, and files are not fenced off */
  bool seccomp;
};

/* Before the first thread: those that come inherit it. */
NODISCARD enum status sandbox_enter(const struct sandbox *keep, struct sandbox_level *ret_level, struct error *err);

/* The part of it that is about system calls; false: this kernel has no seccomp. */
NODISCARD enum status sandbox_filter_calls(bool connect, bool *ret_done, struct error *err);
