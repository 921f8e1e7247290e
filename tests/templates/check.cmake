# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# One test of the device headers. MODE=headers compiles each of HEADERS on its
# own; MODE=interface looks for what only an architecture header may hold;
# MODE=shapes compiles SAMPLE once for each of SHAPES and reads what the
# code objects say of themselves; MODE=cuda does that by nvcc, for sm_90.

set(flags -x hip --offload-arch=gfx950 --offload-device-only --no-gpu-bundle-output
  -nogpuinc -nogpulib -std=c++17 -O3 -Wall -Wextra -Werror -I ${TEMPLATES})
file(MAKE_DIRECTORY ${WORK})

function(compile what)
  execute_process(COMMAND ${CLANG} ${flags} ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT result EQUAL 0 OR NOT text STREQUAL "")
    message(FATAL_ERROR "${what}: clang said (exit code ${result})\n${text}")
  endif()
endfunction()

# Fails unless every `field` in the notes is `wanted`, and there are two: one a kernel.
function(expect_field what notes field wanted)
  string(REGEX MATCHALL "\\.${field}: +[^\n]*" found "${notes}")
  list(LENGTH found count)
  if(NOT count EQUAL 2)
    message(FATAL_ERROR "${what}: ${count} kernels state ${field}, expected 2")
  endif()
  foreach(line IN LISTS found)
    if(NOT line MATCHES ": +${wanted}$")
      message(FATAL_ERROR "${what}: expected ${field} ${wanted}, found ${line}")
    endif()
  endforeach()
endfunction()

if(MODE STREQUAL "headers")
  foreach(header IN LISTS HEADERS)
    get_filename_component(name ${header} NAME_WE)
    # Through a file that includes it, as #pragma once in a main file is a warning.
    file(WRITE ${WORK}/${name}.hip "#include \"${header}\"\n#include \"${header}\"\n")
    compile(${name}.h -fsyntax-only ${WORK}/${name}.hip)
    compile(${name}.h -c ${WORK}/${name}.hip -o ${WORK}/${name}.o)
  endforeach()
  list(LENGTH HEADERS count)
  if(count EQUAL 0)
    message(FATAL_ERROR "no headers given")
  endif()
  message("${count} headers compile on their own")
endif()

if(MODE STREQUAL "interface")
  list(FILTER HEADERS EXCLUDE REGEX "/winnow/arch(/|[.]h)")
  foreach(header IN LISTS HEADERS)
    file(READ ${header} text)
    if(text MATCHES "__[a-z]+[a-z_0-9]*|[^a-z_]asm[^a-z_]|threadIdx|blockIdx|kWaveLanes (==|!=) ")
      message(FATAL_ERROR "${header}: '${CMAKE_MATCH_0}' belongs to an architecture header")
    endif()
  endforeach()
  list(LENGTH HEADERS count)
  if(count EQUAL 0)
    message(FATAL_ERROR "no headers given")
  endif()
  message("${count} headers are free of what is a target's own")
endif()

if(MODE STREQUAL "shapes")
  foreach(shape IN LISTS SHAPES)
    string(REPLACE "," ";" constants "${shape}")
    list(TRANSFORM constants PREPEND "-D")
    compile("${shape}" ${constants} ${SAMPLE} -o ${WORK}/sample.co)
    execute_process(COMMAND ${READELF} --notes ${WORK}/sample.co
      OUTPUT_VARIABLE notes COMMAND_ERROR_IS_FATAL ANY)
    expect_field("${shape}" "${notes}" sgpr_spill_count 0)
    expect_field("${shape}" "${notes}" vgpr_spill_count 0)
    expect_field("${shape}" "${notes}" private_segment_fixed_size 0)
    if(notes MATCHES "hidden_[a-z_0-9]+")
      message(FATAL_ERROR "${shape}: a kernel wants the argument ${CMAKE_MATCH_0}")
    endif()
    # Unscaled, all tiles of a slice; a call would need a stack.
    execute_process(COMMAND ${OBJDUMP} -d --no-show-raw-insn ${WORK}/sample.co
      OUTPUT_VARIABLE code COMMAND_ERROR_IS_FATAL ANY)
    set(mfma f32_16x16x128_f8f6f4)
    if(shape MATCHES "ELEMENT=(b?f16)")
      set(mfma f32_16x16x32_${CMAKE_MATCH_1})
    endif()
    # A merge multiplies nothing.
    if(SAMPLE MATCHES "merge" AND code MATCHES "v_mfma")
      message(FATAL_ERROR "${shape}: expected no MFMA, found one")
    elseif(NOT SAMPLE MATCHES "merge" AND NOT code MATCHES "v_mfma_${mfma} ")
      message(FATAL_ERROR "${shape}: expected unscaled v_mfma_${mfma}, found none")
    endif()
    if(code MATCHES "v_mfma_scale|v_mfma_ld_scale|s_swappc|flat_load|flat_store|scratch_")
      message(FATAL_ERROR "${shape}: found ${CMAKE_MATCH_0}")
    endif()
    string(REGEX MATCHALL "\\.(name|vgpr_count|sgpr_count|group_segment_fixed_size): +[^\n]*" resources "${notes}")
    message("${shape}: ${resources}")
  endforeach()
endif()

if(MODE STREQUAL "cuda")
  foreach(shape IN LISTS SHAPES)
    string(REPLACE "," ";" constants "${shape}")
    list(TRANSFORM constants PREPEND "-D")
    execute_process(
      COMMAND ${NVCC} -x cu -std=c++17 -arch=sm_90 -cubin -Werror all-warnings --resource-usage
        -I ${TEMPLATES} -DMAX_BLOCKS=1024 -DSLOTS=4 ${constants} ${SAMPLE} -o ${WORK}/sample.cubin
      RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(NOT result EQUAL 0)
      message(FATAL_ERROR "${shape}: nvcc said (exit code ${result})\n${text}")
    endif()
    string(REGEX MATCHALL "[0-9]+ bytes spill [a-z]+" spills "${text}")
    list(LENGTH spills count)
    if(NOT count EQUAL 4)
      message(FATAL_ERROR "${shape}: expected spills of two kernels to be stated, found ${spills}")
    endif()
    if(spills MATCHES "[1-9]")
      message(FATAL_ERROR "${shape}: expected no spills, found ${spills}")
    endif()
    string(REGEX MATCHALL "Used [0-9]+ registers[^\n]*" resources "${text}")
    message("${shape}: ${resources}")
  endforeach()
endif()
