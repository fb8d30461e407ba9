/* write.h: the write pipeline: secrets, gate, metadata, embedding, then one short transaction. Every door and every
 * operation that stores a memory comes through here.
 *
 * Two halves: write_prepare() does all that needs no lock (embedding costs milliseconds), write_commit() decides about
 * duplicates and stores, inside a transaction that the caller holds. */
#pragma once

#include "core/gate/duplicate.h"
#include "core/gate/gate.h"
#include "core/memory/chunk.h"
#include "op/embedding/embedding.h"

enum write_action { WRITE_STORED, WRITE_SKIPPED, WRITE_SUPERSEDED };

struct write {
  /* what is asked for */
  struct memory m; /* a draft: fields as the caller gave them */
  struct str supersedes, reason, idempotency_key;
  bool soft, inherit_pin, inherit_skill, inherit_key;
  bool defer_embedding;
  bool exact; /* the text is kept as it is: no one idea, no duplicates, no metadata; a secret is always refused */
  bool weight_given;
  bool keep_both; /* what is close neither refuses it nor is replaced by it */
  struct strs links, distinct_from, blocked_by;
  const struct write *after; /* the write before it in a batch that is good, and not stored yet; or NULL */

  /* what came of it */
  const struct write *context; /* of the same batch: it was embedded with the end of that one; or NULL */
  struct warnings warnings;
  enum write_action action;
  int64_t id; /* of the stored, or of the existing memory */
  struct str uid, headline;
  int64_t old_id; /* what was superseded or shadowed */
  bool shadow;
  double similarity;  /* to the memory that decided, when there was one */
  bool met_untrusted; /* nobody vouches for the memory that says the same already */
  int64_t redacted;   /* secrets taken out */
  bool got_pin, got_skill, got_key, embedded;
  struct str replay; /* JSON of an earlier call with the same idempotency key */

  /* between the halves */
  struct str *chunk_texts;
  size_t chunk_count;
  struct embeddings set;
  int8_t *vectors[2];   /* by each of the set; NULL where it failed */
  struct similars near; /* what it was warned about */
};

/* Reads the arguments of remember, supersede and task add. */
NODISCARD enum status write_from_args(struct op_call *call, yyjson_val *args, struct write *ret_write);
/* The provenance of what a call stores: the caller's, or a lower one that the argument `origin` admits. */
struct str trust_of_args(const struct op_call *call, yyjson_val *args);
NODISCARD enum status write_prepare(struct op_call *call, struct write *w);
NODISCARD enum status write_commit(struct op_call *call, struct txn *txn, struct write *w);
/* The same for one of several writes in a transaction: one that is refused leaves nothing behind. */
NODISCARD enum status write_try(struct op_call *call, struct txn *txn, struct write *w);
/* The embedding that judges duplicates, with the vector of the text's beginning: the active one, else the one that is
 * being built; NULL when the text has no vector. */
const struct embedding *write_judge(const struct write *w, const int8_t **ret_vector);
/* The result object of the contract: id, uid, action, warnings, ... */
void write_result(struct op_call *call, yyjson_mut_val *obj, const struct write *w);
/* prepare, begin, commit, and the result into call->result. */
NODISCARD enum status write_run(struct op_call *call, struct write *w);
