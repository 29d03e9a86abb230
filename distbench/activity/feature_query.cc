#include "distbench/activity/feature_query.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "distbench/activity/data_file.h"
#include "distbench/activity/io_latencies.h"
#include "distbench/activity/work_random.h"

namespace distbench::activity {
namespace {

constexpr int64_t kWordBytes = sizeof(uint64_t);

int64_t RowsOfPage(const FeatureQueryOptions& options) {
  return config::kFilePageBytes / options.row_bytes;
}

DataFileOptions StoreOf(const FeatureQueryOptions& options) {
  const int64_t rows_of_page = RowsOfPage(options);
  return {.directory = options.directory,
          .pages = (options.rows + rows_of_page - 1) / rows_of_page,
          .is_direct = options.is_direct,
          .seed = options.seed};
}

class FeatureQuery final : public Activity {
 public:
  FeatureQuery(const FeatureQueryOptions& options, SharedDataFile store)
      : options_(options),
        rows_of_page_(RowsOfPage(options)),
        words_of_row_(options.row_bytes / kWordBytes),
        store_(std::move(store)),
        access_(options.access, options.rows),
        pages_(options.parallelism) {}

  int part_count() const override { return options_.parallelism; }

  Work DoPart(uint64_t iteration, int /*step*/, int part) override {
    WorkRandom random(options_.seed, iteration, part);
    const int64_t lookups =
        ShareOf(options_.lookups, part, options_.parallelism).size();
    Work work;
    work.checksum = WorkRandom::Mix(iteration);
    for (int64_t i = 0; i < lookups && !ends_soon_; ++i) {
      work += LookUp(access_.Next(random), pages_[part]);
    }
    return work;
  }

  void TakeLatencies(stats::LogHistogram& reads,
                     stats::LogHistogram& writes) override {
    latencies_.Take(reads, writes);
  }

  void EndSoon() override { ends_soon_ = true; }

 private:
  // Rows do not cross the ends of pages.
  Work LookUp(int64_t row, FilePage& page) {
    if (!latencies_.Read([&] {
          return (*store_)->Read(row / rows_of_page_, absl::MakeSpan(&page, 1));
        })) {
      return {.operations = 1, .failed_operations = 1};
    }
    const auto words =
        absl::MakeConstSpan(page.words)
            .subspan(row % rows_of_page_ * words_of_row_, words_of_row_);
    Work work = {.input_bytes = options_.row_bytes, .operations = 1};
    for (uint64_t word : words) work.checksum += word;
    return work;
  }

  const FeatureQueryOptions options_;
  const int64_t rows_of_page_;
  const int64_t words_of_row_;
  const SharedDataFile store_;
  const AccessPattern access_;
  std::vector<FilePage> pages_;  // a buffer for each part
  std::atomic<bool> ends_soon_ = false;
  IoLatencies latencies_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Activity>> MakeFeatureQuery(
    const FeatureQueryOptions& options) {
  SharedDataFile store = ShareDataFile(options.name, StoreOf(options));
  if (!store->ok()) return store->status();
  return std::make_unique<FeatureQuery>(options, std::move(store));
}

}  // namespace distbench::activity
