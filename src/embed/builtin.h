/* builtin.h: embedders over a stored encoder: the one that is a part of the program, and those in files.
 *
 * Both are safe to use from several threads at once; a call with many texts spreads them over the cores. */
#pragma once

#include "embed/encoder/model_file.h"

/* cairn-embed-v2, out of the program's own read-only pages. STATUS_NOT_FOUND in a program that was built without it. */
NODISCARD enum status embedder_builtin(const struct embedder **ret_embedder, struct error *err);

/* The model in a file that `cairn model convert` wrote, mapped and checked in full; close() gives it back. The file
 * must not be written to while it is in use: replace it by renaming. */
NODISCARD enum status embedder_file_open(const char *path, struct embedder **ret_embedder, struct error *err);

/* A model in memory; the embedder lives as long as the arena. */
NODISCARD enum status embedder_bytes_open(struct arena *a, struct str bytes, const struct embedder **ret_embedder,
                                          struct error *err);

/* What one of these runs; NULL for any other embedder. */
const struct model *embedder_model(const struct embedder *e);
