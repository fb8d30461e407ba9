/* set.h: a test set of retrieval: documents, queries, judgements, and the groups within which a query searches.
 *
 * A set is a folder with corpus.jsonl, queries.jsonl and qrels.tsv; docs/quality.md describes them. Ids tie the three
 * together and are used for nothing else. */
#pragma once

#include "op/op.h"

struct eval_doc {
  struct str id, text;
  struct str group;
  struct str session; /* of the dialogue that it is an entry of; absent where it is none */
  int64_t at;         /* when it was said; 0: unknown */
};

struct eval_rel {
  size_t doc;
  double score;
};

struct eval_query {
  struct str id, text, type;
  int64_t at; /* when it was asked; 0: unknown */
  size_t own; /* the document with the query's own id, which never counts as a result; SIZE_MAX: none */
  size_t group;
  LIST(struct eval_rel) rels; /* of a score above 0 */
};

/* What a query searches: documents by their place in the set, with the times that hold within this group. */
struct eval_entry {
  size_t doc;
  int64_t at;
};
struct eval_group {
  struct str name;
  LIST(struct eval_entry) entries; /* oldest first where times are known, in the order of the file where they are not */
  LIST(size_t) queries;
  int64_t newest; /* of the documents' times; 0: none is known */
};

struct eval_set {
  struct str name, path;
  LIST(struct eval_doc) docs;
  LIST(struct eval_query) queries; /* those with a relevant document */
  size_t unjudged;                 /* queries that were left out, because nothing is relevant to them */
  LIST(struct eval_group) groups;  /* those with a query */
};

/* Reads a set; every error names the file and the line. At most `limit` queries are taken (0: all). */
NODISCARD enum status eval_set_read(struct op_call *call, struct str path, size_t limit, struct eval_set *ret_set);

/* The times that the sets are written with: "1:56 pm on 8 May, 2023", "2023/05/30 (Tue) 20:36", and what time_parse()
 * takes. UTC. */
bool eval_time(struct str s, int64_t *ret_ms);
