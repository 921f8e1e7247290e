// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inlines device headers into one self-contained source: hipRTC and a reader of
// the generated file alike then need nothing beside it.
#include "TemplateLibrary.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace {

struct Template {
  StringLiteral name;
  StringLiteral text;
};

constexpr Template templates[] = {
#include "Templates.inc"
};

const Template &find(StringRef name) {
  for (const Template &header : templates)
    if (header.name == name)
      return header;
  report_fatal_error("no device header is called '" + Twine(name) + "'");
}

class Inliner {
public:
  explicit Inliner(StringRef target)
      : arch(("winnow/arch/" + target + ".h").str()),
        slices(("winnow/arch/" + target + "_slices.h").str()) {}

  void add(StringRef name) {
    if (name == "winnow/arch.h")
      name = arch;
    if (name == "winnow/arch_slices.h")
      name = slices;
    if (!done.insert(name).second)
      return;
    std::string body;
    bool atStart = true;
    for (StringRef rest = find(name).text; !rest.empty();) {
      StringRef line;
      std::tie(line, rest) = rest.split('\n');
      if (line.starts_with("#pragma once") || line.starts_with("// SPDX"))
        continue;
      if (line.consume_front("#include \"")) {
        add(line.take_until([](char c) { return c == '"'; }));
        continue;
      }
      if (atStart && line.empty())
        continue;
      // The lines dropped above leave no doubled blank line behind.
      if (line.empty() && StringRef(body).ends_with("\n\n"))
        continue;
      atStart = false;
      body += line;
      body += '\n';
    }
    text += "//===--- ";
    text += name;
    text += " ---===//\n";
    text += body;
    text += '\n';
  }

  std::string text;

private:
  std::string arch, slices;
  StringSet<> done;
};

} // namespace

std::string winnow::inlineTemplates(ArrayRef<StringRef> headers,
                                    StringRef target) {
  Inliner inliner(target);
  for (StringRef header : headers)
    inliner.add(header);
  return std::move(inliner.text);
}
