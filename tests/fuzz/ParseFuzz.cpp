// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses and verifies mutated descriptions in one process. Bad input has to end
// in a diagnostic: a crash fails the test and prints the source that caused it.
// What is accepted has to print as text that is accepted again and prints the
// same. The mutations are the same in every run.
//
// usage: winnow-parse-fuzz [--cases=N] FILE...
#include "winnow/IR/Winnow.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <random>
#include <string>
#include <vector>

using namespace mlir;

namespace {

/// Shown when the process crashes: what was being parsed.
class CaseTrace : public llvm::PrettyStackTraceEntry {
public:
  CaseTrace(StringRef file, StringRef mutation, StringRef source)
      : file(file), mutation(mutation), source(source) {}
  void print(llvm::raw_ostream &os) const override {
    os << "parsing " << file << ", " << mutation << ":\n" << source << "\n";
  }

private:
  StringRef file, mutation, source;
};

constexpr unsigned kSeed = 20240229;
constexpr StringLiteral kSplitter = "// -----";

struct Counts {
  unsigned cases = 0;
  unsigned accepted = 0;
  unsigned silent = 0; // refused without a word
  unsigned unstable = 0;
};

class Fuzzer {
public:
  explicit Fuzzer(unsigned cases) : casesPerSource(cases) {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, func::FuncDialect,
                    winnow::WinnowDialect>();
    context.appendDialectRegistry(registry);
    context.disableMultithreading();
  }

  /// Mutates each part of a file that `// -----` divides. Comments are left
  /// out: changes in them would test nothing.
  void runFile(StringRef path, StringRef text) {
    file = path.str();
    SmallVector<StringRef> lines, parts;
    std::string code;
    text.split(lines, '\n');
    for (StringRef line : lines)
      if (!line.ltrim().starts_with("//") || line == kSplitter)
        code += (line + "\n").str();
    StringRef(code).split(parts, kSplitter);
    for (StringRef part : parts) {
      mutate(part);
      // In generic form, operations reach the verifiers past their parsers.
      if (OwningOpRef<ModuleOp> module = parse(part.str())) {
        mutate(print(*module, OpPrintingFlags().printGenericOpForm()));
        mutateBytecode(*module);
      }
    }
  }

  Counts counts;

private:
  /// The parser reads up to the terminating zero, so a string of its own.
  OwningOpRef<ModuleOp> parse(const std::string &source) {
    reported = false;
    ScopedDiagnosticHandler swallow(&context, [&](Diagnostic &diagnostic) {
      reported |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
      return success();
    });
    return parseSourceString<ModuleOp>(source, ParserConfig(&context));
  }

  static std::string print(ModuleOp module, OpPrintingFlags flags = {}) {
    std::string text;
    llvm::raw_string_ostream os(text);
    module->print(os, flags);
    return text;
  }

  void check(StringRef mutation, const std::string &source) {
    CaseTrace trace(file, mutation, source);
    ++counts.cases;
    OwningOpRef<ModuleOp> module = parse(source);
    if (!module) {
      if (!reported) {
        ++counts.silent;
        complain("is refused without an error", mutation, source);
      }
      return;
    }
    ++counts.accepted;
    // MLIR prints an empty symbol as `@`, which it does not parse.
    bool hasEmptyName = false;
    module->walk([&](SymbolOpInterface symbol) {
      hasEmptyName |= symbol.getName().empty();
    });
    if (hasEmptyName)
      return;
    std::string printed = print(*module);
    OwningOpRef<ModuleOp> again = parse(printed);
    if (!again || print(*again) != printed) {
      ++counts.unstable;
      complain("does not print as what it is", mutation, source);
    }
  }

  void complain(StringRef what, StringRef mutation, StringRef source) {
    llvm::errs() << file << ", " << mutation << ", " << what << ":\n"
                 << source << "\n";
  }

  /// A number below `limit`; the same sequence on every platform.
  size_t random(size_t limit) { return generator() % limit; }

  void mutate(StringRef source) {
    // Each source has the same mutations whatever came before it.
    generator.seed(kSeed); // NOLINT(bugprone-random-generator-seed)
    size_t step = std::max<size_t>(1, source.size() / casesPerSource);
    for (size_t end = 0; end < source.size(); end += step)
      check("truncated", source.take_front(end).str());
    for (unsigned i = 0; i < casesPerSource; ++i)
      check("with a changed byte", changeByte(source));
    std::vector<StringRef> tokens = tokenize(source);
    for (unsigned i = 0; i < 4 * casesPerSource; ++i)
      check("with changed tokens", changeTokens(tokens));
  }

  std::string changeByte(StringRef source) {
    std::string text = source.str();
    if (text.empty())
      return text;
    size_t at = random(text.size());
    // A bit flip keeps to nearby characters, any byte leaves ASCII.
    text[at] =
        random(2) ? char(text[at] ^ (1 << random(7))) : char(random(256));
    return text;
  }

  enum class Kind { Word, Number, Space, Other };
  static Kind kindOf(char c) {
    if (llvm::isAlpha(c) || c == '_')
      return Kind::Word;
    // A dynamic extent stands where a number could.
    if (llvm::isDigit(c) || c == '?')
      return Kind::Number;
    return llvm::isSpace(c) ? Kind::Space : Kind::Other;
  }

  /// Words, numbers (so that `x128x` is three tokens), spaces, and everything
  /// else by the character.
  static std::vector<StringRef> tokenize(StringRef source) {
    std::vector<StringRef> tokens;
    while (!source.empty()) {
      Kind kind = kindOf(source.front());
      size_t end = kind == Kind::Other ? 1 : source.find_if([&](char c) {
        return kindOf(c) != kind;
      });
      tokens.push_back(source.substr(0, end));
      source = source.substr(tokens.back().size());
    }
    return tokens;
  }

  /// Mostly changes that keep the grammar: they reach the verifiers.
  std::string changeTokens(std::vector<StringRef> tokens) {
    static const StringRef numbers[] = {"0",
                                        "-1",
                                        "1",
                                        "7",
                                        "16",
                                        "2048",
                                        "65537",
                                        "2147483648",
                                        "4294967296",
                                        "?",
                                        "9223372036854775807",
                                        "18446744073709551616"};
    if (tokens.empty())
      return "";
    for (size_t edits = 1 + random(2); edits > 0; --edits) {
      size_t at = random(tokens.size());
      size_t other = random(tokens.size());
      switch (random(8)) {
      case 0:
        tokens[at] = "";
        break;
      case 1:
        std::swap(tokens[at], tokens[other]);
        break;
      case 2:
        tokens.insert(tokens.begin() + at, tokens[other]);
        break;
      case 3:
      case 4:
        if (size_t word = findKind(tokens, at, Kind::Word))
          tokens[word] = tokens[findKind(tokens, other, Kind::Word)];
        break;
      default:
        if (size_t number = findKind(tokens, at, Kind::Number))
          tokens[number] = numbers[random(std::size(numbers))];
      }
    }
    return llvm::join(tokens, "");
  }

  /// The first token of a kind from `start` on, around the end; 0 if none.
  static size_t findKind(ArrayRef<StringRef> tokens, size_t start, Kind kind) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      size_t at = (start + i) % tokens.size();
      if (!tokens[at].empty() && kindOf(tokens[at].front()) == kind)
        return at;
    }
    return 0;
  }

  void mutateBytecode(ModuleOp module) {
    std::string bytes;
    llvm::raw_string_ostream os(bytes);
    if (failed(writeBytecodeToFile(module, os)))
      return;
    size_t step = std::max<size_t>(1, bytes.size() / casesPerSource);
    for (size_t end = 0; end < bytes.size(); end += step)
      check("as truncated bytecode", bytes.substr(0, end));
  }

  MLIRContext context;
  // A predictable sequence is the point.
  std::mt19937 generator{kSeed}; // NOLINT(bugprone-random-generator-seed)
  std::string file;
  unsigned casesPerSource;
  bool reported = false;
};

} // namespace

int main(int argc, char **argv) {
  llvm::sys::PrintStackTraceOnErrorSignal(argv[0]);
  llvm::EnablePrettyStackTrace();

  unsigned cases = 100;
  std::vector<StringRef> files;
  for (StringRef argument : llvm::ArrayRef(argv + 1, argc - 1)) {
    if (!argument.consume_front("--cases="))
      files.push_back(argument);
    else if (argument.getAsInteger(10, cases) || cases == 0) {
      llvm::errs() << "--cases needs a positive number, found '" << argument
                   << "'\n";
      return 2;
    }
  }
  if (files.empty()) {
    llvm::errs() << "usage: winnow-parse-fuzz [--cases=N] FILE...\n";
    return 2;
  }

  Fuzzer fuzzer(cases);
  for (StringRef file : files) {
    auto buffer = llvm::MemoryBuffer::getFile(file);
    if (!buffer) {
      llvm::errs() << "cannot read " << file << ": "
                   << buffer.getError().message() << "\n";
      return 2;
    }
    fuzzer.runFile(file, (*buffer)->getBuffer());
  }

  const Counts &counts = fuzzer.counts;
  llvm::outs() << counts.cases << " sources, " << counts.accepted
               << " accepted, " << counts.silent << " refused silently, "
               << counts.unstable << " not printed as they are\n";
  // Mutations that are all refused early, or all harmless, would test nothing.
  bool useful = counts.accepted > 0 && counts.accepted < counts.cases;
  return counts.silent || counts.unstable || !useful ? 1 : 0;
}
