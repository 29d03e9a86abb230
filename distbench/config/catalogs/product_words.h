// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Which drivers and activities belong to products: to parts that this program
// may have been built without.

#ifndef DISTBENCH_CONFIG_CATALOGS_PRODUCT_WORDS_H_
#define DISTBENCH_CONFIG_CATALOGS_PRODUCT_WORDS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "google/protobuf/descriptor.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// The product that brings the driver or the activity of this name, as the
// file's option product_word says; empty if none does.
std::string ProductOfWord(absl::string_view word,
                          const google::protobuf::FileDescriptor& file =
                              *TestSequence::descriptor()->file());

// The end of a message on a name that is none of the `known` ones: that it
// belongs to a product which this program was built without, or Suggestion().
std::string ExplainUnknownName(absl::string_view name,
                               absl::Span<const std::string> known,
                               const google::protobuf::FileDescriptor& file =
                                   *TestSequence::descriptor()->file());

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_CATALOGS_PRODUCT_WORDS_H_
