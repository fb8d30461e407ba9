/* team.c: lists the teams of the store, and deletes a team with all its data. */
#include "core/gate/gate.h"
#include "file/team_files.h"
#include "op/access/roles.h"
#include "op/handlers.h"
#include "op/run/common.h"
#include "store/tables/events.h"
#include "store/tables/teams.h"

/* ---- list ---- */

static enum status list_teams(struct op_call *call) {
  struct team_infos list = {0};
  char time[TIME_TEXT_SIZE];
  TRY(teams_list(call->engine->store, call->arena, &list, call->err));
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "teams");
  for (size_t i = 0; i < list.n; i++) {
    yyjson_mut_val *team = yyjson_mut_arr_add_obj(call->doc, arr);
    json_put(call->doc, team, "team", list.v[i].name);
    json_put_int(call->doc, team, "memories", list.v[i].memories);
    if (list.v[i].changed_at)
      json_put(call->doc, team, "changed_at", time_format(list.v[i].changed_at, time));
  }
  json_put_int(call->doc, call->result, "count", (int64_t)list.n);
  return STATUS_OK;
}

static void put_rows(struct op_call *call, yyjson_mut_val *obj, struct str json) {
  yyjson_val *rows;
  struct error ignored;
  if (json_read(call->arena, json, &rows, &ignored) == STATUS_OK)
    yyjson_mut_obj_add_val(call->doc, obj, "rows", yyjson_val_mut_copy(call->doc, rows));
}

static enum status list_receipts(struct op_call *call) {
  struct team_receipts list = {0};
  char time[TIME_TEXT_SIZE];
  TRY(team_receipts(call->engine->store, call->arena, &list, call->err));
  yyjson_mut_val *arr = json_put_arr(call->doc, call->result, "removed");
  for (size_t i = 0; i < list.n; i++) {
    yyjson_mut_val *receipt = yyjson_mut_arr_add_obj(call->doc, arr);
    json_put(call->doc, receipt, "team", list.v[i].team);
    json_put(call->doc, receipt, "at", time_format(list.v[i].at, time));
    json_put(call->doc, receipt, "by", list.v[i].by);
    put_rows(call, receipt, list.v[i].counts);
  }
  json_put_int(call->doc, call->result, "count", (int64_t)list.n);
  return STATUS_OK;
}

/* Lifts row-level isolation by team, for a person. */
static enum status enter_all_teams(struct op_call *call) {
  TRY(operator_person(call));
  return db_team(store_db(call->engine->store), STR_NONE, call->err);
}

enum status op_team_list(struct op_call *call) {
  TRY(enter_all_teams(call));
  return json_bool(call->args, "removed", false) ? list_receipts(call) : list_teams(call);
}

/* ---- delete ---- */

/* Lists the automatic backups that hold the team, or that cannot be read. Other backups are unknown to the store. */
static void put_backups(struct op_call *call, struct str team) {
  struct strs all = {0}, holding = {0};
  store_list_backups(call->engine->store, call->arena, &all);
  for (size_t i = 0; i < all.n; i++) {
    struct error ignored;
    bool holds = true;
    if (team_in_backup(all.v[i].p, team, &holds, &ignored) != STATUS_OK || holds)
      strs_push(call->arena, &holding, all.v[i]);
  }
  json_put_strs(call->doc, call->result, "backups", &holding);
}

static enum status unknown_team(struct op_call *call, struct str team) {
  error_set(call->err, STATUS_NOT_FOUND, "there is no team '%.*s' in this store", STR_ARG(team));
  return error_fix(call->err, "'cairn team list' lists the teams");
}

static struct str format_counts(struct arena *a, const struct team_rows *rows) {
  struct buf b = BUF(a);
  for (size_t i = 0; store_tables[i].name; i++)
    if (rows->of[i])
      buf_addf(&b, "%s%s %lld", b.n ? ", " : "", store_tables[i].name, (long long)rows->of[i]);
  return buf_str(&b);
}

static enum status require_name(struct op_call *call, struct str team, const struct team_rows *rows,
                                const struct team_files *files) {
  error_set(call->err, STATUS_CONFIRM,
            "this permanently deletes team '%.*s': %lld row%s (%.*s) and %lld file%s; it cannot be undone",
            STR_ARG(team), (long long)rows->total, rows->total == 1 ? "" : "s",
            STR_ARG(format_counts(call->arena, rows)), (long long)files->files, files->files == 1 ? "" : "s");
  return error_fix(call->err, "repeat the call with --confirm %.*s; 'cairn backup' makes a copy first", STR_ARG(team));
}

static void put_receipt(struct op_call *call, struct str team, const struct team_rows *rows, int64_t removed,
                        const struct team_files *files, bool emptied) {
  char time[TIME_TEXT_SIZE];
  json_put(call->doc, call->result, "team", team);
  json_put(call->doc, call->result, "at", time_format(call->now, time));
  json_put(call->doc, call->result, "by", call->caller.source);
  put_rows(call, call->result, team_rows_json(call->arena, rows));
  json_put_int(call->doc, call->result, "total", rows->total);
  json_put_int(call->doc, call->result, "files_removed", removed);
  json_put_strs(call->doc, call->result, "files_left", &files->left);
  json_put_bool(call->doc, call->result, "log_emptied", emptied);
  put_backups(call, team);
}

/* Flushes queued reads first, so they do not create the team again. Writes of other processes do. */
enum status op_team_delete(struct op_call *call) {
  struct store *st = call->engine->store;
  struct str team = json_str(call->args, "name"), typed = json_str(call->args, "confirm");
  struct team_rows rows;
  struct team_files files;
  bool emptied = false;
  int64_t removed = 0;
  reads_flush(st);
  TRY(enter_all_teams(call));
  TRY(gate_check_team(team, call->err));
  TRY(team_count(st, team, call->arena, &rows, call->err));
  TRY(team_files_find(st, team, call->now, call->arena, &files, call->err));
  if (rows.total == 0 && files.files == 0)
    TRY(unknown_team(call, team));
  if (!str_eq(typed, team))
    TRY(require_name(call, team, &rows, &files));
  TRY(team_delete(st, team, call->caller.source, call->now, call->arena, &rows, call->err));
  TRY(db_checkpoint(store_db(st), true, &emptied, call->err));
  TRY(team_files_remove(&files, &removed, call->err));
  if (str_eq(team, call->caller.team))
    call->caller.team = STR_NONE; /* recording this call must not create the team again */
  put_receipt(call, team, &rows, removed, &files, emptied && db_engine(store_db(st)) == DB_SQLITE);
  return STATUS_OK;
}
