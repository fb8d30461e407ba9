/* libc.h: C library calls that a test can watch or modify. By default they behave as usual. */
#pragma once

/* `fn` runs before each fsync() of the process, on the thread that syncs; NULL: none. */
void libc_watch_fsync(void (*fn)(int fd));

/* Shifts the process's time of day by this many seconds. The kernel's clock does not change, so an absolute deadline
 * from the shifted clock is as wrong as one computed before the system clock was set. */
void libc_shift_time_of_day(long seconds);
