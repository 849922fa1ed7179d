# tunesmith_content_hash(TARGET target TEMPLATE file.in OUTPUT header BASE folder FILES file...)
# Writes, when the project is built, a header in which @CONTENT_HASH@ of the template is a hash of the files' contents:
# the first 16 hexadecimal digits of a SHA-256 over their names below BASE and their bytes, in the order of the names.
# It is the same on every machine and in every folder, and a file that changes, comes or goes changes it.
#   TARGET    what includes the header; it comes to find it by the name that follows ${CMAKE_CURRENT_BINARY_DIR}/generated
#   TEMPLATE  of the header; other @VARIABLES@ in it have the values of the configuration
#   OUTPUT    the header, relative to ${CMAKE_CURRENT_BINARY_DIR}/generated
#   FILES     absolute paths below BASE; take them from file(GLOB_RECURSE ... CONFIGURE_DEPENDS ...)
# For example, what identifies a target's code generator (compilation.h.in: `... kGenerator = "@CONTENT_HASH@";`):
#   file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp ${PROJECT_SOURCE_DIR}/core/lower/*.cpp)
#   tunesmith_content_hash(TARGET tunesmith_llvm TEMPLATE generator.h.in OUTPUT generator.h BASE ${PROJECT_SOURCE_DIR}
#                          FILES ${files})
#
# cmake -DBASE=folder -P TunesmithContentHash.cmake prints the hash of all files below a folder.

# `files` are relative to `base`.
function(_tunesmith_hash_files result base files)
  list(SORT files COMPARE STRING)
  set(text "")
  foreach(file IN LISTS files)
    file(SHA256 ${base}/${file} hash)
    string(APPEND text "${hash}  ${file}\n")
  endforeach()
  string(SHA256 hash "${text}")
  string(SUBSTRING ${hash} 0 16 hash)
  set(${result} ${hash} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  cmake_minimum_required(VERSION 3.25)
  if(LIST)
    file(STRINGS ${LIST} files)
  else()
    file(GLOB_RECURSE files RELATIVE ${BASE} ${BASE}/*)
  endif()
  _tunesmith_hash_files(CONTENT_HASH ${BASE} "${files}")
  if(TEMPLATE)
    configure_file(${TEMPLATE} ${OUTPUT} @ONLY)  # leaves the header alone where nothing changes
  else()
    execute_process(COMMAND ${CMAKE_COMMAND} -E echo ${CONTENT_HASH})  # message() writes to standard error
  endif()
  return()
endif()

include_guard(GLOBAL)

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
  add_custom_command(OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} -DBASE=${arg_BASE} -DLIST=${header}.files -DTEMPLATE=${header}.in -DOUTPUT=${header}
            -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    DEPENDS ${arg_FILES} ${header}.files ${header}.in ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    COMMENT "Hashing the files behind ${arg_OUTPUT}" VERBATIM)
  target_sources(${arg_TARGET} PRIVATE ${header})
  target_include_directories(${arg_TARGET} PRIVATE ${folder})
endfunction()
