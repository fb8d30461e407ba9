/* banned.h: makes error-prone libc functions a compile error. The build includes it in every .c file. */
#pragma once

#ifndef __cplusplus
/* Include the declaring headers first; their prototypes would not compile after the macros. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CAIRN_BANNED(name) cairn_##name##_is_banned

#undef strcpy
#undef strcat
#undef strncpy
#undef strncat
#undef sprintf
#undef vsprintf
#undef strtok
#undef gets
#undef atoi
#undef atol
#undef atof
#undef gmtime
#undef localtime
#undef ctime
#undef asctime
#undef strdup
#undef strndup
#define strcpy CAIRN_BANNED(strcpy)
#define strcat CAIRN_BANNED(strcat)
#define strncpy CAIRN_BANNED(strncpy)
#define strncat CAIRN_BANNED(strncat)
#define sprintf CAIRN_BANNED(sprintf)
#define vsprintf CAIRN_BANNED(vsprintf)
#define strtok CAIRN_BANNED(strtok)
#define gets CAIRN_BANNED(gets)
#define atoi CAIRN_BANNED(atoi)
#define atol CAIRN_BANNED(atol)
#define atof CAIRN_BANNED(atof)
#define gmtime CAIRN_BANNED(gmtime)
#define localtime CAIRN_BANNED(localtime)
#define ctime CAIRN_BANNED(ctime)
#define asctime CAIRN_BANNED(asctime)
#define strdup CAIRN_BANNED(strdup)
#define strndup CAIRN_BANNED(strndup)

/* Use an arena or base/alloc.h instead. Only alloc.c lifts this ban. */
#undef malloc
#undef calloc
#undef realloc
#undef free
#define malloc CAIRN_BANNED(malloc)
#define calloc CAIRN_BANNED(calloc)
#define realloc CAIRN_BANNED(realloc)
#define free CAIRN_BANNED(free)

/* Timed waits go by the monotonic clock: base/os/thread.h. */
#undef pthread_cond_init
#undef pthread_cond_timedwait
#define pthread_cond_init CAIRN_BANNED(pthread_cond_init)
#define pthread_cond_timedwait CAIRN_BANNED(pthread_cond_timedwait)
#endif
