/* fuzz_toml.c: any text as TOML and as a configuration: accepted documents are well formed, survive a write and a
 * second read, and every accepted setting has a valid value. */
#include "base/buf.h"
#include "base/toml/toml.h"
#include "base/utf8.h"
#include "file/config.h"
#include "support/fuzz.h"

static size_t depth_of(const struct toml *t) {
  size_t deepest = 0;
  for (const struct toml *c = t->first; c; c = c->next) {
    size_t d = depth_of(c);
    deepest = d > deepest ? d : deepest;
  }
  return deepest + 1;
}

static void check_tree(const struct toml *t, int lines) {
  FUZZ_CHECK(t->line >= 1 && t->line <= lines && t->column >= 1);
  FUZZ_CHECK(t->form == TOML_TABLE || t->form == TOML_ARRAY || !t->first);
  FUZZ_CHECK(utf8_check(t->text) == t->text.n && utf8_check(t->key) == t->key.n);
  for (const struct toml *c = t->first; c; c = c->next) {
    FUZZ_CHECK((t->form == TOML_TABLE) == (c->key.p != NULL));
    FUZZ_CHECK(t->form != TOML_TABLE || toml_get(t, c->key) == c);
    FUZZ_CHECK(c->next || t->last == c);
    check_tree(c, lines);
  }
}

static void write_text(struct buf *b, struct str s) {
  buf_addc(b, '"');
  for (size_t i = 0; i < s.n; i++)
    if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f || s.p[i] == '"' || s.p[i] == '\\')
      buf_addf(b, "\\u%04x", (unsigned)(unsigned char)s.p[i]);
    else
      buf_addc(b, s.p[i]);
  buf_addc(b, '"');
}

static void write_value(struct buf *b, const struct toml *t) {
  if (t->form == TOML_TEXT) {
    write_text(b, t->text);
    return;
  }
  if (t->form != TOML_TABLE && t->form != TOML_ARRAY) {
    buf_add(b, t->text);
    return;
  }
  buf_addc(b, t->form == TOML_TABLE ? '{' : '[');
  for (const struct toml *c = t->first; c; c = c->next) {
    if (c != t->first)
      buf_adds(b, ", ");
    if (t->form == TOML_TABLE) {
      write_text(b, c->key);
      buf_adds(b, " = ");
    }
    write_value(b, c);
  }
  buf_addc(b, t->form == TOML_TABLE ? '}' : ']');
}

static void check_same(const struct toml *x, const struct toml *y) {
  FUZZ_CHECK(x->form == y->form && x->integer == y->integer && str_eq(x->text, y->text) && str_eq(x->key, y->key));
  const struct toml *c = x->first, *d = y->first;
  for (; c && d; c = c->next, d = d->next)
    check_same(c, d);
  FUZZ_CHECK(!c && !d);
}

static void write_and_read(struct arena *a, const struct toml *root) {
  struct buf b = BUF(a);
  struct toml *again;
  struct error err;
  for (const struct toml *c = root->first; c; c = c->next) {
    write_text(&b, c->key);
    buf_adds(&b, " = ");
    write_value(&b, c);
    buf_addc(&b, '\n');
  }
  FUZZ_CHECK(toml_read(a, buf_str(&b), "again", &again, &err) == STATUS_OK);
  check_same(root, again);
}

static void check_config(struct arena *a, struct str text) {
  struct settings_given *given = arena_new(a, struct settings_given);
  struct error err;
  if (config_parse(a, text, STR("x"), given, &err) != STATUS_OK) {
    FUZZ_CHECK(str_starts(str_from(err.message), STR("x:")) && err.fix[0] && !strchr(err.message, '\n'));
    FUZZ_CHECK(utf8_check(str_from(err.message)) == strlen(err.message));
    return;
  }
  for (int i = 0; i < SET_COUNT; i++)
    FUZZ_CHECK(!given->file[i].value.p ||
               (given->file[i].line > 0 && setting_check((enum setting_id)i, given->file[i].value, &err) == STATUS_OK));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena a = {0};
  struct str input = {(const char *)data, size};
  struct toml *root;
  struct error err;
  int lines = 1;
  for (size_t i = 0; i < size; i++)
    lines += data[i] == '\n';
  if (toml_read(&a, input, "x", &root, &err) == STATUS_OK) {
    check_tree(root, lines);
    if (depth_of(root) <= TOML_DEPTH)
      write_and_read(&a, root);
  } else {
    FUZZ_CHECK(err.code == STATUS_USAGE && err.fix[0]);
  }
  check_config(&a, input);
  arena_release(&a);
  return 0;
}
