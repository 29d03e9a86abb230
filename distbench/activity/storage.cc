// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/activity/storage.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/activity/data_file.h"
#include "distbench/activity/registry.h"
#include "distbench/base/work_random.h"
#include "glog/logging.h"

namespace distbench::activity {

Sha1::Sha1() : context_(EVP_MD_CTX_new()) {
  CHECK(context_ != nullptr) << "no memory";
  CHECK_EQ(EVP_DigestInit_ex(context_.get(), EVP_sha1(), nullptr), 1);
}

void Sha1::Add(absl::Span<const FilePage> pages) {
  CHECK_EQ(EVP_DigestUpdate(context_.get(), pages.data(),
                            pages.size() * sizeof(FilePage)),
           1);
}

uint64_t Sha1::Finish() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  CHECK_EQ(EVP_DigestFinal_ex(context_.get(), digest, nullptr), 1);
  uint64_t start;
  std::memcpy(&start, digest, sizeof start);
  return start;
}

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
    base::WorkRandom random(options_.seed, iteration);
    const int64_t end_ns = options_.clock->MonotonicNs() + kLongestIterationNs;
    Work work;
    work.checksum = base::WorkRandom::Mix(iteration);
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

namespace {

int64_t WholeFiles(int64_t bytes, const StorageOptions& options) {
  return std::max<int64_t>(1, bytes / options.file_bytes);
}

DataFileOptions FilesOf(const StorageOptions& options) {
  return {.directory = options.directory,
          .pages = WholeFiles(options.file_set_bytes, options) *
                   PagesFor(options.file_bytes),
          .is_direct = options.is_direct,
          .seed = options.seed};
}

DataFileOptions LogOf(const StorageOptions& options) {
  return {.directory = options.directory,
          .pages = PagesFor(options.log_capacity_bytes),
          .is_filled = false};
}

// Parts run on different threads, so each has its own share of the memory.
int64_t MemoryFilesOfPart(const StorageOptions& options) {
  return WholeFiles(options.memory_bytes / options.parallelism, options);
}

struct PartData {
  std::vector<FilePage> buffer;  // for a file
  std::vector<FilePage> memory;
};

class Storage final : public Activity {
 public:
  // `log` is null if there is none.
  Storage(const StorageOptions& options, SharedDataFile files,
          SharedDataFile log)
      : options_(options),
        file_pages_(PagesFor(options.file_bytes)),
        hashed_pages_(PagesFor(options.hash_bytes)),
        files_(std::move(files)),
        log_(std::move(log)),
        file_access_(options.access, FileCount()),
        memory_access_(options.access, MemoryFilesOfPart(options)),
        parts_(options.parallelism),
        record_(options.log_bytes) {
    for (size_t i = 0; i < parts_.size(); ++i) {
      parts_[i].buffer.resize(file_pages_);
      if (options.memory_percent == 0) continue;
      parts_[i].memory.resize(MemoryFilesOfPart(options) * file_pages_);
      FillPages(options.seed + i, 0, absl::MakeSpan(parts_[i].memory));
    }
  }

  int part_count() const override { return options_.parallelism; }

  Work DoPart(uint64_t iteration, int /*step*/, int part) override {
    base::WorkRandom random(options_.seed, iteration, part);
    Work work;
    Sha1 hash;
    const int64_t reads = (hashed_pages_ + file_pages_ - 1) / file_pages_;
    const Share share = ShareOf(reads, part, options_.parallelism);
    for (int64_t i = share.begin; i < share.end && !ends_soon_; ++i) {
      // The last read may be shorter.
      const int64_t pages =
          std::min(file_pages_, hashed_pages_ - i * file_pages_);
      const bool from_memory =
          static_cast<int64_t>(random.Below(100)) < options_.memory_percent;
      work += from_memory ? HashMemory(pages, random, parts_[part].memory, hash)
                          : HashFile(pages, random, parts_[part].buffer, hash);
    }
    work.checksum += base::WorkRandom::Mix(iteration) + hash.Finish();
    if (part == 0 && log_ != nullptr) work += WriteLog(iteration);
    return work;
  }

  void TakeLatencies(stats::LogHistogram& reads,
                     stats::LogHistogram& writes) override {
    latencies_.Take(reads, writes);
  }

  void EndSoon() override { ends_soon_ = true; }

 private:
  int64_t FileCount() const { return (*files_)->page_count() / file_pages_; }

  Work HashFile(int64_t pages, base::WorkRandom& random,
                std::vector<FilePage>& buffer, Sha1& hash) {
    const int64_t first = file_access_.Next(random) * file_pages_;
    const auto data = absl::MakeSpan(buffer).first(pages);
    if (!latencies_.Read([&] { return (*files_)->Read(first, data); })) {
      return {.operations = 1, .failed_operations = 1};
    }
    hash.Add(data);
    return {.input_bytes = pages * config::kFilePageBytes, .operations = 1};
  }

  Work HashMemory(int64_t pages, base::WorkRandom& random,
                  std::vector<FilePage>& memory, Sha1& hash) {
    const int64_t first = memory_access_.Next(random) * file_pages_;
    const auto data = absl::MakeSpan(memory).subspan(first, pages);
    hash.Add(data);
    Work work = {.input_bytes = pages * config::kFilePageBytes};
    for (FilePage& page : data) {
      if (static_cast<int64_t>(random.Below(100)) >=
          options_.memory_write_percent) {
        continue;
      }
      Touch(page);
      work.output_bytes += config::kFilePageBytes;
    }
    return work;
  }

  // Makes the page dirty without changing what later iterations read.
  static void Touch(FilePage& page) {
    volatile uint64_t& word = page.words.front();
    word = word;
  }

  // Where the iteration's record is depends only on its number.
  Work WriteLog(uint64_t iteration) {
    const uint64_t records = options_.log_capacity_bytes / options_.log_bytes;
    const auto offset =
        static_cast<int64_t>(iteration % records) * options_.log_bytes;
    std::memcpy(record_.data(), &iteration,
                std::min(sizeof iteration, record_.size()));
    if (!latencies_.Write(
            [&] { return (*log_)->WriteBytes(offset, record_); })) {
      return {.operations = 1, .failed_operations = 1};
    }
    return {.output_bytes = options_.log_bytes, .operations = 1};
  }

  const StorageOptions options_;
  const int64_t file_pages_;
  const int64_t hashed_pages_;
  const SharedDataFile files_;
  const SharedDataFile log_;
  const AccessPattern file_access_;
  const AccessPattern memory_access_;
  std::vector<PartData> parts_;
  std::vector<char> record_;
  std::atomic<bool> ends_soon_ = false;
  IoLatencies latencies_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Activity>> MakeStorage(
    const StorageOptions& options) {
  SharedDataFile files = ShareDataFile(options.name, FilesOf(options));
  if (!files->ok()) return files->status();
  SharedDataFile log;
  if (options.log_bytes > 0) {
    log = ShareDataFile(absl::StrCat(options.name, " log"), LogOf(options));
    if (!log->ok()) return log->status();
  }
  return std::make_unique<Storage>(options, std::move(files), std::move(log));
}

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
    base::WorkRandom random(options_.seed, iteration, part);
    const int64_t lookups =
        ShareOf(options_.lookups, part, options_.parallelism).size();
    Work work;
    work.checksum = base::WorkRandom::Mix(iteration);
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

namespace {

int Percent(const config::ActivityPlan& plan, const std::string& name) {
  return static_cast<int>(Integer(plan, name));
}

bool IsDirect(const config::ActivityPlan& plan) {
  return Text(plan, "io") == "direct";
}

AccessOptions AccessOf(const config::ActivityPlan& plan) {
  using Kind = AccessOptions::Kind;
  const std::string& access = Text(plan, "access");
  return {
      .kind = access == "normal" ? Kind::kNormal
              : access == "zipf" ? Kind::kZipf
                                 : Kind::kUniform,
      .spread = Percent(plan, "spread_percent") / 100.0,
      .skew = static_cast<double>(Integer(plan, "skew_thousandths")) / 1000,
  };
}

DiskOptions DiskOf(const config::ActivityPlan& plan) {
  return {.name = plan.name,
          .directory = Text(plan, "directory"),
          .data_bytes = Integer(plan, "data_bytes"),
          .block_bytes = Integer(plan, "block_bytes"),
          .is_sequential = Text(plan, "order") == "sequential",
          .write_percent = Percent(plan, "write_percent"),
          .sync_every = Integer(plan, "sync_every"),
          .operations = Integer(plan, "operations"),
          .is_direct = IsDirect(plan),
          .seed = Seed(plan)};
}

StorageOptions StorageOf(const config::ActivityPlan& plan) {
  return {.name = plan.name,
          .directory = Text(plan, "directory"),
          .file_set_bytes = Integer(plan, "file_set_bytes"),
          .file_bytes = Integer(plan, "file_bytes"),
          .memory_bytes = Integer(plan, "memory_bytes"),
          .memory_percent = Percent(plan, "memory_percent"),
          .memory_write_percent = Percent(plan, "memory_write_percent"),
          .hash_bytes = Integer(plan, "hash_bytes"),
          .access = AccessOf(plan),
          .is_direct = IsDirect(plan),
          .log_bytes = Integer(plan, "log_bytes"),
          .log_capacity_bytes = Integer(plan, "log_capacity_bytes"),
          .parallelism = Parallelism(plan),
          .seed = Seed(plan)};
}

FeatureQueryOptions FeatureQueryOf(const config::ActivityPlan& plan) {
  return {.name = plan.name,
          .directory = Text(plan, "directory"),
          .rows = Integer(plan, "rows"),
          .row_bytes = Integer(plan, "row_bytes"),
          .lookups = Integer(plan, "lookups"),
          .access = AccessOf(plan),
          .is_direct = IsDirect(plan),
          .parallelism = Parallelism(plan),
          .seed = Seed(plan)};
}

}  // namespace

ActivityMakers StorageMakers() {
  return {
      {"Disk", {[](const config::ActivityPlan& plan, uint64_t) {
         return Named(plan, MakeDisk(DiskOf(plan)));
       }}},
      {"Storage", {[](const config::ActivityPlan& plan, uint64_t) {
         return Named(plan, MakeStorage(StorageOf(plan)));
       }}},
      {"FeatureQuery", {[](const config::ActivityPlan& plan, uint64_t) {
         return Named(plan, MakeFeatureQuery(FeatureQueryOf(plan)));
       }}},
  };
}

}  // namespace distbench::activity
