#include "distbench/activity/compress.h"

#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/activity/compressor.h"
#include "distbench/activity/work_random.h"

namespace distbench {
namespace {

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
    const uint64_t begin = WorkRandom(options_.corpus.seed, number)
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
  return {.checksum = Digest(output) ^ WorkRandom::Mix(iteration),
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
    pieces_.compressor(part).Decompress(
        compressed, pieces_.Part(piece, part).size(), data);
    return WorkOf(compressed, data, iteration);
  }

 private:
  Pieces pieces_;
  std::vector<std::string> compressed_[kPieces];  // by part
};

}  // namespace

std::unique_ptr<Activity> MakeCompress(const CompressOptions& options) {
  return std::make_unique<Compress>(options);
}

std::unique_ptr<Activity> MakeDecompress(const CompressOptions& options) {
  return std::make_unique<Decompress>(options);
}

}  // namespace distbench
