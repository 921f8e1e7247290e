// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Dump.h"
#include "Safetensors.h"

#include "winnow/Runtime/Files.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <exception>
#include <system_error>

#include <unistd.h>

using namespace winnow;
using namespace winnow::tool;
using Json = nlohmann::ordered_json;

namespace {

template <typename T>
Json firstOf(const std::array<T, runtime::kMaxRank> &values, int rank) {
  Json array = Json::array();
  for (int axis = 0; axis < rank; ++axis)
    array.push_back(values[axis]);
  return array;
}

/// Writes files of one folder and stops at the first that fails.
class Writer {
public:
  Writer(std::string folder, const DumpContents &contents)
      : folder(std::move(folder)), contents(contents),
        entry(*contents.after.indexer->entry) {}

  Status run() {
    status = runtime::makeFolders(folder);
    if (!status)
      return status;
    const std::string summary = folder + "/launch.json";
    if (::unlink(summary.c_str()) != 0 && errno != ENOENT)
      return Error{"cannot remove '" + summary + "': " +
                   std::error_code(errno, std::generic_category()).message()};
    Json json{{"format", "winnow-dump"},
              {"version", 1},
              {"generator", contents.bundle.generator},
              {"entry", entry.name},
              {"device", contents.device},
              {"byte_order", "little"},
              {"facts", facts()},
              {"sources", sources()},
              {"code_objects", codeObjects()},
              {"tensors", tensors()},
              {"inputs", inputs()},
              {"launches", launches()}};
    write("launch.json", json.dump(2) + "\n");
    return std::move(status);
  }

private:
  std::string write(const std::string &name, std::string_view text) {
    if (status)
      status = runtime::writeFileAtomically(folder + "/" + name, text);
    return name;
  }
  std::string write(const std::string &name,
                    const std::vector<std::byte> &bytes) {
    return write(name,
                 std::string_view(reinterpret_cast<const char *>(bytes.data()),
                                  bytes.size()));
  }

  Json facts() const {
    Json json = Json::object();
    for (const auto &[name, value] : entry.facts)
      std::visit([&](const auto &fact) { json[name] = fact; }, value);
    return json;
  }

  Json sources() {
    Json list = Json::array();
    for (const runtime::Source &source : contents.bundle.sources)
      list.push_back(Json{{"file", write(source.name, source.text)},
                          {"lowering", source.lowering}});
    return list;
  }

  Json codeObjects() {
    Json list = Json::array();
    for (const LoadedCode &code : contents.codes) {
      const std::string name = contents.bundle.sources[code.source].name;
      list.push_back(
          Json{{"file", write(name + "." + code.arch + ".co", code.bytes)},
               {"source", code.source},
               {"arch", code.arch}});
    }
    return list;
  }

  Json tensor(const HostTensor &before, const HostTensor &after,
              const char *kind, std::string_view role) {
    Json json{{"name", after.name},
              {"role", role},
              {"kind", kind},
              {"dtype", runtime::dtypeName(after.view.dtype)},
              {"element_bytes", runtime::byteWidth(after.view.dtype)},
              {"shape", firstOf(after.view.extents, after.view.rank)},
              {"strides", firstOf(after.view.strides, after.view.rank)},
              {"bytes", after.bytes.size()}};
    if (std::string_view(kind) == "input") {
      json["file"] = write(after.name + ".bin", before.bytes);
    } else {
      json["file_before"] = write(after.name + ".before.bin", before.bytes);
      json["file"] = write(after.name + ".bin", after.bytes);
    }
    return json;
  }

  Json tensors() {
    Json list = Json::array();
    for (size_t i = 0; i < contents.after.arguments.size(); ++i) {
      const runtime::TensorArgument &argument = entry.arguments[i];
      list.push_back(
          tensor(contents.before.arguments[i], contents.after.arguments[i],
                 argument.access == runtime::Access::Read ? "input" : "output",
                 runtime::roleName(argument.role)));
    }
    for (size_t i = 0; i < contents.after.workspace.size(); ++i)
      list.push_back(tensor(contents.before.workspace[i],
                            contents.after.workspace[i], "workspace",
                            contents.after.workspace[i].name));
    return list;
  }

  /// The inputs once more as one file that `winnow run --input` takes.
  Json inputs() {
    std::vector<SafeTensor> list;
    for (size_t i = 0; i < contents.before.arguments.size(); ++i) {
      if (entry.arguments[i].access != runtime::Access::Read)
        continue;
      // Inputs are made dense.
      const HostTensor &tensor = contents.before.arguments[i];
      list.push_back(
          {tensor.name, tensor.view.dtype,
           std::vector<int64_t>(tensor.view.extents.begin(),
                                tensor.view.extents.begin() + tensor.view.rank),
           tensor.bytes});
    }
    Result<std::vector<std::byte>> file = writeSafetensors(list);
    if (!file) {
      if (status)
        status = file.takeError();
      return nullptr;
    }
    return write("inputs.safetensors", *file);
  }

  Json launches() const {
    Json list = Json::array();
    for (const runtime::ResolvedLaunch &launch : contents.launches) {
      Json arguments = Json::array();
      for (const runtime::ResolvedArgument &argument : launch.arguments) {
        Json json{{"offset", argument.offset}, {"bytes", 8}};
        if (argument.source.kind == runtime::KernelArgument::Kind::Tensor) {
          json["kind"] = "pointer";
          json["tensor"] = argument.source.tensor;
        } else {
          json["kind"] = "i64";
          json["value"] = argument.value;
          const bool isStride =
              argument.source.kind == runtime::KernelArgument::Kind::Stride;
          json["meaning"] = std::string(isStride ? "stride" : "extent") +
                            " of '" + argument.source.tensor + "' in axis " +
                            std::to_string(argument.source.axis) +
                            (isStride ? ", in elements" : "");
        }
        arguments.push_back(std::move(json));
      }
      Json code = nullptr;
      for (size_t i = 0; i < contents.codes.size(); ++i)
        if (contents.codes[i].source == launch.source)
          code = i;
      list.push_back(Json{{"kernel", launch.kernel},
                          {"code_object", code},
                          {"grid_workgroups", launch.grid},
                          {"block", launch.block},
                          {"dynamic_lds_bytes", launch.dynamicLdsBytes},
                          {"kernarg_bytes", launch.kernarg.size()},
                          {"arguments", std::move(arguments)}});
    }
    return list;
  }

  const std::string folder;
  const DumpContents &contents;
  const runtime::Entry &entry;
  Status status;
};

} // namespace

Status tool::writeDump(const std::string &folder,
                       const DumpContents &contents) {
  try {
    return Writer(folder, contents).run();
  } catch (const std::exception &exception) {
    return Error{"cannot write the dump to '" + folder +
                 "': " + exception.what()};
  }
}
