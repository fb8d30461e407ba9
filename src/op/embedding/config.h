/* config.h: the settings that an embedder is opened with: from the team's settings, as JSON beside its index, and
 * the opening itself. */
#pragma once

#include "op/run/common.h"
#include "store/tables/settings.h"

enum { EMBED_SETTINGS = SET_EMBEDDER_LAST - SET_EMBEDDER + 1, EMBED_NAME_SIZE = 128 };

struct embed_config {
  struct str v[EMBED_SETTINGS]; /* by setting, from SET_EMBEDDER on; defaults filled in */
  struct str json;              /* what differs from the defaults */
  struct str calibration;       /* what was fitted, as calibration_parse() reads it; absent: nothing */
  bool environment;             /* some of it comes from the environment, past the store */
};

static inline struct str embed_config_value(const struct embed_config *c, enum setting_id id) {
  return c->v[id - SET_EMBEDDER];
}

/* STATUS_USAGE when the environment holds a bad value. */
NODISCARD enum status embed_config_read(struct store *st, struct str team, struct arena *a, struct embed_config *ret,
                                        struct error *err);
/* What was kept beside an index. */
NODISCARD enum status embed_config_parse(struct arena *a, struct str json, struct embed_config *ret, struct error *err);
/* What to keep there: its JSON with the calibration in it. */
struct str embed_config_kept(struct arena *a, const struct embed_config *c);
/* Puts the team's settings to what they were; inside a transaction. */
NODISCARD enum status embed_config_restore(struct txn *txn, struct arena *a, const struct embed_config *c,
                                           struct error *err);
/* Whether both make vectors that can be compared, as far as the settings tell. */
bool embed_config_same(const struct embed_config *x, const struct embed_config *y);
/* No vectors at all, by choice. */
bool embed_config_off(const struct embed_config *c);
/* Whether its vectors come over the network. */
bool embed_config_costly(const struct embed_config *c);

/* Opens the embedder, and names its index in ret_name: two that make different vectors have different names. `dims`:
 * what is known of an earlier time, or 0; then a server is asked. ret_own is the
 * same one when the caller has to close it, else NULL. */
NODISCARD enum status embed_config_open(struct arena *a, const struct embed_config *c, int dims,
                                        const struct embedder **ret_embedder, struct embedder **ret_own,
                                        char ret_name[EMBED_NAME_SIZE], struct error *err);
