// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Fuzzes the parser of templates. scripts/fuzz.sh builds it with clang.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/products/external/requests/template.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using distbench::external::Template;
  using distbench::external::TemplateSyntax;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> row = {"user", "\"\\\n'"};
  for (const TemplateSyntax syntax :
       {TemplateSyntax::kPlain, TemplateSyntax::kJson,
        TemplateSyntax::kTextFormat}) {
    const auto parsed = Template::Parse(text, syntax, row);
    if (!parsed.ok()) continue;
    std::string filled;
    parsed->AppendTo({.row = &row}, filled);
  }
  return 0;
}
