#include "distbench/activity/grow_memory.h"

#include <algorithm>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/activity/held_memory.h"
#include "distbench/activity/page_access.h"
#include "distbench/activity/work_random.h"

namespace distbench::activity {
namespace {

// Pages between two looks at the clock: a fraction of a millisecond of work,
// unless the system makes it wait.
constexpr int64_t kPagesAtOnce = 64;

// How long an iteration without anything to do takes.
constexpr absl::Duration kNothingToDo = absl::Milliseconds(1);

class GrowMemory final : public Activity {
 public:
  explicit GrowMemory(const GrowMemoryOptions& options)
      : options_(options),
        pages_per_iteration_((options.bytes_per_iteration + PageBytes() - 1) /
                             PageBytes()),
        holder_(std::make_shared<MemoryHolder>(
            std::max(options.limit_bytes, PageBytes()),
            options.prefers_huge_pages)) {}

  Work DoPart(uint64_t iteration, int /*step*/, int /*part*/) override {
    const int64_t start_ns = options_.clock->MonotonicNs();
    const std::shared_ptr<HeldMemory> memory = holder_->Get();
    Work work;
    const bool at_limit =
        !Grow(*memory, iteration, start_ns + kLongestIterationNs / 2, work);
    if (at_limit && options_.restarts) {
      holder_->GiveUp(memory);
    } else {
      Touch(*memory, iteration, start_ns + kLongestIterationNs, work);
      if (work.operations == 0) absl::SleepFor(kNothingToDo);
    }
    return work;
  }

  void ShareWith(Activity& other) override {
    holder_ = static_cast<GrowMemory&>(other).holder_;
  }

  void Release() override { holder_->GiveUp(holder_->Get()); }

 private:
  bool IsTimeLeft(int64_t end_ns) const {
    return options_.clock->MonotonicNs() < end_ns;
  }

  // Returns false if the limit has been reached.
  bool Grow(HeldMemory& memory, uint64_t iteration, int64_t end_ns,
            Work& work) const {
    WorkRandom random(options_.seed, iteration);
    int64_t left = pages_per_iteration_;
    while (left > 0 && IsTimeLeft(end_ns)) {
      PageRange fresh;
      switch (memory.Grow(std::min(left, kPagesAtOnce), fresh)) {
        case HeldMemory::Growth::kAtLimit:
          return false;
        case HeldMemory::Growth::kRefused:
          ++work.failed_operations;
          return true;
        case HeldMemory::Growth::kGrown:
          break;
      }
      Fill(fresh, random);
      left -= fresh.count;
      work.operations += fresh.count;
      work.output_bytes += fresh.count * PageBytes();
    }
    return true;
  }

  void Fill(const PageRange& pages, WorkRandom& random) const {
    if (options_.is_compressible) {
      FillWithRepetition(pages, random);
    } else {
      FillAtRandom(pages, random);
    }
  }

  void Touch(HeldMemory& memory, uint64_t iteration, int64_t end_ns,
             Work& work) const {
    int64_t left = memory.HotPages(options_.hot_percent);
    while (left > 0 && IsTimeLeft(end_ns)) {
      const PageRange pages =
          memory.NextHot(options_.hot_percent, std::min(left, kPagesAtOnce));
      left -= pages.count;
      work.operations += pages.count;
      if (options_.reads) {
        // Not reported, as it depends on what the threads did when.
        work.checksum += ReadPages(pages);
        work.input_bytes += pages.count * PageBytes();
      }
      if (options_.writes) {
        WritePages(pages, WorkRandom::Mix(iteration));
        work.output_bytes += pages.count * PageBytes();
      }
    }
  }

  const GrowMemoryOptions options_;
  const int64_t pages_per_iteration_;
  std::shared_ptr<MemoryHolder> holder_;
};

}  // namespace

std::unique_ptr<Activity> MakeGrowMemory(const GrowMemoryOptions& options) {
  return std::make_unique<GrowMemory>(options);
}

}  // namespace distbench::activity
