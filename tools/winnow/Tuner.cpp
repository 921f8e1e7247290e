// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tuner.h"

#include "Inputs.h"
#include "Load.h"
#include "Verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <map>
#include <thread>

using namespace winnow;
using namespace winnow::tool;

namespace {

// A schedule has to be faster by more than this, and by more than the spread,
// to be preferred to the model's.
constexpr double kWorthIt = 0.01;

/// What a kernel is called that scores and selects in one launch.
constexpr const char *kJoined = "score and select";

/// Which kernel a launch is of, as candidates name it; empty for one of a step.
std::string kernelOf(const std::string &name) {
  for (const auto &[suffix, kernel] :
       {std::pair("_score_select", kJoined), std::pair("_score", "score"),
        std::pair("_select", "select"), std::pair("_merge", "select")})
    if (name.ends_with(suffix))
      return kernel;
  return {};
}

/// A description with one schedule for each kernel: HIP, code and figures.
struct Program {
  std::string schedule;
  std::string refused;
  runtime::Bundle bundle;
  const runtime::Entry *entry = nullptr;
  std::optional<Indexer> indexer;
  std::vector<LoadedCode> codes;
  std::map<std::string, double> logs, spreads; ///< by kernel; logs summed

  double secondsOf(const std::string &kernel, size_t shapes) const {
    const auto at = logs.find(kernel);
    return at == logs.end() ? 0 : std::exp(at->second / double(shapes));
  }
  /// Of all launches.
  double seconds(size_t shapes) const {
    double sum = 0;
    for (const auto &[kernel, log] : logs)
      sum += std::exp(log / double(shapes));
    return sum;
  }
};

/// The same inputs for another program of the same entry.
Result<Call> rebind(const Call &call, const Indexer &indexer) {
  Call other = call;
  other.indexer = &indexer;
  other.workspace.clear();
  Result<std::vector<runtime::TensorView>> views =
      runtime::workspaceTensors(*indexer.entry, call.symbols);
  if (!views)
    return views.takeError();
  for (size_t i = 0; i < views->size(); ++i) {
    Result<HostTensor> tensor =
        HostTensor::make(indexer.entry->workspace[i].name, (*views)[i]);
    if (!tensor)
      return tensor.takeError();
    other.workspace.push_back(std::move(*tensor));
  }
  return other;
}

class EntryTuner {
public:
  EntryTuner(const std::string &text, const std::string &name,
             const TunableEntry &tunable, const TuneOptions &options,
             TuneTarget &target, Compiler &compiler,
             const std::function<void(const std::string &)> &progress)
      : text(text), name(name), tunable(tunable), options(options),
        target(target), compiler(compiler), progress(progress) {}

  Result<TunedEntry> run() {
    result.name = tunable.name;
    Program model = generate("");
    if (!model.refused.empty())
      return Error{model.refused};
    result.shapes =
        options.shapes.empty() ? usualShapes(*model.entry) : options.shapes;
    plan();
    programs.insert(programs.begin(), std::move(model));
    // Nothing moves from here on: calls point into the first program, and the
    // winner is added behind the others.
    programs.reserve(programs.size() + 1);
    for (Program &program : programs)
      if (program.refused.empty())
        point(program);
    if (Status status = makeCalls(); !status)
      return status.takeError();
    if (Status status = compileAll(); !status)
      return status.takeError();
    for (size_t i = 0; i < programs.size(); ++i) {
      if (!programs[i].refused.empty())
        continue;
      progress(fmt::format("{}: schedule {} of {}", tunable.name, i + 1,
                           programs.size()));
      if (Status status = checkAndTime(programs[i], /*checksAll=*/false);
          !status)
        return status.takeError();
    }
    if (Status status = choose(); !status)
      return status.takeError();
    return std::move(result);
  }

private:
  /// Lowered and emitted, not compiled yet.
  Program generate(const std::string &schedule) {
    Program program;
    program.schedule = schedule;
    CompileOptions compile = options.compile;
    if (!schedule.empty()) {
      compile.schedule += compile.schedule.empty() ? "" : ";";
      compile.schedule += tunable.name + ":" + schedule;
    }
    Result<runtime::Bundle> bundle = compileDescription(text, name, compile);
    if (!bundle) {
      program.refused = bundle.message();
      return program;
    }
    program.bundle = std::move(*bundle);
    point(program);
    return program;
  }

  /// Finds the entry and what tools know of it where they lie now.
  void point(Program &program) const {
    Result<const runtime::Entry *> entry = program.bundle.find(tunable.name);
    if (!entry) {
      program.refused = entry.message();
      return;
    }
    program.entry = *entry;
    Result<Indexer> indexer = Indexer::of(**entry);
    if (indexer)
      program.indexer = *indexer;
    else
      program.refused = indexer.message();
  }

  /// What the shapes are to the model.
  std::vector<Workload> workloadsOf(const TunableKernel &kernel,
                                    bool ragged) const {
    std::vector<Workload> loads;
    for (const TuneShape &shape : result.shapes) {
      Workload load;
      load.requests = shape.requests;
      load.rows = ragged ? shape.newTokens : kernel.problem.rows;
      const int64_t blocks = (shape.context + kernel.problem.blockSize - 1) /
                             kernel.problem.blockSize;
      load.places = kernel.problem.kind == KernelProblem::Kind::Merge
                        ? kernel.problem.places
                        : std::clamp<int64_t>(blocks, 1, kernel.problem.places);
      loads.push_back(load);
    }
    return loads;
  }

  /// The candidates of a kernel, the model's choice first.
  std::vector<TunedCandidate> candidatesOf(const TunableKernel &kernel) {
    const KernelProblem &problem = kernel.problem;
    const Machine &machine =
        machineFor(problem.kind == KernelProblem::Kind::GenericScore
                       ? std::string_view()
                       : std::string_view(options.compile.arch));
    const bool ragged = problem.kind == KernelProblem::Kind::RaggedScore;
    std::vector<Workload> loads = workloadsOf(kernel, ragged);
    const auto predict = [&](const KernelSchedule &schedule) {
      double logs = 0;
      for (const Workload &load : loads)
        logs += std::log(predictSeconds(problem, machine, schedule, load));
      return RankedSchedule{schedule, std::exp(logs / double(loads.size()))};
    };
    std::vector<RankedSchedule> ranked =
        rankSchedules(problem, machine, kernel.fixedParameters(), loads);
    // How keys are asked for is varied around what the model has in front for
    // these shapes, in half of the candidates at most.
    std::vector<RankedSchedule> variations;
    for (const KernelSchedule &each : variationsOf(
             problem, ranked.empty() ? kernel.chosen : ranked.front().schedule,
             kernel.fixedParameters()))
      if (each != kernel.chosen) {
        const RankedSchedule one = predict(each);
        variations.insert(std::upper_bound(variations.begin(), variations.end(),
                                           one,
                                           [](const RankedSchedule &a,
                                              const RankedSchedule &b) {
                                             return a.seconds < b.seconds;
                                           }),
                          one);
      }
    auto isChosen = [&](const RankedSchedule &each) {
      return each.schedule == kernel.chosen;
    };
    auto chosen = std::find_if(ranked.begin(), ranked.end(), isChosen);
    if (chosen == ranked.end())
      ranked.insert(ranked.begin(), predict(kernel.chosen));
    else
      std::rotate(ranked.begin(), chosen, chosen + 1);
    const size_t most = std::max<size_t>(options.most, 1);
    variations.resize(std::min(variations.size(), most / 2));
    ranked.resize(std::min(ranked.size(), most - variations.size()));
    ranked.insert(ranked.end(), variations.begin(), variations.end());
    std::vector<TunedCandidate> candidates;
    for (const RankedSchedule &each : ranked) {
      TunedCandidate candidate;
      candidate.kernel = std::string(scheduledKernelName(problem.kernel()));
      candidate.schedule = scheduleText(problem, each.schedule);
      candidate.predicted = each.seconds;
      candidate.isModel = isChosen(each);
      candidates.push_back(std::move(candidate));
    }
    return candidates;
  }

  /// Programs in which each candidate of each kernel stands once; and, unless
  /// the number of launches is fixed, the same in one launch.
  void plan() {
    std::vector<std::vector<TunedCandidate>> kernels;
    size_t count = 0;
    for (const TunableKernel &kernel : tunable.kernels) {
      kernels.push_back(candidatesOf(kernel));
      count = std::max(count, kernels.back().size());
    }
    const bool hasScore = kernels.size() > 1;
    for (size_t i = 0;
         i < count && (!tunable.launchesFixed || tunable.launches == 2); ++i) {
      std::string schedule;
      for (const std::vector<TunedCandidate> &own : kernels) {
        const std::string &one = own[std::min(i, own.size() - 1)].schedule;
        if (!one.empty())
          schedule += (schedule.empty() ? "" : ",") + one;
      }
      if (hasScore)
        schedule += (schedule.empty() ? "" : ",") + std::string("launches=2");
      if (!schedule.empty())
        programs.push_back(generate(schedule));
    }
    if (hasScore && (!tunable.launchesFixed || tunable.launches == 1)) {
      std::optional<Program> refused; // the first of those
      const size_t apart = programs.size();
      for (const TunedCandidate &score : kernels.front()) {
        // Selection follows from the waves of scoring.
        Program joined = generate(score.schedule + ",launches=1");
        if (joined.refused.empty())
          programs.push_back(std::move(joined));
        else if (!refused)
          refused = std::move(joined);
      }
      if (programs.size() == apart && refused)
        programs.push_back(std::move(*refused));
    }
    for (std::vector<TunedCandidate> &own : kernels)
      for (TunedCandidate &candidate : own)
        if (!candidate.schedule.empty())
          result.candidates.push_back(std::move(candidate));
    for (const Program &program : programs)
      if (program.schedule.ends_with(",launches=1")) {
        TunedCandidate joined;
        joined.kernel = kJoined;
        joined.schedule = program.schedule;
        joined.refused = program.refused;
        joined.isModel =
            tunable.launches == 1 &&
            joined.schedule == scheduleText(tunable.kernels.front().problem,
                                            tunable.kernels.front().chosen) +
                                   ",launches=1";
        result.candidates.push_back(std::move(joined));
      }
  }

  /// Compiles what the programs launch, several at once; equal sources once.
  Status compileAll() {
    std::map<std::string, size_t> firstWith;
    std::vector<size_t> jobs;
    for (size_t i = 0; i < programs.size(); ++i)
      if (programs[i].refused.empty() &&
          firstWith.emplace(sourceOf(programs[i]), i).second)
        jobs.push_back(i);
    progress(fmt::format("{}: compiling {} schedules for {}", tunable.name,
                         jobs.size(), target.arch()));
    std::atomic<size_t> next{0};
    std::vector<Status> statuses(programs.size());
    auto work = [&] {
      for (size_t j; (j = next++) < jobs.size();) {
        Program &program = programs[jobs[j]];
        Result<std::vector<LoadedCode>> codes =
            loadCode(program.bundle, *program.entry, target.arch(), compiler);
        if (codes)
          program.codes = std::move(*codes);
        else
          statuses[jobs[j]] =
              Error{"schedule '" + program.schedule + "': " + codes.message()};
      }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < std::max(std::thread::hardware_concurrency(), 1u);
         ++i)
      threads.emplace_back(work);
    work();
    for (std::thread &thread : threads)
      thread.join();
    for (Status &status : statuses)
      if (!status)
        return std::move(status);
    for (Program &program : programs)
      if (program.refused.empty() && program.codes.empty())
        program.codes = programs[firstWith[sourceOf(program)]].codes;
    result.programs = jobs.size();
    return {};
  }

  static const std::string &sourceOf(const Program &program) {
    return program.bundle.sources[program.entry->launches.front().source].text;
  }

  /// A small call with requests of every kind, to check, then one for each
  /// shape to time and one to check.
  Status makeCalls() {
    const Program &first = programs.front();
    const runtime::Entry &entry = *first.entry;
    auto add = [&](std::vector<Call> &calls, const Lengths &lengths) -> Status {
      Result<Call> call = randomCall(*first.indexer, lengths, options.seed);
      if (!call)
        return Error{"a call to tune '" + entry.name +
                     "' with: " + call.message()};
      calls.push_back(std::move(*call));
      return {};
    };
    std::vector<int32_t> few =
        raggedLengths(first.indexer->fixedRequests().value_or(
                          std::min<int64_t>(entry.maxRequests, 4)),
                      // Of whole prompts the reference computes every row.
                      std::min<int64_t>(entry.maxSeqLen,
                                        first.indexer->ragged() ? 1024 : 4096),
                      options.seed);
    if (few.size() > 2)
      few.back() = 0; // padding
    if (Status status = add(onlyChecked, few); !status)
      return status;
    for (const TuneShape &shape : result.shapes) {
      // Before there is a list of as many lengths.
      if (shape.requests > entry.maxRequests)
        return Error{fmt::format(
            "shape '{}' has {} requests, '{}' was built for at most {} "
            "(max_requests)",
            shape.text(), shape.requests, entry.name, entry.maxRequests)};
      Lengths lengths;
      lengths.tokens.assign(size_t(shape.requests), int32_t(shape.context));
      if (first.indexer->ragged())
        lengths.newTokens.assign(size_t(shape.requests),
                                 int32_t(shape.newTokens));
      if (Status status = add(timed, lengths); !status)
        return status;
      if (!isLong(shape))
        continue;
      for (int32_t &each : lengths.newTokens)
        each = rowsToCheck(shape);
      if (Status status = add(onlyChecked, lengths); !status)
        return status;
    }
    return {};
  }

  /// New tokens of each request that the reference is asked for. They are the
  /// last ones, so kernels of the same schedule read all of the context.
  int32_t rowsToCheck(const TuneShape &shape) const {
    return int32_t(std::max<int64_t>(
        options.keysToCheck / (shape.requests * shape.context), 1));
  }
  bool isLong(const TuneShape &shape) const {
    return programs.front().indexer->ragged() &&
           shape.newTokens > rowsToCheck(shape);
  }

  Status check(const Program &program, const Call &made) {
    Result<Call> before = rebind(made, *program.indexer);
    if (!before)
      return before.takeError();
    Call after = *before;
    auto because = [&](const std::string &what) {
      return Error{fmt::format("schedule '{}' of '{}' on {}: {}",
                               program.schedule, tunable.name, target.arch(),
                               what)};
    };
    if (Status status = target.run(after, program.codes); !status)
      return because(status.message());
    Result<Verdict> verdict = verify(*before, after);
    if (!verdict)
      return because(verdict.message());
    if (verdict->ok())
      return {};
    std::string text;
    for (const auto *part :
         {&verdict->scores, &verdict->selection, &verdict->candidates,
          &verdict->pages, &verdict->steps})
      if (*part && !(*part)->ok())
        text += (*part)->text();
    if (!verdict->untouched.ok())
      text += verdict->untouched.text();
    return because("differs from the reference:\n" + text);
  }

  /// The small call against the reference first, then every shape's time.
  Status checkAndTime(Program &program, bool checksAll) {
    for (const Call &call : onlyChecked) {
      if (Status status = check(program, call); !status)
        return status;
      if (!checksAll)
        break;
    }
    for (size_t i = 0; i < timed.size(); ++i) {
      if (checksAll && !isLong(result.shapes[i]))
        if (Status status = check(program, timed[i]); !status)
          return status;
      Result<Call> call = rebind(timed[i], *program.indexer);
      if (!call)
        return call.takeError();
      Result<std::vector<LaunchTime>> times = target.time(*call, program.codes);
      if (!times)
        return Error{"schedule '" + program.schedule + "' of '" + tunable.name +
                     "': " + times.message()};
      std::map<std::string, double> sums, spreads;
      for (const LaunchTime &time : *times)
        if (std::string kernel = kernelOf(time.kernel); !kernel.empty()) {
          sums[kernel] += time.seconds;
          spreads[kernel] = std::max(spreads[kernel], time.spread);
        }
      for (const auto &[kernel, seconds] : sums) {
        program.logs[kernel] += std::log(std::max(seconds, 1e-12));
        program.spreads[kernel] =
            std::max(program.spreads[kernel], spreads[kernel]);
      }
    }
    return {};
  }

  /// The figure of a candidate: that of the first program that has it.
  void measure(TunedCandidate &candidate) const {
    for (const Program &program : programs) {
      if (!program.refused.empty() || !contains(program.schedule, candidate) ||
          !program.logs.contains(candidate.kernel))
        continue;
      candidate.seconds =
          program.secondsOf(candidate.kernel, result.shapes.size());
      candidate.spread = program.spreads.at(candidate.kernel);
      return;
    }
    for (const Program &program : programs)
      if (candidate.refused.empty() && contains(program.schedule, candidate))
        candidate.refused = program.refused;
  }
  static bool contains(const std::string &schedule,
                       const TunedCandidate &candidate) {
    if (candidate.kernel == kJoined)
      return schedule == candidate.schedule;
    return !schedule.ends_with(",launches=1") &&
           ("," + schedule + ",").find("," + candidate.schedule + ",") !=
               std::string::npos;
  }

  /// The fastest candidate of a kernel, the model's unless another is faster by
  /// more than can be chance; null if none was timed.
  TunedCandidate *fastest(const std::string &kernel) {
    TunedCandidate *best = nullptr;
    for (TunedCandidate &each : result.candidates) {
      if (each.kernel != kernel || each.seconds == 0)
        continue;
      const double margin =
          best ? std::max({kWorthIt, best->spread, each.spread}) : 0;
      if (!best || each.seconds < best->seconds * (1 - margin))
        best = &each;
    }
    return best;
  }

  Status choose() {
    for (TunedCandidate &candidate : result.candidates)
      measure(candidate);
    const size_t shapes = result.shapes.size();
    const Program &model = programs.front();
    result.modelSeconds = result.winnerSeconds = model.seconds(shapes);
    TunedCandidate *score = fastest("score"), *select = fastest("select"),
                   *joined = fastest(kJoined);
    double apart = 0;
    std::string winner;
    for (TunedCandidate *each : {score, select})
      if (each) {
        apart += each->seconds;
        winner += (winner.empty() ? "" : ",") + each->schedule;
      }
    const bool hasTwo = score && select;
    if (hasTwo)
      winner += ",launches=2";
    if (joined &&
        (winner.empty() || joined->seconds < apart * (1 - kWorthIt))) {
      winner = joined->schedule;
      score = select = nullptr;
    } else {
      joined = nullptr;
    }
    if (winner.empty()) // nothing to choose
      return {};
    // What was timed apart is checked and timed together, on every shape.
    programs.push_back(generate(winner));
    Program &together = programs.back();
    if (!together.refused.empty())
      return Error{together.refused};
    point(together);
    Result<std::vector<LoadedCode>> codes =
        loadCode(together.bundle, *together.entry, target.arch(), compiler);
    if (!codes)
      return codes.takeError();
    together.codes = std::move(*codes);
    if (Status status = checkAndTime(together, /*checksAll=*/true); !status)
      return status;
    const double seconds = together.seconds(shapes);
    if (seconds >= result.modelSeconds * (1 - kWorthIt)) {
      for (TunedCandidate &candidate : result.candidates)
        candidate.isWinner =
            candidate.isModel && candidate.seconds > 0 &&
            (candidate.kernel == kJoined) == (tunable.launches == 1);
      return {};
    }
    result.winner = winner;
    result.winnerSeconds = seconds;
    for (TunedCandidate *each : {score, select, joined})
      if (each)
        each->isWinner = true;
    return {};
  }

  const std::string &text, &name;
  const TunableEntry &tunable;
  const TuneOptions &options;
  TuneTarget &target;
  Compiler &compiler;
  const std::function<void(const std::string &)> &progress;
  TunedEntry result;
  std::vector<Program> programs; ///< the model's own choice first
  std::vector<Call> timed;       ///< one a shape; of the first program
  std::vector<Call> onlyChecked; ///< a small one, then one a long shape
};

} // namespace

std::string TuneShape::text() const {
  return fmt::format("{}x{}{}", requests, context,
                     newTokens > 1 ? fmt::format(":{}", newTokens) : "");
}

Result<TuneShape> tool::parseTuneShape(const std::string &text) {
  TuneShape shape;
  const char *at = text.data(), *const end = at + text.size();
  auto number = [&](int64_t &value) {
    const auto [next, code] = std::from_chars(at, end, value);
    const bool good = code == std::errc() && value >= 1 && value <= INT32_MAX;
    at = next;
    return good;
  };
  auto take = [&](char wanted) {
    const bool found = at != end && *at == wanted;
    at += found;
    return found;
  };
  bool good = number(shape.requests) && take('x') && number(shape.context);
  if (good && at != end)
    good = take(':') && number(shape.newTokens) && at == end;
  if (!good)
    return Error{"shape '" + text +
                 "', wanted requests x tokens of each, such as 4x32768, or "
                 "with new tokens of each 4x32768:512"};
  if (shape.newTokens > shape.context)
    return Error{fmt::format("shape '{}' has {} new tokens, wanted at most {} "
                             "(its tokens of each)",
                             text, shape.newTokens, shape.context)};
  return shape;
}

std::vector<TuneShape> tool::usualShapes(const runtime::Entry &entry) {
  const bool ragged = entry.maxQueryLen > 0;
  std::vector<TuneShape> shapes;
  for (auto [requests, context, newTokens] :
       {std::tuple<int64_t, int64_t, int64_t>{1, 131072, 512},
        {32, 8192, 16}}) {
    TuneShape shape;
    shape.requests = std::min(requests, entry.maxRequests);
    shape.context = std::min(context, entry.maxSeqLen);
    if (ragged) {
      shape.context = std::min<int64_t>(shape.context, 8192);
      shape.newTokens =
          std::min({newTokens, entry.maxQueryLen, shape.context,
                    std::max<int64_t>(entry.maxRows / shape.requests, 1)});
    }
    if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end())
      shapes.push_back(shape);
  }
  return shapes;
}

Result<std::vector<TunedEntry>>
tool::tune(const std::string &text, const std::string &name,
           const TuneOptions &options, TuneTarget &target, Compiler &compiler,
           const std::function<void(const std::string &)> &progress) {
  Result<std::vector<TunableEntry>> entries =
      describeTuning(text, name, options.compile);
  if (!entries)
    return entries.takeError();
  std::string known;
  for (const TunableEntry &entry : *entries)
    known += (known.empty() ? "" : ", ") + entry.name;
  if (!options.entry.empty()) {
    std::erase_if(*entries, [&](const TunableEntry &entry) {
      return entry.name != options.entry;
    });
    if (entries->empty())
      return Error{fmt::format(
          "'{}' has no entry '{}' with an indexer to tune; it has: {}", name,
          options.entry, known.empty() ? "none" : known)};
  }
  if (entries->empty())
    return Error{"'" + name + "' has no entry with an indexer to tune"};
  std::vector<TunedEntry> tuned;
  for (const TunableEntry &entry : *entries) {
    Result<TunedEntry> one =
        EntryTuner(text, name, entry, options, target, compiler, progress)
            .run();
    if (!one)
      return one.takeError();
    tuned.push_back(std::move(*one));
  }
  return tuned;
}
