/* disk.c: replays a log of writes up to a power cut. */
#include "support/disk.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "support/proc.h"

enum { SECTOR = 512, FILES = 512, NAME = 256 };

struct item {
  struct disk_record r;
  struct str name, data;
};

struct disk_log {
  LIST(struct item) items;
};

static struct arena memory;

struct disk_log *disk_read(const char *log) {
  struct str all = file_read(log);
  struct disk_log *d = arena_new(&memory, struct disk_log);
  for (size_t at = 0; at < all.n;) {
    struct item it;
    CHECK(at + sizeof(it.r) <= all.n);
    memcpy(&it.r, all.p + at, sizeof(it.r));
    at += sizeof(it.r);
    it.name = (struct str){all.p + at, it.r.name};
    it.data = (struct str){all.p + at + it.r.name, it.r.data};
    at += it.r.name + it.r.data;
    CHECK(at <= all.n && it.r.name < NAME);
    list_push(&memory, &d->items, it);
  }
  return d;
}

size_t disk_count(const struct disk_log *d) { return d->items.n; }
const struct disk_record *disk_at(const struct disk_log *d, size_t i) { return &d->items.v[i].r; }

bool disk_noted(const struct disk_log *d, size_t i, const char *what) {
  for (size_t k = 0; k < i; k++)
    if (d->items.v[k].r.op == DISK_NOTE && str_is(d->items.v[k].name, what))
      return true;
  return false;
}

void disk_note(const char *log, const char *what) {
  struct disk_record r = {.op = DISK_NOTE, .name = (uint32_t)strlen(what)};
  int fd = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  CHECK(fd >= 0 && write(fd, &r, sizeof(r)) == sizeof(r) && write(fd, what, r.name) == (ssize_t)r.name);
  close(fd);
}

/* ---- the state at a point ---- */

struct file {
  uint64_t inode;
  char *bytes;
  size_t n, cap;
};

/* A name in the tree; file NULL: a folder. */
struct entry {
  char name[NAME];
  struct file *file;
};

struct disk {
  struct arena a;
  const struct disk_log *log;
  size_t n; /* records before the power cut */
  enum disk_keep keep;
  unsigned seed;
  struct file files[FILES];
  size_t file_count;
  struct entry entries[FILES];
  size_t entry_count;
};

static bool chance(struct disk *d) {
  d->seed = d->seed * 1664525U + 1013904223U;
  return d->seed >> 31;
}

static void resize(struct disk *d, struct file *f, size_t n) {
  if (n > f->cap) {
    size_t cap = n * 2;
    char *bytes = arena_alloc(&d->a, cap);
    memset(bytes, 0, cap);
    if (f->n)
      memcpy(bytes, f->bytes, f->n);
    f->bytes = bytes;
    f->cap = cap;
  }
  if (n < f->n)
    memset(f->bytes + n, 0, f->n - n);
  f->n = n;
}

static void write_part(struct disk *d, struct file *f, size_t at, struct str data) {
  if (at + data.n > f->n)
    resize(d, f, at + data.n);
  memcpy(f->bytes + at, data.p, data.n);
}

/* Keeps any of the sectors. */
static void write_some(struct disk *d, struct file *f, size_t at, struct str data) {
  for (size_t i = 0; i < data.n;) {
    size_t end = (at + i) / SECTOR * SECTOR + SECTOR - at;
    end = end < data.n ? end : data.n;
    if (chance(d))
      write_part(d, f, at + i, str_slice(data, i, end));
    i = end;
  }
}

/* True if a record after i, before the power cut, makes it durable. */
static bool is_synced(const struct disk *d, size_t i) {
  const struct item *it = &d->log->items.v[i];
  for (size_t k = i + 1; k < d->n; k++) {
    const struct disk_record *r = &d->log->items.v[k].r;
    if (r->op == DISK_CREATE && r->a == it->r.a)
      return true; /* the number belongs to another file now; this one was removed */
    if (r->op == DISK_SYNC && r->a == it->r.a)
      return true;
  }
  return false;
}

static void change_file(struct disk *d, size_t i) {
  const struct item *it = &d->log->items.v[i];
  struct file *f = NULL;
  for (size_t k = d->file_count; !f && k > 0; k--)
    if (d->files[k - 1].inode == it->r.a)
      f = &d->files[k - 1];
  CHECK(f);
  bool whole = d->keep == DISK_KEEP_ALL || is_synced(d, i);
  if (!whole && d->keep == DISK_KEEP_NOTHING)
    return;
  if (it->r.op == DISK_TRUNCATE && (whole || chance(d)))
    resize(d, f, (size_t)it->r.b);
  else if (it->r.op == DISK_WRITE && whole)
    write_part(d, f, (size_t)it->r.b, it->data);
  else if (it->r.op == DISK_WRITE)
    write_some(d, f, (size_t)it->r.b, it->data);
}

/* ---- names ---- */

static struct entry *find(struct disk *d, struct str name) {
  for (size_t i = 0; i < d->entry_count; i++)
    if (str_is(name, d->entries[i].name))
      return &d->entries[i];
  return NULL;
}

static void set_name(struct entry *e, struct str name) { snprintf(e->name, NAME, "%.*s", STR_ARG(name)); }

static void add(struct disk *d, struct str name, struct file *f) {
  struct entry *e = find(d, name);
  CHECK(e || d->entry_count < FILES);
  e = e ? e : &d->entries[d->entry_count++];
  set_name(e, name);
  e->file = f;
}

static void drop(struct disk *d, struct str name) {
  struct entry *e = find(d, name);
  if (e)
    *e = d->entries[--d->entry_count];
}

static struct str folder_of(struct str name) {
  size_t n = name.n;
  while (n > 0 && name.p[n - 1] != '/')
    n--;
  return str_slice(name, 0, n > 0 ? n - 1 : 0);
}

static bool is_name_synced(const struct disk *d, size_t i) {
  struct str folder = folder_of(d->log->items.v[i].name);
  for (size_t k = i + 1; k < d->n; k++)
    if (d->log->items.v[k].r.op == DISK_SYNC_FOLDER && str_eq(d->log->items.v[k].name, folder))
      return true;
  return false;
}

static void change_name(struct disk *d, size_t i) {
  const struct item *it = &d->log->items.v[i];
  struct entry *from = find(d, it->name), *to = find(d, it->data);
  struct file *f = from ? from->file : NULL;
  if (it->r.op == DISK_FOLDER || it->r.op == DISK_CREATE)
    add(d, it->name, it->r.op == DISK_CREATE ? &d->files[d->file_count - 1] : NULL);
  else if (it->r.op == DISK_UNLINK)
    drop(d, it->name);
  else if (it->r.op == DISK_EXCHANGE && from && to) {
    from->file = to->file;
    to->file = f;
  } else if (f) {
    add(d, it->data, f);
    if (it->r.op == DISK_RENAME)
      drop(d, it->name);
  }
}

static bool is_of_names(uint32_t op) { return strchr("CMLRXU", (int)op) != NULL; }

/* Names that were not synced: the oldest of them, in order, until one is lost. */
static void replay(struct disk *d) {
  bool lost = false;
  for (size_t i = 0; i < d->n; i++) {
    const struct disk_record *r = &d->log->items.v[i].r;
    if (r->op == DISK_CREATE) {
      CHECK(d->file_count < FILES);
      d->files[d->file_count++] = (struct file){.inode = r->a};
    }
    if (is_of_names(r->op)) {
      bool synced = d->keep == DISK_KEEP_ALL || is_name_synced(d, i);
      lost |= !synced && (d->keep == DISK_KEEP_NOTHING || chance(d));
      if (synced || !lost)
        change_name(d, i);
    } else if (r->op == DISK_WRITE || r->op == DISK_TRUNCATE) {
      change_file(d, i);
    }
  }
}

/* Folders come before what they hold; what is in a folder that was lost is lost. */
static void materialise(struct disk *d, const char *folder) {
  for (size_t depth = 0; depth < 8; depth++)
    for (size_t i = 0; i < d->entry_count; i++) {
      const struct entry *e = &d->entries[i];
      size_t slashes = 0;
      for (const char *p = e->name; *p; p++)
        slashes += *p == '/';
      const char *path = path_join(folder, e->name);
      if (slashes != depth)
        continue;
      if (!e->file) {
        (void)!mkdir(path, 0700);
        continue;
      }
      int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
      if (fd < 0)
        continue;
      CHECK(e->file->n == 0 || write(fd, e->file->bytes, e->file->n) == (ssize_t)e->file->n);
      close(fd);
    }
}

void disk_replay(const struct disk_log *log, size_t n, enum disk_keep keep, unsigned seed, const char *folder) {
  static struct disk d;
  CHECK(n <= log->items.n);
  d = (struct disk){.log = log, .n = n, .keep = keep, .seed = seed};
  arena_init(&d.a);
  replay(&d);
  materialise(&d, folder);
  arena_release(&d.a);
}
