/* help.h: help, manual page and shell completion, generated from the tables. */
#pragma once

#include "cli/args.h"
#include "cli/term.h"

/* Environment variables. */
struct variable {
  const char *name, *help;
};
extern const struct variable variables[]; /* ends with name == NULL */

/* Everyday commands by group. */
void help_program(struct buf *out, const struct style *style);
/* All commands by group, and the global options. */
void help_all(struct buf *out, const struct style *style);
/* The commands of one family ("task"). */
void help_family(struct buf *out, const struct style *style, struct str word);
void help_operation(struct buf *out, const struct style *style, const struct op *op);
void help_builtin(struct buf *out, const struct style *style, const struct builtin *b);

/* Positional? */
static inline bool help_by_place(const struct param *p) { return (p->flags & PARAM_POSITIONAL) != 0; }
/* "remember [OPTION]... [TEXT]" */
struct str help_usage(struct arena *a, const struct op *op);
/* "--kind KIND", "--soft", "ID" */
struct str help_term(struct arena *a, const struct param *p);
/* Its help text, with the choices. */
struct str help_text(struct arena *a, const struct param *p);

/* cairn.1, as roff (manual.c). */
void manual_page(struct buf *out);
/* A completion script for the shell; it calls cairn --complete. */
NODISCARD enum status completion_script(struct buf *out, struct str shell, struct error *err);
/* Completions of the last of these words (the command line after the program's name): one line "word TAB explanation"
 * each, and ":files" if file names are allowed. Accepts any words. */
void completion_words(struct buf *out, int n, const char *const *words);
