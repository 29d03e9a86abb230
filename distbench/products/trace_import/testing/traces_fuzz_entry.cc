// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/testing/traces_fuzz_entry.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "distbench/products/trace_import/import_traces.h"
#include "distbench/products/trace_import/spans/spans.h"

namespace distbench::trace_import {
namespace {

constexpr int64_t kMaxSpans = 1000;

}  // namespace

void ImportAnything(absl::string_view input) {
  if (input.empty()) return;
  const auto choice = static_cast<unsigned char>(input[0]);
  const std::vector<std::string> formats = TraceFormats();
  SpanSet spans;
  if (!ReadSpans(formats[choice % formats.size()], "input", input.substr(1),
                 kMaxSpans, spans)
           .ok()) {
    return;
  }
  ImportOptions options;
  options.naming.hide_names = choice & 0x80;
  options.with_failures = choice & 0x40;
  const absl::StatusOr<Import> import = ImportTraces(std::move(spans), options);
  if (import.ok()) {
    ImportText(*import);
    ImportJson(*import);
  } else if (import.status().message().find("no valid config") !=
             absl::string_view::npos) {
    std::fprintf(stderr, "%s\n", import.status().ToString().c_str());
    std::abort();
  }
}

}  // namespace distbench::trace_import
