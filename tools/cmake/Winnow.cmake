# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How Winnow's libraries, tools and tests are declared, so that every folder's
# CMakeLists.txt only lists what is in it.

separate_arguments(WINNOW_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")

# What GCC 12 gets wrong: it warns of text put in front of a temporary string
# (GCC's bug 105651) and of copies of short arrays that it has inlined.
set(WINNOW_GCC12_OPTIONS -Wno-restrict -Wno-array-bounds -Wno-stringop-overread)

# Compile flags, include folders and, with MLIR, what LLVM's headers need.
function(winnow_configure_target name)
  cmake_parse_arguments(ARG "MLIR;LLVM" "" "" ${ARGN})
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wno-unused-parameter)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${name} PRIVATE ${WINNOW_GCC12_OPTIONS})
  endif()
  if(WINNOW_WERROR)
    target_compile_options(${name} PRIVATE -Werror)
  endif()
  if(ARG_MLIR OR ARG_LLVM)
    target_include_directories(${name} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
    target_compile_definitions(${name} PUBLIC ${WINNOW_LLVM_DEFINITIONS})
  endif()
endfunction()

# winnow_add_library(NAME sources... [LINK libs...] [DEPENDS targets...] [MLIR | LLVM])
# MLIR links the shared libMLIR and libLLVM; LLVM links libLLVM alone.
function(winnow_add_library name)
  cmake_parse_arguments(ARG "MLIR;LLVM" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  set(flags)
  if(ARG_MLIR)
    set(flags MLIR)
    target_link_libraries(${name} PUBLIC MLIR LLVM)
  elseif(ARG_LLVM)
    set(flags LLVM)
    target_link_libraries(${name} PUBLIC LLVM)
  endif()
  winnow_configure_target(${name} ${flags})
  get_filename_component(area ${CMAKE_CURRENT_SOURCE_DIR} ABSOLUTE)
  file(RELATIVE_PATH relative ${CMAKE_SOURCE_DIR} ${area})
  string(REGEX MATCH "^[^/]+" top ${relative})
  target_include_directories(${name} PUBLIC
    ${CMAKE_SOURCE_DIR}/${top}/include ${CMAKE_BINARY_DIR}/${top}/include)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# winnow_add_tool(NAME sources... [LINK libs...] [MLIR | LLVM])
function(winnow_add_tool name)
  cmake_parse_arguments(ARG "MLIR;LLVM" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set(flags)
  if(ARG_MLIR)
    set(flags MLIR)
    target_link_libraries(${name} PRIVATE MLIR LLVM)
  elseif(ARG_LLVM)
    set(flags LLVM)
    target_link_libraries(${name} PRIVATE LLVM)
  endif()
  winnow_configure_target(${name} ${flags})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
endfunction()

# winnow_add_unittest(NAME sources... [LINK libs...] [MLIR | LLVM])
function(winnow_add_unittest name)
  winnow_add_tool(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE GTest::gtest GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST)
endfunction()

# winnow_embed_text(OUTPUT BASE files...): text files as `{"name", R"(text)"},`
# lines to include in an array, so that libraries need no data file at run time.
function(winnow_embed_text output base)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DBASE=${base} "-DFILES=${ARGN}"
            -P ${CMAKE_SOURCE_DIR}/tools/cmake/EmbedText.cmake
    DEPENDS ${ARGN} ${CMAKE_SOURCE_DIR}/tools/cmake/EmbedText.cmake
    VERBATIM)
endfunction()
