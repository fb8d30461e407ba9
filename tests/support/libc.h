/* libc.h: calls of the C library that a test watches or bends. Untouched, they do what the system does. */
#ifndef CAIRN_TESTS_LIBC_H
#define CAIRN_TESTS_LIBC_H

/* Called before each fsync() of the process, by the thread that syncs; NULL: nobody. */
void libc_watch_fsync(void (*fn)(int fd));

#endif
