/* output.c: files outside of the agent's folder that an operation writes again and again, such as items.json. */
#include "op/files/output.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/id.h"
#include "base/os/fs.h"
#include "file/place.h"

enum { OUTPUT_BYTES = 256 << 20 };

/* The note in the agent's folder that holds the hash of what was last written to a file outside of it. */
static enum status note_of(struct op_call *call, struct str out, struct str *ret_note) {
  char real[PATH_MAX], hash[HASH_TEXT_SIZE];
  struct str folder;
  hash_text(realpath(arena_cstr(call->arena, out), real) ? str_from(real) : out, hash);
  TRY(agent_folder(call->engine->store, call->caller.team, call->caller.project, call->arena, &folder, call->err));
  *ret_note = arena_printf(call->arena, "%.*s/outputs/%.16s", STR_ARG(folder), hash);
  return STATUS_OK;
}

enum status output_check(struct op_call *call, struct str out) {
  struct arena *a = call->arena;
  struct str text, was = STR_NONE, note;
  char hash[HASH_TEXT_SIZE];
  struct error ignored;
  if (json_bool(call->args, "force", false) || access(arena_cstr(a, out), F_OK) != 0)
    return STATUS_OK;
  TRY(note_of(call, out, &note));
  TRY(fs_read(a, arena_cstr(a, out), OUTPUT_BYTES, &text, call->err));
  hash_text(text, hash);
  if (fs_read(a, note.p, sizeof(hash), &was, &ignored) == STATUS_OK && str_is(str_trim(was), hash))
    return STATUS_OK;
  error_set(call->err, STATUS_CONFLICT, "%.*s exists, and is not what this project wrote there last", STR_ARG(out));
  return error_fix(call->err, "name another file, or replace this one with --force");
}

enum status output_note(struct op_call *call, struct str out, struct str text) {
  struct str note;
  char hash[HASH_TEXT_SIZE];
  hash_text(text, hash);
  TRY(note_of(call, out, &note));
  TRY(fs_mkdirs(arena_cstr(call->arena, fs_dirname(note)), call->err));
  return fs_write(note.p, str_from(hash), 0600, call->err);
}
