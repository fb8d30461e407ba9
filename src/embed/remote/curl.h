/* curl.h: libcurl, opened when it is first needed.
 *
 * Linking it would load thirty more libraries (TLS, Kerberos, LDAP, HTTP/2, ...) at every start of the program: 6 ms
 * more for each `cairn get`, measured (docs/architecture/embedders.md), although most people never send a text
 * anywhere. So it is opened by name, and only its headers are needed to build. */
#pragma once

#include <curl/curl.h>

#include "base/error.h"

/* The functions that are used, under their names without "curl_". */
struct curl_api {
  CURLcode (*global_init)(long flags);
  CURL *(*easy_init)(void);
  void (*easy_reset)(CURL *handle);
  void (*easy_cleanup)(CURL *handle);
  CURLcode (*easy_setopt)(CURL *handle, CURLoption option, ...);
  CURLcode (*easy_perform)(CURL *handle);
  CURLcode (*easy_getinfo)(CURL *handle, CURLINFO info, ...);
  const char *(*easy_strerror)(CURLcode code);
};

/* Opens and initialises libcurl, once for the process; any thread may call it at any time. It stays open.
 * STATUS_UNAVAILABLE when the library is missing or cannot be used. */
NODISCARD enum status curl_api_open(const struct curl_api **ret_api, struct error *err);
