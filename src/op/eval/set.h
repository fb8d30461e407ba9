/* set.h: a retrieval test set: documents, queries, judgements, and the groups of documents that queries search.
 *
 * A set is a directory with corpus.jsonl, queries.jsonl and qrels.tsv; docs/quality.md describes them. Ids only connect
 * the three files. */
#pragma once

#include "op/op.h"

struct eval_doc {
  struct str id, text;
  struct str group;
  struct str session; /* dialogue that it belongs to; absent: none */
  int64_t at;         /* its time; 0: unknown */
};

struct eval_rel {
  size_t doc;
  double score;
};

struct eval_query {
  struct str id, text, type;
  int64_t at; /* time of the query; 0: unknown */
  size_t own; /* document with the query's own id, which is removed from results; SIZE_MAX: none */
  size_t group;
  LIST(struct eval_rel) rels; /* judgements with a score above 0 */
};

/* A document of a group, by its index in the set, with its time within this group. */
struct eval_entry {
  size_t doc;
  int64_t at;
};
struct eval_group {
  struct str name;
  LIST(struct eval_entry) entries; /* oldest first if all times are known, otherwise in the order of the file */
  LIST(size_t) queries;
  int64_t newest; /* latest time of a document; 0: none is known */
};

struct eval_set {
  struct str name, path;
  LIST(struct eval_doc) docs;
  LIST(struct eval_query) queries; /* only those with a relevant document */
  size_t unjudged;                 /* queries omitted because they have no relevant document */
  LIST(struct eval_group) groups;  /* only those with a query */
};

/* Reads a set, with at most `limit` queries (0: all). Errors name the file and the line. */
NODISCARD enum status eval_set_read(struct op_call *call, struct str path, size_t limit, struct eval_set *ret_set);

/* Parses the time formats of the sets: "1:56 pm on 8 May, 2023", "2023/05/30 (Tue) 20:36", and those of time_parse().
 * UTC. */
bool eval_time(struct str s, int64_t *ret_ms);
