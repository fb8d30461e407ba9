/* ask.h: asking the person at the terminal. */
#ifndef CAIRN_CLI_ASK_H
#define CAIRN_CLI_ASK_H

#include "base/arena.h"

/* A line that is not shown while it is typed; a hook of operations, which has no use for `arg`. False when there is no
 * terminal, or nothing was typed. */
bool ask_hidden(void *arg, const char *prompt, struct arena *a, struct str *ret_text);

#endif
