// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How gfx942 multiplies slices of keys: as all CDNA targets do, with operands
// and instructions of its own.
#pragma once

#include "winnow/arch/gfx942.h"

#include "winnow/arch/cdna_slices.h"
