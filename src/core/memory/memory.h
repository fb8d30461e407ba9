/* memory.h: struct memory and the table of its fields, which drives SQL columns, JSON, snapshots, export and import.
 *
 * A new field is one member of struct memory, one line in memory.c's table and one column in a migration. */
#pragma once

#include "base/json.h"
#include "core/memory/types.h"

/* Absent text is {NULL, 0}; an absent time or number is 0. */
struct memory {
  int64_t id;
  struct str uid, team, project, kind, type, severity, key, headline, body;
  struct str delivery, skill_name, trust, state, state_reason, state_by, confidence;
  struct str status, priority, milestone, due, claimed_by, root_cause, resolution;
  struct str source, session;
  struct str body_hash; /* of a draft whose hash was computed before the write lock was taken; else absent */
  struct str suspect;   /* why the text reads like instructions to an agent (suspect.h); absent if it does not */
  bool lasts;           /* of a draft: it corrects a memory that does not age (store/memories/lifecycle.h) */
  struct str corpus;    /* "memory", or the corpus of a document (store/memories/documents.h); absent means "memory" */
  double weight;
  int64_t skill_always_on, corroborated, auto_captured, access_count, upvotes, downvotes;
  int64_t verified_at, valid_from, created_at, updated_at, expires_at, last_accessed, state_at, claimed_at;
  /* Lists: stored as separate rows. */
  struct strs tags, people, topics, action_items, domains, acceptance, skill_keywords, skill_projects;
  struct strs entity, entity_type; /* name and type of a knowledge graph entity */
};

enum field_form { FIELD_TEXT, FIELD_INT, FIELD_BOOL, FIELD_REAL, FIELD_TIME };

enum {
  FIELD_NULL = 1,    /* may be absent */
  FIELD_MUTABLE = 2, /* may change after the write; the schema forbids changing other fields */
  FIELD_LOCAL = 4,   /* local to this store: not exported */
  FIELD_COLUMN = 8,  /* only a column: never in JSON */
};

struct field {
  const char *name; /* column and JSON member */
  enum field_form form;
  unsigned flags;
  size_t offset;
};

extern const struct field memory_fields[];
extern const size_t memory_field_count;

struct list_field {
  const char *name; /* as stored and exported */
  size_t offset;
};
extern const struct list_field memory_lists[];
extern const size_t memory_list_count;

static inline void *field_at(const struct memory *m, size_t offset) { return (char *)(uintptr_t)m + offset; }
static inline struct strs *list_at(const struct memory *m, size_t i) { return field_at(m, memory_lists[i].offset); }

/* Allowed values of text fields; NULL-terminated. */
extern const char *const severities[],
    *const deliveries[], *const trusts[], *const memory_states[], *const confidences[], *const task_statuses[],
                                                                                            *const priorities[];
bool one_of(struct str value, const char *const *list);
/* "a, b, c", for messages. */
struct str one_of_text(struct arena *a, const char *const *list);

/* True for an entry of a session log: its type is a sequence and it has a session. */
bool memory_is_entry(const struct memory *m);

/* True for a text of another corpus, which only the pipeline that wrote it may change. */
bool memory_is_document(const struct memory *m);

/* True if it may reach an agent that did not ask for it: at boot, by a keyword, on a page. User text is trusted, agent
 * text unless it is suspect. Text from tools, imports and extraction is untrusted until promoted. Keep in sync with
 * SQL_TRUSTED in store/memories/memories.h. */
bool memory_is_trusted(const struct memory *m);
bool memory_is_by_person(const struct memory *m);
/* Its source, unless a person wrote it; absent then. */
struct str memory_author(const struct memory *m);

bool memory_field_equal(const struct field *f, const struct memory *x, const struct memory *y);

/* Set and clear an inactive state. State, reason, author and time always change together. */
void memory_retire(struct memory *m, const char *state, struct str reason, struct str by, int64_t at);
void memory_activate(struct memory *m);

/* Writes the fields for which (flags & all) == all and (flags & none) == 0; absent fields are left out. */
void memory_put_fields(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct memory *m, unsigned all, unsigned none);
/* Writes one field; nothing if it is absent. */
void memory_put_field(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct field *f, const struct memory *m);
void memory_put_lists(yyjson_mut_doc *doc, yyjson_mut_val *obj, const struct memory *m);
/* Reads the members that memory_put_fields() writes. null makes a field absent; missing members leave *m unchanged. */
NODISCARD enum status memory_get_fields(struct arena *a, yyjson_val *obj, struct memory *m, unsigned all, unsigned none,
                                        struct error *err);
void memory_get_lists(struct arena *a, yyjson_val *obj, struct memory *m);
/* A label without blanks around it and without the sign of its kind: '#' of a tag, '@' of a person; 0: no sign. */
struct str label_plain(struct str label, char sign);
