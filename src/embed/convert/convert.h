/* convert.h: a BERT-family model as its makers publish it, into Cairn's own form. Bytes in, bytes out. */
#pragma once

#include "embed/encoder/model_file.h"

/* The files of a model's folder; p == NULL for one that is not there. */
struct convert_files {
  struct str weights;       /* model.safetensors; required */
  struct str vocab;         /* vocab.txt; required */
  struct str config;        /* config.json: heads, activation, epsilon, and whether it is BERT at all */
  struct str tokenizer;     /* tokenizer_config.json: whether it is uncased */
  struct str modules;       /* modules.json: the steps behind the encoder */
  struct str pooling;       /* 1_Pooling/config.json */
  struct str dense_config;  /* 2_Dense/config.json */
  struct str dense_weights; /* 2_Dense/model.safetensors: a projection */
  struct str sentence;      /* sentence_bert_config.json: the length of a text */
  struct str prompts;       /* config_sentence_transformers.json: what goes before a question and a text */
  struct str calibration;   /* cairn_calibration.json: what its cosines mean on Cairn's scale */
};

/* What the caller says goes before what the files say. */
struct convert_options {
  struct str name;                       /* required: what is stored beside vectors */
  const char *pooling;                   /* "cls" or "mean"; NULL: as the files say */
  int max_tokens;                        /* 0: as the files say */
  int heads;                             /* 0: as the files say */
  struct str query_prefix, text_prefix;  /* p == NULL: as the files say */
  const struct calibration *calibration; /* NULL: as the files say, else fitted, see fit.h */
};

enum {
  CONVERT_POSITIONS_MAX = 512, /* further positions of a model are left out */
};

/* The model in Cairn's form, in the empty buffer `ret_file`. STATUS_USAGE, with the reason, for what is no model of
 * this family or has parts that would be lost; a tensor that is missing or has another shape is named. */
NODISCARD enum status model_convert(struct arena *a, const struct convert_files *files,
                                    const struct convert_options *options, struct buf *ret_file, struct error *err);
