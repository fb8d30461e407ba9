/* project.c: the project that a request names. */
#include "http/access/project.h"

#include "base/utf8.h"
#include "core/gate/gate.h"

static bool is_named_twice(const struct http_call *call) {
  size_t n = 0;
  for (size_t i = 0; i < call->query_count; i++)
    n += str_is(call->queries[i].name, "project");
  return n > 1;
}

enum status project_of_request(const struct http_call *call, struct caller *caller, bool *ret_named,
                               struct error *err) {
  struct str name = http_query(call, "project"), header = http_header(call, "Cairn-Project");
  if (!name.p)
    name = header;
  *ret_named = name.p != NULL;
  if (!name.p)
    return STATUS_OK;
  if (is_named_twice(call)) {
    error_set(err, STATUS_USAGE, "the URL names more than one project");
    return error_fix(err, "name one: ?project=NAME");
  }
  if (utf8_check(name) != name.n) {
    error_set(err, STATUS_USAGE, "the header Cairn-Project is not valid UTF-8");
    return error_fix(err, "name the project in the URL, percent-encoded: ?project=NAME");
  }
  TRY(gate_check_project(name, err));
  caller->project = name;
  caller->project_given = true;
  return STATUS_OK;
}
