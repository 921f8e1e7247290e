// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bundle of the shape that the compiler writes for M3 decode, made by hand.
#ifndef WINNOW_TESTS_UNIT_RUNTIME_SAMPLE_H
#define WINNOW_TESTS_UNIT_RUNTIME_SAMPLE_H

#include "winnow/Runtime/Bundle.h"
#include "winnow/Runtime/Launch.h"

namespace winnow::runtime {

inline Expression mul(Expression a, Expression b) {
  return {Expression::Kind::Mul, std::move(a), std::move(b)};
}

inline Extent exactly(Expression value) {
  return Extent::exactly(std::move(value));
}

inline KernelArgument tensor(std::string name) {
  return {KernelArgument::Kind::Tensor, std::move(name), 0};
}
inline KernelArgument stride(std::string name, int64_t axis) {
  return {KernelArgument::Kind::Stride, std::move(name), axis};
}

inline Entry sampleEntry() {
  Entry entry;
  entry.name = "m3_decode";
  entry.facts = {{"k", int64_t(16)},
                 {"block_size", int64_t(128)},
                 {"arch", std::string("gfx950")},
                 {"emits_page_table", true}};
  entry.contract = R"({"name":"aiter_msa","limits":[]})";
  entry.lowering = "mfma";
  entry.loweringContract = R"({"name":"mfma","limits":[]})";
  entry.maxSeqLen = 1048576;
  entry.maxRequests = 256;
  entry.symbols = {{"requests", ArgumentAxis{"lens", 0}},
                   {"rows", mul("requests", 2)}};
  const Extent requests = Extent::atLeast("requests");
  const Extent blocks = Extent::atLeast(8192);
  entry.arguments = {
      {"q",
       DType::F8E4M3FN,
       Access::Read,
       Role::Query,
       {exactly("rows"), exactly(1), exactly(128)},
       Layout::Contiguous},
      {"keys",
       DType::F8E4M3FN,
       Access::Read,
       Role::Keys,
       {Extent::any(), exactly(128), exactly(128)},
       Layout::Contiguous},
      {"index_table",
       DType::I32,
       Access::Read,
       Role::IndexTable,
       {requests, blocks},
       Layout::Rows},
      {"lens",
       DType::I32,
       Access::Read,
       Role::SeqLens,
       {exactly("requests")},
       Layout::Contiguous},
      {"idx",
       DType::I32,
       Access::Write,
       Role::Selection,
       {exactly(1), exactly("rows"), exactly(16)},
       Layout::Rows},
  };
  entry.workspace = {{"score", DType::F32, {1, "rows", 8192}}};
  entry.launches = {
      {"m3_decode_score",
       0,
       {8, "requests", 1},
       {256, 1, 1},
       0,
       {tensor("q"), tensor("keys"), tensor("index_table"),
        stride("index_table", 0), tensor("lens"), tensor("score"),
        stride("score", 0)}},
      {"m3_decode_select",
       0,
       {"rows", 1, 1},
       {512, 1, 1},
       64,
       {tensor("score"), stride("score", 0), tensor("lens"), tensor("idx"),
        stride("idx", 0), stride("idx", 1)}},
  };
  return entry;
}

inline Bundle sampleBundle() {
  Bundle bundle;
  bundle.generator = "winnow 0.1.0";
  bundle.entries = {sampleEntry()};
  bundle.sources = {
      {"m3_decode.hip", "mfma", {"gfx950"}, "// a page of HIP\n"}};
  bundle.codeObjects = {
      {0, "gfx950", std::vector<std::byte>(37, std::byte{0x5a})}};
  return bundle;
}

/// Arguments of two requests that the sample entry accepts, at made-up
/// addresses; a table wider and taller than needed, a slice as destination.
inline std::vector<TensorView> sampleArguments() {
  std::vector<TensorView> tensors = {
      TensorView::dense(0x10000, DType::F8E4M3FN, {4, 1, 128}),
      TensorView::dense(0x20000, DType::F8E4M3FN, {77, 128, 128}),
      TensorView::dense(0x900000, DType::I32, {3, 9000}),
      TensorView::dense(0x30004, DType::I32, {2}),
      TensorView::dense(0x40000, DType::I32, {1, 4, 16}),
  };
  tensors[4].strides = {1000, 48, 1, 0};
  return tensors;
}

} // namespace winnow::runtime

#endif // WINNOW_TESTS_UNIT_RUNTIME_SAMPLE_H
