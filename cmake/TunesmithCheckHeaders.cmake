# tunesmith_check_headers(TARGET KIND)
# When TARGET is linked, its files are looked through for headers of <tunesmith/...> that plugins of this kind do not reach;
# such a plugin would be loaded by kernels in which these headers are others. tunesmith_add_plugin calls it; call it for
# static libraries of your own that a plugin is linked with.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  cmake_minimum_required(VERSION 3.25)
  file(STRINGS ${LIST} allowed REGEX "^${KIND}: ")
  string(REGEX REPLACE "^${KIND}: " "" allowed "${allowed}")
  string(REPLACE " " ";" allowed "${allowed}")
  string(REPLACE "|" ";" waiting "${FILES}")
  string(REPLACE "|" ";" folders "${INCLUDES}")
  set(seen "")
  set(faults "")
  while(waiting)
    list(POP_FRONT waiting file)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${FOLDER} NORMALIZE)
    if(file IN_LIST seen OR NOT file MATCHES "\\.(h|hh|hpp|c|cc|cpp|cxx)$" OR NOT EXISTS ${file})
      continue()
    endif()
    list(APPEND seen ${file})
    file(STRINGS ${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^[^<\"]*[<\"]([^>\"]*).*" "\\1" header "${line}")
      if(header MATCHES "^tunesmith/")
        if(NOT header IN_LIST allowed)
          string(APPEND faults "  ${file}: includes <${header}>\n")  # indented: not wrapped
        endif()
        continue()
      endif()
      # Of other headers those are followed that lie in this project.
      get_filename_component(beside ${file} DIRECTORY)
      foreach(folder IN LISTS beside folders)
        cmake_path(ABSOLUTE_PATH header BASE_DIRECTORY ${folder} NORMALIZE OUTPUT_VARIABLE found)
        string(FIND "${found}" "${PROJECT}/" below)
        if(below EQUAL 0 AND EXISTS ${found})
          list(APPEND waiting ${found})
          break()
        endif()
      endforeach()
    endforeach()
  endwhile()
  if(faults)
    message(FATAL_ERROR "${faults}Plugins of the kind ${KIND} do not reach this header: one that includes it would be loaded where the header "
                        "is another, and fail there. What they may include stands in\n  ${LIST}")
  endif()
  return()
endif()

include_guard(GLOBAL)

function(tunesmith_check_headers TARGET KIND)
  # Beside this file, as it is installed; while Tunesmith itself is built, where it is made.
  set(headers ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plugin_headers.txt)
  if(TARGET tunesmith_plugin_headers)
    set(headers ${TUNESMITH_PLUGIN_HEADERS})
    add_dependencies(${TARGET} tunesmith_plugin_headers)
  endif()
  get_target_property(folder ${TARGET} SOURCE_DIR)
  add_custom_command(TARGET ${TARGET} PRE_LINK
    COMMAND ${CMAKE_COMMAND} -DKIND=${KIND} -DLIST=${headers} -DFOLDER=${folder} -DPROJECT=${CMAKE_SOURCE_DIR}
            "-DFILES=$<JOIN:$<TARGET_PROPERTY:${TARGET},SOURCES>,|>"
            "-DINCLUDES=$<JOIN:$<TARGET_PROPERTY:${TARGET},INCLUDE_DIRECTORIES>,|>"
            -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE} VERBATIM)
endfunction()
