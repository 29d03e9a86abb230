// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/library/library.h"

#include <algorithm>
#include <string>

#include "glog/logging.h"
#include "google/protobuf/text_format.h"
#include "workloads/real/library_text.h"

namespace distbench::test_builder {
namespace {

// The text is a part of the program, so that it is valid is for tests to show.
TrafficLibrary ParseLibrary() {
  TrafficLibrary library;
  CHECK(google::protobuf::TextFormat::ParseFromString(
      std::string(kLibraryTextproto), &library));
  std::sort(library.mutable_entries()->pointer_begin(),
            library.mutable_entries()->pointer_end(),
            [](const LibraryEntry* a, const LibraryEntry* b) {
              return a->name() < b->name();
            });
  return library;
}

}  // namespace

const TrafficLibrary& Library() {
  static const auto& library = *new TrafficLibrary(ParseLibrary());
  return library;
}

const LibraryEntry* FindLibraryEntry(absl::string_view name) {
  for (const LibraryEntry& entry : Library().entries()) {
    if (entry.name() == name) return &entry;
  }
  return nullptr;
}

bool IsSecondHand(const LibraryEntry& entry) {
  return std::any_of(entry.sources().begin(), entry.sources().end(),
                     [](const Source& source) { return source.second_hand(); });
}

}  // namespace distbench::test_builder
