// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The line number program (DWARF 5, section 6.2). Every read is checked; the
// first that does not fit ends the table.
#include "SourceLines.h"

#include "Elf.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace winnow::sim {

namespace {

using Bytes = std::span<const uint8_t>;

/// A cursor that stays failed once a read went past the end.
class Reader {
public:
  explicit Reader(Bytes bytes) : bytes(bytes) {}

  template <typename T> T get() {
    if (failed || bytes.size() - at < sizeof(T)) {
      failed = true;
      return 0;
    }
    T value = readLittle<T>(bytes.data() + at);
    at += sizeof(T);
    return value;
  }
  uint64_t uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      uint8_t byte = get<uint8_t>();
      value |= uint64_t(byte & 127) << shift;
      if (!(byte & 128))
        return value;
    }
    failed = true;
    return 0;
  }
  int64_t sleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
      uint8_t byte = get<uint8_t>();
      value |= uint64_t(byte & 127) << shift;
      if (byte & 128)
        continue;
      if (byte & 64)
        value |= ~uint64_t(0) << (shift + 7);
      return int64_t(value);
    }
    failed = true;
    return 0;
  }
  std::string_view string() {
    size_t end = at;
    while (end < bytes.size() && bytes[end])
      ++end;
    if (failed || end == bytes.size()) {
      failed = true;
      return {};
    }
    std::string_view text(reinterpret_cast<const char *>(&bytes[at]), end - at);
    at = end + 1;
    return text;
  }
  Bytes take(uint64_t count) {
    if (failed || count > bytes.size() - at) {
      failed = true;
      return {};
    }
    Bytes part = bytes.subspan(at, count);
    at += count;
    return part;
  }
  bool isDone() const { return failed || at == bytes.size(); }

  bool failed = false;

private:
  Bytes bytes;
  size_t at = 0;
};

/// Sections by name; ELF64, little-endian, as the code object's reader checked.
Bytes section(Bytes elf, std::string_view wanted) {
  constexpr size_t headerSize = 64, entrySize = 64;
  constexpr uint64_t compressed = 1u << 11;
  if (elf.size() < headerSize)
    return {};
  uint64_t table = readLittle<uint64_t>(&elf[40]);
  unsigned count = readLittle<uint16_t>(&elf[60]);
  unsigned names = readLittle<uint16_t>(&elf[62]);
  if (readLittle<uint16_t>(&elf[58]) != entrySize || table > elf.size() ||
      count > (elf.size() - table) / entrySize || names >= count)
    return {};
  auto contents = [&](unsigned index) -> Bytes {
    const uint8_t *entry = &elf[table + entrySize * index];
    uint64_t offset = readLittle<uint64_t>(entry + 24);
    uint64_t size = readLittle<uint64_t>(entry + 32);
    if (readLittle<uint64_t>(entry + 8) & compressed || offset > elf.size() ||
        size > elf.size() - offset)
      return {};
    return elf.subspan(offset, size);
  };
  Bytes strings = contents(names);
  for (unsigned i = 0; i < count; ++i) {
    uint32_t at = readLittle<uint32_t>(&elf[table + entrySize * i]);
    if (at >= strings.size())
      continue;
    Reader name(strings.subspan(at));
    if (name.string() == wanted && !name.failed)
      return contents(i);
  }
  return {};
}

std::string withoutFolder(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

} // namespace

/// One unit of .debug_line.
class LineProgram {
public:
  LineProgram(Bytes unit, Bytes lineStrings, Bytes strings, SourceLines &out)
      : in(unit), lineStrings(lineStrings), strings(strings), out(out) {}

  void run() {
    version = in.get<uint16_t>();
    if (version != 4 && version != 5)
      return;
    if (version == 5)
      in.get<uint16_t>(); // sizes of addresses and segment selectors
    Reader header(in.take(in.get<uint32_t>()));
    std::swap(header, in); // `header` runs the program after it
    minimumLength = in.get<uint8_t>();
    in.get<uint8_t>(); // operations an instruction, of VLIW machines
    in.get<uint8_t>(); // is_stmt of the first row
    lineBase = (in.get<uint8_t>() ^ 0x80) - 0x80; // a signed byte
    lineRange = in.get<uint8_t>();
    opcodeBase = in.get<uint8_t>();
    for (unsigned i = 1; i < opcodeBase; ++i)
      operands[i] = in.get<uint8_t>();
    firstFile = uint32_t(out.files.size());
    version == 5 ? namesOf5() : namesOf4();
    if (in.failed || !lineRange || !opcodeBase)
      return;
    in = header;
    while (!in.isDone())
      step();
  }

private:
  void namesOf4() {
    out.files.emplace_back(); // files count from one
    while (!in.failed && !in.string().empty()) {
    }
    for (;;) {
      std::string_view name = in.string();
      if (in.failed || name.empty())
        return;
      out.files.push_back(withoutFolder(name));
      in.uleb(), in.uleb(), in.uleb();
    }
  }

  void namesOf5() {
    for (bool isFiles : {false, true}) {
      std::vector<std::pair<uint64_t, uint64_t>> format(in.get<uint8_t>());
      for (auto &[content, form] : format)
        content = in.uleb(), form = in.uleb();
      uint64_t count = in.uleb();
      // An entry without a field would take no room in the file.
      for (uint64_t i = 0; i < count && !in.failed && !format.empty(); ++i) {
        std::string path;
        for (auto [content, form] : format) {
          std::string_view value = field(form);
          if (content == kPath)
            path = withoutFolder(value);
        }
        if (isFiles)
          out.files.push_back(path);
      }
    }
  }

  /// Reads a field; its text if it is one.
  std::string_view field(uint64_t form) {
    auto from = [&](Bytes all) -> std::string_view {
      uint32_t at = in.get<uint32_t>();
      if (at >= all.size())
        return {};
      return Reader(all.subspan(at)).string();
    };
    switch (form) {
    case 0x08: // string
      return in.string();
    case 0x0e: // strp
      return from(strings);
    case 0x1f: // line_strp
      return from(lineStrings);
    case 0x0b: // data1
      in.take(1);
      break;
    case 0x05: // data2
      in.take(2);
      break;
    case 0x06: // data4
      in.take(4);
      break;
    case 0x07: // data8
      in.take(8);
      break;
    case 0x1e: // data16
      in.take(16);
      break;
    case 0x0f: // udata
      in.uleb();
      break;
    case 0x09: // block
      in.take(in.uleb());
      break;
    default:
      in.failed = true;
    }
    return {};
  }

  void row() {
    bool isKnown = lastLine && lastFile < out.files.size();
    if (hasRow && isKnown && address > lastAddress)
      out.ranges.push_back({lastAddress, address, lastFile, lastLine});
    lastAddress = address;
    lastFile = uint32_t(std::min<uint64_t>(firstFile + file, ~0u));
    lastLine = uint32_t(line);
    hasRow = true;
  }

  void reset() {
    address = 0;
    file = line = 1;
    hasRow = false;
  }

  void step() {
    unsigned opcode = in.get<uint8_t>();
    if (opcode >= opcodeBase) {
      unsigned adjusted = opcode - opcodeBase;
      address += uint64_t(adjusted / lineRange) * minimumLength;
      line += uint64_t(int64_t(lineBase) + adjusted % lineRange);
      return row();
    }
    switch (opcode) {
    case 0:
      return extended();
    case 1: // copy
      return row();
    case 2: // advance_pc
      address += in.uleb() * minimumLength;
      return;
    case 3: // advance_line
      line += uint64_t(in.sleb());
      return;
    case 4: // set_file
      file = in.uleb();
      return;
    case 8: // const_add_pc
      address += uint64_t((255 - opcodeBase) / lineRange) * minimumLength;
      return;
    case 9: // fixed_advance_pc
      address += in.get<uint16_t>();
      return;
    default: // columns, flags: nothing of interest
      for (unsigned i = 0; i < operands[opcode]; ++i)
        in.uleb();
    }
  }

  void extended() {
    Reader operation(in.take(in.uleb()));
    switch (operation.get<uint8_t>()) {
    case 1: // end_sequence
      row();
      return reset();
    case 2: // set_address
      address = operation.get<uint64_t>();
      in.failed |= operation.failed;
      return;
    default:
      return;
    }
  }

  static constexpr uint64_t kPath = 1;

  Reader in;
  Bytes lineStrings, strings;
  SourceLines &out;
  unsigned version = 0, minimumLength = 1, lineRange = 1, opcodeBase = 1;
  int lineBase = 0;
  uint8_t operands[256] = {};
  uint32_t firstFile = 0;
  uint64_t address = 0, file = 1, line = 1, lastAddress = 0;
  uint32_t lastFile = 0, lastLine = 0;
  bool hasRow = false;
};

SourceLines::SourceLines(std::span<const uint8_t> elf) {
  Bytes lineStrings = section(elf, ".debug_line_str");
  Bytes strings = section(elf, ".debug_str");
  Reader units(section(elf, ".debug_line"));
  while (!units.isDone()) {
    // 0xffffffff announces 64-bit DWARF, which nobody emits for a GPU.
    Bytes unit = units.take(units.get<uint32_t>());
    if (!units.failed)
      LineProgram(unit, lineStrings, strings, *this).run();
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range &a, const Range &b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
}

std::string SourceLines::at(uint64_t address) const {
  auto after = std::upper_bound(
      ranges.begin(), ranges.end(), address,
      [](uint64_t at, const Range &range) { return at < range.begin; });
  if (after == ranges.begin())
    return {};
  const Range &range = *std::prev(after);
  if (address >= range.end || files[range.file].empty())
    return {};
  return files[range.file] + ":" + std::to_string(range.line);
}

} // namespace winnow::sim
