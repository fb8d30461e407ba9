# Libraries that Cairn links to, collected in the target cairn_dependencies.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(SYSTEM_LIBRARIES REQUIRED IMPORTED_TARGET sqlite3>=3.40 libsodium libutf8proc libcmark
  libmicrohttpd>=0.9.75 gnutls>=3.7)

# libcurl is loaded when an HTTP embedder first needs it (see src/embed/remote/client.c); the build needs only its headers.
pkg_check_modules(CURL REQUIRED libcurl>=7.87)

# libpq likewise, when a store on a server is first opened (see src/store/postgres/libpq.h).
pkg_check_modules(LIBPQ REQUIRED libpq>=14)

# For the sandbox of the servers; used only by the program, not by the library.
pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp>=2.5)

# yyjson: unpacked by scripts/setup, else the system's.
set(CAIRN_DEPS_DIR ${CMAKE_SOURCE_DIR}/build/deps/usr)
find_path(YYJSON_INCLUDE_DIR yyjson.h HINTS ${CAIRN_DEPS_DIR}/include NO_CACHE)
find_library(YYJSON_LIBRARY yyjson HINTS ${CAIRN_DEPS_DIR}/lib ${CAIRN_DEPS_DIR}/lib/${CMAKE_LIBRARY_ARCHITECTURE} NO_CACHE)
if(NOT YYJSON_INCLUDE_DIR OR NOT YYJSON_LIBRARY)
  message(FATAL_ERROR "yyjson not found: run scripts/setup, or install libyyjson-dev")
endif()
cmake_path(IS_PREFIX CAIRN_DEPS_DIR ${YYJSON_LIBRARY} CAIRN_PRIVATE_YYJSON)

# An unpacked yyjson is installed in PREFIX/lib/cairn, and is in lib/cairn of the build directory before. Every program
# searches both, relative to itself. CMake's own build rpath is not used, because it ends in an empty entry, which means
# the working directory.
if(CAIRN_PRIVATE_YYJSON)
  cmake_path(GET YYJSON_LIBRARY PARENT_PATH yyjson_dir)
  file(GLOB yyjson_files ${yyjson_dir}/libyyjson.so.0*)
  file(COPY ${yyjson_files} DESTINATION ${CMAKE_BINARY_DIR}/lib/cairn)
  set(private_dir ${CMAKE_INSTALL_LIBDIR}/cairn)
  file(RELATIVE_PATH from_bin /${CMAKE_INSTALL_BINDIR} /${private_dir})
  set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
  set(CMAKE_INSTALL_RPATH "$ORIGIN/${from_bin};$ORIGIN/lib/cairn")
endif()

add_library(cairn_dependencies INTERFACE)
target_include_directories(cairn_dependencies SYSTEM INTERFACE ${YYJSON_INCLUDE_DIR} ${CURL_INCLUDE_DIRS}
  ${LIBPQ_INCLUDE_DIRS})
target_link_libraries(cairn_dependencies INTERFACE PkgConfig::SYSTEM_LIBRARIES ${YYJSON_LIBRARY} Threads::Threads m
  ${CMAKE_DL_LIBS})
