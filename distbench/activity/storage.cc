#include "distbench/activity/storage.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/activity/data_file.h"
#include "distbench/activity/io_latencies.h"
#include "distbench/activity/sha1.h"
#include "distbench/activity/work_random.h"

namespace distbench::activity {
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
    WorkRandom random(options_.seed, iteration, part);
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
    work.checksum += WorkRandom::Mix(iteration) + hash.Finish();
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

  Work HashFile(int64_t pages, WorkRandom& random,
                std::vector<FilePage>& buffer, Sha1& hash) {
    const int64_t first = file_access_.Next(random) * file_pages_;
    const auto data = absl::MakeSpan(buffer).first(pages);
    if (!latencies_.Read([&] { return (*files_)->Read(first, data); })) {
      return {.operations = 1, .failed_operations = 1};
    }
    hash.Add(data);
    return {.input_bytes = pages * config::kFilePageBytes, .operations = 1};
  }

  Work HashMemory(int64_t pages, WorkRandom& random,
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

}  // namespace distbench::activity
