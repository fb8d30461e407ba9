/* reply.c: request headers and parameters, and replies: JSON, text, problems (RFC 9457). */
#include <assert.h>

#include "base/utf8.h"
#include "http/http.h"

struct str http_header(const struct http_call *call, const char *name) {
  for (size_t i = 0; i < call->field_count; i++)
    if (str_ieq(call->fields[i].name, str_from(name)))
      return call->fields[i].value;
  return STR_NONE;
}

struct str http_query(const struct http_call *call, const char *name) {
  for (size_t i = 0; i < call->query_count; i++)
    if (str_is(call->queries[i].name, name))
      return call->queries[i].value;
  return STR_NONE;
}

void http_add_header(struct http_call *call, const char *name, struct str value) {
  if (call->header_count < HTTP_HEADERS_MAX)
    call->headers[call->header_count++] =
        (struct http_pair){str_from(name), str_trim(utf8_one_line(call->arena, value, value.n))};
}

void http_reply_text(struct http_call *call, int status, const char *type, struct str text) {
  assert(status >= 200 && status < 600);
  call->status = status;
  call->type = type;
  call->reply = text;
}

void http_reply_json(struct http_call *call, int status, struct str json) {
  http_reply_text(call, status, "application/json", json);
}

static void reply_problem(struct http_call *call, int status, yyjson_mut_val *problem) {
  http_reply_text(call, status, "application/problem+json", json_write(call->arena, problem, false));
}

void http_reply_problem(struct http_call *call, const struct error *err) {
  assert(err->code != STATUS_OK);
  yyjson_mut_doc *doc = json_new(call->arena);
  yyjson_mut_val *p = yyjson_mut_obj(doc);
  int status = status_http(err->code);
  const char *code = status_name(err->code);
  json_put(doc, p, "type", arena_printf(call->arena, "urn:cairn:error:%s", code));
  json_put(doc, p, "title", str_from(status_text(err->code)));
  json_put_int(doc, p, "status", status);
  json_put(doc, p, "detail", str_from(err->message));
  json_put(doc, p, "code", str_from(code));
  if (err->step)
    json_put(doc, p, "step", str_from(err->step));
  if (err->fix[0])
    json_put(doc, p, "fix", str_from(err->fix));
  call->refusal = *err;
  reply_problem(call, status, p);
}

/* The first status code with this HTTP status. */
static enum status code_of(int status) {
  for (int s = STATUS_OK + 1; s < STATUS_COUNT; s++)
    if (status_http((enum status)s) == status)
      return (enum status)s;
  return status >= 500 ? STATUS_INTERNAL : STATUS_USAGE;
}

void http_reply_problem_status(struct http_call *call, int status, const char *title, const char *detail) {
  yyjson_mut_doc *doc = json_new(call->arena);
  yyjson_mut_val *p = yyjson_mut_obj(doc);
  json_put(doc, p, "type", STR("about:blank"));
  json_put(doc, p, "title", str_from(title));
  json_put_int(doc, p, "status", status);
  json_put_opt(doc, p, "detail", str_from(detail));
  error_set(&call->refusal, code_of(status), "%s", detail ? detail : title);
  reply_problem(call, status, p);
}
