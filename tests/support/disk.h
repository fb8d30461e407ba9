/* disk.h: the states that a power cut can leave on a disk, from a log of everything that was written.
 *
 * A disk keeps what was synced. Of the rest it may keep all, nothing, or any sectors; of new, renamed and removed names
 * in a folder that was not synced since, any number of the oldest. */
#pragma once

#include "support/disk_log.h"
#include "support/harness.h"

struct disk_log;
struct disk_log *disk_read(const char *log);
size_t disk_count(const struct disk_log *d);
/* The record at i. */
const struct disk_record *disk_at(const struct disk_log *d, size_t i);
/* True if the test noted this before record i. */
bool disk_noted(const struct disk_log *d, size_t i, const char *what);
/* Appends a note to the log. */
void disk_note(const char *log, const char *what);

enum disk_keep { DISK_KEEP_NOTHING, DISK_KEEP_ALL, DISK_KEEP_SOME };
/* Writes the state after the first n records into an empty folder. `seed` selects what DISK_KEEP_SOME keeps. */
void disk_replay(const struct disk_log *log, size_t n, enum disk_keep keep, unsigned seed, const char *folder);
