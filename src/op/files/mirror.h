/* mirror.h: MEMORY.md and the store: what the store knows of a page, a person's edits as writes, the page's content. */
#pragma once

#include "core/files/mirror.h"
#include "op/write/write.h"

/* The memories that a page of the caller's project shows, most important first, as far as `max_chars` reach; the rest
 * is counted in ret_options. `own`: without the global ones, which have a page of their own to be edited on. */
NODISCARD enum status mirror_entries_of(struct op_call *call, bool own, size_t max_chars,
                                        struct mirror_entries *ret_entries, struct mirror_options *ret_options);
/* What the store knows of the memories that the page names. */
NODISCARD enum status mirror_known_of(struct op_call *call, const struct mirror_page *page,
                                      struct mirror_knowns *ret_known);
/* Whether it is shown on the page of its project. */
bool mirror_shows(const struct op_call *call, const struct memory *m);

/* What was done about a page; lists of the call's result. */
struct mirror_report {
  yyjson_mut_val *added, *changed, *removed, *finished, *refused, *conflicts;
};

/* Makes the writes that the fates of the bullets and the removals ask for, in one transaction, none without need; the
 * bullets know then which memories they are. `dry_run` takes all back. */
NODISCARD enum status mirror_apply(struct op_call *call, struct mirror_page *page, const struct mirror_knowns *known,
                                   const struct mirror_ids *removed, bool dry_run, struct mirror_report *report);
