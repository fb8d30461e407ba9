/* completion.c: shell completion: scripts for the shells, and the candidates that they ask for. */
#include <assert.h>

#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/help.h"

/* State of a partially typed command line. */
struct typed {
  const struct op *op;
  const struct builtin *builtin;
  struct str family;         /* first word of a two-word command */
  size_t places;             /* positional values so far */
  const struct param *value; /* option whose value is being typed; NULL: none */
  bool ended;                /* options ended by "--" */
};

/* ---- parsing ---- */

static const struct param *by_spelling(struct arena *a, const struct param *list, struct str name) {
  for (; list && list->name; list++)
    if (str_eq(args_spelling(a, list), name))
      return list;
  return NULL;
}

static const struct param *find_option(struct arena *a, const struct typed *t, struct str name) {
  const struct param *p = by_spelling(a, t->op ? t->op->params : NULL, name);
  p = p || !t->builtin ? p : by_spelling(a, t->builtin->params, name);
  p = p ? p : by_spelling(a, common_params, name);
  return p ? p : by_spelling(a, global_params, name);
}

static const struct builtin *find_builtin(struct str name) {
  for (const struct builtin *b = builtins; b->name; b++)
    if (str_is(name, b->name))
      return b;
  return NULL;
}

static void read_word(struct arena *a, struct typed *t, struct str word) {
  if (t->op || (t->builtin && t->builtin->command != CLI_HELP)) {
    t->places++;
    return;
  }
  if (t->family.p)
    word = arena_printf(a, "%.*s %.*s", STR_ARG(t->family), STR_ARG(word));
  t->builtin = t->builtin ? t->builtin : find_builtin(word);
  t->op = command_find(word);
  t->family = !t->op && args_is_family(word) ? word : STR_NONE;
}

static void read_words(struct arena *a, struct typed *t, int n, const char *const *words) {
  for (int i = 0; i < n && words[i]; i++) {
    struct str word = str_from(words[i]);
    t->value = NULL;
    if (!t->ended && str_is(word, "--")) {
      t->ended = true;
    } else if (!t->ended && str_starts(word, STR("--"))) {
      const struct param *p = find_option(a, t, str_slice(word, 2, word.n));
      if (!p || p->form == PARAM_BOOL)
        continue;
      /* bash splits --name=value into three words. */
      if (i + 1 < n && strcmp(words[i + 1], "=") == 0)
        i++;
      t->value = p;
      i++; /* skip its value, or at the end the word being typed */
    } else if (t->ended || !str_starts(word, STR("-"))) {
      read_word(a, t, word);
    }
    if (i < n)
      t->value = NULL;
  }
}

/* ---- candidates ---- */

static void add_word(struct buf *out, struct str typed, const char *word, const char *help) {
  if (str_starts(str_from(word), typed))
    buf_addf(out, "%s\t%s\n", word, help);
}

static void add_values(struct buf *out, struct str typed, const struct param *p, const char *prefix) {
  for (size_t i = 0; p->choices && p->choices[i]; i++)
    add_word(out, typed, arena_printf(out->a, "%s%s", prefix, p->choices[i]).p, "");
  if (p->flags & PARAM_PATH)
    buf_adds(out, ":files\n");
}

static void add_options(struct buf *out, struct str typed, const struct param *list) {
  for (; list && list->name; list++)
    if (!help_by_place(list))
      add_word(out, typed, arena_printf(out->a, "--%s", args_spelling(out->a, list).p).p, list->help);
}

/* Adds command words: the first, or the second after a family. Each family is offered once. */
static void add_commands(struct buf *out, struct str typed, struct str family) {
  struct str last = STR_NONE;
  EACH_OP(op) {
    struct str rest = str_from(op->name), first;
    str_next(&rest, ' ', &first);
    bool two = rest.n > 0;
    if (family.p && two && str_eq(first, family))
      add_word(out, typed, arena_cstr(out->a, rest), op->summary);
    else if (!family.p && (!two || !str_eq(first, last)))
      add_word(out, typed, arena_cstr(out->a, first), two ? op->group : op->summary);
    last = first;
  }
  for (const struct command *d = commands; d->op.name && !family.p; d++)
    add_word(out, typed, d->op.name, d->op.summary);
  for (const struct builtin *b = builtins; b->name && !family.p; b++)
    add_word(out, typed, b->name, b->summary);
}

static void add_place(struct buf *out, struct str typed, const struct typed *t) {
  size_t place = 0;
  assert(t->op);
  for (const struct param *p = t->op->params; p->name; p++) {
    if (!help_by_place(p))
      continue;
    if (place++ == t->places || p->form == PARAM_LIST)
      add_values(out, typed, p, "");
  }
}

void completion_words(struct buf *out, int n, const char *const *words) {
  struct typed t = {0};
  assert(n >= 0);
  const char *last = n > 0 ? words[n - 1] : "";
  struct str word = {last, strlen(last)};
  read_words(out->a, &t, n - 1, words);
  size_t equals = str_starts(word, STR("--")) ? str_find(word, STR("="), 0) : SIZE_MAX;
  if (t.value) {
    add_values(out, str_is(word, "=") ? STR("") : word, t.value, "");
  } else if (!t.ended && equals != SIZE_MAX) {
    const struct param *p = find_option(out->a, &t, str_slice(word, 2, equals));
    if (p)
      add_values(out, word, p, arena_cstr(out->a, str_slice(word, 0, equals + 1)));
  } else if (!t.ended && str_starts(word, STR("-"))) {
    add_options(out, word, t.op ? t.op->params : NULL);
    add_options(out, word, t.builtin ? t.builtin->params : NULL);
    add_options(out, word, common_params);
    add_options(out, word, global_params);
  } else if (t.builtin && t.builtin->command == CLI_COMPLETION) {
    static const char *const shells[] = {"bash", "zsh", "fish"};
    for (size_t i = 0; i < ARRAY_LEN(shells) && t.places == 0; i++)
      add_word(out, word, shells[i], "");
  } else if (t.op && !t.builtin) {
    add_place(out, word, &t);
  } else if (!t.op && (!t.builtin || t.builtin->command == CLI_HELP)) {
    add_commands(out, word, t.family);
  }
}

/* ---- scripts ---- */

static const char bash_script[] = "# bash completion for cairn: source it, or install it for bash-completion.\n"
                                  "_cairn() {\n"
                                  "  local cur=${COMP_WORDS[COMP_CWORD]} word help\n"
                                  "  [ \"$cur\" = '=' ] && cur=\n"
                                  "  COMPREPLY=()\n"
                                  "  while IFS=$'\\t' read -r word help; do\n"
                                  "    if [ \"$word\" = :files ]; then\n"
                                  "      compopt -o filenames\n"
                                  "      while IFS= read -r word; do COMPREPLY+=(\"$word\"); done"
                                  " < <(compgen -f -- \"$cur\")\n"
                                  "    else\n"
                                  "      COMPREPLY+=(\"$word\")\n"
                                  "    fi\n"
                                  "  done < <(\"${COMP_WORDS[0]}\" --complete"
                                  " \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
                                  "}\n"
                                  "complete -F _cairn cairn\n";

static const char zsh_script[] = "#compdef cairn\n"
                                 "# zsh completion for cairn: save it as _cairn in a folder of $fpath.\n"
                                 "_cairn() {\n"
                                 "  local -a found\n"
                                 "  local word help\n"
                                 "  while IFS=$'\\t' read -r word help; do\n"
                                 "    if [[ $word == :files ]]; then\n"
                                 "      _files\n"
                                 "    else\n"
                                 "      found+=(\"${word//:/\\\\:}:$help\")\n"
                                 "    fi\n"
                                 "  done < <(\"$words[1]\" --complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)\n"
                                 "  (( $#found )) && _describe cairn found\n"
                                 "}\n"
                                 "if [[ $funcstack[1] == _cairn ]]; then\n"
                                 "  _cairn \"$@\"\n"
                                 "else\n"
                                 "  compdef _cairn cairn\n"
                                 "fi\n";

static const char fish_script[] = "# fish completion for cairn: save it as ~/.config/fish/completions/cairn.fish.\n"
                                  "function __cairn_complete\n"
                                  "  set -l before (commandline -opc)\n"
                                  "  set -l word (commandline -ct)\n"
                                  "  for line in ($before[1] --complete $before[2..-1] \"$word\" 2>/dev/null)\n"
                                  "    if test \"$line\" = :files\n"
                                  "      __fish_complete_path \"$word\"\n"
                                  "    else\n"
                                  "      echo $line\n"
                                  "    end\n"
                                  "  end\n"
                                  "end\n"
                                  "complete -c cairn -f -a '(__cairn_complete)'\n";

enum status completion_script(struct buf *out, struct str shell, struct error *err) {
  static const struct {
    const char *shell, *script;
  } scripts[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};
  for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
    if (!str_is(shell, scripts[i].shell))
      continue;
    buf_adds(out, scripts[i].script);
    return STATUS_OK;
  }
  shell = utf8_cut(shell, 60);
  error_set(err, STATUS_USAGE, "no completion for the shell '%.*s': it is one of bash, zsh, fish", STR_ARG(shell));
  return error_fix(err, "cairn completion bash");
}
