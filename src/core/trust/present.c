/* present.c: sanitizer for stored text shown to a model or a terminal. */
#include "core/trust/present.h"

#include <assert.h>

#include "base/buf.h"
#include "base/utf8.h"

/* ---- invisible characters ---- */

static bool is_joiner(uint32_t c) { return c == 0x200C || c == 0x200D; }

static bool is_invisible(uint32_t c) {
  static const struct {
    uint32_t from, to;
  } ranges[] = {
      {0x00, 0x08},     {0x0B, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},     {0x34F, 0x34F},     {0x61C, 0x61C},
      {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x200B, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x206F},
      {0x3164, 0x3164}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
  };
  for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
    if (c >= ranges[i].from && c <= ranges[i].to)
      return true;
  return false;
}

/* Joiners shape words of some scripts and compose emoji, so between two such characters they are kept. */
static bool is_joining(uint32_t before, struct str s, size_t pos) {
  if (before < 0x300 || pos >= s.n)
    return false;
  uint32_t after = utf8_next(s, &pos);
  return after >= 0x300 && !is_invisible(after);
}

/* ---- terminal escapes ---- */

/* End of the escape sequence whose ESC is at s.p[pos]: CSI, a string ended by BEL or ESC \, or ESC x. */
static size_t skip_escape(struct str s, size_t pos) {
  assert(pos < s.n && s.p[pos] == 0x1B);
  size_t i = pos + 1;
  if (i >= s.n)
    return i;
  char kind = s.p[i++];
  if (kind == '[') {
    while (i < s.n && s.p[i] >= 0x20 && s.p[i] <= 0x3F)
      i++;
    return i < s.n && s.p[i] >= 0x40 && s.p[i] <= 0x7E ? i + 1 : i;
  }
  if (kind == ']' || kind == 'P' || kind == '_' || kind == '^' || kind == 'X') {
    /* Stop at another escape, so no byte is read twice. */
    size_t k = i;
    while (k < s.n && s.p[k] != '\n' && s.p[k] != 7 && s.p[k] != 0x1B)
      k++;
    if (k < s.n && s.p[k] == 7)
      return k + 1;
    if (k + 1 < s.n && s.p[k] == 0x1B && s.p[k + 1] == '\\')
      return k + 2;
    return i; /* unterminated: treat as text */
  }
  return kind >= 0x20 && kind <= 0x7E && !ascii_alnum(kind) ? i : pos + 1;
}

/* Length of the run of printable ASCII, line breaks and tabs, which are copied at once. */
static size_t plain_run(struct str s, size_t from) {
  size_t i = from;
  while (i < s.n && ((s.p[i] >= 0x20 && s.p[i] < 0x7F) || s.p[i] == '\n' || s.p[i] == '\t'))
    i++;
  return i - from;
}

size_t present_hidden(struct str s, size_t pos) {
  if (s.p[pos] == 0x1B)
    return skip_escape(s, pos) - pos;
  size_t end = pos;
  uint32_t c = utf8_next(s, &end);
  return is_invisible(c) && c != 0x2028 && c != 0x2029 ? end - pos : 0;
}

struct str present_visible(struct arena *a, struct str s) {
  struct buf b = BUF(a);
  uint32_t before = 0;
  for (size_t i = 0; i < s.n;) {
    size_t plain = plain_run(s, i);
    if (plain) {
      buf_add(&b, str_slice(s, i, i + plain));
      i += plain;
      before = (unsigned char)s.p[i - 1];
      continue;
    }
    size_t hidden = present_hidden(s, i), at = i;
    uint32_t c = utf8_next(s, &i);
    if (hidden && !(is_joiner(c) && is_joining(before, s, i))) {
      i = at + hidden;
      continue;
    }
    if (c == 0x2028 || c == 0x2029)
      c = '\n';
    char out[4];
    buf_add(&b, (struct str){out, utf8_put(c, out)});
    before = is_joiner(c) ? 0 : c;
  }
  return buf_str(&b);
}

/* ---- imitated prompt markup ---- */

/* Bytes after '<' in which the name of a tag may start. */
enum { TAG_GAP = 16 };

/* Prefixes of the tag names of prompts, clients and chat templates. tag_names are always defused. weak_names also occur
 * in code, where '<' after an identifier is a type argument: "List<User>". */
static const char *const tag_names[] = {
    "system",
    "sys>",
    "assistant",
    "developer",
    "instructions",
    "antml",
    "function_calls",
    "invoke",
    "reminder",
    "local-command",
    "task-notification",
    "user-prompt",
    "tool_",
    "function_results",
    "thinking",
    "persisted-",
    NULL,
};
static const char *const weak_names[] = {
    "user",   "human",  "important", "instruction", "tool",    "function", "parameter",
    "ant_",   "hook",   "memory",    "prompt",      "context", "command",  "result",
    "claude", "policy", "admin",     "example",     "note",    "rule",     NULL,
};

static bool has_tag_name(struct str rest, const char *const *names) {
  for (const char *const *t = names; *t; t++) {
    size_t n = strlen(*t);
    if (rest.n >= n && str_ieq((struct str){rest.p, n}, str_from(*t)))
      return true;
  }
  return false;
}

/* True if the '<' at s.p[pos] opens a tag that a model could take for part of its prompt. */
static bool is_prompt_tag(struct str s, size_t pos) {
  assert(pos < s.n && s.p[pos] == '<');
  size_t i = pos + 1, end = s.n - i < TAG_GAP ? s.n : i + TAG_GAP;
  while (i < end && (s.p[i] == '/' || s.p[i] == '<' || ascii_space(s.p[i])))
    i++;
  struct str rest = {s.p + i, s.n - i};
  if (str_starts(rest, STR("|")) || str_starts(rest, STR("!--")) || str_starts(rest, STR("![CDATA[")))
    return true;
  bool after_name = pos > 0 && (ascii_alnum(s.p[pos - 1]) || s.p[pos - 1] == '_');
  return has_tag_name(rest, tag_names) || (!after_name && has_tag_name(rest, weak_names));
}

static size_t run_length(struct str s, size_t pos) {
  size_t n = 1;
  while (pos + n < s.n && s.p[pos + n] == s.p[pos])
    n++;
  return n;
}

/* Length of the "[INST]", "[/INST]" or "[SYSTEM]" at s.p[pos], or 0. */
static size_t bracket_tag(struct str s, size_t pos) {
  static const char *const tags[] = {"[INST]", "[/INST]", "[SYSTEM]", "[/SYSTEM]", NULL};
  for (const char *const *t = tags; *t; t++) {
    size_t n = strlen(*t);
    if (s.n - pos >= n && str_ieq((struct str){s.p + pos, n}, str_from(*t)))
      return n;
  }
  return 0;
}

/* Writes a harmless form of the markup at s.p[pos] and returns the bytes consumed; 0 if there is no markup. */
static size_t defuse(struct buf *b, struct str s, size_t pos) {
  char c = s.p[pos];
  size_t n = 1;
  if (c == '`' || c == '~') {
    n = run_length(s, pos);
    for (size_t i = 0; i < n; i++)
      buf_addc(b, n < 3 ? c : c == '`' ? '\'' : '=');
    return n;
  }
  if (c == '<' && is_prompt_tag(s, pos)) {
    buf_adds(b, "\xE2\x80\xB9");
    return 1;
  }
  if (c == '[' && (n = bracket_tag(s, pos)) > 0) {
    buf_addc(b, '(');
    buf_add(b, str_slice(s, pos + 1, pos + n - 1));
    buf_addc(b, ')');
    return n;
  }
  return 0;
}

static struct str defuse_all(struct arena *a, struct str s) {
  struct buf b = BUF(a);
  for (size_t i = 0, from = 0;; i++) {
    if (i < s.n && !strchr("`~<[", s.p[i]))
      continue;
    buf_add(&b, str_slice(s, from, i));
    if (i == s.n)
      return buf_str(&b);
    size_t n = defuse(&b, s, i);
    from = i + n;
    i += n ? n - 1 : 0;
  }
}

/* Invisible characters are removed first, because they could split markup. */
struct str present_neutral(struct arena *a, struct str s) { return defuse_all(a, present_visible(a, s)); }

struct str present_line(struct arena *a, struct str s) {
  struct str t = present_visible(a, s);
  struct buf b = BUF(a);
  bool gap = false;
  for (size_t i = 0; i < t.n; i++) {
    if (ascii_space(t.p[i])) {
      gap = b.n > 0;
      continue;
    }
    if (gap)
      buf_addc(&b, ' ');
    gap = false;
    buf_addc(&b, t.p[i] == '`' ? '\'' : t.p[i]);
  }
  return defuse_all(a, buf_str(&b));
}
