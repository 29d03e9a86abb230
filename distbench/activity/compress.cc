// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/activity/compress.h"

#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/activity/shared_cache.h"
#include "distbench/base/work_random.h"
#include "glog/logging.h"

namespace distbench::activity {
namespace {

constexpr size_t kMinRun = 16;
constexpr size_t kMaxRun = 64;
constexpr size_t kWindow = 4096;

uint64_t AlphabetSize(int entropy_percent) {
  return std::llround(std::exp2(8 * entropy_percent / 100.0));
}

void AppendRepetition(size_t size, base::WorkRandom& random,
                      std::string& text) {
  const size_t window = std::min(text.size(), kWindow);
  const size_t begin = text.size() - window + random.Below(window - size + 1);
  // Indices rather than iterators, because the text may move as it grows.
  for (size_t i = 0; i < size; ++i) text.push_back(text[begin + i]);
}

void AppendFresh(size_t size, uint64_t alphabet, base::WorkRandom& random,
                 std::string& text) {
  // Starts at the letters, to resemble text.
  for (size_t i = 0; i < size; ++i) {
    text.push_back(static_cast<char>('A' + random.Below(alphabet)));
  }
}

}  // namespace

std::string MakeCorpus(const CorpusOptions& options) {
  const uint64_t alphabet = AlphabetSize(options.entropy_percent);
  const auto bytes = static_cast<size_t>(options.bytes);
  base::WorkRandom random(options.seed);
  std::string text;
  text.reserve(bytes + kMaxRun);
  while (text.size() < bytes) {
    const size_t size = kMinRun + random.Below(kMaxRun - kMinRun + 1);
    const bool repeats =
        random.Below(100) < static_cast<uint64_t>(options.repeated_percent);
    if (repeats && text.size() >= kMaxRun) {
      AppendRepetition(size, random, text);
    } else {
      AppendFresh(size, alphabet, random, text);
    }
  }
  text.resize(bytes);
  return text;
}

std::shared_ptr<const std::string> SharedCorpus(const CorpusOptions& options) {
  static auto* const cache = new SharedCache<CorpusOptions, std::string>;
  return cache->Get(options, [&] { return MakeCorpus(options); });
}

uint64_t Digest(absl::string_view data) {
  constexpr size_t kStride = 64;
  uint64_t digest = data.size();
  size_t i = 0;
  for (; i + sizeof(uint64_t) <= data.size(); i += kStride) {
    uint64_t word;
    std::memcpy(&word, data.data() + i, sizeof(word));
    digest = (digest ^ word) * 0x9e3779b97f4a7c15u;
  }
  return base::WorkRandom::Mix(digest);
}

namespace {

class Zlib final : public Compressor {
 public:
  explicit Zlib(int level) {
    const int zlib_level = level == 0 ? Z_DEFAULT_COMPRESSION : level;
    if (deflateInit(&deflate_, zlib_level) != Z_OK) throw std::bad_alloc();
    if (inflateInit(&inflate_) != Z_OK) {
      deflateEnd(&deflate_);
      throw std::bad_alloc();
    }
  }
  ~Zlib() override {
    deflateEnd(&deflate_);
    inflateEnd(&inflate_);
  }
  Zlib(const Zlib&) = delete;
  Zlib& operator=(const Zlib&) = delete;

  void Compress(absl::string_view data, std::string& compressed) override {
    CHECK_EQ(deflateReset(&deflate_), Z_OK);
    compressed.resize(deflateBound(&deflate_, data.size()));
    Connect(data, compressed, deflate_);
    CHECK_EQ(deflate(&deflate_, Z_FINISH), Z_STREAM_END);
    compressed.resize(deflate_.total_out);
  }

  void Decompress(absl::string_view compressed, size_t size,
                  std::string& data) override {
    CHECK_EQ(inflateReset(&inflate_), Z_OK);
    data.resize(size);
    Connect(compressed, data, inflate_);
    CHECK_EQ(inflate(&inflate_, Z_FINISH), Z_STREAM_END);
    CHECK_EQ(inflate_.total_out, size);
  }

 private:
  static void Connect(absl::string_view in, std::string& out,
                      z_stream& stream) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
  }

  z_stream deflate_ = {};
  z_stream inflate_ = {};
};

class Snappy final : public Compressor {
 public:
  void Compress(absl::string_view data, std::string& compressed) override {
    snappy::Compress(data.data(), data.size(), &compressed);
  }

  void Decompress(absl::string_view compressed, size_t size,
                  std::string& data) override {
    CHECK(snappy::Uncompress(compressed.data(), compressed.size(), &data));
    CHECK_EQ(data.size(), size);
  }
};

class Zstd final : public Compressor {
 public:
  explicit Zstd(int level)
      : level_(level == 0 ? ZSTD_CLEVEL_DEFAULT : level),
        compression_(ZSTD_createCCtx()),
        decompression_(ZSTD_createDCtx()) {
    if (compression_ != nullptr && decompression_ != nullptr) return;
    ZSTD_freeCCtx(compression_);
    ZSTD_freeDCtx(decompression_);
    throw std::bad_alloc();
  }
  ~Zstd() override {
    ZSTD_freeCCtx(compression_);
    ZSTD_freeDCtx(decompression_);
  }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;

  void Compress(absl::string_view data, std::string& compressed) override {
    compressed.resize(ZSTD_compressBound(data.size()));
    const size_t size =
        ZSTD_compressCCtx(compression_, compressed.data(), compressed.size(),
                          data.data(), data.size(), level_);
    CHECK(!ZSTD_isError(size)) << ZSTD_getErrorName(size);
    compressed.resize(size);
  }

  void Decompress(absl::string_view compressed, size_t size,
                  std::string& data) override {
    data.resize(size);
    const size_t done =
        ZSTD_decompressDCtx(decompression_, data.data(), data.size(),
                            compressed.data(), compressed.size());
    CHECK_EQ(done, size) << ZSTD_getErrorName(done);
  }

 private:
  const int level_;
  ZSTD_CCtx* const compression_;
  ZSTD_DCtx* const decompression_;
};

// The number of pieces that Decompress prepares.
constexpr int kPieces = 8;

// State that both activities share: compressors and buffers for the parts, and
// the positions of pieces.
class Pieces {
 public:
  explicit Pieces(const CompressOptions& options)
      : options_(options),
        corpus_(SharedCorpus(options.corpus)),
        buffers_(options.parallelism) {
    for (int i = 0; i < options.parallelism; ++i) {
      compressors_.push_back(MakeCompressor(options.algorithm, options.level));
    }
  }

  int part_count() const { return options_.parallelism; }

  // A part of the piece with this number.
  absl::string_view Part(uint64_t number, int part) const {
    const uint64_t begin = base::WorkRandom(options_.corpus.seed, number)
                               .Below(corpus_->size() - options_.bytes + 1);
    const Share share = ShareOf(options_.bytes, part, options_.parallelism);
    return absl::string_view(*corpus_).substr(begin + share.begin,
                                              share.size());
  }

  // The compressor and the buffer of a part.
  Compressor& compressor(int part) { return *compressors_[part]; }
  std::string& buffer(int part) { return buffers_[part]; }

 private:
  const CompressOptions options_;
  const std::shared_ptr<const std::string> corpus_;
  std::vector<std::unique_ptr<Compressor>> compressors_;
  std::vector<std::string> buffers_;
};

Work WorkOf(absl::string_view input, absl::string_view output,
            uint64_t iteration) {
  return {.checksum = Digest(output) ^ base::WorkRandom::Mix(iteration),
          .input_bytes = static_cast<int64_t>(input.size()),
          .output_bytes = static_cast<int64_t>(output.size())};
}

class Compress final : public Activity {
 public:
  explicit Compress(const CompressOptions& options) : pieces_(options) {}

  int part_count() const override { return pieces_.part_count(); }

  Work DoPart(uint64_t iteration, int /*step*/, int part) override {
    const absl::string_view data = pieces_.Part(iteration, part);
    std::string& compressed = pieces_.buffer(part);
    pieces_.compressor(part).Compress(data, compressed);
    return WorkOf(data, compressed, iteration);
  }

 private:
  Pieces pieces_;
};

class Decompress final : public Activity {
 public:
  explicit Decompress(const CompressOptions& options) : pieces_(options) {
    for (int i = 0; i < kPieces; ++i) {
      for (int part = 0; part < pieces_.part_count(); ++part) {
        pieces_.compressor(part).Compress(pieces_.Part(i, part),
                                          compressed_[i].emplace_back());
      }
    }
  }

  int part_count() const override { return pieces_.part_count(); }

  Work DoPart(uint64_t iteration, int /*step*/, int part) override {
    const uint64_t piece = iteration % kPieces;
    const std::string& compressed = compressed_[piece][part];
    std::string& data = pieces_.buffer(part);
    pieces_.compressor(part).Decompress(compressed,
                                        pieces_.Part(piece, part).size(), data);
    return WorkOf(compressed, data, iteration);
  }

 private:
  Pieces pieces_;
  std::vector<std::string> compressed_[kPieces];  // by part
};

}  // namespace

std::unique_ptr<Compressor> MakeCompressor(absl::string_view algorithm,
                                           int level) {
  if (algorithm == "zlib") return std::make_unique<Zlib>(level);
  if (algorithm == "snappy") return std::make_unique<Snappy>();
  CHECK_EQ(algorithm, "zstd");
  return std::make_unique<Zstd>(level);
}

std::unique_ptr<Activity> MakeCompress(const CompressOptions& options) {
  return std::make_unique<Compress>(options);
}

std::unique_ptr<Activity> MakeDecompress(const CompressOptions& options) {
  return std::make_unique<Decompress>(options);
}

}  // namespace distbench::activity
