# Compiler and linker flags, the same for gcc and clang.
include(CheckPIESupported)
include(CheckCCompilerFlag)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
check_pie_supported(LANGUAGES C)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or Coverage" FORCE)
endif()

# Assertions stay on in a release: they are cheap, and a store is worth more than a microsecond.
set(CMAKE_C_FLAGS_RELEASE "-O2 -g")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g3 -fno-omit-frame-pointer")
set(CMAKE_C_FLAGS_COVERAGE "-O0 -g --coverage")

add_library(cairn_flags INTERFACE)
target_compile_definitions(cairn_flags INTERFACE _GNU_SOURCE)
target_compile_options(cairn_flags INTERFACE
  # No fused multiply-add behind our back: floats are bit-identical on every machine.
  -ffp-contract=off -fno-semantic-interposition -fno-strict-aliasing
  -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wundef -Wcast-qual
  -Wwrite-strings -Wnull-dereference)
if(CAIRN_WERROR)
  target_compile_options(cairn_flags INTERFACE -Werror)
endif()

# Hardening. The sanitizers replace it: they intercept the same calls.
target_link_options(cairn_flags INTERFACE -Wl,-z,relro,-z,now -Wl,--as-needed)
if(CAIRN_SANITIZE)
  # Line tables are all that a report needs; more would slow down the build.
  target_compile_options(cairn_flags INTERFACE -fsanitize=${CAIRN_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer -g1)
  target_link_options(cairn_flags INTERFACE -fsanitize=${CAIRN_SANITIZE})
  if(CMAKE_C_COMPILER_ID STREQUAL Clang)
    # clang objects to NULL + 0, which empty slices do and C2y allows; gcc's check knows better and stays on.
    target_compile_options(cairn_flags INTERFACE -fno-sanitize=pointer-overflow)
  endif()
else()
  target_compile_options(cairn_flags INTERFACE -fstack-protector-strong)
  if(NOT CMAKE_BUILD_TYPE STREQUAL Coverage)
    target_compile_options(cairn_flags INTERFACE $<$<CONFIG:Release>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=3>)
  endif()
  foreach(flag -fstack-clash-protection -fcf-protection)
    string(MAKE_C_IDENTIFIER "has${flag}" has)
    check_c_compiler_flag(${flag} ${has})
    if(${has})
      target_compile_options(cairn_flags INTERFACE ${flag})
    endif()
  endforeach()
endif()

# What every C file of the project gets, tests too.
function(cairn_common_flags target)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(${target} PRIVATE cairn_flags)
  # ASan and UBSan add some 100,000 pointers to a program's data, which a PIE relocates at each start. The black-box
  # tests start thousands of processes.
  get_target_property(type ${target} TYPE)
  if(CAIRN_SANITIZE MATCHES address AND type STREQUAL EXECUTABLE)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  endif()
endfunction()

# What src/ gets besides.
function(cairn_source_flags target)
  cairn_common_flags(${target})
  target_compile_definitions(${target} PRIVATE CAIRN_VERSION="${PROJECT_VERSION}")
  target_compile_options(${target} PRIVATE "SHELL:-include ${CMAKE_SOURCE_DIR}/src/base/banned.h")
endfunction()
