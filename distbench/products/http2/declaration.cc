// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/http2/declaration.h"

#include "distbench/products/http2/catalog.pb.h"
#include "optional_libraries.h"

namespace distbench::http2 {

config::DriverDeclaration Declaration() {
  return {.name = "http2",
          .built_in = DISTBENCH_HAS_NGHTTP2 == 1,
          .package = "libnghttp2-dev",
          .complete = &config::CompleteBy<catalog::Http2>};
}

}  // namespace distbench::http2
