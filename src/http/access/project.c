/* project.c: the project that a request names. */
#include "http/access/project.h"

#include "base/utf8.h"
#include "core/gate/gate.h"

enum status project_of_request(const struct http_call *call, struct caller *caller, bool *ret_named,
                               struct error *err) {
  struct str name = http_query(call, "project"), header = http_header(call, "Cairn-Project");
  if (!name.p)
    name = header;
  *ret_named = name.p != NULL;
  if (!name.p)
    return STATUS_OK;
  if (utf8_check(name) != name.n) {
    error_set(err, STATUS_USAGE, "the header Cairn-Project is not valid UTF-8");
    return error_fix(err, "name the project in the URL, percent-encoded: ?project=NAME");
  }
  TRY(gate_check_project(name, err));
  caller->project = name;
  caller->project_given = true;
  return STATUS_OK;
}
