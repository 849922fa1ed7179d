# Warnings, and errors they are by option; ccache and mold are taken where they are installed; sanitizers by option.
find_program(TUNESMITH_CCACHE ccache)
if(TUNESMITH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Relative paths, so that clones of this tree share what was compiled.
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${TUNESMITH_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()

find_program(TUNESMITH_MOLD mold)
if(TUNESMITH_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# A fresh machine compiles all of it, and what is slow in a run is a compiler's or a kernel's time, not this code's:
# -O3, CMake's own choice, takes a fifth longer to compile.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

# GCC collects its garbage from 1 GiB on, not again and again below: 6 % of the time.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options("SHELL:--param ggc-min-expand=200" "SHELL:--param ggc-min-heapsize=1048576")
endif()

# For folders whose code takes no time in a run: -O1 takes a fourth less to compile.
macro(tunesmith_compile_quickly)
  add_compile_options($<$<CONFIG:Release>:-O1>)
endmacro()

add_library(tunesmith_warnings INTERFACE)
target_compile_options(tunesmith_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wundef
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wlogical-op>
  # GCC 12 sees overlaps in std::string's operator+ that are not there (its bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  # std::stable_sort of GCC 12 calls what its own headers call deprecated, which Clang does not overlook.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  $<$<BOOL:${TUNESMITH_WERROR}>:-Werror>)

if(TUNESMITH_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(TUNESMITH_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(TUNESMITH_SANITIZE)
  message(FATAL_ERROR "TUNESMITH_SANITIZE: there is no '${TUNESMITH_SANITIZE}'; there are address and thread")
endif()

if(TUNESMITH_LIBFUZZER)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    message(FATAL_ERROR "TUNESMITH_LIBFUZZER needs Clang, and the compiler is ${CMAKE_CXX_COMPILER_ID}")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
