/* ask.h: asking the person at the terminal. */
#pragma once

#include "base/arena.h"

/* A line that is not shown while it is typed; a hook of operations, which has no use for `arg`. False when there is no
 * terminal, or nothing was typed. */
bool ask_hidden(void *arg, const char *prompt, struct arena *a, struct str *ret_text);
