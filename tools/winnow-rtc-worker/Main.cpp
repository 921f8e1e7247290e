// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// winnow-rtc-worker: compiles one program for the process that started it, and
// is gone. Not for people; the runtime starts it with a socket at descriptor 3.
#include "Backend.h"
#include "Containment.h"
#include "Libraries.h"

#include "WorkerProtocol.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

#include <sys/socket.h>

using namespace winnow;
using namespace winnow::rtc;
using runtime::worker::Message;

namespace {

constexpr int kSocket = runtime::worker::kSocket;

struct Options {
  std::string backend, library;
  Containment limits;
};

bool number(std::string_view text, uint64_t &value) {
  auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size();
}

Result<Options> parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const std::string_view value =
        equals == word.npos ? "" : word.substr(equals + 1);
    uint64_t count = 0;
    if (name == "--backend")
      options.backend = value;
    else if (name == "--library")
      options.library = value;
    else if (name == "--folder")
      options.limits.folder = value;
    else if (name == "--memory" && number(value, count))
      options.limits.maxMemory = count;
    else if (name == "--timeout" && number(value, count))
      options.limits.timeout = std::chrono::milliseconds(count);
    else
      return Error{"argument '" + std::string(word) +
                   "': wanted --backend=clang|hiprtc|nvrtc, --library=FILE, "
                   "--folder=PATH, --memory=BYTES or --timeout=MILLISECONDS"};
  }
  if (options.limits.folder.empty())
    return Error{"no --folder"};
  return options;
}

bool send(const Message &message) {
  const std::string bytes = runtime::worker::encode(message);
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t count =
        ::send(kSocket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    sent += static_cast<size_t>(count);
  }
  return true;
}

/// The next request; nothing at the end of the connection.
Result<std::optional<Message>> receive() {
  std::string bytes;
  std::vector<char> chunk(size_t(1) << 16);
  while (true) {
    const ssize_t count = ::recv(kSocket, chunk.data(), chunk.size(), 0);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return std::optional<Message>();
    bytes.append(chunk.data(), static_cast<size_t>(count));
    Result<std::optional<Message>> message = runtime::worker::decode(bytes);
    if (!message || *message)
      return message;
  }
}

Result<std::unique_ptr<Backend>> open(const Options &options) {
  if (options.backend == "clang")
    return openClang();
  if (options.backend == "hiprtc")
    return openHiprtc(options.library);
  if (options.backend == "nvrtc")
    return openNvrtc(options.library);
  return Error{"back end '" + options.backend +
               "': wanted clang, hiprtc or nvrtc"};
}

Message compile(Backend &backend, const Message &request) {
  if (request.fields.size() != 3)
    return {runtime::worker::kFailed,
            {"a request to compile has 3 fields, this one has " +
             std::to_string(request.fields.size())}};
  const std::string identity = backend.name() + loadedLibraries().builds;
  Result<Output> output = backend.compile(
      {request.fields[0], request.fields[1], request.fields[2]});
  if (!output)
    return {runtime::worker::kFailed, {output.message()}};
  return {runtime::worker::kCompiled,
          {identity, std::move(output->log), std::move(output->code)}};
}

int serve(const Options &options) {
  // Loaded before there is a request, so that a worker can be kept ready.
  Result<std::unique_ptr<Backend>> backend = open(options);
  while (true) {
    Result<std::optional<Message>> request = receive();
    if (!request) {
      std::fprintf(stderr, "%s\n", request.message().c_str());
      return 1;
    }
    if (!*request)
      return 0;
    if (!backend) {
      send({runtime::worker::kFailed, {backend.message()}});
      return 1;
    }
    switch ((*request)->kind) {
    case runtime::worker::kIdentify: {
      const Libraries libraries = loadedLibraries();
      Message answer{runtime::worker::kIdentity,
                     {(*backend)->name() + libraries.builds}};
      answer.fields.insert(answer.fields.end(), libraries.paths.begin(),
                           libraries.paths.end());
      if (!send(answer))
        return 1;
      break;
    }
    case runtime::worker::kCompile:
      return send(compile(**backend, **request)) ? 0 : 1;
    default:
      std::fprintf(stderr, "a request of kind %u\n", (*request)->kind);
      return 1;
    }
  }
}

} // namespace

int main(int argc, char **argv) {
  Result<Options> options = parse(argc, argv);
  if (!options) {
    std::fprintf(stderr, "winnow-rtc-worker: %s\n", options.message().c_str());
    return 2;
  }
  if (Status status = contain(options->limits, kSocket); !status) {
    std::fprintf(stderr, "winnow-rtc-worker: %s\n", status.message().c_str());
    return 1;
  }
  leave(serve(*options));
}
