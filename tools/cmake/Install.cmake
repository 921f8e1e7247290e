# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What `cmake --install` puts where. The component "runtime" is all that a
# serving engine needs; "compiler" adds what compiles descriptions, "tools" is
# the program `winnow`.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Winnow)

install(TARGETS winnow_shared EXPORT WinnowTargets COMPONENT runtime
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT runtime)
install(FILES runtime/include/winnow.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT runtime)

# Loaded at run time, never linked: the simulated device, and the compiler in a
# process of its own. They find LLVM where this build found it.
install(TARGETS winnow_hip_sim winnow_rtc_clang COMPONENT runtime
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
set_target_properties(winnow_hip_sim winnow_rtc_clang PROPERTIES
  INSTALL_RPATH_USE_LINK_PATH ON)
install(FILES runtime/include/winnow/HipSim/Hooks.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/winnow/HipSim COMPONENT runtime)
install(TARGETS winnow-rtc-worker COMPONENT runtime
  RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/winnow)

# For engines that write descriptions at run time; links MLIR.
install(TARGETS winnow_compiler EXPORT WinnowCompilerTargets COMPONENT compiler
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT compiler)
install(FILES codegen/include/winnow_compiler.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT compiler)

install(TARGETS winnow COMPONENT tools
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
set_target_properties(winnow PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)

install(EXPORT WinnowTargets NAMESPACE Winnow:: DESTINATION ${package}
  COMPONENT runtime)
install(EXPORT WinnowCompilerTargets NAMESPACE Winnow:: DESTINATION ${package}
  COMPONENT compiler)
configure_package_config_file(tools/cmake/WinnowConfig.cmake.in
  ${CMAKE_BINARY_DIR}/WinnowConfig.cmake INSTALL_DESTINATION ${package})
# Before version 1 a minor version may change the interface.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/WinnowConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/WinnowConfig.cmake
  ${CMAKE_BINARY_DIR}/WinnowConfigVersion.cmake
  DESTINATION ${package} COMPONENT runtime)
