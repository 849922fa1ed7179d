# `cpack -G DEB` in the build folder: libtunesmith (kernel, plugins, workloads, spaces), tunesmith (the commands),
# tunesmith-dev (headers, CMake package, the start of plugins) and tunesmith-doc (the pages and the examples).
# tests/packages installs them into a clean root.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tunesmith)
set(CPACK_PACKAGE_VENDOR "Tunesmith")
set(CPACK_PACKAGE_CONTACT "Tunesmith maintainers <maintainers@tunesmith.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES OFF)  # the manifests have the hashes of what was installed
# Rule P8: nothing that a plugin is loaded from is writable by a group, whatever the umask.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL libtunesmith tunesmith tunesmith-dev tunesmith-doc)
set(CPACK_COMPONENTS_GROUPING IGNORE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)

set(exactly "(= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_LIBTUNESMITH_PACKAGE_NAME libtunesmith)
set(CPACK_COMPONENT_LIBTUNESMITH_DESCRIPTION "Tensor-program auto-tuner: the kernel and its plugins")
set(CPACK_DEBIAN_LIBTUNESMITH_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBTUNESMITH_PACKAGE_RECOMMENDS "gcc, libc6-dev")  # `tunesmith build` links with cc
set(CPACK_DEBIAN_TUNESMITH_PACKAGE_NAME tunesmith)
set(CPACK_COMPONENT_TUNESMITH_DESCRIPTION "Tensor-program auto-tuner: the commands")
set(CPACK_DEBIAN_TUNESMITH_PACKAGE_DEPENDS "libtunesmith ${exactly}")
set(CPACK_DEBIAN_TUNESMITH-DEV_PACKAGE_NAME tunesmith-dev)
set(CPACK_COMPONENT_TUNESMITH-DEV_DESCRIPTION "Tensor-program auto-tuner: what plugins are built with")
set(CPACK_DEBIAN_TUNESMITH-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_TUNESMITH-DEV_PACKAGE_DEPENDS "libtunesmith ${exactly}, tunesmith ${exactly}, g++, cmake (>= 3.25)")
# Of plugins of the exact tier, and programs that link libtunesmith.
set(CPACK_DEBIAN_TUNESMITH-DEV_PACKAGE_RECOMMENDS "libboost-dev (>= 1.74), libfmt-dev, libexpected-dev")
set(CPACK_DEBIAN_TUNESMITH-DOC_PACKAGE_NAME tunesmith-doc)
set(CPACK_COMPONENT_TUNESMITH-DOC_DESCRIPTION "Tensor-program auto-tuner: the pages and the examples")
set(CPACK_DEBIAN_TUNESMITH-DOC_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_TUNESMITH-DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_TUNESMITH-DOC_PACKAGE_SHLIBDEPS OFF)

include(CPack)
