/* items_json.h: writing items.json, the knowledge extracted from a project's files. */
#pragma once

#include "store/memories/documents.h"

/* An array of objects {id, type, title, content, sourceFile, lineNumber, confidence, extractedAt}, in the given order.
 * Deterministic. */
struct str items_json_render(struct arena *a, const struct stored_items *items);

/* Writes the file atomically unless it already has this content. Creates missing folders. */
NODISCARD enum status items_json_save(struct arena *a, const char *path, struct str text, bool *ret_written,
                                      struct error *err);

/* Item type of a memory type: entity, claim, decision, task, note. */
const char *items_json_type(struct str memory_type);
