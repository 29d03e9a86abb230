#ifndef DISTBENCH_ACTIVITY_COMPRESSOR_H_
#define DISTBENCH_ACTIVITY_COMPRESSOR_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"

namespace distbench {

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

}  // namespace distbench

#endif  // DISTBENCH_ACTIVITY_COMPRESSOR_H_
