/* convert.h: conversion between the structures of cairn.h and the JSON of operations. */
#pragma once

#include "lib/handle.h"

/* ---- structures to arguments ---- */

enum form { FORM_TEXT, FORM_LIST, FORM_NUMBER, FORM_INT, FORM_BOOL };

/* Member of a structure and its argument name. Zero members are omitted. */
struct member {
  const char *name;
  enum form form;
  size_t offset;
};

/* Arguments under construction. After the first failure, further calls do nothing. */
struct args {
  struct lib_call *call;
  yyjson_mut_doc *doc;
  yyjson_mut_val *root;
  enum status status;
};

struct args args_new(struct lib_call *call);
void args_string(struct args *a, const char *name, struct str text);       /* omitted if absent */
void args_list(struct args *a, const char *name, const char *const *list); /* NULL-terminated; omitted if NULL */
void args_int(struct args *a, const char *name, int64_t value);
void args_members(struct args *a, const struct member *list, size_t n, const void *structure);
/* Adds arguments without a member, from a JSON object; may be NULL. */
void args_more(struct args *a, const char *more);
/* Runs the operation and parses its result into call->result. Strings in it are NUL-terminated. */
NODISCARD enum status args_run(struct args *a, const char *operation, struct str *ret_json, yyjson_val **ret_root);

/* Error for a structure that lib_copy_sized() rejects. */
enum status newer_structure(struct lib_call *c, const char *name);

/* ---- JSON to structures ---- */

const char *text_of(yyjson_val *obj, const char *name);                            /* NULL if missing */
int64_t time_of(yyjson_val *obj, const char *name);                                /* milliseconds; 0 if missing */
const char *const *list_of(struct lib_call *c, yyjson_val *obj, const char *name); /* NULL-terminated */
