# tunesmith_add_library(NAME [LIBRARIES target...] [EACH_SOURCE_ALONE])
# A library beside the kernel, libtunesmith_NAME.so: all sources below this folder, with its public headers in include/tunesmith. It
# stands above the kernel and whatever it names in LIBRARIES; nothing of these knows it.
include_guard(GLOBAL)

function(tunesmith_add_library NAME)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EACH_SOURCE_ALONE" "" "LIBRARIES")
  set(library tunesmith_${NAME})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(${library} SHARED ${sources})
  add_library(tunesmith::${library} ALIAS ${library})
  set_target_properties(${library} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    INSTALL_RPATH "$ORIGIN" TUNESMITH_EACH_SOURCE_ALONE "${arg_EACH_SOURCE_ALONE}")
  target_include_directories(${library}
    PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/core)
  target_link_libraries(${library} PUBLIC tunesmith::tunesmith ${arg_LIBRARIES} PRIVATE tunesmith_warnings)
  install(TARGETS ${library} EXPORT tunesmithTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libtunesmith NAMELINK_COMPONENT tunesmith-dev)
  install(DIRECTORY include/tunesmith DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT tunesmith-dev)
endfunction()
