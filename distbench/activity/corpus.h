#ifndef DISTBENCH_ACTIVITY_CORPUS_H_
#define DISTBENCH_ACTIVITY_CORPUS_H_

#include <compare>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"

namespace distbench {

// Data to be compressed.
struct CorpusOptions {
  int64_t bytes = 1;

  // Bytes that are no repetition are drawn uniformly from an alphabet with this
  // entropy, in percent of 8 bits per byte: 100 is noise, 75 is 64 characters,
  // 0 a single one.
  int entropy_percent = 75;

  // How much of it repeats something within the last 4 KiB, 16 to 64 bytes at
  // a time.
  int repeated_percent = 50;
  uint64_t seed = 0;

  friend auto operator<=>(const CorpusOptions&, const CorpusOptions&) = default;
};

std::string MakeCorpus(const CorpusOptions& options);

// The same, made once for all that have it at the same time. Thread-safe.
std::shared_ptr<const std::string> SharedCorpus(const CorpusOptions& options);

// Follows from a sample of the data's bytes, one in eight, and its size: cheap
// beside anything that produced it.
uint64_t Digest(absl::string_view data);

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_CORPUS_H_
