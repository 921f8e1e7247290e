// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the lowerings of an entry's kernels come to for the entry.
#include "winnow/Codegen/Lowerings.h"

#include "winnow/IR/Winnow.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace winnow;

static constexpr Lowering kLowerings[] = {
    {"mfma", "winnow_mfma", "rocm", 64, 16384, 0, 1, 1},
    {"mma", "winnow_mma", "cuda", 32, 16384, 8192, 4, 2},
    {"generic", "winnow_generic", "", 64, 0, 0, 1, 1}};

ArrayRef<Lowering> winnow::lowerings() { return kLowerings; }

const Lowering *winnow::findLowering(StringRef name) {
  const auto *it = llvm::find_if(
      kLowerings, [&](const Lowering &each) { return each.name == name; });
  return it == std::end(kLowerings) ? nullptr : it;
}

std::string winnow::loweringNames() {
  return llvm::join(llvm::map_range(lowerings(),
                                    [](const Lowering &lowering) {
                                      return lowering.name.str();
                                    }),
                    ", ");
}

bool winnow::isJoined(KernelOp kernel) {
  return kernel.getShapeName() == kJoinedShape;
}

std::vector<std::string> winnow::operationsOf(KernelOp kernel) {
  if (isJoined(kernel))
    return {"block_score", "topk", "store_selection", "remap_pages",
            "store_candidates"};
  if (kernel.getShapeName() == "Score")
    return {"block_score"};
  if (kernel.getShapeName() == "Select")
    return {"topk", "store_selection", "remap_pages", "store_candidates"};
  if (kernel.getShapeName() == "Merge")
    return {"merge_candidates", "store_selection", "remap_pages"};
  // Of what runs once a step, the struct is named after the operation.
  return {"rebase_table", "rebase_slots", "insert_keys"};
}

SmallVector<KernelOp> winnow::kernelsOf(func::FuncOp entry) {
  llvm::SetVector<KernelOp> kernels;
  for (auto launch : entry.getOps<LaunchOp>())
    if (auto kernel = SymbolTable::lookupNearestSymbolFrom<KernelOp>(
            launch, launch.getKernelAttr()))
      kernels.insert(kernel);
  return kernels.takeVector();
}

const Lowering &winnow::loweringOf(KernelOp kernel) {
  auto name = kernel->getAttrOfType<StringAttr>(kLoweringAttr);
  const Lowering *known = name ? findLowering(name.getValue()) : nullptr;
  return known ? *known : lowerings().front();
}

/// The architecture whose header the kernels of an entry are written over, or
/// empty if none is.
static std::string matrixArchOf(func::FuncOp entry) {
  for (KernelOp kernel : kernelsOf(entry))
    if (winnow::loweringOf(kernel).usesMatrixUnits())
      if (auto arch = kernel->getAttrOfType<StringAttr>(kArchAttr))
        return arch.getValue().str();
  return "";
}

/// The lowerings of an entry's kernels, each once.
static SmallVector<const Lowering *> loweringsOf(func::FuncOp entry) {
  llvm::SetVector<const Lowering *> all;
  for (KernelOp kernel : kernelsOf(entry))
    all.insert(&winnow::loweringOf(kernel));
  return all.takeVector();
}

std::string winnow::loweringOf(func::FuncOp entry) {
  std::string name;
  // What runs once a step is the same in either lowering.
  llvm::SetVector<const Lowering *> all;
  for (KernelOp kernel : kernelsOf(entry))
    if (kernel.getShapeName() == "Score" || kernel.getShapeName() == "Select" ||
        kernel.getShapeName() == "Merge" || isJoined(kernel))
      all.insert(&winnow::loweringOf(kernel));
  if (all.empty())
    all.insert_range(loweringsOf(entry));
  for (const Lowering *lowering : all)
    name += (name.empty() ? "" : "-") + lowering->name.str();
  return name;
}

/// What the lowerings ask, for every architecture that they are for.
static contract::Contract wholeContract(func::FuncOp entry) {
  SmallVector<const Lowering *> all = loweringsOf(entry);
  if (all.size() == 1)
    if (const contract::Contract *whole =
            contract::find(all.front()->contract.str())) {
      std::vector<std::string> operations;
      for (KernelOp kernel : kernelsOf(entry))
        llvm::append_range(operations, operationsOf(kernel));
      return whole->about(operations);
    }
  std::string name = "winnow", operations;
  std::vector<contract::Contract> parts;
  for (const Lowering *lowering : all)
    name += "_" + lowering->name.str();
  for (KernelOp kernel : kernelsOf(entry)) {
    const Lowering &lowering = winnow::loweringOf(kernel);
    if (const contract::Contract *whole =
            contract::find(lowering.contract.str()))
      parts.push_back(whole->about(operationsOf(kernel)));
    operations += (operations.empty() ? "" : ", ") + kernel.getSymName().str() +
                  " by '" + lowering.name.str() + "'";
  }
  return contract::Contract::join(
      name, "Two lowerings in one entry",
      "What each lowering asks of its own kernels: " + operations + ".", parts);
}

contract::Contract winnow::loweringContract(func::FuncOp entry) {
  contract::Contract limits = wholeContract(entry);
  const std::string arch = matrixArchOf(entry);
  return arch.empty() ? limits : limits.narrowed("arch", arch);
}

std::vector<std::string> winnow::archsOf(func::FuncOp entry) {
  if (std::string arch = matrixArchOf(entry); !arch.empty())
    return {arch};
  std::vector<std::string> archs;
  const contract::FactInfo *arch = contract::findFact("arch");
  if (!arch)
    return archs;
  const contract::Contract limits = loweringContract(entry);
  for (const std::string &name : arch->values) {
    bool all = true;
    for (const contract::Limit &limit : limits.limits())
      if (limit.facts == std::vector<std::string>{"arch"} &&
          limit.other.empty())
        all &= llvm::is_contained(limit.values, contract::Value(name));
    if (all)
      archs.push_back(name);
  }
  return archs;
}
