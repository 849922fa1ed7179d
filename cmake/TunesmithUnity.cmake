# Compiles the files of a target together, TUNESMITH_UNITY of them at a time: most of what the compiler does for one file is
# reading the same headers again. The 51 files of measuring/ take 7 s of processor time to parse at once, 28 s folder by folder.
# File-local names are therefore unique within their target. The preset `debug` leaves it out: there one file changes at a time.
# Targets with the property TUNESMITH_EACH_SOURCE_ALONE are left out, too.
set(TUNESMITH_UNITY 0 CACHE STRING "How many source files of a target are compiled as one; 0 compiles each alone")

# To be called once, after all targets are there.
function(tunesmith_unite_sources DIRECTORY)
  if(NOT TUNESMITH_UNITY)
    return()
  endif()
  get_property(folders DIRECTORY ${DIRECTORY} PROPERTY SUBDIRECTORIES)
  foreach(folder IN LISTS folders)
    tunesmith_unite_sources(${folder})
  endforeach()
  get_property(targets DIRECTORY ${DIRECTORY} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    tunesmith_unite_target(${target})
  endforeach()
endfunction()

function(tunesmith_unite_target TARGET)
  get_target_property(sources ${TARGET} SOURCES)
  get_target_property(base ${TARGET} SOURCE_DIR)
  if(NOT sources)
    return()
  endif()
  get_target_property(alone ${TARGET} TUNESMITH_EACH_SOURCE_ALONE)
  if(alone)
    return()
  endif()
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(SORT sources)
  set(count 0)
  foreach(source IN LISTS sources)
    get_filename_component(source ${source} ABSOLUTE BASE_DIR ${base})
    math(EXPR part "${count} / ${TUNESMITH_UNITY}")
    math(EXPR count "${count} + 1")
    set_property(SOURCE ${source} TARGET_DIRECTORY ${TARGET} PROPERTY UNITY_GROUP ${TARGET}_${part})
  endforeach()
  set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC takes a file that is included for a header, whose types must not hold others of an unnamed namespace.
  target_compile_options(${TARGET} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()
