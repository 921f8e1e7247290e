// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a description, its `winnow.schedule` and the options of the pass to the
// schedule of each of its kernels. Everything that is fixed is held against
// what the kernels can do before any kernel is made.
#include "Schedule.h"
#include "winnow/Codegen/Lowerings.h"
#include "winnow/Codegen/Machine.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace winnow;
using Kind = KernelProblem::Kind;

static void countRows(Description &description, KernelProblem &problem) {
  problem.requests = getEntryBounds(description.entry)->maxRequests;
  problem.rows =
      description.isRagged() ? description.maxQueryLen : description.queryLen();
}

static KernelProblem scoreProblemOf(Description &description) {
  KernelProblem problem;
  const bool generic = description.scoreLowering() == "generic";
  problem.kind = generic                  ? Kind::GenericScore
                 : description.isRagged() ? Kind::RaggedScore
                                          : Kind::Score;
  auto keys = cast<MemRefType>(description.score.getKeys().getType());
  const Lowering &lowering = *findLowering(description.scoreLowering());
  problem.waveLanes = lowering.waveLanes;
  problem.sliceBytes = lowering.sliceBytes;
  problem.copyBytes = lowering.copyBytes;
  problem.teamWaves = lowering.teamWaves;
  problem.sharedElementBytes = lowering.sharedElementBytes;
  problem.heads = description.heads();
  // Where rows are ragged, a request may have as many as the bounds allow.
  problem.queries = description.heads() *
                    (description.isRagged()
                         ? std::min<int64_t>(description.maxQueryLen, 65536)
                         : description.queryLen());
  problem.headDim = keys.getDimSize(2);
  problem.elementBytes = keys.getElementTypeBitWidth() / 8;
  problem.blockSize = description.blockSize();
  problem.places = description.shardBlocks();
  countRows(description, problem);
  return problem;
}

static KernelProblem selectProblemOf(Description &description) {
  KernelProblem problem;
  const bool merges = static_cast<bool>(description.merge);
  problem.kind = description.selectLowering() == "generic" ? Kind::GenericSelect
                 : merges                                  ? Kind::Merge
                                                           : Kind::Select;
  problem.waveLanes = findLowering(description.selectLowering())->waveLanes;
  problem.heads = description.heads();
  problem.blockSize = description.blockSize();
  // The generic merge takes any number of ranks.
  if (!merges)
    problem.places = description.shardBlocks();
  else if (problem.kind == Kind::Merge)
    problem.places = description.ranks() * description.rankKeep();
  countRows(description, problem);
  return problem;
}

/// The kernels of an entry, as problems.
static SmallVector<KernelProblem *> problemsOf(Description &description) {
  SmallVector<KernelProblem *> problems;
  if (description.score)
    problems.push_back(&description.schedule.scoreProblem);
  problems.push_back(&description.schedule.selectProblem);
  return problems;
}

static bool has(const KernelProblem &problem,
                const ScheduleParameter &parameter) {
  return llvm::is_contained(parametersOf(problem), &parameter);
}

/// Whether some kernel of the entry has the parameter, or, where it is meant
/// for all kernels, one of its name.
static bool applies(const ScheduleOverride &fixed, Description &description) {
  return llvm::any_of(problemsOf(description), [&](KernelProblem *problem) {
    if (!fixed.isShared)
      return has(*problem, *fixed.parameter);
    return llvm::any_of(parametersOf(*problem), [&](const auto *parameter) {
      return parameter->name == fixed.parameter->name;
    });
  });
}

/// The parameters that each kernel of the entry has, for an error.
static std::string parameterNames(Description &description) {
  std::string text;
  for (KernelProblem *problem : problemsOf(description)) {
    StringRef kernel = scheduledKernelName(problem->kernel());
    text += text.empty() ? "" : "; ";
    text += kernel.str() + ": ";
    std::string names;
    for (const ScheduleParameter *parameter : parametersOf(*problem))
      names += (names.empty() ? "" : ", ") + std::string(parameter->name);
    text += names.empty() ? "none" : names;
  }
  return text;
}

/// Why a kernel has no such parameter, where that takes saying: " (...)".
static std::string reasonText(const ScheduleParameter &parameter,
                              Description &description) {
  for (KernelProblem *problem : problemsOf(description))
    if (problem->kernel() == parameter.kernel)
      if (std::string_view reason = whyNone(*problem, parameter);
          !reason.empty())
        return " (" + std::string(reason) + ")";
  return "";
}

/// The lowering of the kernel that a parameter is of.
static StringRef loweringFor(const ScheduleParameter &parameter,
                             Description &description) {
  if (parameter.kernel == ScheduledKernel::Select)
    return description.selectLowering();
  return description.score ? description.scoreLowering() : "";
}

static LogicalResult resolveKernel(Description &description,
                                   const KernelProblem &problem,
                                   KernelSchedule &schedule) {
  const ScheduleRequest &request = description.schedule.request;
  // The generic kernels of all targets are one source.
  const Machine &machine = machineFor(problem.kind == Kind::GenericScore
                                          ? std::string_view()
                                          : std::string_view(description.arch));
  auto choose = [&](std::optional<int64_t> waves) {
    return chooseSchedule(
        problem, machine, [&](const ScheduleParameter &parameter) {
          const ScheduleOverride *fixed = request.find(parameter);
          if (fixed)
            return std::optional<int64_t>(fixed->value);
          return parameter.value == &KernelSchedule::waves ? waves
                                                           : std::nullopt;
        });
  };
  // In one launch the workgroup that scores selects.
  std::optional<int64_t> waves;
  if (problem.kind == Kind::Select && description.schedule.launches == 1)
    waves = description.schedule.score.waves;
  schedule = choose(waves);
  if (problem.kind == Kind::Score)
    if (std::optional<int64_t> least = leastWavesOfOneLaunch(description);
        least && schedule.waves < *least)
      if (KernelSchedule more = choose(least); !findConflict(problem, more))
        schedule = more;
  std::optional<std::string> conflict = findConflict(problem, schedule);
  if (!conflict)
    return success();
  return description.entry.emitOpError("cannot have its schedule of '")
         << StringRef(scheduledKernelName(problem.kernel()))
         << "': " << *conflict;
}

LogicalResult winnow::resolveSchedule(Description &description,
                                      const ScheduleRequest &option,
                                      bool ignoresOwn) {
  EntrySchedule &schedule = description.schedule;
  if (!ignoresOwn)
    schedule.request = readSchedule(
        description.entry->getAttrOfType<DictionaryAttr>(kScheduleAttr),
        "description");
  if (description.score)
    schedule.scoreProblem = scoreProblemOf(description);
  schedule.selectProblem = selectProblemOf(description);
  for (const ScheduleOverride &fixed : schedule.request.overrides)
    if (!applies(fixed, description)) {
      InFlightDiagnostic error = description.entry.emitOpError("fixes '");
      error << StringRef(fixed.parameter->name) << "' in '" << kScheduleAttr
            << "', which none of its kernels has";
      if (StringRef lowering = loweringFor(*fixed.parameter, description);
          !lowering.empty())
        error << " (lowering '" << lowering << "')";
      error << reasonText(*fixed.parameter, description);
      return error << "; they have " << parameterNames(description);
    }
  // An option may be meant for another entry of the module.
  schedule.request.add(option);
  if (description.score &&
      failed(resolveKernel(description, schedule.scoreProblem, schedule.score)))
    return failure();
  if (failed(decideLaunches(description)))
    return failure();
  return resolveKernel(description, schedule.selectProblem, schedule.select);
}

/// Of no line of the text; but a reader of diagnostics that knows no options
/// still sees the file.
static Location optionLocation(ModuleOp module) {
  return NameLoc::get(StringAttr::get(module.getContext(), kScheduleOption),
                      module.getLoc());
}

/// Whether two parts for the same entry fix the same thing.
static bool overlap(const ScheduleRequest &a, const ScheduleRequest &b) {
  if (a.launches && b.launches)
    return true;
  return llvm::any_of(a.overrides, [&](const ScheduleOverride &one) {
    return llvm::any_of(b.overrides, [&](const ScheduleOverride &other) {
      return one.parameter == other.parameter && one.isShared == other.isShared;
    });
  });
}

FailureOr<std::vector<EntryOption>>
winnow::parseEntryOptions(ModuleOp module, StringRef text, StringRef from) {
  std::vector<EntryOption> options;
  if (text.empty())
    return options;
  SmallVector<StringRef> parts;
  text.split(parts, ';');
  for (StringRef part : parts) {
    EntryOption option;
    if (part.contains(':')) {
      StringRef name = part.split(':').first;
      part = part.split(':').second;
      option.entry = name.str();
      auto entry = module.lookupSymbol<func::FuncOp>(name);
      if (!entry || !isEntry(entry))
        return emitError(optionLocation(module), "schedule '")
                   << text << "': no entry is called '" << name << "'",
               failure();
    }
    if (std::string error; !parseSchedule(part, from, option.request, error))
      return emitError(optionLocation(module)) << error, failure();
    for (const EntryOption &earlier : options)
      if (earlier.entry == option.entry &&
          overlap(earlier.request, option.request))
        return emitError(optionLocation(module), "schedule '")
                   << text << "': '" << part
                   << "' fixes what an earlier part does",
               failure();
    options.push_back(std::move(option));
  }
  return options;
}

/// The same for one of them.
static LogicalResult
checkOptionApplies(ModuleOp module, const EntryOption &option,
                   MutableArrayRef<Description> descriptions) {
  auto isMeant = [&](Description &description) {
    return description.rowsOp() &&
           (option.entry.empty() ||
            description.entry.getSymName() == option.entry);
  };
  for (const ScheduleOverride &fixed : option.request.overrides) {
    if (llvm::any_of(descriptions, [&](Description &description) {
          return isMeant(description) && applies(fixed, description);
        }))
      continue;
    InFlightDiagnostic error =
        emitError(optionLocation(module), "the option 'schedule' fixes '");
    if (!fixed.isShared)
      error << StringRef(scheduledKernelName(fixed.parameter->kernel)) << ".";
    error << StringRef(fixed.parameter->name)
          << "', which no kernel has that it is for";
    for (Description &description : descriptions)
      if (isMeant(description))
        error << "; '" << description.entry.getSymName() << "' has "
              << parameterNames(description)
              << reasonText(*fixed.parameter, description);
    return error;
  }
  return success();
}

LogicalResult
winnow::checkOptionsApply(ModuleOp module, ArrayRef<EntryOption> options,
                          MutableArrayRef<Description> descriptions) {
  for (const EntryOption &option : options)
    if (failed(checkOptionApplies(module, option, descriptions)))
      return failure();
  return success();
}

void winnow::attachSchedule(KernelOp kernel, const KernelProblem &problem,
                            const KernelSchedule &schedule,
                            const ScheduleRequest &request) {
  std::vector<const ScheduleParameter *> parameters = parametersOf(problem);
  if (parameters.empty())
    return;
  MLIRContext *context = kernel.getContext();
  kernel->setAttr(kScheduleAttr,
                  writeKernelSchedule(context, schedule, parameters));
  NamedAttrList from;
  for (const ScheduleParameter *parameter : parameters)
    if (const ScheduleOverride *fixed = request.find(*parameter))
      from.set(StringRef(parameter->name),
               StringAttr::get(context, fixed->from));
  if (!from.empty())
    kernel->setAttr(kScheduleFromAttr, from.getDictionary(context));
}
