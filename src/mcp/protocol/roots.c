/* roots.c: the project of a legacy HTTP client whose requests name none: the folder name of its first root. It comes
 * before the project of the server.
 *
 * The client is asked with roots/list, on the stream of its first call that needs a project. The folder is on the
 * client's machine, so its name is all we use. */
#include "base/utf8.h"
#include "core/gate/gate.h"
#include "mcp/protocol/resources.h"
#include "mcp/protocol/server.h"
#include "op/access/authenticate.h"

enum { ROOTS_WAIT_MS = 10 * 1000 };

static struct str folder_name(struct arena *a, struct str uri) {
  struct str path;
  if (!resource_fits(a, "file://{path}", uri, &path))
    return STR("");
  while (path.n && path.p[path.n - 1] == '/')
    path.n--;
  size_t start = path.n;
  while (start > 0 && path.p[start - 1] != '/')
    start--;
  struct str name = str_slice(path, start, path.n);
  struct error ignored;
  bool valid =
      utf8_check(name) == name.n && name.n < MCP_PROJECT_SIZE && gate_check_project(name, &ignored) == STATUS_OK;
  return valid ? name : STR("");
}

static struct str ask(struct exchange *x) {
  struct error ignored;
  yyjson_val *result = NULL;
  if (question_ask(x, "roots/list", NULL, ROOTS_WAIT_MS, &result, &ignored) != STATUS_OK)
    return STR("");
  return folder_name(x->arena, json_str(yyjson_arr_get_first(yyjson_obj_get(result, "roots")), "uri"));
}

/* A token of one project has that one. Of several, the root selects one. */
static void set_project(struct exchange *x, struct str name) {
  const struct principal *who = x->caller.principal;
  if (str_empty(name) || (who && who->role == ROLE_PROJECT && !strs_has(&who->projects, name)))
    return;
  x->caller.project = name;
  x->caller.project_given = x->caller.project_given || (who && who->role == ROLE_PROJECT);
}

/* A server of an agent that was given a project keeps to it: the agent may have no other. */
static bool keeps_project(const struct exchange *x) {
  return x->caller.project_given && pool_agent(x->server->options.pool)[0];
}

void roots_find_project(struct exchange *x) {
  struct mcp_session *s = x->session;
  if (x->modern || !x->head->http || !s || x->sender->project_named || keeps_project(x) ||
      !exchange_capability(x, "roots"))
    return;
  char name[MCP_PROJECT_SIZE];
  pthread_mutex_lock(&x->server->lock);
  bool known = s->roots_known;
  memcpy(name, s->root, sizeof(name));
  pthread_mutex_unlock(&x->server->lock);
  struct str root = known ? arena_dup(x->arena, str_from(name)) : ask(x);
  if (!known) {
    pthread_mutex_lock(&x->server->lock);
    s->roots_known = true;
    memcpy(s->root, root.p, root.n);
    s->root[root.n] = 0;
    pthread_mutex_unlock(&x->server->lock);
  }
  set_project(x, root);
}

void roots_changed(struct exchange *x) {
  pthread_mutex_lock(&x->server->lock);
  if (x->session)
    x->session->roots_known = false;
  pthread_mutex_unlock(&x->server->lock);
}
