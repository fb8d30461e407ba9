/* help.h: everything that explains the program, made from the tables: help, manual page, shell completion. */
#pragma once

#include "cli/args.h"
#include "cli/term.h"

/* Variables of the environment that the program reads. */
struct variable {
  const char *name, *help;
};
extern const struct variable variables[]; /* ends with name == NULL */

/* All commands by group. */
void help_program(struct buf *out, const struct style *style);
/* The commands of one family ("task"). */
void help_family(struct buf *out, const struct style *style, struct str word);
void help_operation(struct buf *out, const struct style *style, const struct op *op);

/* Is it shown as a value by place? */
static inline bool help_by_place(const struct param *p) { return (p->flags & PARAM_POSITIONAL) != 0; }
/* "remember [OPTION]... [TEXT]" */
struct str help_usage(struct arena *a, const struct op *op);
/* "--kind KIND", "--soft", "ID" */
struct str help_term(struct arena *a, const struct param *p);
/* Its line of help with the choices. */
struct str help_text(struct arena *a, const struct param *p);

/* cairn.1, as roff (manual.c). */
void manual_page(struct buf *out);
/* A script that teaches the shell to complete; it asks the program, by --complete, what may stand there. */
NODISCARD enum status completion_script(struct buf *out, struct str shell, struct error *err);
/* What may stand in place of the last of these words, which come from behind the program's name: a line "word TAB
 * explanation" for each, and ":files" where file names may. Any words are fine. */
void completion_words(struct buf *out, int n, const char *const *words);
