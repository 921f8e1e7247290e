// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `winnow.schedule` verified, read and written, and the same as text.
#include "winnow/IR/ScheduleAttribute.h"
#include "winnow/IR/Winnow.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace winnow;

static StringRef nameOf(ScheduledKernel kernel) {
  return scheduledKernelName(kernel);
}

static std::optional<ScheduledKernel> kernelNamed(StringRef name) {
  for (ScheduledKernel kernel :
       {ScheduledKernel::Score, ScheduledKernel::Select})
    if (nameOf(kernel) == name)
      return kernel;
  return std::nullopt;
}

/// The parameters of that name: one for each kernel that may have it.
static SmallVector<const ScheduleParameter *, 2>
parametersNamed(StringRef name) {
  SmallVector<const ScheduleParameter *, 2> found;
  for (const ScheduleParameter &parameter : scheduleParameters())
    if (StringRef(parameter.name) == name)
      found.push_back(&parameter);
  return found;
}

/// "waves, chunks, ...", of one kernel or of an entry as a whole.
static std::string knownNames(std::optional<ScheduledKernel> kernel) {
  SmallVector<StringRef> names;
  for (const ScheduleParameter &parameter : scheduleParameters())
    if ((!kernel || parameter.kernel == *kernel) &&
        !llvm::is_contained(names, StringRef(parameter.name)))
      names.push_back(parameter.name);
  if (!kernel)
    names.append({kLaunchesParameter, nameOf(ScheduledKernel::Score),
                  nameOf(ScheduledKernel::Select)});
  return llvm::join(names, ", ");
}

/// The value that an attribute gives a parameter, or nothing.
static std::optional<int64_t> valueOf(const ScheduleParameter &parameter,
                                      Attribute attribute) {
  if (!isOptionInteger(attribute))
    return std::nullopt;
  int64_t value = cast<IntegerAttr>(attribute).getInt();
  if (value < parameter.min || value > parameter.max)
    return std::nullopt;
  return value;
}

static LogicalResult verifyLaunches(Operation *op, Attribute value) {
  if (isOptionInteger(value)) {
    int64_t launches = cast<IntegerAttr>(value).getInt();
    if (launches >= kMinLaunches && launches <= kMaxLaunches)
      return success();
  }
  return op->emitError() << "option '" << kLaunchesParameter << "' of '"
                         << kScheduleAttr << "' has to be " << kMinLaunches
                         << " or " << kMaxLaunches << ", found " << value;
}

/// The parameters of one kernel, or with none given those of all of them.
static LogicalResult verifyParameters(Operation *op, DictionaryAttr dictionary,
                                      std::optional<ScheduledKernel> kernel) {
  std::string subject = "'" + kScheduleAttr.str() +
                        (kernel ? "." + nameOf(*kernel).str() : std::string()) +
                        "'";
  for (NamedAttribute entry : dictionary) {
    StringRef name = entry.getName();
    if (!kernel && name == StringRef(kLaunchesParameter)) {
      if (failed(verifyLaunches(op, entry.getValue())))
        return failure();
      continue;
    }
    if (auto nested = kernel ? std::nullopt : kernelNamed(name)) {
      auto parameters = dyn_cast<DictionaryAttr>(entry.getValue());
      if (!parameters)
        return op->emitError()
               << "option '" << name << "' of " << subject
               << " has to be a dictionary of " << knownNames(nested)
               << ", found " << entry.getValue();
      if (failed(verifyParameters(op, parameters, nested)))
        return failure();
      continue;
    }
    SmallVector<const ScheduleParameter *, 2> found = parametersNamed(name);
    llvm::erase_if(found, [&](const ScheduleParameter *parameter) {
      return kernel && parameter->kernel != *kernel;
    });
    if (found.empty())
      return op->emitError() << "unknown option '" << name << "' of " << subject
                             << "; known: " << knownNames(kernel);
    if (llvm::none_of(found, [&](const ScheduleParameter *parameter) {
          return valueOf(*parameter, entry.getValue()).has_value();
        }))
      return op->emitError()
             << "option '" << name << "' of " << subject << " has to be "
             << found.front()->describe() << " (" << found.front()->what
             << "), found " << entry.getValue();
  }
  return success();
}

LogicalResult winnow::verifySchedule(Operation *op, NamedAttribute attribute) {
  auto dictionary = dyn_cast<DictionaryAttr>(attribute.getValue());
  if (!dictionary)
    return op->emitError() << "attribute '" << attribute.getName().getValue()
                           << "' has to be a dictionary of "
                           << knownNames(std::nullopt) << ", found "
                           << attribute.getValue();
  return verifyParameters(op, dictionary, std::nullopt);
}

const ScheduleOverride *
ScheduleRequest::find(const ScheduleParameter &parameter) const {
  const ScheduleOverride *found = nullptr;
  for (const ScheduleOverride &each : overrides) {
    if (each.parameter != &parameter)
      continue;
    bool yields =
        found && each.isShared && !found->isShared && each.from == found->from;
    found = yields ? found : &each;
  }
  return found;
}

void ScheduleRequest::add(const ScheduleRequest &other) {
  llvm::append_range(overrides, other.overrides);
  if (other.launches) {
    launches = other.launches;
    launchesFrom = other.launchesFrom;
  }
}

ScheduleRequest winnow::readSchedule(DictionaryAttr attribute, StringRef from) {
  ScheduleRequest request;
  auto add = [&](StringRef name, Attribute value,
                 std::optional<ScheduledKernel> kernel) {
    for (const ScheduleParameter *parameter : parametersNamed(name))
      if (!kernel || parameter->kernel == *kernel)
        if (std::optional<int64_t> number = valueOf(*parameter, value))
          request.overrides.push_back(
              {parameter, *number, !kernel, from.str()});
  };
  for (NamedAttribute entry :
       attribute ? attribute.getValue() : ArrayRef<NamedAttribute>()) {
    StringRef name = entry.getName();
    if (name == StringRef(kLaunchesParameter)) {
      request.launches = cast<IntegerAttr>(entry.getValue()).getInt();
      request.launchesFrom = from.str();
    } else if (auto kernel = kernelNamed(name)) {
      for (NamedAttribute own : cast<DictionaryAttr>(entry.getValue()))
        add(own.getName(), own.getValue(), kernel);
    } else {
      add(name, entry.getValue(), std::nullopt);
    }
  }
  return request;
}

DictionaryAttr winnow::writeSchedule(MLIRContext *context,
                                     const ScheduleRequest &request) {
  Builder builder(context);
  NamedAttrList entry;
  for (ScheduledKernel kernel :
       {ScheduledKernel::Score, ScheduledKernel::Select}) {
    NamedAttrList own;
    for (const ScheduleParameter &parameter : scheduleParameters())
      if (parameter.kernel == kernel)
        if (const ScheduleOverride *fixed = request.find(parameter))
          (fixed->isShared ? entry : own)
              .set(StringRef(parameter.name),
                   builder.getI64IntegerAttr(fixed->value));
    if (!own.empty())
      entry.set(nameOf(kernel), own.getDictionary(context));
  }
  if (request.launches)
    entry.set(StringRef(kLaunchesParameter),
              builder.getI64IntegerAttr(*request.launches));
  return entry.getDictionary(context);
}

DictionaryAttr
winnow::writeKernelSchedule(MLIRContext *context,
                            const KernelSchedule &schedule,
                            ArrayRef<const ScheduleParameter *> parameters) {
  Builder builder(context);
  NamedAttrList values;
  for (const ScheduleParameter *parameter : parameters)
    values.set(StringRef(parameter->name),
               builder.getI64IntegerAttr(schedule.*parameter->value));
  return values.getDictionary(context);
}

/// The number that a parameter's text stands for, or nothing.
static std::optional<int64_t> parseValue(const ScheduleParameter &parameter,
                                         StringRef text) {
  int64_t value;
  if (text.getAsInteger(10, value) || value < parameter.min ||
      value > parameter.max)
    return std::nullopt;
  return value;
}

bool winnow::parseSchedule(StringRef text, StringRef from,
                           ScheduleRequest &request, std::string &error) {
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  auto refuse = [&](StringRef part, const Twine &what) {
    error = ("schedule '" + text + "': '" + part + "' " + what).str();
    return false;
  };
  SmallVector<StringRef> names;
  for (StringRef part : parts) {
    if (!part.contains('='))
      return refuse(part, "has no value, wanted name=value with a name of: " +
                              knownNames(std::nullopt));
    auto [name, value] = part.split('=');
    if (llvm::is_contained(names, name))
      return refuse(part, "fixes what an earlier part does");
    names.push_back(name);
    if (name == StringRef(kLaunchesParameter)) {
      int64_t launches;
      if (value.getAsInteger(10, launches) || launches < kMinLaunches ||
          launches > kMaxLaunches)
        return refuse(part, "has to be " + Twine(kMinLaunches) + " or " +
                                Twine(kMaxLaunches));
      request.launches = launches;
      request.launchesFrom = from.str();
      continue;
    }
    std::optional<ScheduledKernel> kernel;
    if (name.contains('.')) {
      auto [owner, own] = name.split('.');
      kernel = kernelNamed(owner);
      if (!kernel)
        return refuse(part, "names no kernel that has a schedule; known: " +
                                nameOf(ScheduledKernel::Score) + ", " +
                                nameOf(ScheduledKernel::Select));
      name = own;
    }
    SmallVector<const ScheduleParameter *, 2> found = parametersNamed(name);
    llvm::erase_if(found, [&](const ScheduleParameter *parameter) {
      return kernel && parameter->kernel != *kernel;
    });
    if (found.empty())
      return refuse(part, "names no parameter; known: " + knownNames(kernel));
    bool taken = false;
    for (const ScheduleParameter *parameter : found)
      if (std::optional<int64_t> number = parseValue(*parameter, value)) {
        request.overrides.push_back({parameter, *number, !kernel, from.str()});
        taken = true;
      }
    if (!taken)
      return refuse(part, "has to be " + found.front()->describe() + " (" +
                              StringRef(found.front()->what) + ")");
  }
  return true;
}
