# Libraries: the two of the kernel, and those beside it. Each exports what its public headers declare, in include/tunesmith; its
# private headers are on nobody's include path but its own tests'.
include_guard(GLOBAL)

# What is common to shared libraries. TARGET_private is for the library's own tests: an archive of the same objects.
function(tunesmith_shared_library TARGET)
  set(exported ${PROJECT_SOURCE_DIR}/cmake/exported.map)
  set_target_properties(${TARGET} PROPERTIES INSTALL_RPATH "$ORIGIN" VERSION ${PROJECT_VERSION}
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON LINK_DEPENDS ${exported})
  target_link_options(${TARGET} PRIVATE -Wl,--version-script=${exported})
  if(NOT TUNESMITH_SANITIZE)
    target_link_options(${TARGET} PRIVATE -Wl,-z,defs)
  endif()
  tunesmith_no_links(${TARGET})
  add_library(${TARGET}_private STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${TARGET}>)
  set_target_properties(${TARGET}_private PROPERTIES LINKER_LANGUAGE CXX)
  # Plugins that a test loads need the library itself, whatever the test has of the archive.
  target_link_options(${TARGET}_private INTERFACE LINKER:--no-as-needed)
  target_include_directories(${TARGET}_private INTERFACE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${TARGET}_private INTERFACE ${TARGET} $<TARGET_PROPERTY:${TARGET},LINK_LIBRARIES>)
endfunction()

function(tunesmith_public_headers TARGET)
  target_include_directories(${TARGET}
    PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  install(DIRECTORY include/tunesmith DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT tunesmith-dev)
  install(TARGETS ${TARGET} EXPORT tunesmithTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libtunesmith NAMELINK_COMPONENT tunesmith-dev
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT tunesmith-dev)
endfunction()

# tunesmith_add_kernel_library(TARGET FOLDERS folder...): one of the two libraries of core/, from the sources below these folders.
function(tunesmith_add_kernel_library TARGET)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FOLDERS")
  list(TRANSFORM arg_FOLDERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE patterns)
  list(TRANSFORM patterns APPEND /*.cpp)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${patterns})
  add_library(${TARGET} SHARED ${sources})
  tunesmith_shared_library(${TARGET})
  # The library's name stays while the major version does, so that plugins outlive a release: whether one fits is what its note
  # says (rules P2 and P3).
  set_target_properties(${TARGET} PROPERTIES SOVERSION ${PROJECT_VERSION_MAJOR})
  target_compile_features(${TARGET} PUBLIC cxx_std_20)
  # Nobody puts other functions in the place of the kernel's: its calls of its own need not go through a table.
  target_compile_options(${TARGET} PRIVATE -fno-semantic-interposition)
  target_link_options(${TARGET} PRIVATE -Wl,-Bsymbolic-functions)
  target_link_libraries(${TARGET} PRIVATE tunesmith_warnings)
  tunesmith_public_headers(${TARGET})
endfunction()

# tunesmith_add_library(NAME SHARED|STATIC)
# A library beside the kernel, tunesmith::tunesmith_NAME: all sources below this folder. It stands above the kernel, which does not know it.
#   STATIC   for plugins: what a plugin calls becomes part of it, so that it loads wherever the kernel does
#   SHARED   for programs
function(tunesmith_add_library NAME KIND)
  set(library tunesmith_${NAME})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(${library} ${KIND} ${sources})
  add_library(tunesmith::${library} ALIAS ${library})
  if(KIND STREQUAL SHARED)
    tunesmith_shared_library(${library})
    set_target_properties(${library} PROPERTIES SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  else()
    set_target_properties(${library} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  endif()
  target_link_libraries(${library} PUBLIC tunesmith::tunesmith)
  # Not linked: who links an exported archive would need it.
  target_compile_options(${library} PRIVATE $<TARGET_PROPERTY:tunesmith_warnings,INTERFACE_COMPILE_OPTIONS>)
  tunesmith_public_headers(${library})
endfunction()
