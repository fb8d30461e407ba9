/* mirror.h: sync between MEMORY.md ("the page") and the store. */
#pragma once

#include "core/files/mirror.h"
#include "op/write/write.h"

/* Memories for the page of the caller's project, most important first, up to `max_chars` characters; ret_options counts
 * the rest. `own`: without global memories, which have their own page. */
NODISCARD enum status mirror_load_entries(struct op_call *call, bool own, size_t max_chars,
                                          struct mirror_entries *ret_entries, struct mirror_options *ret_options);
/* Looks up the memories that the page names. */
NODISCARD enum status mirror_load_known(struct op_call *call, const struct mirror_page *page,
                                        struct mirror_knowns *ret_known);
/* True if the page of the caller's project shows the memory. */
bool mirror_shows(const struct op_call *call, const struct memory *m);

/* Lists in the call's result. */
struct mirror_report {
  yyjson_mut_val *added, *changed, *removed, *finished, *refused, *conflicts;
};

/* Applies the edits of the page and the removals in one transaction, if there are any, and sets the ids of the bullets.
 * `dry_run` leaves the transaction open; the caller rolls it back. */
NODISCARD enum status mirror_apply(struct op_call *call, struct mirror_page *page, const struct mirror_knowns *known,
                                   const struct mirror_ids *removed, bool dry_run, struct mirror_report *report);
