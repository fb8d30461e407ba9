/* config.h: validated configuration of a model, from its JSON files. Used only by convert.c. */
#pragma once

#include "embed/convert/convert.h"

struct convert_config {
  int heads;
  int layers; /* 0: not given */
  enum model_activation activation;
  float norm_eps;
  enum model_pooling pooling;
  int max_tokens; /* 0: not given */
  bool dense;     /* a projection follows the pooling */
  struct str query_prefix, text_prefix;
  struct calibration calibration; /* n == 0: not given */
};

NODISCARD enum status convert_config_read(struct arena *a, const struct convert_files *files,
                                          const struct convert_options *options, struct convert_config *ret_config,
                                          struct error *err);

/* Sets the error "this model cannot be converted: ...", with the supported models as its fix. */
enum status convert_refuse(struct error *err, const char *fmt, ...) PRINTF_FMT(2, 3);
