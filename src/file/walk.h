/* walk.h: the files of a folder that are worth reading: text, of a sensible size, not hidden, not generated. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

enum { WALK_FILE_BYTES = 1 << 20, WALK_DEPTH = 64 };

struct walk_counts {
  int64_t files, folders;                          /* looked at */
  int64_t binary, huge, unreadable, hidden, links; /* skipped, */
  int64_t pages;                                   /* and so are our own pages of memories (core/files/mirror.h) */
};

struct walk_file {
  struct str path; /* below the folder, with '/', without "./" */
  int64_t size, changed_at;
};
struct walk_files {
  struct walk_file *v;
  size_t n, cap;
};

/* Lists the files below a folder, by path, in the order of bytes. Hidden ones, what version control and package
 * managers keep (.git, node_modules, ...), symbolic links and what .gitignore names are passed over and counted. The
 * folder itself may be a link. */
NODISCARD enum status walk_list(const char *folder, struct arena *a, struct walk_files *ret_files,
                                struct walk_counts *ret_counts, struct error *err);

/* The folders in which such files would be, the one that is named first. */
NODISCARD enum status walk_folders(const char *folder, struct arena *a, struct strs *ret_folders, struct error *err);

/* The text of a file of the list; *ret_text is absent when it is binary, huge, a page of our own, or cannot be
 * read, which is counted. */
NODISCARD enum status walk_read(const char *folder, const struct walk_file *file, struct arena *a, struct str *ret_text,
                                struct walk_counts *counts, struct error *err);
