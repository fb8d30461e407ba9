/* items_json.h: items.json, the knowledge that was extracted from the files of a project. */
#pragma once

#include "store/memories/items.h"

/* An array of objects {id, type, title, content, sourceFile, lineNumber, confidence, extractedAt}, in the order given;
 * the same items are the same bytes. */
struct str items_json_render(struct arena *a, const struct stored_items *items);

/* Writes it, as a whole or not at all, unless the file says the same already. Folders above it are made. */
NODISCARD enum status items_json_save(struct arena *a, const char *path, struct str text, bool *ret_written,
                                      struct error *err);

/* The name that a memory type has as an item: entity, claim, decision, task, note. */
const char *items_json_type(struct str memory_type);
