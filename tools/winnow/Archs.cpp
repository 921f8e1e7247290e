// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Architectures on the command line: one, or several between commas.
#include "Commands.h"

#include <algorithm>

using namespace winnow;
using namespace winnow::tool;

Result<std::vector<std::string>> tool::parseArchs(const std::string &list) {
  std::vector<std::string> archs;
  for (size_t at = 0; at <= list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    const std::string arch = list.substr(at, comma - at);
    if (arch.empty() ||
        std::find(archs.begin(), archs.end(), arch) != archs.end())
      return Error{"architectures '" + list +
                   "': wanted different ones between commas, such as "
                   "gfx950,gfx942"};
    archs.push_back(arch);
    at = comma + 1;
  }
  return archs;
}

std::string tool::processorOf(const std::string &arch) {
  return arch.substr(0, arch.find(':'));
}

void tool::addArchsOption(CLI::App &command, std::string &list,
                          const std::string &text) {
  command.add_option("--arch", list, text)
      ->check([](const std::string &given) {
        const Result<std::vector<std::string>> archs = parseArchs(given);
        return archs ? "" : archs.message();
      })
      ->capture_default_str();
}

CLI::Option *tool::addArchOption(CLI::App &command, std::string &arch) {
  return command.add_option("--arch", arch, "The architecture it is for")
      ->check([](const std::string &given) -> std::string {
        if (!given.empty() && given.find(',') == given.npos)
          return "";
        return "architecture '" + given + "': wanted one, such as gfx950";
      })
      ->capture_default_str();
}
