/* schema.h: the version of the store's schema, as the tests expect it: one place to change with each migration. */
#ifndef CAIRN_TESTS_SCHEMA_H
#define CAIRN_TESTS_SCHEMA_H

#define SCHEMA_TEXT "11"

#endif
