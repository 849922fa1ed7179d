# How a plugin is built, inside the tree and outside of it (find_package(tunesmith) gives the same functions).
#
# tunesmith_add_plugin(NAME KIND [TIER STABLE|EXACT] [MINOR n] [ID id] [VERSION v] [VENDOR v] [LICENCE l]
#                      [REQUIRES kind:id...] [PACK] [LIBRARIES target...] SOURCES...)
#   NAME      the CMake target and the library's file (NAME.so); a YAML file keeps its own name
#   KIND      module | target | extension | searcher | cost_model | task_scheduler | importer | runner
#   TIER      STABLE: a module or a task scheduler that includes <tunesmith/stable/...> and <tunesmith/tiling/...> alone, is linked with nothing of
#             Tunesmith's, and loads on every kernel of its interface's major version. EXACT, the default: it fits the
#             very headers that it was built with, and needs the packages that these include: Boost, fmt, tl-expected
#   MINOR     of the stable interface, where the plugin needs what a newer one than 0 has brought
#   ID        the id given to TUNESMITH_PLUGIN, where it is not NAME
#   SOURCES   of the library, which include of <tunesmith/...> only what plugins of this kind reach: that is checked when it is
#             linked (TunesmithCheckHeaders.cmake); or one YAML file, which then is the plugin (an extension that is data)
#   REQUIRES  plugins without which this one is not loaded
#   PACK      the plugin goes into a pack of several (tunesmith_add_pack); else it is a pack of its own, whose
#             manifest NAME.pack.json is written beside the library
#   LIBRARIES shared libraries of this build that the plugin links to: they come with the pack, in its folder and in its
#             manifest (of a plugin in a pack of several: tunesmith_add_pack's)
#   The other words are for the manifest; they default to the project's version, TUNESMITH_PLUGIN_VENDOR and
#   TUNESMITH_PLUGIN_LICENCE.
#
# tunesmith_add_pack(NAME VERSION v VENDOR v LICENCE l PLUGINS target... [LIBRARIES target...])
#   Writes NAME.pack.json for plugins built with PACK, into their folder.
#
# Libraries and manifests go to TUNESMITH_PLUGIN_OUTPUT_DIRECTORY (default: plugins/ in the build folder) and, where
# TUNESMITH_PLUGIN_INSTALL_DIR is set, are installed there, under TUNESMITH_PLUGIN_COMPONENT if that is set.
# The rules that the flags serve are in docs/plugin-rules.md.
include_guard(GLOBAL)
include(${CMAKE_CURRENT_LIST_DIR}/TunesmithCheckHeaders.cmake)

function(_tunesmith_output_directory result)
  if(TUNESMITH_PLUGIN_OUTPUT_DIRECTORY)
    set(${result} ${TUNESMITH_PLUGIN_OUTPUT_DIRECTORY} PARENT_SCOPE)
  else()
    set(${result} ${CMAKE_BINARY_DIR}/plugins PARENT_SCOPE)
  endif()
endfunction()

# The command that writes the manifest of a pack over the libraries in `folder`.
function(_tunesmith_manifest_command result folder pack version vendor licence entries libraries)
  # A semicolon would split the list into several arguments of the command.
  string(REPLACE ";" "," entries "${entries}")
  string(REPLACE ";" "," libraries "${libraries}")
  set(${result}
    ${CMAKE_COMMAND} "-DFOLDER=${folder}" "-DPACK=${pack}" "-DVERSION=${version}" "-DVENDOR=${vendor}"
    "-DLICENCE=${licence}" "-DPLUGINS=${entries}" "-DLIBRARIES=${libraries}"
    -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/TunesmithManifest.cmake PARENT_SCOPE)
endfunction()

# Installing changes a library (its RPATH, stripping), so the installed manifest is written after that.
function(_tunesmith_install_manifest pack version vendor licence entries libraries)
  if(NOT TUNESMITH_PLUGIN_INSTALL_DIR)
    return()
  endif()
  _tunesmith_manifest_command(command
    "\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${TUNESMITH_PLUGIN_INSTALL_DIR}"
    "${pack}" "${version}" "${vendor}" "${licence}" "${entries}" "${libraries}")
  set(quoted "")
  foreach(word IN LISTS command)
    string(REPLACE "\"" "\\\"" word "${word}")
    string(APPEND quoted " \"${word}\"")
  endforeach()
  install(CODE "execute_process(COMMAND${quoted} COMMAND_ERROR_IS_FATAL ANY)" ${_tunesmith_component})
endfunction()

# Puts shared libraries beside the plugins that need them; `result` are the names that the plugins know them by.
function(_tunesmith_pack_libraries result folder targets)
  set(names "")
  foreach(library IN LISTS targets)
    get_target_property(type ${library} TYPE)
    if(NOT type STREQUAL "SHARED_LIBRARY")
      message(FATAL_ERROR "LIBRARIES: ${library} is no shared library of this build")
    endif()
    set_target_properties(${library} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY ${folder} BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
    list(APPEND names "$<TARGET_SONAME_FILE_NAME:${library}>")
    if(TUNESMITH_PLUGIN_INSTALL_DIR)
      install(TARGETS ${library} LIBRARY DESTINATION ${TUNESMITH_PLUGIN_INSTALL_DIR} ${_tunesmith_component} NAMELINK_SKIP)
    endif()
  endforeach()
  set(${result} "${names}" PARENT_SCOPE)
endfunction()

# What the headers of the exact tier include besides Tunesmith's own. Nothing where Tunesmith itself is built.
macro(_tunesmith_find_packages_of_exact_tier name)
  get_target_property(_tunesmith_installed tunesmith::tunesmith IMPORTED)
  if(_tunesmith_installed)
    foreach(_tunesmith_package "Boost;1.74" fmt tl-expected Threads)
      list(GET _tunesmith_package 0 _tunesmith_package_name)
      find_package(${_tunesmith_package} QUIET GLOBAL)  # tunesmith::tunesmith may be of a folder above this one
      if(NOT ${_tunesmith_package_name}_FOUND)
        list(JOIN _tunesmith_package " " _tunesmith_package)
        message(FATAL_ERROR "tunesmith_add_plugin(${name}): a plugin of the tier EXACT needs the package ${_tunesmith_package}, which is not found; "
                            "modules and task schedulers can be of the tier STABLE, which needs none")
      endif()
    endforeach()
  endif()
endmacro()

function(tunesmith_add_plugin NAME KIND)
  cmake_parse_arguments(PARSE_ARGV 2 arg "PACK" "TIER;MINOR;ID;VERSION;VENDOR;LICENCE" "REQUIRES;LIBRARIES;SOURCES")
  if(NOT KIND MATCHES "^(module|target|extension|searcher|cost_model|task_scheduler|importer|runner)$")
    message(FATAL_ERROR "tunesmith_add_plugin(${NAME}): no kind of plugin is called '${KIND}'; "
                        "known: module, target, extension, searcher, cost_model, task_scheduler, importer, runner")
  endif()
  if(NOT arg_TIER)
    set(arg_TIER EXACT)
  endif()
  if(NOT arg_TIER MATCHES "^(STABLE|EXACT)$")
    message(FATAL_ERROR "tunesmith_add_plugin(${NAME}): there is no tier '${arg_TIER}'; there are STABLE and EXACT")
  endif()
  if(arg_TIER STREQUAL STABLE AND NOT KIND MATCHES "^(module|task_scheduler)$")
    message(FATAL_ERROR "tunesmith_add_plugin(${NAME}): of the tier STABLE are modules and task schedulers, no ${KIND}")
  endif()
  foreach(word_and_default "ID|${NAME}" "VERSION|${PROJECT_VERSION}" "VENDOR|${TUNESMITH_PLUGIN_VENDOR}"
                           "LICENCE|${TUNESMITH_PLUGIN_LICENCE}")
    string(REPLACE "|" ";" pair "${word_and_default}")
    list(GET pair 0 word)
    list(GET pair 1 default)
    if(NOT arg_${word})
      set(arg_${word} "${default}")
    endif()
    if(NOT arg_${word})
      set(arg_${word} "unknown")
    endif()
  endforeach()

  # Sources may follow the libraries or the references without a word between them.
  set(after_libraries "")
  foreach(word IN LISTS arg_LIBRARIES)
    if(NOT TARGET ${word})
      list(APPEND after_libraries ${word})
    endif()
  endforeach()
  list(REMOVE_ITEM arg_LIBRARIES ${after_libraries})
  set(references ${arg_REQUIRES})
  list(FILTER references INCLUDE REGEX "^(module|target|extension|searcher|cost_model|task_scheduler|importer|runner):[a-z0-9_]+$")
  list(FILTER arg_REQUIRES EXCLUDE REGEX "^(module|target|extension|searcher|cost_model|task_scheduler|importer|runner):[a-z0-9_]+$")

  set(sources ${arg_SOURCES} ${arg_REQUIRES} ${after_libraries} ${arg_UNPARSED_ARGUMENTS})
  _tunesmith_output_directory(folder)
  string(REPLACE ";" "+" requires "${references}")
  set(_tunesmith_component "")
  if(TUNESMITH_PLUGIN_COMPONENT)
    set(_tunesmith_component COMPONENT ${TUNESMITH_PLUGIN_COMPONENT})
  endif()
  if(sources MATCHES "\\.yaml$")
    if(NOT arg_PACK)
      message(FATAL_ERROR "tunesmith_add_plugin(${NAME}): a YAML file goes into a pack: PACK, and tunesmith_add_pack")
    endif()
    cmake_path(ABSOLUTE_PATH sources BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE data)
    cmake_path(GET data FILENAME file)  # which messages about the file name
    add_custom_command(OUTPUT ${folder}/${file}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
      COMMAND ${CMAKE_COMMAND} -E copy ${data} ${folder}/${file} DEPENDS ${data} VERBATIM)
    add_custom_target(${NAME} ALL DEPENDS ${folder}/${file})
    set_target_properties(${NAME} PROPERTIES
      TUNESMITH_MANIFEST_ENTRY "${KIND}|${arg_ID}|${file}|${requires}" TUNESMITH_FILE ${folder}/${file})
    if(TUNESMITH_PLUGIN_INSTALL_DIR)
      install(FILES ${data} DESTINATION ${TUNESMITH_PLUGIN_INSTALL_DIR} ${_tunesmith_component})
    endif()
    return()
  endif()

  add_library(${NAME} MODULE ${sources})
  if(arg_TIER STREQUAL STABLE)
    target_link_libraries(${NAME} PRIVATE tunesmith::tunesmith_stable tunesmith::tunesmith_tiling)
    set_property(GLOBAL APPEND PROPERTY TUNESMITH_STABLE_PLUGINS ${NAME})
    if(arg_MINOR)
      target_compile_definitions(${NAME} PRIVATE TUNESMITH_STABLE_MINOR=${arg_MINOR})
    endif()
  else()
    _tunesmith_find_packages_of_exact_tier(${NAME})
    # Of the libraries beside the kernel, what the plugin calls becomes part of it.
    target_link_libraries(${NAME} PRIVATE tunesmith::tunesmith tunesmith::tunesmith_performance tunesmith::tunesmith_verification
      tunesmith::tunesmith_grid tunesmith::tunesmith_proposals tunesmith::tunesmith_runtime)
    if(KIND STREQUAL importer)
      # Headers alone: whoever calls it has the library.
      target_include_directories(${NAME} PRIVATE $<TARGET_PROPERTY:tunesmith::tunesmith_network,INTERFACE_INCLUDE_DIRECTORIES>)
    endif()
    if(KIND STREQUAL runner)
      target_link_libraries(${NAME} PRIVATE tunesmith::tunesmith_measuring)
    endif()
  endif()
  if(TARGET tunesmith_warnings)
    target_link_libraries(${NAME} PRIVATE tunesmith_warnings)
  endif()
  set(run_path "$ORIGIN")
  if((TUNESMITH_STATIC OR KIND STREQUAL runner) AND TUNESMITH_PLUGIN_INSTALL_DIR)
    # Beside the kernel lie libraries that runners need, and in a Python package those that any plugin needs.
    file(RELATIVE_PATH to_kernel /${TUNESMITH_PLUGIN_INSTALL_DIR} /${CMAKE_INSTALL_LIBDIR})
    list(APPEND run_path "$ORIGIN/${to_kernel}")
  endif()
  set_target_properties(${NAME} PROPERTIES
    PREFIX "" SUFFIX ".so"
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY ${folder}
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${run_path}"
    LINK_DEPENDS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/TunesmithManifest.cmake)
  if(arg_TIER STREQUAL STABLE)
    tunesmith_check_headers(${NAME} stable)
  else()
    tunesmith_check_headers(${NAME} ${KIND})
  endif()
  target_link_options(${NAME} PRIVATE -Wl,-z,now -Wl,-z,nodelete)
  if(arg_TIER STREQUAL STABLE)
    target_link_options(${NAME} PRIVATE -Wl,--version-script=${CMAKE_CURRENT_FUNCTION_LIST_DIR}/stable_plugin.map)
    set_property(TARGET ${NAME} APPEND PROPERTY LINK_DEPENDS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/stable_plugin.map)
  endif()
  # A sanitizer's run-time library is in the executable, so that its symbols are undefined here.
  if(NOT TUNESMITH_SANITIZE AND NOT "${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize")
    target_link_options(${NAME} PRIVATE -Wl,--no-undefined)
  endif()

  set(entry "${KIND}|${arg_ID}|${NAME}.so|${requires}")
  set_target_properties(${NAME} PROPERTIES
    TUNESMITH_MANIFEST_ENTRY "${entry}" TUNESMITH_FILE "$<TARGET_FILE:${NAME}>")

  if(TUNESMITH_PLUGIN_INSTALL_DIR)
    install(TARGETS ${NAME} LIBRARY DESTINATION ${TUNESMITH_PLUGIN_INSTALL_DIR} ${_tunesmith_component})
  endif()
  if(arg_PACK AND arg_LIBRARIES)
    message(FATAL_ERROR "tunesmith_add_plugin(${NAME}): with PACK, LIBRARIES are given to tunesmith_add_pack")
  endif()
  if(NOT arg_PACK)
    _tunesmith_pack_libraries(libraries ${folder} "${arg_LIBRARIES}")
    if(arg_LIBRARIES)
      add_dependencies(${NAME} ${arg_LIBRARIES})
    endif()
    _tunesmith_manifest_command(command ${folder} ${NAME} "${arg_VERSION}" "${arg_VENDOR}" "${arg_LICENCE}" "${entry}"
      "${libraries}")
    add_custom_command(TARGET ${NAME} POST_BUILD COMMAND ${command}
      BYPRODUCTS ${folder}/${NAME}.pack.json VERBATIM)
    _tunesmith_install_manifest(${NAME} "${arg_VERSION}" "${arg_VENDOR}" "${arg_LICENCE}" "${entry}" "${libraries}")
  endif()
endfunction()

function(tunesmith_add_pack NAME)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "VERSION;VENDOR;LICENCE" "PLUGINS;LIBRARIES")
  foreach(word VERSION VENDOR LICENCE PLUGINS)
    if(NOT arg_${word})
      message(FATAL_ERROR "tunesmith_add_pack(${NAME}): ${word} is missing")
    endif()
  endforeach()
  set(entries "")
  set(libraries "")
  foreach(plugin IN LISTS arg_PLUGINS)
    get_target_property(entry ${plugin} TUNESMITH_MANIFEST_ENTRY)
    list(APPEND entries "${entry}")
    get_target_property(file ${plugin} TUNESMITH_FILE)
    list(APPEND libraries "${file}")
  endforeach()
  _tunesmith_output_directory(folder)
  set(_tunesmith_component "")
  if(TUNESMITH_PLUGIN_COMPONENT)
    set(_tunesmith_component COMPONENT ${TUNESMITH_PLUGIN_COMPONENT})
  endif()
  _tunesmith_pack_libraries(names ${folder} "${arg_LIBRARIES}")
  foreach(library IN LISTS arg_LIBRARIES)
    list(APPEND libraries "$<TARGET_FILE:${library}>")
  endforeach()
  _tunesmith_manifest_command(command ${folder} ${NAME} "${arg_VERSION}" "${arg_VENDOR}" "${arg_LICENCE}" "${entries}"
    "${names}")
  add_custom_command(OUTPUT ${folder}/${NAME}.pack.json COMMAND ${command}
    DEPENDS ${arg_PLUGINS} ${arg_LIBRARIES} ${libraries} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/TunesmithManifest.cmake VERBATIM)
  add_custom_target(${NAME}_pack ALL DEPENDS ${folder}/${NAME}.pack.json)
  _tunesmith_install_manifest(${NAME} "${arg_VERSION}" "${arg_VENDOR}" "${arg_LICENCE}" "${entries}" "${names}")
endfunction()
