# With TUNESMITH_STATIC, archives take the place of shared libraries where packages are looked for. They are hidden in what they
# become part of: whoever loads Tunesmith into a process may have other versions of them there.

# The file of a shared library has the name that it is known by: a wheel has no symbolic links.
function(tunesmith_no_links library)
  if(TUNESMITH_STATIC)
    set_property(TARGET ${library} PROPERTY VERSION)
  endif()
endfunction()

if(NOT TUNESMITH_STATIC)
  return()
endif()
set(OPENSSL_USE_STATIC_LIBS ON)
set(ZLIB_USE_STATIC_LIBS ON)
find_library(SQLite3_LIBRARY libsqlite3.a)
add_link_options(-Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,--as-needed)

# An object, and no archive: whichever library needs it may come behind it.
set(older_system ${CMAKE_BINARY_DIR}/older_system.o)
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -O2 -fPIC -fvisibility=hidden -ffunction-sections
  -c ${CMAKE_CURRENT_LIST_DIR}/older_system.cpp -o ${older_system} COMMAND_ERROR_IS_FATAL ANY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/older_system.cpp)
add_link_options(${older_system})
