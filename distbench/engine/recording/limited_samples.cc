#include "distbench/engine/recording/limited_samples.h"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace distbench::engine {
namespace {

// The samples that one worker has set aside, and the number of them to keep.
struct Part {
  Recorder* recorder;
  SampleReservoir samples;
  int64_t unseen;  // RPCs that have not been drawn
  int64_t quota = 0;
};

int64_t Below(int64_t limit, std::mt19937_64& random) {
  return std::uniform_int_distribution<int64_t>(0, limit - 1)(random);
}

// Divides the limit between the workers by draws without replacement from all
// RPCs. A reservoir has at least as many samples as its quota, unless memory
// was short.
void DrawQuotas(int64_t limit, std::vector<Part>& parts,
                std::mt19937_64& random) {
  int64_t unseen = 0;
  for (const Part& part : parts) unseen += part.unseen;
  for (int64_t i = 0; i < limit && unseen > 0; ++i, --unseen) {
    int64_t drawn = Below(unseen, random);
    for (Part& part : parts) {
      if (drawn < part.unseen) {
        --part.unseen;
        ++part.quota;
        break;
      }
      drawn -= part.unseen;
    }
  }
}

// Selection sampling (Knuth, TAOCP 2, 3.4.2, algorithm S), which keeps the
// order.
SampleReservoir Choose(const Part& part, std::mt19937_64& random) {
  int64_t wanted = std::min(part.quota, part.samples.size());
  SampleReservoir chosen(wanted, /*seed=*/0);
  for (int64_t i = 0; wanted > 0; ++i) {
    if (Below(part.samples.size() - i, random) >= wanted) continue;
    chosen.Add(part.samples[i]);
    --wanted;
  }
  return chosen;
}

}  // namespace

void KeepOfMainList(int64_t limit, absl::Span<Recorder* const> recorders,
                    uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Part> parts;
  for (Recorder* recorder : recorders) {
    std::optional<SampleReservoir> samples = recorder->TakeAside();
    if (!samples.has_value()) continue;
    const int64_t seen = samples->seen_count();
    parts.push_back({recorder, *std::move(samples), seen});
  }
  DrawQuotas(limit, parts, random);
  for (const Part& part : parts) part.recorder->KeepAll(Choose(part, random));
}

}  // namespace distbench::engine
