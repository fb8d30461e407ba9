/* ignore.h: matching paths against .gitignore rules, with git's semantics. */
#pragma once

#include "base/buf.h"

struct ignore_rule {
  struct str pattern; /* without '!' and without slashes at the ends */
  bool negated, folders_only, anchored;
};

/* Rules of one folder, linked to those of the folders above it. */
struct ignore {
  const struct ignore *parent;
  size_t base; /* length of the folder's path, including the slash */
  LIST(struct ignore_rule) rules;
};

/* Parses a .gitignore; the rules point into `text`. `folder` is "" or "a/b", relative like the paths to match. */
struct ignore *ignore_parse(struct arena *a, const struct ignore *parent, struct str folder, struct str text);
/* True if the path is ignored. The last matching rule of the deepest file decides. The caller must not enter ignored
 * folders, since nothing below them can be included again. */
bool ignore_match(const struct ignore *rules, struct str path, bool folder);

/* True if a pattern without slashes ("*.[ch]") matches the name. */
bool ignore_glob(struct str pattern, struct str name);
