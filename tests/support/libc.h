/* libc.h: calls of the C library that a test watches or bends. Untouched, they do what the system does. */
#pragma once

/* Called before each fsync() of the process, by the thread that syncs; NULL: nobody. */
void libc_watch_fsync(void (*fn)(int fd));

/* Adds so many seconds to the time of day that the process reads; the system waits by its own. A deadline that was made
 * by the bent clock is as wrong as one before which somebody has set the clock. */
void libc_shift_time_of_day(long seconds);
