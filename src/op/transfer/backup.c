/* backup.c: backups of a store with its transcripts: write, check, restore. */
#include "op/transfer/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/fs.h"
#include "file/place.h"

static int64_t file_size(const char *path) {
  struct stat sb;
  return stat(path, &sb) == 0 ? (int64_t)sb.st_size : 0;
}

static void close_tar(void *arg) {
  struct tar *t = arg;
  if (t->fd >= 0)
    close(t->fd);
  t->fd = -1;
}

/* ---- writing ---- */

/* A backup in progress; its temporary files are removed if it fails. */
struct making {
  const char *path, *archive;      /* final names */
  const char *part, *archive_part; /* temporary names */
  bool archived;                   /* the archive has its final name */
  bool done;
  struct tar tar;
  struct transcript_pack pack;
};

static void cleanup(void *arg) {
  struct making *m = arg;
  close_tar(&m->tar);
  if (m->done)
    return;
  unlink(m->part);
  unlink(m->archived ? m->archive : m->archive_part);
}

static void on_pages(void *arg, int64_t done, int64_t total) { progress(arg, "backup", done, total); }

static enum status write_archive(struct op_call *call, struct making *m) {
  m->tar = (struct tar){.name = m->archive, .now = call->now};
  m->tar.fd = open(m->archive_part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (m->tar.fd < 0)
    return error_errno(call->err, errno, "cannot create '%s'", m->archive_part);
  enum status s = transcripts_pack(call->engine->store, &m->tar, call->arena, &m->pack, call->err);
  if (s == STATUS_OK && fsync(m->tar.fd) != 0)
    s = error_errno(call->err, errno, "cannot write '%s'", m->archive_part);
  close_tar(&m->tar);
  return s;
}

static enum status refuse_existing(struct op_call *call, const char *path) {
  error_set(call->err, STATUS_CONFLICT, "%s already exists; a backup does not overwrite files", path);
  return error_fix(call->err, "name a new file");
}

/* Never replaces a file that was created meanwhile. On file systems without RENAME_NOREPLACE a short race remains. */
static enum status name_file(struct op_call *call, const char *part, const char *path) {
  if (renameat2(AT_FDCWD, part, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
    return STATUS_OK;
  if (errno == EINVAL || errno == ENOSYS) {
    if (access(path, F_OK) == 0)
      errno = EEXIST;
    else if (rename(part, path) == 0)
      return STATUS_OK;
  }
  return errno == EEXIST ? refuse_existing(call, path)
                         : error_errno(call->err, errno, "cannot name the backup '%s'", path);
}

/* The archive gets its name first, so a backup never lacks its archive. Without transcripts there is no archive.
 */
static enum status name_files(struct op_call *call, struct making *m) {
  bool any = m->pack.files > 0;
  TRY(store_set_backup_note(m->part, any ? str_from(m->pack.id) : STR(NO_TRANSCRIPTS), call->err));
  if (any)
    TRY(name_file(call, m->archive_part, m->archive));
  else
    unlink(m->archive_part);
  m->archived = any;
  if (access(m->path, F_OK) != 0)
    store_remove_mark(m->path);
  TRY(name_file(call, m->part, m->path));
  m->done = true;
  const char *folder = arena_cstr(call->arena, fs_dirname(str_from(m->path)));
  return fs_sync_dir(folder) ? STATUS_OK : error_errno(call->err, errno, "cannot sync the folder '%s'", folder);
}

static void put_made(struct op_call *call, const struct making *m) {
  json_put(call->doc, call->result, "file", str_from(m->path));
  json_put_int(call->doc, call->result, "bytes", file_size(m->path));
  yyjson_mut_val *t = json_put_obj(call->doc, call->result, "transcripts");
  json_put_int(call->doc, t, "sessions", m->pack.sessions);
  if (m->archived) {
    json_put(call->doc, t, "file", str_from(m->archive));
    json_put_int(call->doc, t, "bytes", file_size(m->archive));
  }
}

enum status backup_write(struct op_call *call, const char *path) {
  struct store *st = call->engine->store;
  struct making *m = arena_new(call->arena, struct making);
  char id[UUID_SIZE];
  uuid7_new(call->now, id);
  const char *salt = id + 24; /* random, so leftovers of a killed backup do not clash */
  m->path = path;
  m->archive = arena_printf(call->arena, "%s" BACKUP_TRANSCRIPTS, path).p;
  m->part = arena_printf(call->arena, "%s.%s.part", path, salt).p;
  m->archive_part = arena_printf(call->arena, "%s.%s.part", m->archive, salt).p;
  m->tar.fd = -1;
  if (access(m->archive, F_OK) == 0)
    return refuse_existing(call, m->archive);
  arena_defer(call->arena, cleanup, m);
  TRY(store_copy_to(st, m->part, on_pages, call, call->err));
  TRY(db_team(store_db(st), STR_NONE, call->err)); /* all teams */
  TRY(write_archive(call, m));
  TRY(name_files(call, m));
  put_made(call, m);
  return STATUS_OK;
}

/* ---- restoring ---- */

static enum status refuse_archive(struct op_call *call, const char *archive, const char *why) {
  error_set(call->err, STATUS_NOT_FOUND, "the transcripts of this backup are in %s, which %s; nothing was changed",
            archive, why);
  return error_fix(call->err, "put it there, or repeat the call with --without-transcripts to restore everything else");
}

static enum status refuse_damaged(struct op_call *call) {
  struct error why = *call->err;
  error_set(call->err, why.code, "%s; nothing was changed", why.message);
  return error_fix(call->err, "name another backup, or repeat the call with --without-transcripts");
}

static enum status check_archive(struct op_call *call, struct str note, struct backup_transcripts *t) {
  t->tar.fd = open(t->tar.name, O_RDONLY | O_CLOEXEC);
  if (t->tar.fd < 0)
    return refuse_archive(call, t->tar.name, errno == ENOENT ? "does not exist" : "cannot be opened");
  arena_defer(call->arena, close_tar, &t->tar);
  enum status s = transcripts_check_pack(&t->tar, call->arena, &t->sessions, call->err);
  if (s == STATUS_CORRUPT)
    return refuse_damaged(call);
  TRY(s);
  if (!str_is(note, t->sessions.id))
    return refuse_archive(call, t->tar.name, "belongs to another backup");
  t->any = true;
  return STATUS_OK;
}

enum status backup_open_transcripts(struct op_call *call, const char *path,
                                    struct backup_transcripts *ret_transcripts) {
  struct backup_transcripts *t = ret_transcripts;
  struct str note = STR_NONE;
  *t = (struct backup_transcripts){.skipped = json_bool(call->args, "without_transcripts", false)};
  t->tar = (struct tar){.fd = -1, .name = arena_printf(call->arena, "%s" BACKUP_TRANSCRIPTS, path).p};
  TRY(store_get_backup_note(path, call->arena, &note, call->err));
  t->noted = note.p != NULL;
  if (t->skipped || !note.p || str_is(note, NO_TRANSCRIPTS))
    return STATUS_OK;
  return check_archive(call, note, t);
}

static void put_unpacked(struct op_call *call, yyjson_mut_val *obj, const struct transcripts_unpacked *done) {
  json_put_int(call->doc, obj, "restored", done->restored);
  json_put_int(call->doc, obj, "extended", done->extended);
  json_put_int(call->doc, obj, "kept", done->kept);
  yyjson_mut_val *arr = json_put_arr(call->doc, obj, "diverged");
  for (size_t i = 0; i < done->diverged.n; i++) {
    const struct diverged *d = &done->diverged.v[i];
    yyjson_mut_val *v = yyjson_mut_arr_add_obj(call->doc, arr);
    json_put(call->doc, v, "team", d->team);
    json_put(call->doc, v, "agent", d->agent);
    json_put(call->doc, v, "session", d->session);
    json_put(call->doc, v, "kept_as", d->kept_as);
  }
}

/* The store is restored by now, and the call can be repeated. */
static enum status explain_restore(struct op_call *call) {
  struct error why = *call->err;
  error_set(call->err, why.code, "the store is restored, but not yet its transcripts: %s", why.message);
  return error_fix(call->err, "fix that and repeat the call: it continues with the missing transcripts");
}

static enum status unpack(struct op_call *call, const struct backup_transcripts *t,
                          struct transcripts_unpacked *ret_done) {
  struct store *st = call->engine->store;
  if (t->any) {
    TRY(db_team(store_db(st), STR_NONE, call->err));
    TRY(transcripts_unpack(st, &t->sessions, call->now, call->arena, ret_done, call->err));
  }
  return store_clear_transcript_note(st, call->err);
}

enum status backup_restore_transcripts(struct op_call *call, const struct backup_transcripts *t) {
  struct transcripts_unpacked done = {0};
  if (unpack(call, t, &done) != STATUS_OK)
    return explain_restore(call);
  yyjson_mut_val *obj = json_put_obj(call->doc, call->result, "transcripts");
  json_put_bool(call->doc, obj, "in_backup", t->noted);
  if (t->skipped)
    json_put_bool(call->doc, obj, "left_out", true);
  else if (t->noted)
    put_unpacked(call, obj, &done);
  return STATUS_OK;
}

/* ---- migrating ---- */

/* Folder that contains the folders of the store's teams. */
static enum status files_folder(struct op_call *call, struct store *st, const char **ret_folder, struct error *err) {
  struct str admin;
  TRY(agent_folder(st, call->caller.team, STR(""), call->arena, &admin, err));
  *ret_folder = arena_cstr(call->arena, fs_dirname(fs_dirname(admin)));
  return STATUS_OK;
}

/* Opens an unnamed file in the target's folder. */
static enum status open_temporary(struct op_call *call, struct store *to, struct tar *t) {
  const char *folder;
  TRY(files_folder(call, to, &folder, call->err));
  TRY(fs_mkdirs(folder, call->err));
  char *path = arena_cstr(call->arena, arena_printf(call->arena, "%s/.transcripts.XXXXXX", folder));
  t->name = path;
  t->fd = mkostemp(path, O_CLOEXEC);
  if (t->fd < 0)
    return error_errno(call->err, errno, "cannot create '%s'", path);
  unlink(path);
  return STATUS_OK;
}

static enum status move_all(struct op_call *call, struct store *from, struct store *to, struct tar *t,
                            struct transcripts_unpacked *ret_done) {
  struct transcript_pack pack;
  struct unpacking sessions;
  TRY(open_temporary(call, to, t));
  TRY(db_team(store_db(from), STR_NONE, call->err));
  TRY(db_team(store_db(to), STR_NONE, call->err));
  TRY(transcripts_pack(from, t, call->arena, &pack, call->err));
  t->at = 0;
  TRY(transcripts_check_pack(t, call->arena, &sessions, call->err));
  return transcripts_unpack(to, &sessions, call->now, call->arena, ret_done, call->err);
}

/* Repeating the call may not help: a target that is in use is not filled again. */
static enum status explain_move(struct op_call *call, struct store *from, struct store *to) {
  struct error why = *call->err, ignored;
  const char *old, *new;
  error_set(call->err, why.code, "the store was migrated, but its transcripts were not and stay where they are: %s",
            why.message);
  if (files_folder(call, from, &old, &ignored) != STATUS_OK || files_folder(call, to, &new, &ignored) != STATUS_OK)
    return error_fix(call->err, "fix that and migrate again into a new target");
  return error_fix(call->err, "fix that and migrate again into a new target, or copy the files in '%s' to '%s'", old,
                   new);
}

enum status backup_move_transcripts(struct op_call *call, struct store *from, struct store *to) {
  struct transcripts_unpacked done = {0};
  struct tar *t = arena_new(call->arena, struct tar);
  t->fd = -1;
  t->now = call->now;
  arena_defer(call->arena, close_tar, t);
  enum status s = move_all(call, from, to, t, &done);
  close_tar(t);
  if (s != STATUS_OK)
    return explain_move(call, from, to);
  put_unpacked(call, json_put_obj(call->doc, call->result, "transcripts"), &done);
  return STATUS_OK;
}
