# tunesmith_add_conformance_test(NAME PACK pack [SPACES file] [WORKLOADS w...] [EXPECT kind:id/check=reason...]
#                                [PLUGIN_PATH folder...] [TIMEOUT seconds])
# A test that holds every plugin of a pack to the contract of its kind, as `tunesmith plugins verify` does.
#   PACK         what tunesmith_add_plugin or tunesmith_add_pack was called with
#   SPACES       a spaces file with a space that names the plugins; else they are put into the default space
#   WORKLOADS    those that its modules are for, besides the kit's own
#   EXPECT       failures that are known, each with its reason
#   PLUGIN_PATH  where the plugins are that the spaces file names besides
include_guard(GLOBAL)

function(tunesmith_add_conformance_test NAME)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PACK;SPACES;TIMEOUT" "WORKLOADS;EXPECT;PLUGIN_PATH")
  if(NOT arg_PACK)
    message(FATAL_ERROR "tunesmith_add_conformance_test(${NAME}): PACK is missing")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  _tunesmith_output_directory(folder)
  set(arguments "")
  if(arg_SPACES)
    get_filename_component(file "${arg_SPACES}" ABSOLUTE)
    list(APPEND arguments --spaces "${file}")
  endif()
  foreach(word_and_option WORKLOADS|--workload EXPECT|--expect PLUGIN_PATH|--plugin-path)
    string(REPLACE "|" ";" pair ${word_and_option})
    list(GET pair 0 word)
    list(GET pair 1 option)
    foreach(value IN LISTS arg_${word})
      list(APPEND arguments ${option} "${value}")
    endforeach()
  endforeach()
  add_test(NAME ${NAME} COMMAND ${TUNESMITH_EXECUTABLE} plugins verify "${folder}/${arg_PACK}.pack.json" ${arguments})
  set_tests_properties(${NAME} PROPERTIES TIMEOUT ${arg_TIMEOUT})
endfunction()
