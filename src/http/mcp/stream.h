/* stream.h: routes of MCP: Streamable HTTP, legacy and modern revisions. */
#pragma once

#include "http/http.h"

void mcp_post(struct http_call *call);
void mcp_get(struct http_call *call);
void mcp_delete(struct http_call *call);
