/* write.h: the write pipeline: secrets, gate, metadata, embedding, then one short transaction. Every operation that
 * stores a memory uses it.
 *
 * write_prepare() does everything that needs no lock (embedding takes milliseconds). write_commit() decides about
 * duplicates and stores, inside the caller's transaction. */
#pragma once

#include "base/id.h"
#include "core/gate/duplicate.h"
#include "core/gate/gate.h"
#include "core/memory/chunk.h"
#include "op/embedding/embedding.h"

/* WRITE_UPDATED: the text was stored already, and fields of that memory were changed. */
enum write_action { WRITE_STORED, WRITE_SKIPPED, WRITE_SUPERSEDED, WRITE_UPDATED, WRITE_ACTIONS };

/* A memory near the draft, as compared by near_prepare(). */
struct judged {
  int64_t id;
  bool contradicts;
};

struct write {
  /* the request */
  struct memory m; /* draft: fields as the caller gave them */
  struct str supersedes, reason, idempotency_key;
  bool soft, inherit_pin, inherit_skill, inherit_key;
  bool defer_embedding;
  bool exact; /* store the text unchanged: may hold several ideas, no duplicate check, no metadata; secrets are refused,
                 not redacted */
  bool in_parts; /* the caller calls write_index_rest() after the commit, which indexes the end of a long text */
  bool weight_given;
  bool keep_both;                 /* near matches neither block it nor get superseded */
  bool keep_fields;               /* if the text is stored already, its fields stay as they are */
  uint64_t given;                 /* fields that the caller gave: bits of restate.c; 0: not written from arguments */
  bool args_clean;                /* op_run() found no secret in the arguments that the draft was read from */
  char args_hash[HASH_TEXT_SIZE]; /* of the arguments besides the idempotency key; "" without one */
  struct strs links, distinct_from, blocked_by;
  const struct write *after; /* previous accepted write of the batch, not stored yet; or NULL */

  /* the result */
  const struct write *context; /* write of the same batch whose end was embedded with this one; or NULL */
  struct warnings warnings;
  enum write_action action;
  int64_t id; /* of the stored or the existing memory */
  struct str uid, headline;
  int64_t old_id; /* superseded or shadowed memory */
  bool shadow;
  double similarity;        /* to the memory that decided the action; 0: none */
  const struct memory *met; /* the existing duplicate, or NULL */
  bool same_text;           /* it has the same text, not only the same meaning */
  bool restates;            /* the superseded memory says the same, with less detail or other fields */
  yyjson_mut_val *changed;  /* fields that a restated text has changed, as `was` and `is`; or NULL */
  int64_t redacted;         /* number of redacted secrets */
  bool got_pin, got_skill, got_key, embedded;
  struct str replay; /* JSON result of an earlier call with the same idempotency key */

  /* from write_prepare() to write_commit() */
  struct chunks parts; /* chunks of the body */
  struct embeddings set;
  int8_t *vectors[2]; /* one array for each embedding of the set; NULL if it failed */
  size_t chunks_late; /* chunks at the end of the body that background work embeds */
  LIST(struct judged) judged;
  struct similars near; /* near memories that the caller was warned about */
};

/* Reads the arguments of remember, supersede and task add. */
NODISCARD enum status write_from_args(struct op_call *call, yyjson_val *args, struct write *ret_write);
/* Trust of stored text: the caller's, or lower if the argument `origin` says so. */
struct str args_trust(const struct op_call *call, yyjson_val *args);
NODISCARD enum status write_prepare(struct op_call *call, struct write *w);
NODISCARD enum status write_commit(struct op_call *call, struct txn *txn, struct write *w);
/* write_commit() inside a savepoint: a refused write leaves nothing behind in the transaction. */
NODISCARD enum status write_try(struct op_call *call, struct txn *txn, struct write *w);
/* The embedding that judges duplicates: the active one, else the one being built; NULL if the text has no vector.
 * *ret_vector (may be NULL) is the vector of the first chunk. */
const struct embedding *write_duplicate_embedding(const struct write *w, const int8_t **ret_vector);
/* After the commit: indexes the chunks that write_commit() left out. It cannot fail: background work and maintenance
 * index what is missing. */
void write_index_rest(struct op_call *call, const struct write *w);
/* Indexes the rest of the team's long texts whose writer was stopped. */
NODISCARD enum status write_index_pending(struct op_call *call);
/* Writes the result object: id, uid, action, warnings, ... */
void write_result(struct op_call *call, yyjson_mut_val *obj, const struct write *w);
/* Prepare, begin, commit; the result goes into call->result. */
NODISCARD enum status write_run(struct op_call *call, struct write *w);

/* Cleans the labels in arguments. Another system's tools get theirs back as given, apart from blanks around them. */
void labels_clean(const struct op_call *call, struct memory *m);

/* A write of a batch. */
struct draft {
  struct write w;
  struct error err; /* code STATUS_OK if it can be written */
};
struct drafts {
  struct draft *v;
  size_t n, cap;
};
/* Writes them through the gate. Those that have an error already, and refused ones, are listed with the reason. Many
 * drafts are several parts of one change (txn_next_part()). The result gets `stored`, `skipped`, `refused`, `memories`,
 * and `txn`, whose undo undoes all parts. `what` names the work for progress reports. */
NODISCARD enum status write_drafts(struct op_call *call, struct drafts *list, const char *what);
