// Activities that compress and decompress, and the libraries that they use.

#ifndef DISTBENCH_ACTIVITY_COMPRESS_H_
#define DISTBENCH_ACTIVITY_COMPRESS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/activity/activity.h"
#include "distbench/activity/corpus.h"

namespace distbench::activity {

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
