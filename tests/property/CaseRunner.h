// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs descriptions on inputs: compiled, simulated with every check on, held
// against the reference.
#ifndef WINNOW_TESTS_PROPERTY_CASERUNNER_H
#define WINNOW_TESTS_PROPERTY_CASERUNNER_H

#include "Judge.h"
#include "Kernels.h"
#include "RandomInputs.h"
#include "Refusals.h"

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace winnow::test {

/// A fault put in on purpose, to see that it is found.
struct Plant {
  std::string name;
  /// Changes what the reference computes.
  std::function<void(tool::Indexer &)> reference;
  /// Changes what came back from the device.
  std::function<void(tool::Call &)> result;
};

/// The faults that there are, for tests and for `--plant`.
const std::vector<Plant> &plants();

/// What became of a description.
struct Compiled {
  std::shared_ptr<const Kernels> kernels; ///< null: refused, or a failure
  std::string lowering;                   ///< "mfma-generic"; scoring first
  std::vector<NamedLimit> refused;        ///< all of them rightly
  std::optional<Failure> failure;
  std::string source;      ///< the HIP text
  bool isShuffled = false; ///< scores and selects in one launch
  /// Grids by requests, rows and extents of steps: whatever the lengths, they
  /// are the same.
  mutable std::map<std::vector<int64_t>, std::vector<std::array<uint32_t, 3>>>
      grids;
};

/// Remembers what it compiled. For one thread.
class CaseRunner {
public:
  explicit CaseRunner(const Plant *plant = nullptr) : plant(plant) {}

  const Compiled &compile(const Shape &shape);
  /// Nothing if the shape is rightly refused, or everything is right.
  std::optional<Failure> run(const Shape &shape, const Inputs &inputs);
  void forget() { done.clear(); }

private:
  std::optional<Failure> simulate(const Compiled &compiled,
                                  const Inputs &inputs);

  const Plant *plant;
  std::map<std::string, Compiled> done;
};

} // namespace winnow::test

#endif // WINNOW_TESTS_PROPERTY_CASERUNNER_H
