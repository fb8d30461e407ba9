/* curl.c: opens libcurl by name and looks its functions up. */
#include "embed/remote/curl.h"

#include <dlfcn.h>
#include <pthread.h>

#include "base/os/library.h"
#include "base/str.h"

/* What a process can have only one of: written once, under `once`, and read afterwards. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct curl_api table;
static const char *problem = "it was not opened";

/* The flavours differ in their TLS library and share one interface. */
static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

static bool look_up(void *library) {
  static const struct library_function functions[] = {
      {"curl_global_init", offsetof(struct curl_api, global_init)},
      {"curl_easy_init", offsetof(struct curl_api, easy_init)},
      {"curl_easy_reset", offsetof(struct curl_api, easy_reset)},
      {"curl_easy_cleanup", offsetof(struct curl_api, easy_cleanup)},
      {"curl_easy_setopt", offsetof(struct curl_api, easy_setopt)},
      {"curl_easy_perform", offsetof(struct curl_api, easy_perform)},
      {"curl_easy_getinfo", offsetof(struct curl_api, easy_getinfo)},
      {"curl_easy_strerror", offsetof(struct curl_api, easy_strerror)},
  };
  return library_look_up(library, functions, ARRAY_LEN(functions), &table);
}

static void open_once(void) {
  void *library = NULL;
  for (size_t i = 0; i < ARRAY_LEN(names) && !library; i++)
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  if (!library)
    problem = "libcurl.so.4 is not installed";
  else if (!look_up(library))
    problem = "the installed libcurl lacks a function that Cairn needs";
  else if (table.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    problem = "libcurl could not be initialised";
  else
    problem = NULL;
}

enum status curl_api_open(const struct curl_api **ret_api, struct error *err) {
  pthread_once(&once, open_once);
  if (problem) {
    error_set(err, STATUS_UNAVAILABLE, "an HTTP embedder needs libcurl: %s", problem);
    return error_fix(err, "Install it (Debian: apt install libcurl4), or use an embedder that needs no network.");
  }
  *ret_api = &table;
  return STATUS_OK;
}
