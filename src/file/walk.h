/* walk.h: listing and reading the text files of a folder, without hidden, ignored, generated and huge ones. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

enum { WALK_FILE_BYTES = 1 << 20, WALK_DEPTH = 64 };

struct walk_counts {
  int64_t files, folders;                          /* visited */
  int64_t binary, huge, unreadable, hidden, links; /* skipped */
  int64_t pages;                                   /* skipped: our own MEMORY.md (core/files/mirror.h) */
};

struct walk_file {
  struct str path; /* relative to the folder, without "./" */
  int64_t size, changed_at;
};
struct walk_files {
  struct walk_file *v;
  size_t n, cap;
};

/* Lists the files below a folder, sorted bytewise by path. Skips and counts hidden and ignored files, folders of
 * package managers (node_modules, ...), and symbolic links. The folder itself may be a link. */
NODISCARD enum status walk_list(const char *folder, struct arena *a, struct walk_files *ret_files,
                                struct walk_counts *ret_counts, struct error *err);

/* The folders in which such files can be, the named one first. */
NODISCARD enum status walk_folders(const char *folder, struct arena *a, struct strs *ret_folders, struct error *err);

/* The text of a listed file; absent, and counted, if the file is binary, huge, our own page or unreadable. */
struct str walk_read(const char *folder, const struct walk_file *file, struct arena *a, struct walk_counts *counts);
