# The commands people type. CMake builds (CMakePresets.json), scripts/test tests; each target first installs what is
# missing (scripts/setup).
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60

.PHONY: build run tour test test-all quick check bench bench-pg torture fuzz coverage install uninstall format clean help
.NOTPARALLEL:

#: make             build build/cairn
build:
	@scripts/setup build
	@scripts/build release

#: make run         build, then serve MCP and REST on your store until Ctrl-C; RUN_SECONDS=N, PORT=N, CAIRN_DB=FILE
run: build
	@scripts/run

#: make tour        build, then show what Cairn does, on a temporary store
tour: build
	@scripts/tour

#: make test        what CI runs, in 15 minutes: static checks, all tests, sanitizers, PostgreSQL
test:
	@scripts/setup test
	@scripts/test

#: make test-all    every test in every build and on both engines, all analysers, short fuzzing: about an hour
test-all:
	@scripts/setup test
	@scripts/test all

#: make quick       only the tests, without sanitizers, stores in files
quick:
	@scripts/setup build
	@scripts/test quick

#: make check       only the static checks, on all files
check:
	@scripts/setup test
	@scripts/test static

#: make bench       build the benchmarks and run them; BENCH_QUICK=1 leaves out the store of a million memories
bench:
	@scripts/setup build
	@scripts/build bench
	@bench/run

#: make bench-pg    a store on a PostgreSQL server of its own: 100,000 and 1,000,000 memories; SIZES="20000" for others
bench-pg:
	@scripts/setup build
	@scripts/pg setup
	@scripts/build bench
	@bench/run pg $(SIZES)

#: make torture     eight processes, killed at random, on one store, then on a server that crashes: TORTURE_SECONDS=300
torture:
	@scripts/setup test
	@scripts/build test
	@build/test/torture -v
	@scripts/pg run build/test/torture -v --engine postgres

#: make fuzz        fuzz every parser, FUZZ_SECONDS=60 each
fuzz:
	@scripts/setup test
	@scripts/fuzz $(FUZZ_SECONDS)

#: make coverage    which lines the tests reach: build/coverage/*.gcov and a summary
coverage:
	@scripts/setup build
	@scripts/coverage

#: make install     PREFIX=/usr/local DESTDIR=
install: build
	@DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(PREFIX)" --strip >/dev/null
	@echo "installed to $(DESTDIR)$(PREFIX)"

#: make uninstall   with the same PREFIX and DESTDIR
uninstall: build
	@scripts/uninstall "$(PREFIX)" "$(DESTDIR)"

#: make format      lay out the C files
format:
	@scripts/setup test
	@scripts/check-format --fix

#: make clean       remove build/, with the packages unpacked there
clean:
	rm -rf build
	@echo "removed build/; what scripts/setup unpacked there is fetched again when it is needed"

#: make help        this list
help:
	@sed -n 's/^#: //p' Makefile
