/* schema.h: the version of the store's schema, as the tests expect it: one place to change with each migration. */
#pragma once

#define SCHEMA_TEXT "11"
