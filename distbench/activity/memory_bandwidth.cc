#include "distbench/activity/memory_bandwidth.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "distbench/activity/work_random.h"

namespace distbench::activity {
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

class MemoryBandwidth final : public Activity {
 public:
  explicit MemoryBandwidth(const MemoryBandwidthOptions& options)
      : kind_(options.kind),
        bytes_each_(sizeof(double) * ArraysOf(kind_)),
        length_(
            std::max<int64_t>(1, options.bytes_per_iteration / bytes_each_)),
        places_(std::max<int64_t>(1, options.bytes / bytes_each_ / length_)),
        seed_(options.seed),
        arrays_(ArraysOf(kind_)) {
    WorkRandom random(seed_);
    for (std::vector<double>& array : arrays_) {
      array.resize(length_ * places_);
      std::generate(array.begin(), array.end(),
                    [&random] { return random.Fraction(); });
    }
  }

  Work DoPart(uint64_t iteration, int /*step*/, int /*part*/) override {
    const int64_t begin = static_cast<int64_t>(iteration % places_) * length_;
    // Differs between iterations, so that what they write does.
    const double factor = WorkRandom(seed_, iteration).Fraction();
    Work work;
    work.checksum = WorkRandom::Mix(iteration);
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

std::unique_ptr<Activity> MakeMemoryBandwidth(
    const MemoryBandwidthOptions& options) {
  return std::make_unique<MemoryBandwidth>(options);
}

}  // namespace distbench::activity
