// sdk.mjs: the official TypeScript clients against Cairn: both eras of the protocol, over stdio and over HTTP.
// usage: node sdk.mjs PROGRAM URL          (the store is CAIRN_DB; the server at URL has the same)
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FormerClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FormerStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as FormerHTTP } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

const [program, url] = process.argv.slice(2);
const page = 'cairn://memory.md/';
const me = { name: 'cairn-test', version: '1.0.0' };
const process_ = { command: program, args: ['mcp'], env: process.env, stderr: 'inherit' };
const endpoint = new URL(url + '/mcp');

function within(ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: nothing within ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function useMemory(client, subscribe, word) {
  const { tools } = await client.listTools();
  for (const name of ['memory_store', 'memory_search', 'memory_get'])
    assert.ok(tools.some(t => t.name === name), `${name} among ${tools.map(t => t.name)}`);
  const { told } = await subscribe(); // in an object, so that it is not awaited here

  const text = `The ${word} service listens on port 5433`;
  const stored = await client.callTool({ name: 'memory_store', arguments: { text } });
  assert.ok(!stored.isError, JSON.stringify(stored));
  assert.equal(stored.structuredContent, undefined);
  const id = Number(/^id: (\d+)$/m.exec(stored.content[0].text)?.[1]);
  assert.ok(id > 0, JSON.stringify(stored));

  const found = await client.callTool({ name: 'memory_search', arguments: { query: `port of the ${word} service` } });
  assert.ok(!found.isError && JSON.stringify(found).includes(word), JSON.stringify(found));
  const got = await client.callTool({ name: 'memory_get', arguments: { id } });
  assert.ok(!got.isError && JSON.stringify(got).includes(text), JSON.stringify(got));

  await within(10000, 'the notification of a change', told);

  const memory = await client.readResource({ uri: `cairn://memory/${id}` });
  assert.ok(memory.contents[0].text.includes(text), JSON.stringify(memory));
  const { resources } = await client.listResources();
  assert.ok(resources.some(r => r.uri === page), JSON.stringify(resources));
  const { prompts } = await client.listPrompts();
  assert.ok(prompts.some(p => p.name === 'startup'), JSON.stringify(prompts));
  const prompt = await client.getPrompt({ name: 'startup', arguments: { task: `restart the ${word} service` } });
  assert.ok(prompt.messages.length > 0, JSON.stringify(prompt));

  // A wrong call is an answer that says what is wrong.
  const wrong = await client.callTool({ name: 'memory_get', arguments: { id: 987654321 } });
  assert.ok(wrong.isError, JSON.stringify(wrong));
}

// ---- the present client, in both eras ----

async function present(era, transport, word) {
  const client = new Client(me, {
    versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
  });
  await client.connect(transport);
  assert.equal(client.getProtocolEra(), era);
  await useMemory(client, async () => {
    const told = new Promise(resolve => {
      client.setNotificationHandler('notifications/resources/updated', n => {
        if (n.params.uri === page) resolve();
      });
    });
    if (era === 'modern') await client.listen({ resourceSubscriptions: [page] });
    else await client.subscribeResource({ uri: page });
    return { told };
  }, word);
  await client.close();
}

// ---- the former client, which most programs still have ----

async function former(transport, word) {
  const client = new FormerClient(me);
  await client.connect(transport);
  await useMemory(client, async () => {
    const told = new Promise(resolve => {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, n => {
        if (n.params.uri === page) resolve();
      });
    });
    await client.subscribeResource({ uri: page });
    return { told };
  }, word);
  await client.close();
}

// ---- declared results: both clients hold each answer against the tool's outputSchema, and throw ----

async function declared(client, transport, word) {
  await client.connect(transport);
  const { tools } = await client.listTools();
  for (const t of tools) assert.ok(Object.keys(t.outputSchema.properties).length, `${t.name} says what it answers`);
  const call = async (name, args = {}) => {
    const answer = await client.callTool({ name, arguments: args });
    assert.ok(!answer.isError, JSON.stringify(answer));
    return answer.structuredContent;
  };
  const entity = { name: word, entityType: 'cluster', observations: [`The ${word} cluster has three nodes`] };
  const relation = { from: word, to: `${word} backup`, relationType: 'is mirrored by' };
  const { entities } = await call('create_entities', { entities: [entity, { ...entity, name: relation.to }] });
  assert.equal(entities[0].name, word);
  await call('create_relations', { relations: [relation] });
  await call('add_observations', { observations: [{ entityName: word, contents: ['It is in Bern'] }] });
  await call('read_graph');
  await call('search_nodes', { query: word });
  await call('open_nodes', { names: [word] });
  await call('delete_relations', { relations: [relation] });
  await call('delete_entities', { entityNames: [word, relation.to] });
  await client.close();
}
const graph = { ...process_, args: ['mcp', '--profile', 'graph'] };
const pinned = { versionNegotiation: { mode: { pin: '2026-07-28' } } };

const runs = {
  'declared results, modern': () => declared(new Client(me, pinned), new StdioClientTransport(graph), 'gingko'),
  'declared results, former client': () => declared(new FormerClient(me), new FormerStdio(graph), 'hazel'),
  'modern, stdio': () => present('modern', new StdioClientTransport(process_), 'alder'),
  'modern, HTTP': () => present('modern', new StreamableHTTPClientTransport(endpoint), 'birch'),
  'legacy, stdio': () => present('legacy', new StdioClientTransport(process_), 'cedar'),
  'legacy, HTTP': () => present('legacy', new StreamableHTTPClientTransport(endpoint), 'douglas'),
  'former client, stdio': () => former(new FormerStdio(process_), 'elm'),
  'former client, HTTP': () => former(new FormerHTTP(endpoint), 'fir'),
};

let failed = 0;
for (const [name, run] of Object.entries(runs)) {
  try {
    await within(15000, name, run());
    console.log(`ok ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED ${name}: ${error.stack}`);
  }
}
process.exit(failed ? 1 : 0);
