# What `cmake --install` puts where, and the CMake package: the same package also lies in the build tree, so that a
# plugin can be built against either (-DCMAKE_PREFIX_PATH=PREFIX, or =BUILD_FOLDER).
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tunesmith)
set(build_package ${CMAKE_BINARY_DIR}/lib/cmake/tunesmith)

install(DIRECTORY ${PROJECT_BINARY_DIR}/core/host/generated/tunesmith DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT tunesmith-dev FILES_MATCHING PATTERN "*.h")

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tunesmithConfig.cmake.in
  ${build_package}/tunesmithConfig.cmake INSTALL_DESTINATION ${package_folder})
# SameMinorVersion: before 1.0 a minor version is another interface.
write_basic_package_version_file(${build_package}/tunesmithConfigVersion.cmake COMPATIBILITY SameMinorVersion)
foreach(file TunesmithPlugin.cmake stable_plugin.map TunesmithCheckHeaders.cmake TunesmithManifest.cmake TunesmithConformance.cmake)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${file} ${build_package}/${file} COPYONLY)
endforeach()
install(FILES ${build_package}/tunesmithConfig.cmake ${build_package}/tunesmithConfigVersion.cmake
  ${build_package}/TunesmithPlugin.cmake ${build_package}/stable_plugin.map ${build_package}/TunesmithManifest.cmake
  ${build_package}/TunesmithConformance.cmake ${build_package}/TunesmithCheckHeaders.cmake ${TUNESMITH_PLUGIN_HEADERS}
  DESTINATION ${package_folder} COMPONENT tunesmith-dev)
install(EXPORT tunesmithTargets NAMESPACE tunesmith:: DESTINATION ${package_folder} COMPONENT tunesmith-dev)
export(EXPORT tunesmithTargets NAMESPACE tunesmith:: FILE ${build_package}/tunesmithTargets.cmake)

# Beside the built-in workloads, where the command line looks for them: the built-in spaces, the null plugins.
install(FILES ${PROJECT_SOURCE_DIR}/spaces.yaml DESTINATION ${CMAKE_INSTALL_DATADIR}/tunesmith COMPONENT libtunesmith)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/sdk/templates DESTINATION ${CMAKE_INSTALL_DATADIR}/tunesmith/sdk
  COMPONENT tunesmith-dev)

# The pages as they lie in the sources, so that their links hold.
set(doc_folder ${CMAKE_INSTALL_DATADIR}/doc/tunesmith)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md
  ${PROJECT_SOURCE_DIR}/SECURITY.md ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${doc_folder} COMPONENT tunesmith-doc)
install(FILES ${PROJECT_SOURCE_DIR}/bench/README.md DESTINATION ${doc_folder}/bench COMPONENT tunesmith-doc)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/results DESTINATION ${doc_folder}/bench COMPONENT tunesmith-doc PATTERN __pycache__ EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${doc_folder} COMPONENT tunesmith-doc PATTERN Doxyfile EXCLUDE PATTERN build EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/sdk/examples DESTINATION ${doc_folder}/sdk COMPONENT tunesmith-doc PATTERN build EXCLUDE)
