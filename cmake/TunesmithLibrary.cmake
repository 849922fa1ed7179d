# tunesmith_add_library(NAME SHARED|STATIC [EACH_SOURCE_ALONE])
# A library beside the kernel, tunesmith::tunesmith_NAME: all sources below this folder, with its public headers in include/tunesmith.
# It stands above the kernel, which does not know it.
#   STATIC   for plugins: what a plugin calls becomes part of it, so that it loads wherever the kernel does
#   SHARED   for programs
include_guard(GLOBAL)

function(tunesmith_add_library NAME KIND)
  cmake_parse_arguments(PARSE_ARGV 2 arg "EACH_SOURCE_ALONE" "" "")
  set(library tunesmith_${NAME})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(${library} ${KIND} ${sources})
  add_library(tunesmith::${library} ALIAS ${library})
  set_target_properties(${library} PROPERTIES TUNESMITH_EACH_SOURCE_ALONE "${arg_EACH_SOURCE_ALONE}")
  if(KIND STREQUAL SHARED)
    set_target_properties(${library} PROPERTIES INSTALL_RPATH "$ORIGIN" VERSION ${PROJECT_VERSION}
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    tunesmith_no_links(${library})
  else()
    set_target_properties(${library} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  endif()
  target_include_directories(${library}
    PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/core)
  target_link_libraries(${library} PUBLIC tunesmith::tunesmith)
  # Not linked: who links an exported archive would need it.
  target_compile_options(${library} PRIVATE $<TARGET_PROPERTY:tunesmith_warnings,INTERFACE_COMPILE_OPTIONS>)
  install(TARGETS ${library} EXPORT tunesmithTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libtunesmith NAMELINK_COMPONENT tunesmith-dev
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT tunesmith-dev)
  install(DIRECTORY include/tunesmith DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT tunesmith-dev)
endfunction()
