#include "distbench/activity/cache_thrash.h"

#include <algorithm>
#include <vector>

#include "distbench/activity/work_random.h"

namespace distbench::activity {
namespace {

struct alignas(64) Line {
  uint64_t constant;  // is read
  uint64_t variable;  // is written
};
constexpr auto kLineBytes = static_cast<int64_t>(sizeof(Line));

class CacheThrash final : public Activity {
 public:
  explicit CacheThrash(const CacheThrashOptions& options)
      : options_(options),
        stride_(options.stride_bytes / kLineBytes),
        lines_(std::max<int64_t>(1, options.bytes / kLineBytes)) {
    WorkRandom random(options.seed);
    for (Line& line : lines_) line = {random(), 0};
  }

  Work DoPart(uint64_t iteration, int /*step*/, int /*part*/) override {
    WorkRandom random(options_.seed, iteration);
    Work work;
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

  uint64_t GoAnywhere(WorkRandom& random, uint64_t written) {
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

std::unique_ptr<Activity> MakeCacheThrash(const CacheThrashOptions& options) {
  return std::make_unique<CacheThrash>(options);
}

}  // namespace distbench::activity
