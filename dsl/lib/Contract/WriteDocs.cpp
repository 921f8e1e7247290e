// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Build step: writes docs/reference/contracts.md, or with --check says whether
// the committed page is what the data makes.
#include "winnow/Contract/Render.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

int main(int argc, char **argv) {
  using namespace winnow::contract;
  bool check = argc == 3 && std::string_view(argv[1]) == "--check";
  if (argc != 2 && !check) {
    std::cerr << "usage: winnow-contract-docs-writer [--check] FILE\n";
    return 2;
  }
  const char *path = argv[argc - 1];
  if (const winnow::Status &status = registryStatus(); !status) {
    std::cerr << "error: " << status.message() << "\n";
    return 1;
  }
  std::string page = referencePage();
  if (check) {
    std::ifstream in(path, std::ios::binary);
    std::string old((std::istreambuf_iterator<char>(in)), {});
    if (in && old == page)
      return 0;
    std::cerr << "error: " << path
              << " differs from dsl/contracts; run ninja "
                 "winnow-contract-docs\n";
    return 1;
  }
  std::ofstream out(path, std::ios::binary);
  out << page;
  out.close();
  if (!out) {
    std::cerr << "error: cannot write " << path << ": " << std::strerror(errno)
              << "\n";
    return 1;
  }
  return 0;
}
