// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiler's identity, remembered on disk with what the files looked like
// that it rests on: asking the compiler itself takes longer than a warm cache
// may.
#ifndef WINNOW_LIB_RUNTIME_IDENTITYMEMO_H
#define WINNOW_LIB_RUNTIME_IDENTITYMEMO_H

#include <optional>
#include <string>
#include <vector>

namespace winnow::runtime {

/// Paths and times are in here, never in a key.
class IdentityMemo {
public:
  /// For one way to start one worker, which `command` tells from others. With
  /// an empty folder nothing is remembered.
  IdentityMemo(const std::string &folder,
               const std::vector<std::string> &command);

  /// What `remember` was told, if none of the files has changed since.
  std::optional<std::string> recall() const;
  void remember(const std::string &identity,
                const std::vector<std::string> &files) const;
  void forget() const;

private:
  std::string path;
};

} // namespace winnow::runtime

#endif // WINNOW_LIB_RUNTIME_IDENTITYMEMO_H
