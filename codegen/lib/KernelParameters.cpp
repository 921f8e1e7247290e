// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derives a kernel's parameters from the stages that use its arguments.
#include "winnow/Codegen/KernelParameters.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace winnow;

/// The variable that holds the memory of this role in generated source.
static StringRef variableOf(StringRef role) {
  return llvm::StringSwitch<StringRef>(role)
      .Case("query", "q")
      .Case("selection", "idx")
      .Default(role);
}

/// Whether the role is one of conversion, which tells formats apart by type.
static bool isConverted(StringRef role) {
  return role == "new_keys" || role == "cache";
}

/// The element types of conversion (templates/winnow/convert.h).
static StringRef convertedSpelling(Type type) {
  return llvm::TypeSwitch<Type, StringRef>(type)
      .Case([](Float8E4M3FNType) { return "f8e4m3fn_element"; })
      .Case([](BFloat16Type) { return "bf16_element"; })
      .Case([](Float16Type) { return "f16_element"; })
      .Default([](Type) { return "f32_element"; });
}

StringRef winnow::elementSpelling(Type type) {
  return llvm::TypeSwitch<Type, StringRef>(type)
      .Case<Float8E4M3FNType, Float8E5M2Type>([](Type) { return "u8"; })
      .Case([](BFloat16Type) { return "bf16"; })
      .Case([](Float16Type) { return "f16"; })
      .Case([](Float32Type) { return "float"; })
      .Case([](IntegerType) { return "i32"; })
      .Default([](Type) { return "void"; });
}

bool winnow::isWritten(KernelOp kernel, unsigned argument) {
  BlockArgument value = kernel.getBodyRegion().getArgument(argument);
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(user);
    return effects &&
           effects.getEffectOnValue<MemoryEffects::Write>(value).has_value();
  });
}

/// Whether one of these stages uses the argument.
template <typename... Stages> static bool isUsedBy(BlockArgument argument) {
  return llvm::any_of(argument.getUsers(), llvm::IsaPred<Stages...>);
}

SmallVector<KernelParameter> winnow::kernelParameters(KernelOp kernel) {
  SmallVector<KernelParameter> parameters;
  for (BlockArgument argument : kernel.getBodyRegion().getArguments()) {
    unsigned index = argument.getArgNumber();
    StringRef role = kernel.getArgumentRole(index);
    std::string variable = variableOf(role).str();
    Type element = cast<MemRefType>(argument.getType()).getElementType();
    std::string pointer = isWritten(kernel, index) ? "" : "const ";
    pointer += isConverted(role) ? convertedSpelling(element)
                                 : elementSpelling(element);
    // The generic kernels decode bits; a target need not know the format.
    if ((element.isF16() || element.isBF16()) &&
        isUsedBy<GenericLoadQueriesOp, GenericScoreBlocksOp>(argument))
      pointer = "const u16";
    pointer += " *";
    parameters.push_back(
        {KernelParameter::Kind::Pointer, index, 0, variable, pointer});
    auto stride = [&](unsigned axis, StringRef suffix) {
      parameters.push_back({KernelParameter::Kind::Stride, index, axis,
                            variable + suffix.str(), "i64"});
    };
    auto extent = [&](unsigned axis, StringRef suffix) {
      parameters.push_back({KernelParameter::Kind::Extent, index, axis,
                            variable + suffix.str(), "i64"});
    };
    // The search for a row's request ends at the last one.
    if (role == "seq_lens" &&
        isUsedBy<RaggedTaskOp, SelectRaggedRowOp, GenericRaggedTaskOp,
                 GenericSelectRaggedRowOp>(argument))
      parameters.push_back(
          {KernelParameter::Kind::Extent, index, 0, "requests", "i64"});
    if (role == "index_table" || role == "attn_table" || role == "pages" ||
        role == "table" || role == "rebased_table" || role == "new_keys")
      stride(0, "_stride");
    if (role == "table")
      extent(1, "_columns");
    if (role == "slots" || role == "new_keys")
      extent(0, "_count");
    if (role == "cache") {
      stride(0, "_page_stride");
      stride(1, "_token_stride");
    }
    if (role == "score")
      stride(0, "_head_stride");
    if (role == "candidate_ids" || role == "candidate_scores") {
      stride(0, "_head_stride");
      stride(1, "_row_stride");
    }
    if (role == "rank_ids" || role == "rank_scores") {
      // The generic kernels take any number of ranks.
      if (role == "rank_ids" &&
          llvm::any_of(argument.getUsers(),
                       llvm::IsaPred<GenericRankCandidatesOp>))
        extent(0, "_world");
      stride(0, "_rank_stride");
      stride(1, "_head_stride");
      stride(2, "_row_stride");
    }
    // The generic kernels take queries and keys with any strides.
    if (role == "query" && isUsedBy<GenericLoadQueriesOp>(argument)) {
      stride(0, "_row_stride");
      stride(1, "_head_stride");
    }
    // Where a batch of ragged rows ends, whatever its offsets say.
    if (role == "query" &&
        isUsedBy<RaggedTaskOp, GenericRaggedTaskOp>(argument))
      extent(0, "_rows");
    if (role == "keys" && isUsedBy<GenericScoreBlocksOp>(argument)) {
      stride(0, "_page_stride");
      stride(1, "_token_stride");
    }
    for (Operation *user : argument.getUsers())
      llvm::TypeSwitch<Operation *>(user)
          .Case<StoreRankingOp, GenericStoreSelectionOp>([&](auto store) {
            stride(store.getHeadAxis(), "_head_stride");
            stride(store.getRowAxis(), "_row_stride");
          });
  }
  return parameters;
}
