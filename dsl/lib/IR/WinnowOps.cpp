// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Result types and verifiers of the operations of a description.
#include "winnow/IR/Winnow.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace winnow;

#define GET_OP_CLASSES
#include "winnow/IR/WinnowOps.cpp.inc"

void WinnowDialect::registerOperations() {
  addOperations<
#define GET_OP_LIST
#include "winnow/IR/WinnowOps.cpp.inc"
      >();
}

void UniformRowsOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getRows(), "rows");
}

LogicalResult UniformRowsOp::inferReturnTypes(MLIRContext *context,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  types.push_back(RowsType::get(context, adaptor.getQueryLen()));
  return success();
}

LogicalResult UniformRowsOp::verify() {
  return verifyOptions(*this, getOptionSpecs());
}

void BlockScoreOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getScores(), "scores");
}

LogicalResult BlockScoreOp::inferReturnTypes(MLIRContext *context,
                                             std::optional<Location> location,
                                             Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  auto query = dyn_cast<MemRefType>(adaptor.getQuery().getType());
  auto keys = dyn_cast<MemRefType>(adaptor.getKeys().getType());
  auto rows = dyn_cast<RowsType>(adaptor.getRows().getType());
  if (!query || query.getRank() != 3 || !keys || keys.getRank() != 3 || !rows)
    return failure();
  types.push_back(ScoresType::get(context, rows.getQueryLen(),
                                  query.getDimSize(1), keys.getDimSize(1)));
  return success();
}

LogicalResult BlockScoreOp::verify() {
  return verifyOptions(*this, getOptionSpecs());
}

void TopKOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getSelection(), "selection");
}

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto scores = dyn_cast<ScoresType>(adaptor.getScores().getType());
  if (!scores)
    return failure();
  types.push_back(SelectionType::get(context, scores.getQueryLen(),
                                     scores.getHeads(), scores.getBlockSize(),
                                     adaptor.getK()));
  return success();
}

LogicalResult TopKOp::verify() {
  return verifyOptions(*this, getOptionSpecs());
}

LogicalResult StoreSelectionOp::verify() {
  return verifyOptions(*this, getOptionSpecs());
}

LogicalResult RemapPagesOp::verify() {
  return verifyOptions(*this, getOptionSpecs());
}
