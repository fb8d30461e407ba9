/* layout.h: renders results from templates, so most operations need no code for it.
 *
 * A layout consists of lines. The first character of a line selects its kind:
 *
 *   @list CELL | CELL   a table, one row per element; a cell that starts with '>' is right-aligned, one that starts
 * with
 *                       '~' is wrapped, and one that starts with NAME= has a column name
 *   *list LINE          one line per element, unless it turns out empty
 *   =LABEL: LINE        "LABEL  LINE", wrapped beside the label, unless LINE turns out empty
 *   !list TEXT          only if the list is empty or missing
 *   +name name          "  label: value" for each member that is present
 *   ~name               "label: value" if the member is not empty
 *   ?LINE               LINE, unless it turns out empty
 *
 * Any other line is printed with these replacements, and a line end:
 *
 *   {name}              a member, on one line; {a.b} is a member of a member, {.} the element itself,
 *                       {a|b} the first of both that is not empty
 *   {name 24}           the same, truncated to the terminal's width less 24 columns
 *   {FORMAT name}       in a format: see formats[] in layout.c
 *   {name:TEXT}         TEXT if the member is empty
 *   [...]               only if no member in it is empty, 0 or false
 *   <name?A|B>          A if the member is not empty, 0 or false, else B, which is optional; <#name?...> if it is
 *                       present at all; <name=value?...> if it has this value (yes or no for a bool)
 *   <@terminal?A|B>     A on a terminal, else B
 *   {kind} {scope}      the kind of a memory, in its colour; its project, unless it is the caller's
 *
 * Brackets nest, and line ends inside them are printed as they are. */
#pragma once

#include "cli/render/render.h"

void layout_render(struct page *page, yyjson_val *result, const char *layout);
/* One template as text on one line, without styles. */
struct str layout_line(struct page *page, yyjson_val *obj, const char *template);
