/* mcp_stream.h: the routes of MCP: Streamable HTTP in both eras. */
#ifndef CAIRN_HTTP_MCP_STREAM_H
#define CAIRN_HTTP_MCP_STREAM_H

#include "http/http.h"

void mcp_post(struct http_call *call);
void mcp_get(struct http_call *call);
void mcp_delete(struct http_call *call);

#endif
