#include "distbench/activity/corpus.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "distbench/activity/shared_cache.h"
#include "distbench/activity/work_random.h"

namespace distbench::activity {
namespace {

constexpr size_t kMinRun = 16;
constexpr size_t kMaxRun = 64;
constexpr size_t kWindow = 4096;

uint64_t AlphabetSize(int entropy_percent) {
  return std::llround(std::exp2(8 * entropy_percent / 100.0));
}

void AppendRepetition(size_t size, WorkRandom& random, std::string& text) {
  const size_t window = std::min(text.size(), kWindow);
  const size_t begin = text.size() - window + random.Below(window - size + 1);
  // Indices rather than iterators, because the text may move as it grows.
  for (size_t i = 0; i < size; ++i) text.push_back(text[begin + i]);
}

void AppendFresh(size_t size, uint64_t alphabet, WorkRandom& random,
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
  WorkRandom random(options.seed);
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
  return WorkRandom::Mix(digest);
}

}  // namespace distbench::activity
