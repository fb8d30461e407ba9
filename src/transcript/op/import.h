/* import.h: state of a running import of transcripts of Claude Code and Codex. */
#pragma once

#include "transcript/file/import_files.h"
#include "transcript/op/transcript.h"

enum { IMPORT_PROBLEMS = 100 }; /* maximum listed; the rest is only counted */

/* A project that receives sessions. */
struct import_target {
  struct str project;
  struct transcripts folder;
  int64_t messages, bytes;
};

struct import_run {
  struct op_call *call;
  struct str folder; /* of imports.json */
  struct import_states states;
  LIST(struct import_target) targets;
  struct strs sessions; /* sessions that received messages */
  bool changed;         /* the states have changed */
  int64_t files, unchanged, unknown, torn, messages, already, redacted, problems;
  int64_t indexed;
  struct str not_indexed; /* reason; absent if indexing succeeded */
  int64_t skipped[IMPORT_SKIP_COUNT];
  yyjson_mut_val *failed;
};

/* True if the caller chose the project for all sessions. */
static inline bool import_has_project(const struct op_call *call) {
  return call->caller.project_given || json_str(call->args, "scope").p;
}

/* Imports the new lines of a file. Problems of this file are recorded in the run and are not errors. */
NODISCARD enum status import_read_file(struct import_run *r, const struct import_path *path);
