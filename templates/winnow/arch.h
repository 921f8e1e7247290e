// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The architecture header of the target: all that the matrix kernels and their
// selection know of a chip. docs/architecture.md lists what it provides. The
// generator puts the header of the target that it emits for in this one's
// place; this file chooses for sources that are compiled as they are.
#pragma once

#if defined(__CUDACC__)
#include "winnow/arch/sm_90.h"
#elif defined(__gfx942__)
#include "winnow/arch/gfx942.h"
#else
#include "winnow/arch/gfx950.h"
#endif
