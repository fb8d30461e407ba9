/* ask.h: prompts for hidden input on the terminal. */
#pragma once

#include "base/arena.h"

/* Reads a line without echo; a hook for operations, which does not use `arg`. False if there is no terminal or the
 * input is empty. */
bool ask_hidden(void *arg, const char *prompt, struct arena *a, struct str *ret_text);
