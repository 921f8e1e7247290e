# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Script: installs the runtime from BUILD into FOLDER, builds the C program of
# this folder against that alone with COMPILER, and runs it with BUNDLE.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code
                  OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${code}\n${said}")
  endif()
  set(said "${said}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
run(${CMAKE_COMMAND} --install ${BUILD} --component runtime --prefix ${FOLDER}/installed)
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${FOLDER}/build -DCMAKE_C_COMPILER=${COMPILER}
    -DCMAKE_PREFIX_PATH=${FOLDER}/installed -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${FOLDER}/build)
# A cache of its own, and no bundled code: the installed worker compiles once,
# and the second run finds its work.
set(ENV{XDG_CACHE_HOME} ${FOLDER}/cache)
foreach(from "from compiler" "from disk cache")
  run(${FOLDER}/build/decode ${BUNDLE} sim:gfx950)
  message("${said}")
  foreach(wanted "${from}" "m3_decode on sim:gfx950 \\(gfx950:sramecc\\+:xnack-\\): mfma"
                 "kept blocks 3 2 1 0, as expected")
    if(NOT said MATCHES "${wanted}")
      message(FATAL_ERROR "no '${wanted}' in\n${said}")
    endif()
  endforeach()
endforeach()
# Another minor version is another interface while the major one is 0.
file(WRITE ${FOLDER}/other/CMakeLists.txt
  "cmake_minimum_required(VERSION 3.25)\nproject(Other NONE)\nfind_package(Winnow 0.7 REQUIRED)\n")
execute_process(COMMAND ${CMAKE_COMMAND} -S ${FOLDER}/other -B ${FOLDER}/other/build
    -DCMAKE_PREFIX_PATH=${FOLDER}/installed
  RESULT_VARIABLE code OUTPUT_QUIET ERROR_VARIABLE said)
if(code EQUAL 0 OR NOT said MATCHES "0.1.0")
  message(FATAL_ERROR "find_package(Winnow 0.7) took version 0.1.0:\n${said}")
endif()
