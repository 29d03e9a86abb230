#ifndef DISTBENCH_ACTIVITY_CORPUS_H_
#define DISTBENCH_ACTIVITY_CORPUS_H_

#include <compare>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"

namespace distbench::activity {

// Options of synthetic data for compression.
struct CorpusOptions {
  int64_t bytes = 1;

  // Bytes that do not repeat earlier ones are drawn uniformly from an alphabet
  // with this entropy, in percent of 8 bits per byte: 100 is noise, 75 is 64
  // characters, 0 is a single character.
  int entropy_percent = 75;

  // The share of data that repeats something within the last 4 KiB, 16 to 64
  // bytes at a time.
  int repeated_percent = 50;
  uint64_t seed = 0;

  friend auto operator<=>(const CorpusOptions&, const CorpusOptions&) = default;
};

std::string MakeCorpus(const CorpusOptions& options);

// Same, but concurrent users of equal options share one corpus. Thread-safe.
std::shared_ptr<const std::string> SharedCorpus(const CorpusOptions& options);

// A checksum of the data's size and one in eight of its bytes. It is cheap
// compared with producing the data.
uint64_t Digest(absl::string_view data);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_CORPUS_H_
