# Entry points for users. CMake builds (CMakePresets.json), scripts/test runs the tests. Each target first installs missing
# packages (scripts/setup).
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60

.PHONY: build run tour test test-all quick check bench bench-pg torture fuzz coverage install uninstall format clean help
.NOTPARALLEL:

#: make             build build/cairn
build:
	@scripts/setup build
	@scripts/build release

#: make run         build, then serve your store over MCP and REST until Ctrl-C; RUN_SECONDS=N, PORT=N, CAIRN_DB=FILE
run: build
	@scripts/run

#: make tour        build, then show what Cairn does, on a temporary store
tour: build
	@scripts/tour

#: make test        run the CI tests in 20 minutes: static checks, all tests, sanitizers, PostgreSQL
test:
	@scripts/setup test
	@scripts/test

#: make test-all    run every test in every build and on both engines, all analysers, short fuzzing: about an hour
test-all:
	@scripts/setup test
	@scripts/test all

#: make quick       run only the tests, without sanitizers, on SQLite
quick:
	@scripts/setup build
	@scripts/test quick

#: make check       run only the static checks, on all files
check:
	@scripts/setup test
	@scripts/test static

#: make bench       build and run the benchmarks; BENCH_QUICK=1 skips the store of a million memories
bench:
	@scripts/setup build
	@scripts/build bench
	@bench/run

#: make bench-pg    benchmark a private PostgreSQL server with 100,000 and 1,000,000 memories; SIZES="20000" for others
bench-pg:
	@scripts/setup build
	@scripts/pg setup
	@scripts/build bench
	@bench/run pg $(SIZES)

#: make torture     kill eight processes at random on one store, then crash a database server; TORTURE_SECONDS=300
torture:
	@scripts/setup test
	@scripts/build test
	@build/test/torture -v
	@scripts/pg run build/test/torture -v --engine postgres

#: make fuzz        fuzz every parser, FUZZ_SECONDS=60 each
fuzz:
	@scripts/setup test
	@scripts/fuzz $(FUZZ_SECONDS)

#: make coverage    measure the test coverage: build/coverage/*.gcov and a summary
coverage:
	@scripts/setup build
	@scripts/coverage

#: make install     install to PREFIX=/usr/local; DESTDIR=
install: build
	@DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(PREFIX)" --strip >/dev/null
	@echo "installed to $(DESTDIR)$(PREFIX)"

#: make uninstall   remove the installed files; same PREFIX and DESTDIR
uninstall: build
	@scripts/uninstall "$(PREFIX)" "$(DESTDIR)"

#: make format      format the C files
format:
	@scripts/setup test
	@scripts/check-format --fix

#: make clean       remove build/, including the packages unpacked there
clean:
	rm -rf build
	@echo "removed build/; scripts/setup will download its packages again when needed"

#: make help        this list
help:
	@sed -n 's/^#: //p' Makefile
