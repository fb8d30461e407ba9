/* stream.h: the routes of MCP: Streamable HTTP in both eras. */
#pragma once

#include "http/http.h"

void mcp_post(struct http_call *call);
void mcp_get(struct http_call *call);
void mcp_delete(struct http_call *call);
