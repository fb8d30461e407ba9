/* admin.c: the operations stats, config, backup, restore and doctor. */
#include "base/suggest.h"
#include "op/access/roles.h"
#include "op/admin/judge.h"
#include "op/admin/upkeep.h"
#include "op/embedding/reembed.h"
#include "op/handlers.h"
#include "op/run/vault_values.h"
#include "op/telemetry/telemetry.h"
#include "op/transfer/backup.h"
#include "store/check.h"
#include "store/db/place.h"
#include "store/search/lexical.h"
#include "store/tables/settings.h"
#include "store/vectors/vectors.h"

/* ---- stats ---- */

static enum status put_numbers(struct op_call *call) {
  struct store *st = call->engine->store;
  int64_t seq, events;
  struct counts_since n;
  TRY(count_recent(st, call->caller.team, call->now - 30 * MS_PER_DAY, call->now - 7 * MS_PER_DAY, &n, call->err));
  TRY(events_last_seq(st, call->caller.team, &seq, &events, call->err));
  yyjson_mut_val *documents = yyjson_mut_obj(call->doc);
  TRY(count_documents(st, call->caller.team, call->doc, documents, call->err));
  json_put_int(call->doc, call->result, "memories", n.all);
  if (yyjson_mut_obj_size(documents))
    yyjson_mut_obj_add_val(call->doc, call->result, "documents", documents);
  json_put_int(call->doc, call->result, "last_7_days", n.since_later);
  json_put_int(call->doc, call->result, "last_30_days", n.since);
  json_put_int(call->doc, call->result, "events", events);
  json_put_int(call->doc, call->result, "last_seq", seq);
  return reembed_put_status(call, call->result);
}

enum status op_stats(struct op_call *call) {
  struct store *st = call->engine->store;
  struct str maintained;
  struct store_room room;
  TRY(store_room(st, &room, call->err));
  json_put(call->doc, call->result, "db", call_path(call, str_from(db_path(store_db(st)))));
  json_put_int(call->doc, call->result, "size_bytes", room.bytes);
  json_put_int(call->doc, call->result, "schema", store_schema_version());
  json_put(call->doc, call->result, "team", call->caller.team);
  TRY(put_numbers(call));
  TRY(count_groups(st, call->caller.team, call->arena, call->doc, call->result, call->err));
  TRY(most_corrected(st, call->caller.team, call->doc, json_put_arr(call->doc, call->result, "corrections"),
                     call->err));
  TRY(store_meta(st, maintained_name(call), call->arena, &maintained, call->err));
  json_put_opt(call->doc, call->result, "maintained_at", maintained);
  return STATUS_OK;
}

/* ---- config ---- */

static void put_file(struct op_call *call, yyjson_mut_val *obj, struct str file) {
  json_put_opt(call->doc, obj, "file", file.p ? call_path(call, file) : STR_NONE);
}

static enum status put_setting(struct op_call *call, yyjson_mut_val *obj, enum setting_id id) {
  struct setting_value v;
  TRY(setting_get(call->engine->store, call->caller.team, id, call->arena, &v, call->err));
  json_put(call->doc, obj, "name", str_from(setting_table[id].name));
  json_put(call->doc, obj, "value", v.value);
  json_put(call->doc, obj, "default", str_from(setting_table[id].fallback));
  json_put(call->doc, obj, "origin", str_from(v.origin));
  put_file(call, obj, v.file);
  if (v.line)
    json_put_int(call->doc, obj, "line", v.line);
  json_put(call->doc, obj, "environment", setting_env_name(call->arena, id));
  json_put(call->doc, obj, "help", str_from(setting_table[id].help));
  return STATUS_OK;
}

/* Says if the environment or a file overrides the value that was just stored. */
static enum status put_override(struct op_call *call, enum setting_id id) {
  struct setting_value v;
  TRY(setting_get(call->engine->store, call->caller.team, id, call->arena, &v, call->err));
  v.file = v.file.p ? call_path(call, v.file) : v.file;
  json_put_opt(call->doc, call->result, "overridden_by", setting_overridden_by(&v, id, call->arena));
  return STATUS_OK;
}

static enum status unknown_setting(struct op_call *call, struct str name) {
  struct suggest near;
  suggest_init(&near, name);
  for (int i = 0; i < SET_COUNT; i++)
    suggest_offer(&near, str_from(setting_table[i].name));
  error_set(call->err, STATUS_USAGE, "no setting '%.*s'", STR_ARG(name));
  if (near.best.p)
    return error_fix(call->err, "did you mean '%.*s'? 'cairn config' lists all", STR_ARG(near.best));
  return error_fix(call->err, "'cairn config' lists the settings");
}

static enum status bad_call(struct op_call *call, const char *why) {
  error_set(call->err, STATUS_USAGE, "config: %s", why);
  return error_fix(call->err, "cairn config NAME VALUE, or cairn config NAME --unset");
}

static enum status list_settings(struct op_call *call) {
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "settings");
  for (int i = 0; i < SET_COUNT; i++)
    TRY(put_setting(call, yyjson_mut_arr_add_obj(call->doc, arr), (enum setting_id)i));
  if (call->engine->settings)
    put_file(call, call->result, call->engine->settings->path);
  return STATUS_OK;
}

enum status op_config(struct op_call *call) {
  struct str name = json_str(call->args, "name"), value = json_str(call->args, "value");
  bool unset = json_bool(call->args, "unset", false);
  if (!name.p)
    return unset ? bad_call(call, "name the setting to unset") : list_settings(call);
  int id = setting_find(name);
  if (id < 0)
    return unknown_setting(call, name);
  if (unset && value.p)
    return bad_call(call, "a value cannot be combined with --unset");
  if (!unset && !value.p)
    return put_setting(call, call->result, (enum setting_id)id);
  struct txn txn = {0};
  TRY(operator_only(call)); /* settings choose files and servers of the machine */
  TRY(call_check_setting(call, (enum setting_id)id));
  if (value.p && setting_table[id].check)
    TRY(setting_check((enum setting_id)id, value, call->err));
  TRY(call_begin(call, &txn));
  TRY(setting_set(&txn, call->arena, (enum setting_id)id, value, call->err));
  TRY(put_setting(call, call->result, (enum setting_id)id));
  TRY(put_override(call, (enum setting_id)id));
  if (id >= SET_EMBEDDER && id <= SET_EMBEDDER_LAST)
    TRY(reembed_put_note(call, call->result));
  return call_commit(call, &txn);
}

/* ---- backup and restore ---- */

enum status op_backup(struct op_call *call) {
  struct store *st = call->engine->store;
  struct str path = json_str(call->args, "file");
  struct stat sb;
  bool own = path.p != NULL;
  if (path.p && db_is_url(arena_cstr(call->arena, path))) {
    error_set(call->err, STATUS_USAGE, "a backup must be a file, not a URL");
    return error_fix(call->err, "name a file; 'cairn migrate --to URL' copies the store to a server");
  }
  reads_flush(st);
  if (path.p && stat(arena_cstr(call->arena, path), &sb) == 0) {
    error_set(call->err, STATUS_CONFLICT, "%.*s already exists; backups do not overwrite files", STR_ARG(path));
    return error_fix(call->err, "name a new file");
  }
  if (!own)
    TRY(store_backup_path(st, call_is_by_person(call) ? "manual" : "agent", call->now, call->arena, &path, call->err));
  TRY(backup_write(call, arena_cstr(call->arena, path)));
  if (!own)
    store_tidy_backups(st, call->arena);
  return STATUS_OK;
}

/* Checks that the backup is an intact store with a schema that this version supports. */
static enum status check_backup(struct op_call *call, const char *path) {
  struct store_options o = {.path = path, .must_exist = true, .read_only = true, .now = call->now};
  struct store *st = NULL;
  struct str fault = STR("");
  enum status s = STATUS_OK;
  TRY(store_open(&o, &st, call->err));
  for (const struct named_check *c = store_checks(st); s == STATUS_OK && str_empty(fault) && c->name; c++)
    if (!str_is(str_from(c->name), "private"))
      s = c->run(st, call->arena, &fault, call->err);
  store_close(&st);
  if (s == STATUS_OK && !str_empty(fault)) {
    error_set(call->err, STATUS_CORRUPT, "%s is damaged: %.*s; nothing was changed", path, STR_ARG(fault));
    return error_fix(call->err, "name another backup");
  }
  return s;
}

enum status op_restore(struct op_call *call) {
  struct store *st = call->engine->store;
  const char *path = arena_cstr(call->arena, json_str(call->args, "file"));
  struct backup_transcripts *transcripts = arena_new(call->arena, struct backup_transcripts);
  struct restored restored;
  int64_t memories;
  TRY(check_backup(call, path));
  TRY(backup_open_transcripts(call, path, transcripts));
  if (!json_bool(call->args, "confirm", false)) {
    error_set(call->err, STATUS_CONFIRM, "restore replaces everything in %s", db_path(store_db(st)));
    return error_fix(call->err, "repeat the call with --confirm; the current content is backed up first");
  }
  TRY(store_restore(st, path, call->now, call->arena, &restored, call->err));
  TRY(count_since(st, call->caller.team, 0, &memories, call->err));
  json_put(call->doc, call->result, "file", str_from(path));
  json_put(call->doc, call->result, "safety_backup", restored.safety);
  json_put_int(call->doc, call->result, "memories", memories);
  json_put_int(call->doc, call->result, "tokens_live", restored.tokens_live);
  json_put_int(call->doc, call->result, "tokens_revoked", restored.tokens_revoked);
  json_put_int(call->doc, call->result, "grants_revoked", restored.grants_revoked);
  TRY(backup_restore_transcripts(call, transcripts));
  store_tidy_backups(st, call->arena);
  return STATUS_OK;
}

/* ---- doctor ---- */

static void put_check(struct op_call *call, yyjson_mut_val *arr, const char *name, struct str fault, const char *fix) {
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
  json_put(call->doc, v, "name", str_from(name));
  json_put_bool(call->doc, v, "ok", str_empty(fault));
  json_put(call->doc, v, "message", str_empty(fault) ? STR("fine") : fault);
  if (!str_empty(fault) && fix)
    json_put(call->doc, v, "fix", str_from(fix));
}

static enum status repair(struct op_call *call) {
  struct store *st = call->engine->store;
  TRY(db_begin(store_db(st), STR_NONE, false, call->err));
  TRY(lexical_rebuild(st, call->err));
  TRY(vec_repair(st, call->err));
  TRY(db_commit(store_db(st), call->err));
  return store_accept_loss(st, call->err);
}

static void on_texts(void *arg, int64_t done, int64_t total) { progress(arg, "texts", done, total); }

static enum status put_hashes(struct op_call *call, yyjson_mut_val *arr, bool *ok) {
  struct str fault;
  TRY(check_texts(call->engine->store, on_texts, call, call->arena, &fault, call->err));
  put_check(call, arr, "hashes", fault,
            "compare 'cairn get ID' with a backup; store the right text with 'cairn supersede ID TEXT --reason WHY', "
            "or restore the "
            "backup with 'cairn restore FILE'");
  *ok &= str_empty(fault);
  return STATUS_OK;
}

/* Pending embeddings are not a fault. */
static enum status put_embedding(struct op_call *call, yyjson_mut_val *arr) {
  yyjson_mut_val *status = yyjson_mut_obj(call->doc);
  TRY(reembed_put_status(call, status));
  yyjson_mut_val *counts = yyjson_mut_obj_get(status, "embedded"), *v = yyjson_mut_arr_add_obj(call->doc, arr);
  json_put(call->doc, v, "name", STR("embedding"));
  json_put_bool(call->doc, v, "ok", true);
  json_put(call->doc, v, "message",
           arena_printf(call->arena, "%lld of %lld chunks have a vector",
                        (long long)yyjson_mut_get_sint(yyjson_mut_obj_get(counts, "done")),
                        (long long)yyjson_mut_get_sint(yyjson_mut_obj_get(counts, "total"))));
  return STATUS_OK;
}

static enum status put_judging(struct op_call *call, yyjson_mut_val *arr) {
  int64_t left;
  TRY(judge_left(call, &left));
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
  json_put(call->doc, v, "name", STR("judging"));
  json_put_bool(call->doc, v, "ok", true);
  json_put_int(call->doc, v, "left", left);
  json_put(call->doc, v, "message",
           left ? arena_printf(call->arena, "%lld %s not been checked with the current rules", (long long)left,
                               left == 1 ? "memory has" : "memories have")
                : STR("all memories have been checked with the current rules"));
  if (left)
    json_put(call->doc, v, "fix", STR("run 'cairn maintain'"));
  return STATUS_OK;
}

/* Only the caller's team: checking needs its key. */
static enum status put_secrets(struct op_call *call, yyjson_mut_val *arr, bool *ok) {
  struct str fault, fix = STR("");
  TRY(vault_values_check(call->engine, call->caller.team, call->arena, &fault, &fix, call->err));
  put_check(call, arr, "secrets", fault, arena_cstr(call->arena, fix));
  *ok &= str_empty(fault);
  return STATUS_OK;
}

/* An interrupted restore leaves a note in the store. */
static enum status put_transcripts(struct op_call *call, yyjson_mut_val *arr, bool *ok) {
  struct str note;
  TRY(store_meta(call->engine->store, META_TRANSCRIPTS, call->arena, &note, call->err));
  if (!note.p || str_is(note, NO_TRANSCRIPTS))
    return STATUS_OK;
  put_check(call, arr, "transcripts", STR("the transcripts of the restored backup are missing"),
            "run 'cairn restore' again with that backup");
  *ok = false;
  return STATUS_OK;
}

/* Sandbox of this server. */
static void put_sandbox(struct op_call *call, yyjson_mut_val *arr) {
  const char *how = telemetry_sandbox(call->engine->telemetry);
  if (!how)
    return;
  yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
  json_put(call->doc, v, "name", STR("sandbox"));
  json_put_bool(call->doc, v, "ok", true);
  json_put(call->doc, v, "message", str_from(how));
}

enum status op_doctor(struct op_call *call) {
  struct store *st = call->engine->store;
  bool ok = true;
  if (json_bool(call->args, "fix", false))
    TRY(repair(call));
  json_put(call->doc, call->result, "db", str_from(db_path(store_db(st))));
  yyjson_mut_val *arr = yyjson_mut_arr(call->doc);
  for (const struct named_check *c = store_checks(st); c->name; c++) {
    struct str fault = STR("");
    TRY(c->run(st, call->arena, &fault, call->err));
    put_check(call, arr, c->name, fault, c->fix);
    ok &= str_empty(fault);
  }
  TRY(put_hashes(call, arr, &ok));
  TRY(put_embedding(call, arr));
  TRY(put_judging(call, arr));
  TRY(put_secrets(call, arr, &ok));
  TRY(put_transcripts(call, arr, &ok));
  put_sandbox(call, arr);
  json_put_bool(call->doc, call->result, "ok", ok);
  yyjson_mut_obj_add_val(call->doc, call->result, "checks", arr);
  return STATUS_OK;
}
