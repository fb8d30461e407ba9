/* test_openapi.c: the OpenAPI document is complete, consistent and deterministic. */
#include "http/rest/rest.h"

#include "support/harness.h"

static struct arena arena;

static yyjson_val *document(void) {
  struct error err;
  yyjson_val *v;
  CHECK_OK(json_read(&arena, openapi_document(&arena), &v, &err), &err);
  return v;
}

TEST(the_document_is_deterministic) {
  struct str one = openapi_document(&arena), two = openapi_document(&arena);
  CHECK(str_eq(one, two));
}

static yyjson_val *resolve(yyjson_val *root, struct str ref) {
  struct str part;
  CHECK(str_starts(ref, STR("#/")));
  ref = str_slice(ref, 2, ref.n);
  yyjson_val *v = root;
  while (v && str_next(&ref, '/', &part))
    v = yyjson_obj_getn(v, part.p, part.n);
  return v;
}

static int check_refs(yyjson_val *root, yyjson_val *v) {
  size_t i, n;
  yyjson_val *key, *e;
  int found = 0;
  if (yyjson_is_arr(v)) {
    yyjson_arr_foreach(v, i, n, e) {
      found += check_refs(root, e);
    }
    return found;
  }
  yyjson_obj_foreach(v, i, n, key, e) {
    if (yyjson_equals_str(key, "$ref")) {
      test_note("%.*s", STR_ARG(json_val_str(e)));
      CHECK(resolve(root, json_val_str(e)));
      found++;
    } else {
      found += check_refs(root, e);
    }
  }
  return found;
}

TEST(every_reference_resolves) {
  yyjson_val *root = document();
  CHECK(check_refs(root, root) > 100);
}

/* Each {name} of a path is declared exactly once as a path parameter. */
static void check_variables(struct str path, yyjson_val *operation) {
  size_t i, n, declared = 0, named = 0;
  yyjson_val *p;
  for (size_t k = 0; k < path.n; k++)
    named += path.p[k] == '{';
  yyjson_arr_foreach(yyjson_obj_get(operation, "parameters"), i, n, p) {
    if (!str_is(json_str(p, "in"), "path"))
      continue;
    declared++;
    CHECK(json_bool(p, "required", false));
    struct str name = arena_printf(&arena, "{%.*s}", STR_ARG(json_str(p, "name")));
    CHECK(str_find(path, name, 0) != SIZE_MAX);
  }
  CHECK_INT(declared, named);
}

TEST(every_operation_is_described) {
  yyjson_val *root = document(), *path, *item, *method, *operation;
  struct strs ids = {0};
  size_t i, n, k, m;
  CHECK_STR(json_str(root, "openapi"), "3.1.0");
  yyjson_obj_foreach(yyjson_obj_get(root, "paths"), i, n, path, item) {
    yyjson_obj_foreach(item, k, m, method, operation) {
      test_note("%.*s %.*s", STR_ARG(json_val_str(method)), STR_ARG(json_val_str(path)));
      struct str id = json_str(operation, "operationId");
      CHECK(id.n && !strs_has(&ids, id));
      strs_push(&arena, &ids, id);
      CHECK(json_str(operation, "summary").n);
      yyjson_val *responses = yyjson_obj_get(operation, "responses");
      CHECK(yyjson_obj_get(responses, "200") && yyjson_obj_get(responses, "400"));
      check_variables(json_val_str(path), operation);
    }
  }
  size_t routes = 0;
  for (const struct op_route *r = rest_routes(); r->method; r++)
    routes++;
  EACH_OP(op) {
    struct op_route r;
    routes += rest_generic_route(&arena, op, &r);
  }
  CHECK_INT(ids.n, routes);
}

TEST(schemas_come_from_the_table_of_arguments) {
  yyjson_val *root = document();
  yyjson_val *body =
      yyjson_ptr_get(root, "/paths/~1api~1v1~1memories~1{id}~1rate/post/requestBody/content/application~1json/schema");
  CHECK_STR(json_str(body, "type"), "object");
  CHECK_STR(json_val_str(yyjson_ptr_get(body, "/required/0")), "direction");
  CHECK_STR(json_val_str(yyjson_ptr_get(body, "/properties/direction/enum/1")), "down");
  CHECK(!yyjson_ptr_get(body, "/properties/id")); /* it is in the path */
  CHECK_STR(json_val_str(yyjson_ptr_get(root, "/components/schemas/Memory/properties/created_at/format")), "date-time");
}
