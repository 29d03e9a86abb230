// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/antagonists/memory_traffic.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "distbench/base/work_random.h"
#include "distbench/numa/topology.h"

namespace distbench::protection {

absl::StatusOr<int64_t> LastLevelCacheBytes(const std::string& root) {
  const HostTopology topology = numa::ReadHostTopology(root);
  // Level, then size. Levels have one digit.
  std::pair<char, int64_t> last = {'0', 0};
  for (const CpuCache& cache : topology.caches()) {
    const std::string& name = cache.name();
    if (name.size() < 2 || absl::EndsWith(name, "i")) continue;
    last = std::max(last, {name[1], cache.size_bytes()});
  }
  if (last.second > 0) return last.second;
  return absl::NotFoundError(
      "the host does not say how large its last-level cache is; set bytes");
}

namespace {

// The checksum samples one element of each page that was written. To look at
// all of them would cost as much as the work.
constexpr int64_t kSampledEvery = 4096 / sizeof(double);

int ArraysOf(StreamKind kind) {
  switch (kind) {
    case StreamKind::kCopy:
      return 2;
    case StreamKind::kTriad:
      return 3;
    case StreamKind::kRead:
    case StreamKind::kWrite:
      break;
  }
  return 1;
}

class MemoryBandwidth final : public activity::Activity {
 public:
  explicit MemoryBandwidth(const MemoryBandwidthOptions& options)
      : kind_(options.kind),
        bytes_each_(sizeof(double) * ArraysOf(kind_)),
        length_(
            std::max<int64_t>(1, options.bytes_per_iteration / bytes_each_)),
        places_(std::max<int64_t>(1, options.bytes / bytes_each_ / length_)),
        seed_(options.seed),
        arrays_(ArraysOf(kind_)) {
    base::WorkRandom random(seed_);
    for (std::vector<double>& array : arrays_) {
      array.resize(length_ * places_);
      std::generate(array.begin(), array.end(),
                    [&random] { return random.Fraction(); });
    }
  }

  activity::Work DoPart(uint64_t iteration, int /*step*/,
                        int /*part*/) override {
    const int64_t begin = static_cast<int64_t>(iteration % places_) * length_;
    // Differs between iterations, so that what they write does.
    const double factor = base::WorkRandom(seed_, iteration).Fraction();
    activity::Work work;
    work.checksum = base::WorkRandom::Mix(iteration);
    const int64_t bytes_of_array =
        length_ * static_cast<int64_t>(sizeof(double));
    switch (kind_) {
      case StreamKind::kRead:
        work.checksum += Sum(At(0, begin), 1);
        work.input_bytes = bytes_of_array;
        break;
      case StreamKind::kWrite:
        std::fill_n(At(0, begin), length_, factor);
        work.checksum += Sum(At(0, begin), kSampledEvery);
        work.output_bytes = bytes_of_array;
        break;
      case StreamKind::kCopy:
        std::copy_n(At(0, begin), length_, At(1, begin));
        work.checksum += Sum(At(1, begin), kSampledEvery);
        work.input_bytes = work.output_bytes = bytes_of_array;
        break;
      case StreamKind::kTriad:
        Triad(At(0, begin), At(1, begin), factor, At(2, begin));
        work.checksum += Sum(At(2, begin), kSampledEvery);
        work.input_bytes = 2 * bytes_of_array;
        work.output_bytes = bytes_of_array;
        break;
    }
    return work;
  }

 private:
  double* At(int array, int64_t begin) { return arrays_[array].data() + begin; }

  uint64_t Sum(const double* values, int64_t step) const {
    uint64_t sum = 0;
    for (int64_t i = 0; i < length_; i += step) {
      sum += std::bit_cast<uint64_t>(values[i]);
    }
    return sum;
  }

  void Triad(const double* a, const double* b, double factor, double* c) const {
    for (int64_t i = 0; i < length_; ++i) c[i] = a[i] + factor * b[i];
  }

  const StreamKind kind_;
  const int64_t bytes_each_;  // of an element in all arrays
  const int64_t length_;      // elements that an iteration streams through
  const int64_t places_;      // where it may begin, in units of length_
  const uint64_t seed_;
  std::vector<std::vector<double>> arrays_;
};

}  // namespace

std::unique_ptr<activity::Activity> MakeMemoryBandwidth(
    const MemoryBandwidthOptions& options) {
  return std::make_unique<MemoryBandwidth>(options);
}

namespace {

struct alignas(64) Line {
  uint64_t constant;  // is read
  uint64_t variable;  // is written
};
constexpr auto kLineBytes = static_cast<int64_t>(sizeof(Line));

class CacheThrash final : public activity::Activity {
 public:
  explicit CacheThrash(const CacheThrashOptions& options)
      : options_(options),
        stride_(options.stride_bytes / kLineBytes),
        lines_(std::max<int64_t>(1, options.bytes / kLineBytes)) {
    base::WorkRandom random(options.seed);
    for (Line& line : lines_) line = {random(), 0};
  }

  activity::Work DoPart(uint64_t iteration, int /*step*/,
                        int /*part*/) override {
    base::WorkRandom random(options_.seed, iteration);
    activity::Work work;
    work.checksum = random();
    if (options_.stride_bytes > 0) {
      work.checksum += GoStraight(random.Below(lines_.size()), work.checksum);
    } else {
      work.checksum += GoAnywhere(random, work.checksum);
    }
    work.operations = options_.accesses;
    if (options_.reads) work.input_bytes = kLineBytes * options_.accesses;
    if (options_.writes) work.output_bytes = kLineBytes * options_.accesses;
    return work;
  }

 private:
  uint64_t GoStraight(uint64_t place, uint64_t written) {
    const uint64_t stride = stride_ % lines_.size();
    uint64_t sum = 0;
    for (int64_t i = 0; i < options_.accesses; ++i) {
      sum += Visit(place, written);
      place += stride;
      if (place >= lines_.size()) place -= lines_.size();
    }
    return sum;
  }

  uint64_t GoAnywhere(base::WorkRandom& random, uint64_t written) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < options_.accesses; ++i) {
      sum += Visit(random.Below(lines_.size()), written);
    }
    return sum;
  }

  // Without a read, the checksum depends on the places alone.
  uint64_t Visit(uint64_t place, uint64_t written) {
    Line& line = lines_[place];
    if (options_.writes) line.variable = written + place;
    return options_.reads ? line.constant : place;
  }

  const CacheThrashOptions options_;
  const uint64_t stride_;  // in lines
  std::vector<Line> lines_;
};

}  // namespace

std::unique_ptr<activity::Activity> MakeCacheThrash(
    const CacheThrashOptions& options) {
  return std::make_unique<CacheThrash>(options);
}

}  // namespace distbench::protection
