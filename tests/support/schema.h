/* schema.h: the schema version that the tests expect; change it with each migration. */
#pragma once

#define SCHEMA_TEXT "12"
