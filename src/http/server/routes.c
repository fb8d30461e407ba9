/* routes.c: table of all paths of the server. */
#include "http/access/auth.h"
#include "http/mcp/stream.h"
#include "http/rest/rest.h"
#include "http/server/status.h"

const struct http_route http_routes[] = {
    {"GET", "/", status_root, HTTP_AT_ONCE},
    {"GET", "/healthz", status_healthz, HTTP_AT_ONCE | HTTP_OPEN},
    {"GET", OAUTH_METADATA "/*", auth_metadata, HTTP_AT_ONCE | HTTP_OPEN},
    {"GET", "/readyz", status_readyz, 0},
    {"GET", "/metrics", status_metrics, 0},
    {"GET", "/events", status_events, 0},

    {NULL, REST_ROOT "/*", rest_run, 0},

    {"POST", "/mcp", mcp_post, 0},
    {"GET", "/mcp", mcp_get, 0},
    {"DELETE", "/mcp", mcp_delete, 0},
    {"POST", "/mcp/{profile}", mcp_post, 0},
    {"GET", "/mcp/{profile}", mcp_get, 0},
    {"DELETE", "/mcp/{profile}", mcp_delete, 0},

    {0},
};
