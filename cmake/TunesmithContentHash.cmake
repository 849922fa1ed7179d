# tunesmith_content_hash(TARGET target TEMPLATE file.in OUTPUT header BASE folder FILES file...)
# Writes, when the project is built, a header in which @CONTENT_HASH@ of the template is a hash of the files' contents, of C
# and C++ without comments and white space (code_hash.py): 16 hexadecimal digits over their names below BASE and their code.
# It is the same on every machine and in every folder; a file whose code changes, that comes or goes changes it, and a
# comment does not.
#   TARGET    what includes the header; it comes to find it by the name that follows ${CMAKE_CURRENT_BINARY_DIR}/generated
#   TEMPLATE  of the header; other @VARIABLES@ in it have the values of the configuration
#   OUTPUT    the header, relative to ${CMAKE_CURRENT_BINARY_DIR}/generated
#   FILES     absolute paths below BASE; take them from file(GLOB_RECURSE ... CONFIGURE_DEPENDS ...)
# For example, what identifies a target's code generator (compilation.h.in: `... kGenerator = "@CONTENT_HASH@";`):
#   file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp ${PROJECT_SOURCE_DIR}/core/compiler/lower/*.cpp)
#   tunesmith_content_hash(TARGET tunesmith_llvm TEMPLATE generator.h.in OUTPUT generator.h BASE ${PROJECT_SOURCE_DIR}
#                          FILES ${files})
include_guard(GLOBAL)

find_package(Python3 REQUIRED COMPONENTS Interpreter)

function(tunesmith_content_hash)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;TEMPLATE;OUTPUT;BASE" "FILES")
  foreach(word TARGET TEMPLATE OUTPUT BASE FILES)
    if(NOT arg_${word})
      message(FATAL_ERROR "tunesmith_content_hash: ${word} is missing")
    endif()
  endforeach()
  set(names "")
  foreach(file IN LISTS arg_FILES)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${arg_BASE} OUTPUT_VARIABLE name)
    string(APPEND names "${name}\n")
  endforeach()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/generated)
  set(header ${folder}/${arg_OUTPUT})
  # A file that goes changes this list, which the command depends on.
  file(CONFIGURE OUTPUT ${header}.files CONTENT "${names}")
  set(CONTENT_HASH "@CONTENT_HASH@")
  configure_file(${arg_TEMPLATE} ${header}.in @ONLY)
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/code_hash.py)
  add_custom_command(OUTPUT ${header}
    COMMAND Python3::Interpreter ${script} ${arg_BASE} ${header}.files ${header}.in ${header}
    DEPENDS ${arg_FILES} ${header}.files ${header}.in ${script}
    COMMENT "Hashing the files behind ${arg_OUTPUT}" VERBATIM)
  target_sources(${arg_TARGET} PRIVATE ${header})
  target_include_directories(${arg_TARGET} PRIVATE ${folder})
endfunction()
