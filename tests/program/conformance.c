/* conformance.c: tools, prompts and resources of the official conformance suite, with fixed results. */
#include "conformance.h"

#include <time.h>

#define PNG "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
#define WAV "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
#define IMAGE "{\"type\":\"image\",\"data\":\"" PNG "\",\"mimeType\":\"image/png\"}"
#define TEXT_BLOCK(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
#define CONTENT(blocks) "{\"content\":[" blocks "]}"

/* ---- helpers ---- */

yyjson_mut_val *fixture_json(struct exchange *x, const char *json) {
  struct error err;
  yyjson_val *v = NULL;
  if (json_read(x->arena, str_from(json), &v, &err) != STATUS_OK)
    return yyjson_mut_obj(x->doc);
  return yyjson_val_mut_copy(x->doc, v);
}

void fixture_answer(struct exchange *x, const char *json) { exchange_result(x, fixture_json(x, json)); }

void fixture_say(struct exchange *x, struct str text) {
  yyjson_mut_val *result = yyjson_mut_obj(x->doc);
  yyjson_mut_val *block = yyjson_mut_arr_add_obj(x->doc, json_put_arr(x->doc, result, "content"));
  json_put(x->doc, block, "type", STR("text"));
  json_put(x->doc, block, "text", text);
  exchange_result(x, result);
}

static void pause_ms(long ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL); }

/* ---- tools ---- */

static void run_progress(struct exchange *x) {
  for (int done = 0; done <= 100; done += 50) {
    exchange_progress(x, "Working", done, 100);
    pause_ms(60);
  }
  fixture_say(x, STR("The work is done."));
}

static void run_logging(struct exchange *x) {
  static const char *const lines[] = {"Tool execution started", "Tool processing data", "Tool execution completed"};
  bool wanted = !x->modern || yyjson_obj_get(x->in->meta, MCP_META "logLevel");
  for (size_t i = 0; wanted && i < ARRAY_LEN(lines); i++) {
    yyjson_mut_val *params = yyjson_mut_obj(x->doc);
    json_put(x->doc, params, "level", STR("info"));
    json_put(x->doc, params, "data", str_from(lines[i]));
    exchange_notify(x, "notifications/message", params);
    pause_ms(50);
  }
  fixture_say(x, STR("Logged."));
}

static void run_tool_change(struct exchange *x) {
  subscriptions_list_changed(x->server, x->caller.team, "tools");
  fixture_say(x, STR("Told."));
}

static void run_prompt_change(struct exchange *x) {
  subscriptions_list_changed(x->server, x->caller.team, "prompts");
  fixture_say(x, STR("Told."));
}

static const char schema_2020[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","
    "\"$defs\":{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\",\"properties\":{\"street\":{\"type\":"
    "\"string\"},\"city\":{\"type\":\"string\"}}}},"
    "\"properties\":{\"name\":{\"type\":\"string\"},\"address\":{\"$ref\":\"#/$defs/address\"},\"contactMethod\":{"
    "\"type\":\"string\",\"enum\":[\"phone\",\"email\"]},\"phone\":{\"type\":\"string\"},\"email\":{\"type\":"
    "\"string\"}},"
    "\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"
    "\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},\"required\":[\"contactMethod\"]},"
    "\"then\":{\"required\":[\"phone\"]},\"else\":{\"required\":[\"email\"]},"
    "\"additionalProperties\":false}";

static const struct fixture_tool tools[] = {
    {"test_simple_text", "Answers with a text", NULL,
     CONTENT(TEXT_BLOCK("This is a simple text response for testing.")), NULL},
    {"test_image_content", "Answers with an image", NULL, CONTENT(IMAGE), NULL},
    {"test_audio_content", "Answers with a sound", NULL,
     CONTENT("{\"type\":\"audio\",\"data\":\"" WAV "\",\"mimeType\":\"audio/wav\"}"), NULL},
    {"test_embedded_resource", "Answers with a resource", NULL,
     CONTENT("{\"type\":\"resource\",\"resource\":{\"uri\":\"test://embedded-resource\",\"mimeType\":\"text/plain\","
             "\"text\":\"This is an embedded resource content.\"}}"),
     NULL},
    {"test_multiple_content_types", "Answers with text, image and resource", NULL,
     CONTENT(TEXT_BLOCK(
         "Multiple content types test:") "," IMAGE ",{\"type\":\"resource\",\"resource\":{\"uri\":\"test://"
                                         "mixed-content-resource\",\"mimeType\":"
                                         "\"application/"
                                         "json\",\"text\":\"{\\\"test\\\":\\\"data\\\",\\\"value\\\":123}\"}}"),
     NULL},
    {"test_error_handling", "Answers with an error", NULL,
     "{\"content\":[" TEXT_BLOCK("This tool intentionally returns an error for testing") "],\"isError\":true}", NULL},
    {"test_tool_with_progress", "Tells its progress", NULL, NULL, run_progress},
    {"test_tool_with_logging", "Logs three lines", NULL, NULL, run_logging},
    {"test_logging_tool", "Logs when the request asks for it", NULL, NULL, run_logging},
    {"test_trigger_tool_change", "Tells that the list of tools has changed", NULL, NULL, run_tool_change},
    {"test_trigger_prompt_change", "Tells that the list of prompts has changed", NULL, NULL, run_prompt_change},
    {"test_reconnection", "Answers after a moment", NULL, CONTENT(TEXT_BLOCK("Reconnection test completed.")), NULL},
    {"json_schema_2020_12_tool", "Has a schema with keywords of 2020-12", schema_2020,
     CONTENT(TEXT_BLOCK("The schema is in the list.")), NULL},
    {0},
};

static void define(struct exchange *x, yyjson_mut_val *list, const struct fixture_tool *t) {
  yyjson_mut_val *def = yyjson_mut_arr_add_obj(x->doc, list);
  json_put(x->doc, def, "name", str_from(t->name));
  json_put(x->doc, def, "description", str_from(t->description));
  yyjson_mut_obj_add_val(x->doc, def, "inputSchema",
                         fixture_json(x, t->input ? t->input : "{\"type\":\"object\",\"additionalProperties\":false}"));
}

static void list_fixture_tools(struct exchange *x, yyjson_mut_val *list) {
  for (const struct fixture_tool *t = tools; t->name; t++)
    define(x, list, t);
  for (const struct fixture_tool *t = fixture_input_tools; t->name; t++)
    define(x, list, t);
}

static const struct fixture_tool *find(const struct fixture_tool *list, struct str name) {
  while (list->name && !str_is(name, list->name))
    list++;
  return list->name ? list : NULL;
}

static bool call_fixture(struct exchange *x, struct str name) {
  const struct fixture_tool *t = find(tools, name);
  t = t ? t : find(fixture_input_tools, name);
  if (!t)
    return false;
  if (t->run)
    t->run(x);
  else
    fixture_answer(x, t->result);
  return true;
}

/* ---- prompts ---- */

static void list_fixture_prompts(struct exchange *x, yyjson_mut_val *list) {
  static const char *const defs[] = {
      "{\"name\":\"test_simple_prompt\",\"description\":\"A prompt without arguments\"}",
      ("{\"name\":\"test_prompt_with_arguments\",\"description\":\"A prompt with two arguments\",\"arguments\":["
       "{\"name\":\"arg1\",\"description\":\"First\",\"required\":true},"
       "{\"name\":\"arg2\",\"description\":\"Second\",\"required\":true}]}"),
      ("{\"name\":\"test_prompt_with_embedded_resource\",\"description\":\"A prompt with a resource\",\"arguments\":["
       "{\"name\":\"resourceUri\",\"description\":\"Its URI\",\"required\":true}]}"),
      "{\"name\":\"test_prompt_with_image\",\"description\":\"A prompt with an image\"}",
      "{\"name\":\"test_input_required_result_prompt\",\"description\":\"A prompt that asks the user\"}",
  };
  for (size_t i = 0; i < ARRAY_LEN(defs); i++)
    yyjson_mut_arr_append(list, fixture_json(x, defs[i]));
}

/* One user message per block. */
static void answer_messages(struct exchange *x, yyjson_mut_val *const *blocks, size_t n) {
  yyjson_mut_val *result = yyjson_mut_obj(x->doc), *messages = json_put_arr(x->doc, result, "messages");
  for (size_t i = 0; i < n; i++) {
    yyjson_mut_val *message = yyjson_mut_arr_add_obj(x->doc, messages);
    json_put(x->doc, message, "role", STR("user"));
    yyjson_mut_obj_add_val(x->doc, message, "content", blocks[i]);
  }
  exchange_result(x, result);
}

static yyjson_mut_val *text_block(struct exchange *x, struct str text) {
  yyjson_mut_val *block = yyjson_mut_obj(x->doc);
  json_put(x->doc, block, "type", STR("text"));
  json_put(x->doc, block, "text", text);
  return block;
}

static void prompt_with_resource(struct exchange *x, struct str uri) {
  yyjson_mut_val *block = yyjson_mut_obj(x->doc);
  json_put(x->doc, block, "type", STR("resource"));
  yyjson_mut_val *r = json_put_obj(x->doc, block, "resource");
  json_put(x->doc, r, "uri", uri.p ? uri : STR("test://example-resource"));
  json_put(x->doc, r, "mimeType", STR("text/plain"));
  json_put(x->doc, r, "text", STR("Embedded resource content for testing."));
  yyjson_mut_val *blocks[] = {block, text_block(x, STR("Please process the embedded resource above."))};
  answer_messages(x, blocks, 2);
}

static bool get_fixture_prompt(struct exchange *x, struct str name, yyjson_val *args) {
  if (str_is(name, "test_simple_prompt")) {
    yyjson_mut_val *blocks[] = {text_block(x, STR("This is a simple prompt for testing."))};
    answer_messages(x, blocks, 1);
  } else if (str_is(name, "test_prompt_with_arguments")) {
    yyjson_mut_val *blocks[] = {
        text_block(x, arena_printf(x->arena, "Prompt with arguments: arg1='%.*s', arg2='%.*s'",
                                   STR_ARG(json_str(args, "arg1")), STR_ARG(json_str(args, "arg2"))))};
    answer_messages(x, blocks, 1);
  } else if (str_is(name, "test_prompt_with_embedded_resource")) {
    prompt_with_resource(x, json_str(args, "resourceUri"));
  } else if (str_is(name, "test_prompt_with_image")) {
    yyjson_mut_val *blocks[] = {fixture_json(x, IMAGE), text_block(x, STR("Please analyze the image above."))};
    answer_messages(x, blocks, 2);
  } else if (str_is(name, "test_input_required_result_prompt")) {
    fixture_prompt_input(x);
  } else {
    return false;
  }
  return true;
}

/* ---- resources ---- */

#define RESOURCE(name, description, mime)                                                                              \
  ("{\"uri\":\"test://" name "\",\"name\":\"" name "\",\"description\":\"" description "\",\"mimeType\":\"" mime "\""  \
   "}")

static void list_fixture_resources(struct exchange *x, yyjson_mut_val *list) {
  static const char *const defs[] = {RESOURCE("static-text", "A text", "text/plain"),
                                     RESOURCE("static-binary", "An image", "image/png"),
                                     RESOURCE("watched-resource", "A text to watch", "text/plain")};
  for (size_t i = 0; i < ARRAY_LEN(defs); i++)
    yyjson_mut_arr_append(list, fixture_json(x, defs[i]));
}

static void list_fixture_templates(struct exchange *x, yyjson_mut_val *list) {
  yyjson_mut_arr_append(list, fixture_json(x, "{\"uriTemplate\":\"test://template/{id}/data\",\"name\":\"template\","
                                              "\"description\":\"Data by id\",\"mimeType\":\"application/json\"}"));
}

static void answer_content(struct exchange *x, struct str uri, const char *mime, const char *member, struct str data) {
  yyjson_mut_val *result = yyjson_mut_obj(x->doc);
  yyjson_mut_val *content = yyjson_mut_arr_add_obj(x->doc, json_put_arr(x->doc, result, "contents"));
  json_put(x->doc, content, "uri", uri);
  json_put(x->doc, content, "mimeType", str_from(mime));
  json_put(x->doc, content, member, data);
  exchange_cached(x, result, 0);
}

static bool read_fixture(struct exchange *x, struct str uri) {
  static const struct str before = STR_INIT("test://template/"), after = STR_INIT("/data");
  if (str_is(uri, "test://static-text")) {
    answer_content(x, uri, "text/plain", "text", STR("This is the content of the static text resource."));
  } else if (str_is(uri, "test://watched-resource")) {
    answer_content(x, uri, "text/plain", "text", STR("Watched."));
  } else if (str_is(uri, "test://static-binary")) {
    answer_content(x, uri, "image/png", "blob", STR(PNG));
  } else if (str_starts(uri, before) && str_ends(uri, after) && uri.n > before.n + after.n) {
    struct str id = str_slice(uri, before.n, uri.n - after.n);
    yyjson_mut_val *data = yyjson_mut_obj(x->doc);
    json_put(x->doc, data, "id", id);
    json_put_bool(x->doc, data, "templateTest", true);
    json_put(x->doc, data, "data", arena_printf(x->arena, "Data for ID: %.*s", STR_ARG(id)));
    answer_content(x, uri, "application/json", "text", json_write(x->arena, data, false));
  } else {
    return false;
  }
  return true;
}

static const struct mcp_fixtures fixtures = {.list_tools = list_fixture_tools,
                                             .list_prompts = list_fixture_prompts,
                                             .list_resources = list_fixture_resources,
                                             .list_templates = list_fixture_templates,
                                             .call = call_fixture,
                                             .get_prompt = get_fixture_prompt,
                                             .read = read_fixture};

__attribute__((constructor)) static void install_fixtures(void) { mcp_fixtures = &fixtures; }
