// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's DWARF reader over a code object.
#include "SourceLines.h"

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

namespace winnow::sim {

struct SourceLines::Impl {
  std::unique_ptr<llvm::MemoryBuffer> bytes;
  std::unique_ptr<llvm::object::ObjectFile> object;
  std::unique_ptr<llvm::DWARFContext> context;
};

SourceLines::SourceLines(std::span<const uint8_t> elf)
    : state(std::make_unique<Impl>()) {
  state->bytes = llvm::MemoryBuffer::getMemBufferCopy(
      llvm::StringRef(reinterpret_cast<const char *>(elf.data()), elf.size()));
  auto object = llvm::object::ObjectFile::createELFObjectFile(*state->bytes);
  if (!object) {
    // Line information is a courtesy: without it, reports have no lines.
    llvm::consumeError(object.takeError());
    return;
  }
  state->object = std::move(*object);
  bool hasLines = false;
  for (const llvm::object::SectionRef &section : state->object->sections()) {
    llvm::Expected<llvm::StringRef> name = section.getName();
    if (!name)
      llvm::consumeError(name.takeError());
    else
      hasLines |= *name == ".debug_line";
  }
  if (hasLines)
    state->context = llvm::DWARFContext::create(
        *state->object, llvm::DWARFContext::ProcessDebugRelocations::Ignore,
        nullptr, "", [](llvm::Error e) { llvm::consumeError(std::move(e)); },
        [](llvm::Error e) { llvm::consumeError(std::move(e)); });
}

SourceLines::~SourceLines() = default;

std::string SourceLines::at(uint64_t address) const {
  if (!state->context)
    return {};
  llvm::DILineInfoSpecifier wanted(
      llvm::DILineInfoSpecifier::FileLineInfoKind::RawValue,
      llvm::DILineInfoSpecifier::FunctionNameKind::None);
  std::optional<llvm::DILineInfo> info =
      state->context->getLineInfoForAddress({address}, wanted);
  if (!info || !info->Line || info->FileName == llvm::DILineInfo::BadString)
    return {};
  size_t slash = info->FileName.rfind('/');
  return info->FileName.substr(slash == std::string::npos ? 0 : slash + 1) +
         ":" + std::to_string(info->Line);
}

} // namespace winnow::sim
