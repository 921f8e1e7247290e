// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rest of the target's architecture header: how a workgroup multiplies a
// slice of keys in local memory with many queries. arch.h tells how it is
// chosen; only scoring of ragged rows needs it.
#pragma once

#if defined(__CUDACC__)
#include "winnow/arch/sm_90_slices.h"
#elif defined(__gfx942__)
#include "winnow/arch/gfx942_slices.h"
#else
#include "winnow/arch/gfx950_slices.h"
#endif
