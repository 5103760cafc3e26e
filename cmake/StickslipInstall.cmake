# cmake --install: the program with its scenes, documents and shell completion (component program), its benches (bench), and the
# library with a package config for find_package(stickslip) (library). cpack makes a Debian package of each.
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

if(NOT STICKSLIP_APP)
  return()
endif()
install(TARGETS stickslip RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(PROGRAMS $<TARGET_FILE:stickslip-bench> DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT bench OPTIONAL)
# Shaders are compiled into the program. app/io/scene/assets.cpp finds the scenes from bin/, app/cli/race_plot.cpp its script from them.
set(data ${CMAKE_INSTALL_DATADIR}/stickslip)
install(DIRECTORY assets/scenes assets/meshes assets/textures assets/pictures assets/claims DESTINATION ${data}/assets COMPONENT program PATTERN README.md EXCLUDE)
install(PROGRAMS tools/bench/race_plot.py DESTINATION ${data}/tools/bench COMPONENT program)
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)

# What the built program writes: completion scripts, a man page of its help.
set(made ${CMAKE_BINARY_DIR}/made)
install(CODE "execute_process(COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:stickslip> -DFOLDER=${made}
  -P ${CMAKE_SOURCE_DIR}/cmake/made_files.cmake COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
install(FILES ${made}/stickslip.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME stickslip COMPONENT program)
install(FILES ${made}/_stickslip DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
install(FILES ${made}/stickslip.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
install(FILES ${made}/stickslip.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)

# cpack --config build/X/CPackConfig.cmake: stickslip, stickslip-bench and libstickslip-dev as .deb files. The preset `package`
# builds for every processor of the architecture.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME stickslip)
set(CPACK_PACKAGE_CONTACT "the developers of stickslip <stickslip@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "sandbox for frictional contact")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program bench library)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME stickslip)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "Simulates elastic and rigid bodies with friction, in a window and on the command line.")
# The window's font and Vulkan without a GPU; videos, a mesher and plots of races.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "fonts-dejavu-core, mesa-vulkan-drivers, ffmpeg")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "tetgen, python3-matplotlib, stickslip-bench")
set(CPACK_DEBIAN_BENCH_PACKAGE_NAME stickslip-bench)
set(CPACK_COMPONENT_BENCH_DESCRIPTION "What `stickslip bench` starts.")
set(CPACK_DEBIAN_BENCH_PACKAGE_DEPENDS "stickslip (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libstickslip-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "The solvers as a library: headers, archives, find_package(stickslip).")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS OFF)
if(STICKSLIP_NATIVE)
  set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/warn_native.cmake)
endif()
include(CPack)
