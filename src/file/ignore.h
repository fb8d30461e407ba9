/* ignore.h: the rules of .gitignore files, as git reads them. */
#pragma once

#include "base/buf.h"

struct ignore_rule {
  struct str pattern; /* without '!', and without a slash at either end */
  bool negated, folders_only, anchored;
};

/* The rules of one folder, and those of the folders above it. */
struct ignore {
  const struct ignore *parent;
  size_t base; /* how many bytes of a path are the folder's own, its slash included */
  LIST(struct ignore_rule) rules;
};

/* The rules of a file's text; they point into it. `folder` is "" or "a/b", as the paths are that will be asked about.
 */
struct ignore *ignore_parse(struct arena *a, const struct ignore *parent, struct str folder, struct str text);
/* Whether a path is left out. The deepest file that has a rule for it decides, and in it the last one. Folders that are
 * left out are not entered, so that nothing below them comes back: the caller sees to that. */
bool ignore_match(const struct ignore *rules, struct str path, bool folder);

/* Whether a pattern without a slash ("*.[ch]") fits a name. */
bool ignore_glob(struct str pattern, struct str name);
