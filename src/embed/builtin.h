/* builtin.h: embedders that run an encoder in this process: the built-in model, and models in files.
 *
 * They are thread-safe. A call with many texts uses several cores. */
#pragma once

#include "embed/encoder/model_file.h"

/* cairn-embed-v2, read from the program's own read-only pages. STATUS_NOT_FOUND if built without it. */
NODISCARD enum status embedder_builtin(const struct embedder **ret_embedder, struct error *err);

/* Opens a model written by `cairn model convert`. The file is mapped and fully checked; close() releases it. Replace
 * the file only by renaming: it must not be written to while it is in use. */
NODISCARD enum status embedder_file_open(const char *path, struct embedder **ret_embedder, struct error *err);

/* Opens a model in memory. The embedder lives as long as the arena. */
NODISCARD enum status embedder_bytes_open(struct arena *a, struct str bytes, const struct embedder **ret_embedder,
                                          struct error *err);

/* The model of such an embedder; NULL for other embedders. */
const struct model *embedder_model(const struct embedder *e);
