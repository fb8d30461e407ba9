/* results.c: generates JSON schemas from the notation of results.h; the output is deterministic. */
#include "op/run/results.h"

#include <assert.h>

struct parser {
  struct arena *a;
  yyjson_mut_doc *doc;
  struct result_style style;
  const char *at;
  int depth;
  bool bad;
};

const struct shape *result_shape(struct str name) {
  for (const struct shape *s = result_shapes; s->name; s++)
    if (str_is(name, s->name))
      return s;
  return NULL;
}

struct str result_name(struct arena *a, const char *name) {
  struct buf b = BUF(a);
  bool upper = true;
  for (const char *c = name; *c; c++) {
    if (ascii_alnum(*c))
      buf_addc(&b, upper && ascii_alpha(*c) && !ascii_upper(*c) ? (char)(*c - 32) : *c);
    upper = !ascii_alnum(*c);
  }
  return buf_str(&b);
}

/* ---- types ---- */

static yyjson_mut_val *members(struct parser *p, char end);
static yyjson_mut_val *type(struct parser *p);

static yyjson_mut_val *plain(struct parser *p, const char *name) {
  yyjson_mut_val *schema = yyjson_mut_obj(p->doc);
  yyjson_mut_obj_add_str(p->doc, schema, "type", name);
  return schema;
}

static bool is_name(char c) { return ascii_alnum(c) || c == '_' || c == '@' || c == '-'; }

static struct str word(struct parser *p) {
  const char *from = p->at;
  while (is_name(*p->at))
    p->at++;
  return (struct str){from, (size_t)(p->at - from)};
}

static bool take(struct parser *p, char c) {
  bool is = *p->at == c;
  p->at += is;
  return is;
}

/* Schema of the part between two brackets; NULL if shallow. */
static yyjson_mut_val *inner(struct parser *p, char end, yyjson_mut_val *(*read)(struct parser *p)) {
  p->depth++;
  yyjson_mut_val *v = read(p);
  p->depth--;
  p->bad = p->bad || !take(p, end);
  return p->style.shallow ? NULL : v;
}

static yyjson_mut_val *nested_members(struct parser *p) { return members(p, ')'); }

static yyjson_mut_val *shape_schema(struct parser *p, struct str name) {
  const struct shape *shape = result_shape(name);
  if (!shape) {
    p->bad = true;
    return plain(p, "object");
  }
  if (p->style.shallow)
    return plain(p, "object");
  if (p->style.refs) {
    yyjson_mut_val *ref = yyjson_mut_obj(p->doc);
    json_put(p->doc, ref, "$ref", arena_printf(p->a, "%s%.*s", p->style.refs, STR_ARG(result_name(p->a, shape->name))));
    return ref;
  }
  struct parser inside = *p;
  inside.at = shape->members;
  inside.depth++;
  yyjson_mut_val *v = members(&inside, 0);
  p->bad = p->bad || inside.bad;
  return v;
}

static yyjson_mut_val *scalar(struct parser *p, struct str name) {
  static const struct {
    const char *name, *type;
  } types[] = {{"text", "string"}, {"time", "string"},  {"advice", "string"}, {"int", "integer"},
               {"num", "number"},  {"bool", "boolean"}, {"obj", "object"},    {"any", NULL}};
  for (size_t i = 0; i < ARRAY_LEN(types); i++) {
    if (!str_is(name, types[i].name))
      continue;
    yyjson_mut_val *schema = types[i].type ? plain(p, types[i].type) : yyjson_mut_obj(p->doc);
    if (str_is(name, "time") && !p->style.shallow)
      yyjson_mut_obj_add_str(p->doc, schema, "format", "date-time");
    if (str_is(name, "advice") && p->style.advice)
      yyjson_mut_obj_add_bool(p->doc, schema, "advice", true);
    return schema;
  }
  p->bad = true;
  return yyjson_mut_obj(p->doc);
}

static yyjson_mut_val *array(struct parser *p) {
  yyjson_mut_val *schema = plain(p, "array"), *items = inner(p, ']', type);
  if (items)
    yyjson_mut_obj_add_val(p->doc, schema, "items", items);
  return schema;
}

static yyjson_mut_val *map(struct parser *p) {
  yyjson_mut_val *schema = plain(p, "object"), *values = inner(p, '}', type);
  if (values)
    yyjson_mut_obj_add_val(p->doc, schema, "additionalProperties", values);
  return schema;
}

static yyjson_mut_val *object(struct parser *p) {
  yyjson_mut_val *schema = inner(p, ')', nested_members);
  return schema ? schema : plain(p, "object");
}

static yyjson_mut_val *or_null(struct parser *p, yyjson_mut_val *schema) {
  yyjson_mut_val *either = yyjson_mut_obj(p->doc), *list = json_put_arr(p->doc, either, "anyOf");
  yyjson_mut_arr_append(list, schema);
  yyjson_mut_arr_append(list, plain(p, "null"));
  return either;
}

static yyjson_mut_val *type(struct parser *p) {
  yyjson_mut_val *schema;
  if (take(p, '['))
    schema = array(p);
  else if (take(p, '{'))
    schema = map(p);
  else if (take(p, '('))
    schema = object(p);
  else if (take(p, '@'))
    schema = shape_schema(p, word(p));
  else
    schema = scalar(p, word(p));
  if (!take(p, '|'))
    return schema;
  p->bad = p->bad || !str_is(word(p), "null");
  return or_null(p, schema);
}

static yyjson_mut_val *choices(struct parser *p) {
  yyjson_mut_val *schema = plain(p, "string"), *list = yyjson_mut_arr(p->doc);
  do {
    struct str one = word(p);
    p->bad = p->bad || !one.n;
    json_add_str(p->doc, list, one);
  } while (take(p, '|'));
  if (!p->style.shallow)
    yyjson_mut_obj_add_val(p->doc, schema, "enum", list);
  return schema;
}

/* ---- members ---- */

struct object_parts {
  yyjson_mut_val *properties, *required;
};

static void put_member(struct parser *p, const struct object_parts *to) {
  struct str name = word(p);
  bool optional = take(p, '?');
  p->bad = p->bad || !name.n;
  yyjson_mut_val *schema = take(p, ':') ? type(p) : take(p, '=') ? choices(p) : plain(p, "string");
  if (yyjson_mut_obj_getn(to->properties, name.p, name.n))
    return; /* the first definition counts */
  yyjson_mut_obj_add(to->properties, yyjson_mut_strncpy(p->doc, name.p, name.n), schema);
  if (!optional)
    json_add_str(p->doc, to->required, name);
}

/* Inserts the members of a shape. */
static void put_shape(struct parser *p, const struct object_parts *to) {
  const struct shape *shape = result_shape(word(p));
  if (!shape) {
    p->bad = true;
    return;
  }
  struct parser inside = *p;
  inside.at = shape->members;
  while (*inside.at && !inside.bad) {
    put_member(&inside, to);
    take(&inside, ' ');
  }
  p->bad = inside.bad;
}

static yyjson_mut_val *members(struct parser *p, char end) {
  yyjson_mut_val *schema = plain(p, "object");
  struct object_parts parts = {yyjson_mut_obj(p->doc), yyjson_mut_arr(p->doc)};
  while (*p->at != end && *p->at && !p->bad) {
    if (take(p, '+'))
      put_shape(p, &parts);
    else
      put_member(p, &parts);
    p->bad = p->bad || (!take(p, ' ') && *p->at != end);
  }
  yyjson_mut_obj_add_val(p->doc, schema, "properties", parts.properties);
  if (yyjson_mut_arr_size(parts.required) && !(p->style.loose && p->depth))
    yyjson_mut_obj_add_val(p->doc, schema, "required", parts.required);
  return schema;
}

yyjson_mut_val *result_schema(struct arena *a, yyjson_mut_doc *doc, const char *text,
                              const struct result_style *style) {
  struct parser p = {.a = a, .doc = doc, .style = *style, .at = text};
  yyjson_mut_val *schema = members(&p, 0);
  assert(p.depth == 0);
  return p.bad || *p.at ? NULL : schema;
}
