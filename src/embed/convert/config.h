/* config.h: what a model's JSON files say about it, checked; for convert.c alone. */
#pragma once

#include "embed/convert/convert.h"

struct convert_config {
  int heads;
  int layers; /* 0: not said */
  enum model_activation activation;
  float norm_eps;
  enum model_pooling pooling;
  int max_tokens; /* 0: not said */
  bool dense;     /* a projection follows the pooling */
  struct str query_prefix, text_prefix;
  struct calibration calibration; /* n == 0: not said; cosines are then taken as they are */
};

NODISCARD enum status convert_config_read(struct arena *a, const struct convert_files *files,
                                          const struct convert_options *options, struct convert_config *ret_config,
                                          struct error *err);

/* "this model cannot be converted: ...", and what can be. */
enum status convert_refuse(struct error *err, const char *fmt, ...) PRINTF_FMT(2, 3);
