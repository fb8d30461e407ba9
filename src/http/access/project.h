/* project.h: the project of a request. */
#pragma once

#include "http/http.h"

/* Sets the caller's project to the one that the URL (?project=NAME) or, without it, the header Cairn-Project names. An
 * empty name means global memories only. Leaves the caller as it is, and *ret_named false, if neither names one. A
 * token still reaches only its own projects: the operation checks that. */
NODISCARD enum status project_of_request(const struct http_call *call, struct caller *caller, bool *ret_named,
                                         struct error *err);
