// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/catalogs/product_words.h"

#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"
#include "proto/product.pb.h"

namespace distbench::config {

std::string ProductOfWord(absl::string_view word,
                          const google::protobuf::FileDescriptor& file) {
  for (const ProductWord& owned :
       file.options().GetRepeatedExtension(product_word)) {
    if (owned.word() == word) return owned.product();
  }
  return "";
}

std::string ExplainUnknownName(absl::string_view name,
                               absl::Span<const std::string> known,
                               const google::protobuf::FileDescriptor& file) {
  const std::string product = ProductOfWord(name, file);
  if (product.empty()) return Suggestion(name, known);
  return absl::StrCat("it belongs to the product ", Quoted(product),
                      ", which this program was built without");
}

}  // namespace distbench::config
