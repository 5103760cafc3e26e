# cmake --install: the library with a package config for find_package(stickslip).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The library: one archive per folder; #include "gpu/engine.h" reads include/stickslip/gpu/engine.h.
get_property(modules GLOBAL PROPERTY stickslip_modules)
install(TARGETS stickslip_flags ${modules} EXPORT stickslip
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/stickslip COMPONENT library)
install(DIRECTORY gpu DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/stickslip COMPONENT library
  FILES_MATCHING PATTERN "*.h" PATTERN precompiled.h EXCLUDE)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/stickslip)
install(EXPORT stickslip NAMESPACE stickslip:: FILE stickslipTargets.cmake DESTINATION ${package} COMPONENT library)
configure_package_config_file(cmake/stickslipConfig.cmake.in ${CMAKE_BINARY_DIR}/stickslipConfig.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/stickslipConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/stickslipConfig.cmake ${CMAKE_BINARY_DIR}/stickslipConfigVersion.cmake
  DESTINATION ${package} COMPONENT library)
