// openapi.mjs: the document that a running server gives is valid OpenAPI 3.1.
// usage: node openapi.mjs URL
import assert from 'node:assert/strict';
import { Validator } from '@seriousme/openapi-schema-validator';

const reply = await fetch(process.argv[2] + '/api/v1/openapi.json');
assert.equal(reply.status, 200);
const document = await reply.json();
const validator = new Validator();
const result = await validator.validate(document);
if (!result.valid) console.log(JSON.stringify(result.errors, null, 2));
assert.ok(result.valid, 'the document is not valid');
assert.equal(validator.version, '3.1');
console.log(`${Object.keys(document.paths).length} paths, valid`);
