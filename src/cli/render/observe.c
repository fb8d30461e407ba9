/* observe.c: health, metrics and errors as text. */
#include "cli/render/layout.h"

/* clang-format off */
#define TOOLS \
  "tool={name} | >calls={calls} | >errors={errors} | >average={ms avg_ms} | >p50={ms p50_ms} | >p95={ms p95_ms} | " \
  ">p99={ms p99_ms} | >max={ms max_ms}"

const struct renderer observe_renderers[] = {
  {.op = "health", .layout =
   "=server: {server.version}, process {n server.pid}[, up {span server.uptime_s}]\n"
   "=calls: <#server.uptime_s?{n server.calls}, of these {n server.errors} failed and {n server.slow} slow>\n"
   "=log: {server.log_file}\n=sandbox: {server.sandbox}\n"
   "=store: {store.path} ({bytes store.bytes}, schema {n store.schema})\n"
   "=memories: {n memories}\n=embedded: {n embedded.done} of {n embedded.total} by {embedder}\n"
   "=last event: {n last_seq}\n*problems ✗ {red .}\n?<ok?{green problems:all is well}>"},
  {.op = "metrics", .layout =
   "{n calls} call{s calls} in {n hours} h, {n errors} failed\n@tools " TOOLS "\n"
   "?<process?\nprocess {n process.pid}: {n process.calls} call{s process.calls}, {n process.errors} failed, {n process.slow} slow>\n"
   "@process.tools " TOOLS},
  {.op = "errors", .layout =
   "@errors {time at} | {name} | {source} | {error} | ~{message}\n!errors no call has failed"},
  {0},
};
/* clang-format on */
