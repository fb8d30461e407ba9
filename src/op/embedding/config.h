/* config.h: configuration of an embedder, from the team's settings or stored with its index; opens the embedder. */
#pragma once

#include <assert.h>

#include "op/run/common.h"
#include "store/tables/settings.h"

enum { EMBED_SETTINGS = SET_EMBEDDER_LAST - SET_EMBEDDER + 1, EMBED_NAME_SIZE = 128 };

struct embed_config {
  struct str v[EMBED_SETTINGS]; /* indexed by setting - SET_EMBEDDER; defaults filled in */
  struct str json;              /* values that differ from the defaults */
  struct str calibration;       /* fitted calibration, for calibration_parse(); absent: none */
  bool environment;             /* some values come from the environment */
};

static inline struct str embed_config_value(const struct embed_config *c, enum setting_id id) {
  assert(id >= SET_EMBEDDER && id <= SET_EMBEDDER_LAST);
  return c->v[id - SET_EMBEDDER];
}

/* STATUS_USAGE if the environment has an invalid value. */
NODISCARD enum status embed_config_read(struct store *st, struct str team, struct arena *a, struct embed_config *ret,
                                        struct error *err);
/* Parses the configuration stored with an index. */
NODISCARD enum status embed_config_parse(struct arena *a, struct str json, struct embed_config *ret, struct error *err);
/* JSON to store with an index: the configuration and the calibration. */
struct str embed_config_kept(struct arena *a, const struct embed_config *c);
/* Sets the team's settings to this configuration; inside a transaction. */
NODISCARD enum status embed_config_restore(struct txn *txn, struct arena *a, const struct embed_config *c,
                                           struct error *err);
/* True if both produce comparable vectors, as far as the settings tell. */
bool embed_config_same(const struct embed_config *x, const struct embed_config *y);
/* True if embedding is disabled: embedder = none. */
bool embed_config_off(const struct embed_config *c);
/* True for embedders on the network. */
bool embed_config_costly(const struct embed_config *c);

/* Opens the embedder. ret_name is the name of its index; embedders with different vectors get different names. `dims`:
 * number of dimensions if known, or 0 to ask the server. ret_own is the embedder if the caller must close it, or
 * NULL. */
NODISCARD enum status embed_config_open(struct arena *a, const struct embed_config *c, int dims,
                                        const struct embedder **ret_embedder, struct embedder **ret_own,
                                        char ret_name[EMBED_NAME_SIZE], struct error *err);
