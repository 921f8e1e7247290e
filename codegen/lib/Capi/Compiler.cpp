// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler behind a C interface; see winnow_compiler.h.
#include "winnow/Codegen/Compile.h"
#include "winnow/Runtime/Bundle.h"
#include "winnow/Runtime/Visible.h"
#include "winnow_compiler.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

using namespace winnow;

namespace {

thread_local std::string ownText;
thread_local const char *lastText = "";

winnow_compiler_status fail(winnow_compiler_status status,
                            const char *text) noexcept {
  try {
    ownText = runtime::visibleLines(text);
    lastText = ownText.c_str();
  } catch (...) {
    lastText = "out of memory";
  }
  return status;
}

winnow_compiler_status argument(const std::string &what) {
  return fail(WINNOW_COMPILER_ERROR_ARGUMENT, what.c_str());
}

winnow_compiler_status compile(std::string_view text, const char *name,
                               const winnow_compiler_options &options,
                               void **to, size_t *bytes) {
  CompileOptions wanted;
  if (options.prefer)
    wanted.prefer = options.prefer;
  Result<runtime::Bundle> bundle =
      compileVariants(text, name ? name : "description",
                      {options.arch ? options.arch : wanted.arch}, wanted);
  if (!bundle)
    return fail(WINNOW_COMPILER_ERROR_DESCRIPTION, bundle.message().c_str());
  Result<std::vector<std::byte>> written = runtime::writeBundle(*bundle);
  if (!written)
    return fail(WINNOW_COMPILER_ERROR_INTERNAL, written.message().c_str());
  *to = std::malloc(written->size());
  if (!*to)
    throw std::bad_alloc();
  std::memcpy(*to, written->data(), written->size());
  *bytes = written->size();
  return WINNOW_COMPILER_OK;
}

winnow_compiler_status checked(const char *text, size_t textBytes,
                               const char *name,
                               const winnow_compiler_options *given,
                               void **bundle, size_t *bundleBytes) {
  if (!bundle || !bundleBytes)
    return argument("winnow_compiler_compile: 'bundle' or 'bundle_bytes' is "
                    "null");
  *bundle = nullptr;
  *bundleBytes = 0;
  if (!text)
    return argument("winnow_compiler_compile: 'text' is null");
  winnow_compiler_options options = WINNOW_COMPILER_OPTIONS_INIT;
  if (given) {
    size_t size = 0;
    std::memcpy(&size, given, sizeof size);
    const auto *raw = reinterpret_cast<const unsigned char *>(given);
    bool isKnown = size >= sizeof options && size <= 65536;
    for (size_t i = sizeof options; isKnown && i < size; ++i)
      isKnown = raw[i] == 0;
    if (!isKnown)
      return argument("winnow_compiler_options.size is " +
                      std::to_string(size) + ", wanted " +
                      std::to_string(sizeof options) +
                      ", or more with zeros in it");
    options = *given;
  }
  return compile({text, textBytes}, name, options, bundle, bundleBytes);
}

} // namespace

extern "C" {

const char *winnow_compiler_version(void) { return WINNOW_VERSION; }

const char *winnow_compiler_last_error(void) { return lastText; }

winnow_compiler_status
winnow_compiler_compile(const char *text, size_t textBytes, const char *name,
                        const winnow_compiler_options *options, void **bundle,
                        size_t *bundleBytes) {
  try {
    return checked(text, textBytes, name, options, bundle, bundleBytes);
  } catch (const std::bad_alloc &) {
    return fail(WINNOW_COMPILER_ERROR_MEMORY, "out of memory");
  } catch (const std::exception &exception) {
    return fail(WINNOW_COMPILER_ERROR_INTERNAL, exception.what());
  } catch (...) {
    return fail(WINNOW_COMPILER_ERROR_INTERNAL, "an unknown exception");
  }
}

void winnow_compiler_free(void *bundle) { std::free(bundle); }
}
