// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The manifest between JSON and types; the blobs are the bundle file's
// business.
#ifndef WINNOW_LIB_RUNTIME_MANIFESTJSON_H
#define WINNOW_LIB_RUNTIME_MANIFESTJSON_H

#include "winnow/Runtime/Manifest.h"

#include "JsonFields.h"

namespace winnow::runtime {

/// Where a blob lies, from the first byte after the manifest.
struct BlobRange {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// A bundle whose sources and code objects have no content yet, and where each
/// finds it: one range a source, then one a code object.
struct ParsedManifest {
  Bundle bundle;
  std::vector<BlobRange> ranges;
};

Result<ParsedManifest> manifestFromJson(const Json &json);

/// `ranges` as in ParsedManifest.
Result<Json> manifestToJson(const Bundle &bundle,
                            const std::vector<BlobRange> &ranges);

} // namespace winnow::runtime

#endif // WINNOW_LIB_RUNTIME_MANIFESTJSON_H
