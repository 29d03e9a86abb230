#include "distbench/activity/disk.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "distbench/activity/data_file.h"
#include "distbench/activity/io_latencies.h"
#include "distbench/activity/work_random.h"

namespace distbench::activity {
namespace {

DataFileOptions FileOf(const DiskOptions& options) {
  const int64_t blocks =
      std::max<int64_t>(1, options.data_bytes / options.block_bytes);
  return {.directory = options.directory,
          .pages = blocks * (options.block_bytes / config::kFilePageBytes),
          .is_direct = options.is_direct,
          .is_filled = options.write_percent < 100,
          .seed = options.seed};
}

class Disk final : public Activity {
 public:
  Disk(const DiskOptions& options, SharedDataFile file)
      : options_(options),
        shared_file_(std::move(file)),
        file_(**shared_file_),
        block_(options.block_bytes / config::kFilePageBytes),
        block_count_(file_.page_count() / static_cast<int64_t>(block_.size())) {
  }

  Work DoPart(uint64_t iteration, int /*step*/, int /*part*/) override {
    WorkRandom random(options_.seed, iteration);
    const int64_t end_ns = options_.clock->MonotonicNs() + kLongestIterationNs;
    Work work;
    work.checksum = WorkRandom::Mix(iteration);
    for (int64_t i = 0; i < options_.operations && MayGoOn(i, end_ns); ++i) {
      const uint64_t number = iteration * options_.operations + i;
      const auto block = static_cast<int64_t>(options_.is_sequential
                                                  ? number % block_count_
                                                  : random.Below(block_count_));
      const bool writes =
          static_cast<int64_t>(random.Below(100)) < options_.write_percent;
      work += writes ? Write(block) : Read(block);
    }
    return work;
  }

  void TakeLatencies(stats::LogHistogram& reads,
                     stats::LogHistogram& writes) override {
    latencies_.Take(reads, writes);
  }

  void EndSoon() override { ends_soon_ = true; }

 private:
  // Each iteration does at least one operation, however slow the disk is.
  bool MayGoOn(int64_t done, int64_t end_ns) const {
    return !ends_soon_ && (done == 0 || options_.clock->MonotonicNs() < end_ns);
  }

  int64_t FirstPage(int64_t block) const {
    return block * static_cast<int64_t>(block_.size());
  }

  Work Read(int64_t block) {
    if (!latencies_.Read([&] {
          return file_.Read(FirstPage(block), absl::MakeSpan(block_));
        })) {
      return {.operations = 1, .failed_operations = 1};
    }
    return {.checksum = ChecksumOf(block_),
            .input_bytes = options_.block_bytes,
            .operations = 1};
  }

  // The time of a write includes that of a synchronisation after it.
  Work Write(int64_t block) {
    FillPages(options_.seed, FirstPage(block), absl::MakeSpan(block_));
    const bool syncs =
        options_.sync_every > 0 && ++writes_ % options_.sync_every == 0;
    if (!latencies_.Write([&] {
          return file_.Write(FirstPage(block), block_) &&
                 (!syncs || file_.Sync());
        })) {
      return {.operations = 1, .failed_operations = 1};
    }
    return {.checksum = ChecksumOf(block_),
            .output_bytes = options_.block_bytes,
            .operations = 1};
  }

  const DiskOptions options_;
  const SharedDataFile shared_file_;
  const DataFile& file_;
  std::vector<FilePage> block_;
  const int64_t block_count_;
  int64_t writes_ = 0;
  std::atomic<bool> ends_soon_ = false;
  IoLatencies latencies_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Activity>> MakeDisk(const DiskOptions& options) {
  SharedDataFile file = ShareDataFile(options.name, FileOf(options));
  if (!file->ok()) return file->status();
  return std::make_unique<Disk>(options, std::move(file));
}

}  // namespace distbench::activity
