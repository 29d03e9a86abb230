// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Activities that compress and decompress, and the libraries that they use.

#ifndef DISTBENCH_ACTIVITY_COMPRESS_H_
#define DISTBENCH_ACTIVITY_COMPRESS_H_

#include <compare>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/activity/activity.h"

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

// Block compression with a library. Keeps the memory that the library needs
// between calls. Used by one thread at a time.
class Compressor {
 public:
  virtual ~Compressor() = default;

  // Replaces the content of `compressed`.
  virtual void Compress(absl::string_view data, std::string& compressed) = 0;

  // Replaces the content of `data` with the uncompressed bytes. Crashes if
  // `compressed` does not come from Compress(), or if the size differs.
  virtual void Decompress(absl::string_view compressed, size_t size,
                          std::string& data) = 0;
};

// algorithm: "zlib", "snappy" or "zstd". level: 0 is the library's default;
// zlib has 1 to 9, zstd 1 to 19, snappy none. Throws std::bad_alloc if there is
// no memory for it, as whoever makes data of activities expects.
std::unique_ptr<Compressor> MakeCompressor(absl::string_view algorithm,
                                           int level);

struct CompressOptions {
  std::string algorithm = "zstd";  // see MakeCompressor()
  int level = 0;
  int64_t bytes = 1;  // uncompressed, per iteration; at most those of corpus
  int parallelism = 1;
  CorpusOptions corpus;
};

// Each iteration compresses a piece of the corpus, whose position depends on
// the iteration's number. Its parts are separate blocks.
std::unique_ptr<Activity> MakeCompress(const CompressOptions& options);

// Each iteration decompresses one of a few such pieces.
std::unique_ptr<Activity> MakeDecompress(const CompressOptions& options);

}  // namespace distbench::activity

#endif  // DISTBENCH_ACTIVITY_COMPRESS_H_
