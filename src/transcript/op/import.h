/* import.h: an import of other programs' transcripts that is under way. */
#pragma once

#include "transcript/file/import_files.h"
#include "transcript/op/transcript.h"

enum { IMPORT_PROBLEMS = 100 }; /* that are listed; the rest is counted */

/* A project that sessions go to. */
struct import_target {
  struct str project;
  struct transcripts folder;
  int64_t messages, bytes;
};

struct import_run {
  struct op_call *call;
  struct str notes; /* the folder of imports.json */
  struct import_marks marks;
  LIST(struct import_target) targets;
  struct strs sessions; /* that got messages */
  bool noted;           /* the marks have changed */
  int64_t files, unchanged, unknown, torn, messages, already, redacted, problems;
  int64_t indexed;
  struct str not_indexed; /* why */
  int64_t skipped[IMPORT_SKIP_COUNT];
  yyjson_mut_val *failed;
};

/* Did the caller choose where everything goes? */
static inline bool import_chosen(const struct op_call *call) {
  return call->caller.project_given || json_str(call->args, "scope").p;
}

/* Reads what is new in a file. What is wrong with the file alone is noted in the run, and is no failure. */
NODISCARD enum status import_read_file(struct import_run *r, const struct import_path *path);
