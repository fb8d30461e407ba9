/* import_line.c: common parts of the readers of foreign transcripts: ids, content, tool calls. */
#include "transcript/file/import_line.h"

#include <assert.h>

#include "base/id.h"
#include "base/os/clock.h"
#include "base/os/fs.h"
#include "base/utf8.h"

const char *const import_from_names[IMPORT_FROM_COUNT] = {"unknown", "claude", "codex"};
const char *const import_skip_names[IMPORT_SKIP_COUNT] = {"bookkeeping", "context", "thinking", "repeated",
                                                          "empty",       "strange", "broken",   "too_long"};

/* ---- files ---- */

/* "rollout-2026-01-20T11-57-17-<uuid>" or "<uuid>": the last 36 bytes, if they are a uuid. */
static struct str session_of(struct str stem) {
  if (stem.n >= UUID_SIZE - 1) {
    struct str end = str_slice(stem, stem.n - (UUID_SIZE - 1), stem.n);
    if (uuid_is_valid(end))
      return end;
  }
  return stem;
}

void import_file_open(struct arena *a, enum import_from from, struct str path, struct import_file *ret_file) {
  assert(from > IMPORT_UNKNOWN && from < IMPORT_FROM_COUNT);
  struct str stem = fs_basename(path);
  struct import_file file = {.arena = a, .from = from};
  if (str_ends(stem, STR(".jsonl")))
    stem = str_slice(stem, 0, stem.n - 6);
  if (from == IMPORT_CLAUDE && str_starts(stem, STR("agent-")))
    file.agent = arena_dup(a, stem);
  file.session = arena_dup(a, session_of(stem));
  *ret_file = file;
}

enum import_from import_guess_line(struct arena *a, struct str line) {
  yyjson_val *root;
  struct error ignored;
  if (json_read(a, line, &root, &ignored) != STATUS_OK || !yyjson_is_obj(root))
    return IMPORT_UNKNOWN;
  if (import_is_codex(root))
    return IMPORT_CODEX;
  return import_is_claude(root) ? IMPORT_CLAUDE : IMPORT_UNKNOWN;
}

/* Hash of the line. Without a timestamp it includes the line number, since the same text may occur twice. */
static struct str base_id(struct arena *a, const struct import_file *file, yyjson_val *root, struct str line,
                          int64_t number) {
  struct buf b = BUF(a);
  uint8_t hash[HASH_BYTES];
  char *id = arena_alloc(a, UUID_SIZE);
  buf_addf(&b, "%zu:%.*s", file->session.n, STR_ARG(file->session));
  if (!json_str(root, "timestamp").p)
    buf_addf(&b, "%lld:", (long long)number);
  buf_add(&b, line);
  hash_bytes(buf_str(&b), hash);
  uuid8_from_hash(hash, id);
  return str_from(id);
}

void import_read_line(struct arena *a, struct import_file *file, struct str line, int64_t number,
                      struct import_line *ret_line) {
  assert(file->from == IMPORT_CLAUDE || file->from == IMPORT_CODEX);
  struct import_line out = {.session = file->session, .cwd = file->cwd};
  yyjson_val *root = NULL;
  struct error ignored;
  line = str_trim(line);
  if (line.n && (json_read(a, line, &root, &ignored) != STATUS_OK || !yyjson_is_obj(root))) {
    import_skipped(file, IMPORT_BROKEN);
  } else if (line.n) {
    bool own = file->from == IMPORT_CLAUDE && json_str(root, "uuid").n > 0; /* then base is not used */
    struct str base = own ? STR_NONE : base_id(a, file, root, line, number);
    if (file->from == IMPORT_CLAUDE)
      import_claude(a, file, root, base, &out);
    else
      import_codex(a, file, root, base, &out);
  }
  *ret_line = out;
}

void import_note_cwd(struct import_file *file, struct str cwd) {
  if (!file->cwd.p && cwd.n && !memchr(cwd.p, 0, cwd.n))
    file->cwd = arena_dup(file->arena, cwd);
}

int64_t import_time(struct import_file *file, yyjson_val *line) {
  int64_t at;
  if (time_parse(json_str(line, "timestamp"), &at) && at > 0)
    file->at = at;
  return file->at;
}

bool import_has_prefix(struct str text, const struct str *prefixes) {
  for (size_t i = 0; prefixes[i].p; i++)
    if (str_starts(text, prefixes[i]))
      return true;
  return false;
}

/* ---- tool calls ---- */

void import_note_call(struct import_file *file, struct str id, struct str name) {
  struct import_call *call = &file->calls[file->n_calls++ % IMPORT_CALLS];
  call->id = arena_dup(file->arena, id);
  call->name = arena_dup(file->arena, name);
}

struct str import_call_name(const struct import_file *file, struct str id) {
  size_t n = file->n_calls < IMPORT_CALLS ? file->n_calls : IMPORT_CALLS;
  for (size_t i = 1; i <= n; i++) {
    const struct import_call *call = &file->calls[(file->n_calls - i) % IMPORT_CALLS];
    if (str_eq(call->id, id))
      return call->name;
  }
  return STR_NONE;
}

/* ---- texts ---- */

static struct str cut(struct arena *a, struct str text) {
  size_t n = IMPORT_TEXT_BYTES;
  if (text.n <= IMPORT_TEXT_BYTES)
    return text;
  while (n && ((unsigned char)text.p[n] & 0xc0) == 0x80) /* do not split a character */
    n--;
  struct buf b = BUF(a);
  buf_add(&b, str_slice(text, 0, n));
  buf_addf(&b, "\n[cut: %zu more bytes]", text.n - n);
  return buf_str(&b);
}

/* Truncated JSON is invalid: an input that is too long becomes a string with its beginning. */
static struct str cut_input(struct arena *a, struct str input) {
  if (input.n <= IMPORT_TEXT_BYTES)
    return input;
  yyjson_mut_doc *doc = json_new(a);
  struct str text = cut(a, input);
  return json_write(a, yyjson_mut_strncpy(doc, text.p, text.n), false);
}

void import_add(struct arena *a, struct import_file *file, struct import_line *out, struct message m) {
  bool tool = m.role == SPEAKER_TOOL_CALL || m.role == SPEAKER_TOOL_RESULT;
  if (!tool && str_empty(str_trim(m.content))) {
    import_skipped(file, IMPORT_EMPTY);
    return;
  }
  m.content = cut(a, m.content);
  m.input = cut_input(a, m.input);
  list_push(a, &out->list, m);
}

static struct str link_text(struct arena *a, yyjson_val *part) {
  struct str title = json_str(part, "title"), url = json_str(part, "url");
  return arena_printf(a, "%.*s%s%.*s", STR_ARG(title), title.n && url.n ? " " : "", STR_ARG(url));
}

/* The text of a content part; absent if there is none. */
static struct str part_text(struct arena *a, yyjson_val *part) {
  struct str type = json_str(part, "type");
  struct str text = yyjson_is_str(part) ? json_val_str(part) : json_str(part, "text");
  if (text.p)
    return text;
  if (str_is(type, "refusal"))
    return json_str(part, "refusal");
  if (str_is(type, "image") || str_is(type, "input_image"))
    return STR("[image]");
  if (str_is(type, "document") || str_is(type, "input_file") || str_is(type, "file"))
    return STR("[file]");
  if (str_is(type, "input_audio") || str_is(type, "audio"))
    return STR("[audio]");
  if (str_is(type, "tool_reference"))
    return arena_printf(a, "[tool: %.*s]", STR_ARG(json_str(part, "tool_name")));
  if (json_str(part, "url").p)
    return link_text(a, part);
  return STR_NONE;
}

void import_part(struct import_file *file, yyjson_val *part, bool (*injected)(struct str), struct buf *text) {
  struct str found = part_text(text->a, part);
  if (!found.p || (injected && injected(found))) {
    import_skipped(file, found.p ? IMPORT_CONTEXT : IMPORT_STRANGE);
    return;
  }
  if (text->n && found.n)
    buf_addc(text, '\n');
  buf_add(text, found);
}

static struct str list_text(struct arena *a, struct import_file *file, yyjson_val *list, bool (*injected)(struct str)) {
  struct buf b = BUF(a);
  yyjson_val *part;
  yyjson_arr_iter it = yyjson_arr_iter_with(list);
  while ((part = yyjson_arr_iter_next(&it)))
    import_part(file, part, injected, &b);
  return buf_str(&b);
}

struct str import_content(struct arena *a, struct import_file *file, yyjson_val *content,
                          bool (*injected)(struct str)) {
  if (yyjson_is_obj(content) && yyjson_obj_get(content, "content"))
    content = yyjson_obj_get(content, "content");
  if (yyjson_is_arr(content))
    return list_text(a, file, content, injected);
  if (!yyjson_is_str(content))
    return !content || yyjson_is_null(content) ? STR("") : json_write_val(a, content);
  struct str text = json_val_str(content);
  if (!injected || !injected(text))
    return text;
  import_skipped(file, IMPORT_CONTEXT);
  return STR("");
}
