/* sandbox.h: sandbox for the process: irrevocably drops access to other files, network, programs and capabilities.
 * Landlock restricts files, seccomp restricts system calls, each as far as the kernel supports it. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

/* Access to keep. Paths are files, or folders with their content; missing ones are ignored. */
struct sandbox {
  struct strs read;
  struct strs write;  /* read, write, create and remove */
  struct strs remove; /* folders whose files may only be removed */
  bool connect;       /* open new connections; open connections and listening sockets are unaffected */
};

/* Restrictions in effect. */
struct sandbox_level {
  int landlock; /* ABI version; 0: not supported, files are not restricted */
  bool seccomp;
};

/* Call it before the first thread starts; threads inherit it. */
NODISCARD enum status sandbox_enter(const struct sandbox *keep, struct sandbox_level *ret_level, struct error *err);

/* The system call filter. *ret_done is false if the kernel has no seccomp. */
NODISCARD enum status sandbox_filter_calls(bool connect, bool *ret_done, struct error *err);
