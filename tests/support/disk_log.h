/* disk_log.h: format of the log that tests/inject/record.c writes and tests/support/disk.c reads.
 *
 * Each record is a header, then `name` bytes of a path relative to the recorded folder, then `data` bytes. */
#pragma once

#include <stdint.h>

enum disk_op {
  DISK_CREATE = 'C',   /* a new, empty file `name` with inode a */
  DISK_FOLDER = 'M',   /* a new folder `name` */
  DISK_LINK = 'L',     /* `data` is another name of `name` */
  DISK_RENAME = 'R',   /* `name` becomes `data` */
  DISK_EXCHANGE = 'X', /* `name` and `data` change places */
  DISK_UNLINK = 'U',
  DISK_WRITE = 'W',    /* `data` into inode a at offset b */
  DISK_TRUNCATE = 'T', /* inode a to b bytes */
  DISK_SYNC = 'S',     /* of inode a */
  DISK_SYNC_FOLDER = 'D',
  DISK_NOTE = 'K', /* of the test: `name` was acknowledged */
};

struct disk_record {
  uint32_t op; /* enum disk_op */
  uint32_t name, data;
  uint32_t unused;
  uint64_t a, b;
};
