/* ignore.c: matching paths against .gitignore rules.
 *
 * Paths are matched name by name, names byte by byte. Both only backtrack to the last star, so matching takes at most
 * (pattern x path) steps. */
#include "file/ignore.h"

#include <assert.h>

/* ---- one name ---- */

/* One byte of the pattern, unescaped. */
static bool take_byte(struct str p, size_t *pos, char *ret_c) {
  assert(*pos < p.n);
  if (p.p[*pos] == '\\')
    ++*pos;
  if (*pos >= p.n)
    return false;
  *ret_c = p.p[(*pos)++];
  return true;
}

/* Matches the class "[a-z]" at *pos and moves *pos past it. An unterminated class matches nothing. */
static bool class_matches(struct str p, size_t *pos, char c) {
  assert(*pos < p.n && p.p[*pos] == '[');
  size_t i = *pos + 1;
  bool negated = i < p.n && (p.p[i] == '!' || p.p[i] == '^'), found = false;
  i += negated;
  for (bool first = true; i < p.n && (first || p.p[i] != ']'); first = false) {
    char from, to;
    if (!take_byte(p, &i, &from))
      return false;
    to = from;
    if (i + 1 < p.n && p.p[i] == '-' && p.p[i + 1] != ']') {
      i++;
      if (!take_byte(p, &i, &to))
        return false;
    }
    found |= (unsigned char)from <= (unsigned char)c && (unsigned char)c <= (unsigned char)to;
  }
  if (i >= p.n)
    return false;
  *pos = i + 1;
  return found != negated;
}

/* Matches the pattern element at *pos with one byte and moves *pos past it. */
static bool byte_matches(struct str p, size_t *pos, char c) {
  assert(*pos < p.n && p.p[*pos] != '*');
  if (p.p[*pos] == '?') {
    ++*pos;
    return true;
  }
  if (p.p[*pos] == '[')
    return class_matches(p, pos, c);
  char want;
  return take_byte(p, pos, &want) && want == c;
}

bool ignore_glob(struct str pattern, struct str name) {
  size_t p = 0, i = 0, star = SIZE_MAX, from = 0;
  while (i < name.n) {
    if (p < pattern.n && pattern.p[p] == '*') {
      star = ++p;
      from = i;
      continue;
    }
    if (p < pattern.n && byte_matches(pattern, &p, name.p[i])) {
      i++;
      continue;
    }
    if (star == SIZE_MAX)
      return false;
    p = star;
    i = ++from;
  }
  while (p < pattern.n && pattern.p[p] == '*')
    p++;
  return p == pattern.n;
}

/* ---- a path ---- */

/* The part of s from *pos to the next slash; moves *pos past the slash. */
static struct str part_at(struct str s, size_t *pos) {
  assert(*pos < s.n);
  size_t from = *pos, to = str_find(s, STR("/"), from);
  if (to == SIZE_MAX)
    to = s.n;
  *pos = to + 1;
  return str_slice(s, from, to);
}

static bool path_matches(struct str pattern, struct str path) {
  size_t p = 0, i = 0, star = SIZE_MAX, from = 0;
  while (i < path.n) {
    size_t next_p = p, next_i = i;
    struct str name = part_at(path, &next_i);
    if (p < pattern.n) {
      struct str part = part_at(pattern, &next_p);
      if (str_is(part, "**")) { /* at the end it matches the contents of a folder, not the folder itself */
        p = star = next_p;
        from = i;
        if (p >= pattern.n)
          return true;
        continue;
      }
      if (ignore_glob(part, name)) {
        p = next_p;
        i = next_i;
        continue;
      }
    }
    if (star == SIZE_MAX)
      return false;
    part_at(path, &from);
    p = star;
    i = from;
  }
  return p >= pattern.n;
}

/* ---- rules ---- */

/* Trims trailing blanks, unless the last one is escaped. */
static struct str trim_blanks(struct str line) {
  while (line.n && line.p[line.n - 1] == ' ') {
    size_t slashes = 0;
    while (slashes + 1 < line.n && line.p[line.n - 2 - slashes] == '\\')
      slashes++;
    if (slashes % 2)
      break;
    line.n--;
  }
  return line;
}

static bool rule_parse(struct str line, struct ignore_rule *ret_rule) {
  struct ignore_rule r = {.pattern = trim_blanks(line)};
  if (str_starts(r.pattern, STR("#")))
    return false;
  if (str_starts(r.pattern, STR("!"))) {
    r.negated = true;
    r.pattern = str_slice(r.pattern, 1, r.pattern.n);
  }
  if (str_ends(r.pattern, STR("/"))) {
    r.folders_only = true;
    r.pattern.n--;
  }
  r.anchored = str_find(r.pattern, STR("/"), 0) != SIZE_MAX;
  if (str_starts(r.pattern, STR("/")))
    r.pattern = str_slice(r.pattern, 1, r.pattern.n);
  *ret_rule = r;
  return r.pattern.n > 0;
}

struct ignore *ignore_parse(struct arena *a, const struct ignore *parent, struct str folder, struct str text) {
  struct ignore *ig = arena_new(a, struct ignore);
  ig->parent = parent;
  ig->base = folder.n ? folder.n + 1 : 0;
  if (str_starts(text, STR("\xef\xbb\xbf")))
    text = str_slice(text, 3, text.n);
  struct ignore_rule rule;
  for (struct str line; str_line(&text, &line);)
    if (rule_parse(line, &rule))
      list_push(a, &ig->rules, rule);
  return ig;
}

static bool rule_matches(const struct ignore_rule *r, struct str path, struct str name, bool folder) {
  if (r->folders_only && !folder)
    return false;
  return r->anchored ? path_matches(r->pattern, path) : ignore_glob(r->pattern, name);
}

bool ignore_match(const struct ignore *rules, struct str path, bool folder) {
  size_t slash = path.n;
  while (slash > 0 && path.p[slash - 1] != '/')
    slash--;
  struct str name = str_slice(path, slash, path.n);
  for (const struct ignore *ig = rules; ig; ig = ig->parent)
    for (size_t i = ig->rules.n; i > 0 && ig->base < path.n; i--)
      if (rule_matches(&ig->rules.v[i - 1], str_slice(path, ig->base, path.n), name, folder))
        return !ig->rules.v[i - 1].negated;
  return false;
}
