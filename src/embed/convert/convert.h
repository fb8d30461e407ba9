/* convert.h: conversion of a published BERT-family model to Cairn's format, from bytes to bytes. */
#pragma once

#include "embed/encoder/model_file.h"

/* Files of a model directory; p == NULL if missing. */
struct convert_files {
  struct str weights;       /* model.safetensors; required */
  struct str vocab;         /* vocab.txt; required */
  struct str config;        /* config.json: model type, heads, activation, epsilon */
  struct str tokenizer;     /* tokenizer_config.json: cased or uncased */
  struct str modules;       /* modules.json: steps after the encoder */
  struct str pooling;       /* 1_Pooling/config.json */
  struct str dense_config;  /* 2_Dense/config.json */
  struct str dense_weights; /* 2_Dense/model.safetensors: projection */
  struct str sentence;      /* sentence_bert_config.json: maximum length of a text */
  struct str prompts;       /* config_sentence_transformers.json: prefixes of queries and texts */
  struct str calibration;   /* cairn_calibration.json */
};

/* Options override the files. */
struct convert_options {
  struct str name;                       /* required; stored with each vector */
  const char *pooling;                   /* "cls", "mean", or NULL: from the files */
  int max_tokens;                        /* 0: from the files */
  int heads;                             /* 0: from the files */
  struct str query_prefix, text_prefix;  /* p == NULL: from the files */
  const struct calibration *calibration; /* NULL: from the files, else fitted (fit.h) */
};

enum {
  CONVERT_POSITIONS_MAX = 512, /* later positions of a model are dropped */
};

/* Writes the converted model into the empty buffer `ret_file`. STATUS_USAGE, with the reason, if the model is not of
 * this family or has parts that would be lost; the message names a tensor that is missing or has the wrong shape. */
NODISCARD enum status model_convert(struct arena *a, const struct convert_files *files,
                                    const struct convert_options *options, struct buf *ret_file, struct error *err);
