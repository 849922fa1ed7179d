# tunesmith_add_plugin(NAME KIND SOURCES...)
#   NAME     the plugin's id and the base name of its library (NAME.so)
#   KIND     module | target | extension | searcher | cost_model
# Builds a loadable MODULE with the flags the loader's contract asks for (docs/plugin-rules.md) and writes its
# manifest beside it.
function(tunesmith_add_plugin NAME KIND)
  add_library(${NAME} MODULE ${ARGN})
  set_target_properties(${NAME} PROPERTIES
    PREFIX "" CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/tunesmith/plugins
    BUILD_RPATH_USE_ORIGIN ON)
  target_link_libraries(${NAME} PRIVATE tunesmith::tunesmith)
  if(TARGET tunesmith_warnings)
    target_link_libraries(${NAME} PRIVATE tunesmith_warnings)
  endif()
  target_link_options(${NAME} PRIVATE -Wl,-z,now -Wl,-z,nodelete)
endfunction()
