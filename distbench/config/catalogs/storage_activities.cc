#include "distbench/config/catalogs/storage_activities.h"

#include <cstdint>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/catalogs/activity_settings.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::config {
namespace {

constexpr int64_t kMaxBlockBytes = 1 << 30;
constexpr int64_t kMaxFileBytes = int64_t{1} << 50;
constexpr int64_t kMaxOperations = 1'000'000;

SettingDeclaration Directory() {
  return {
      .name = "directory",
      .description =
          "Absolute path of the directory with the files. They have "
          "no names, so that nothing is left behind.",
      .default_value = "/var/tmp",
  };
}

SettingDeclaration Caching() {
  return Choice("io",
                "Through the page cache (cached), or past it to the device "
                "(direct).",
                {"cached", "direct"});
}

// Which part of a set is read how often.
std::vector<SettingDeclaration> Access(const char* default_distribution) {
  return {
      {.name = "access",
       .description = "Distribution of addresses. normal: the middle is hot; "
                      "zipf: the start is.",
       .default_value = default_distribution,
       .allowed_values = {"uniform", "normal", "zipf"}},
      Number("spread_percent",
             "Standard deviation of normal addresses, in percent of the set.",
             20, 0, 100),
      Number("skew_thousandths", "Exponent of zipf addresses, in thousandths.",
             990, 1, 10'000),
  };
}

void Append(std::vector<SettingDeclaration> added,
            SettingsDeclaration& declaration) {
  for (SettingDeclaration& setting : added) {
    declaration.settings.push_back(std::move(setting));
  }
}

SettingsDeclaration DiskSettings() {
  return {.settings = {
              Directory(),
              Number("data_bytes", "Size of the data.", 16 << 20,
                     kFilePageBytes, kMaxFileBytes),
              Number("block_bytes",
                     "Bytes of each read and write, a multiple of 4096.", 4096,
                     kFilePageBytes, kMaxBlockBytes),
              Choice("order",
                     "Which block is next: any (random), or the one after "
                     "(sequential).",
                     {"random", "sequential"}),
              Number("write_percent",
                     "Share of the operations that write; the others read.", 0,
                     0, 100),
              Number("sync_every",
                     "Writes after which all are forced to the device (fsync); "
                     "0: never.",
                     0, 0, kMaxOperations),
              Number("operations", "Reads and writes per iteration.", 1, 1,
                     kMaxOperations),
              Caching(),
              Seed(),
          }};
}

SettingsDeclaration StorageSettings() {
  SettingsDeclaration declaration = {
      .settings = {
          Directory(),
          Number("file_set_bytes",
                 "Size of all files together, which the instance has once.",
                 16 << 20, kFilePageBytes, kMaxFileBytes),
          Number("file_bytes",
                 "Bytes of a file, which is read as a whole; a multiple of "
                 "4096.",
                 64 << 10, kFilePageBytes, kMaxBlockBytes),
          Number("memory_bytes",
                 "Anonymous memory, for each iteration that the pool can do at "
                 "a time.",
                 0, 0, kMaxFileBytes),
          Number("memory_percent",
                 "Share of the hashed bytes that are from anonymous memory.", 0,
                 0, 100),
          Number("memory_write_percent",
                 "Share of the pages of memory that are written, too.", 0, 0,
                 100),
          Number("hash_bytes", "Bytes to read and hash (SHA-1).", 256 << 10, 1,
                 kMaxBlockBytes),
          Number("log_bytes", "Bytes to append to a log.", 0, 0,
                 kMaxBlockBytes),
          Number("log_capacity_bytes",
                 "Size at which the log begins again at its start.", 16 << 20,
                 1, kMaxFileBytes),
          Caching(),
      }};
  Append(Access("normal"), declaration);
  Append({Parallelism(), Seed()}, declaration);
  return declaration;
}

SettingsDeclaration FeatureQuerySettings() {
  SettingsDeclaration declaration = {
      .settings = {
          Directory(),
          Number("rows", "Rows of the store.", 50'000, 1, 1'000'000'000'000),
          Number("row_bytes",
                 "Bytes of a row, at most 4096. A page is read for each row.",
                 256, 8, kFilePageBytes),
          Number("lookups", "Rows to read, one after the other.", 20, 1,
                 kMaxOperations),
          Caching(),
      }};
  Append(Access("uniform"), declaration);
  Append({Parallelism(), Seed()}, declaration);
  return declaration;
}

void CheckDirectory(const CheckedSettings& settings) {
  const std::string directory = settings.Text("directory");
  if (absl::StartsWith(directory, "/")) return;
  settings.Add("directory",
               absl::StrCat(Quoted(directory),
                            " is not an absolute path, and engines have no "
                            "directory of their own; begin with \"/\""));
}

// Files are read and written in whole pages.
void CheckPages(const CheckedSettings& settings, const std::string& name) {
  if (settings.Number(name) % kFilePageBytes == 0) return;
  settings.Add(name,
               absl::StrCat(settings.Number(name), " is not a multiple of ",
                            kFilePageBytes, "; round it"));
}

// Settings that only one of the distributions of addresses has.
void CheckAccess(const CheckedSettings& settings) {
  constexpr std::pair<const char*, const char*> kOwners[] = {
      {"spread_percent", "normal"}, {"skew_thousandths", "zipf"}};
  const std::string access = settings.Text("access");
  for (const auto& [name, owner] : kOwners) {
    if (access == owner || !settings.IsGiven(name)) continue;
    settings.Add(
        name, absl::StrCat("has no effect, because access is ", Quoted(access),
                           "; remove it, or use ", Quoted(owner)));
  }
}

void CheckAtMost(const CheckedSettings& settings, const std::string& part,
                 const std::string& whole) {
  if (settings.Number(part) <= settings.Number(whole)) return;
  settings.Add(part, absl::StrCat(settings.Number(part), " is more than ",
                                  whole, ", ", settings.Number(whole),
                                  "; make it smaller, or ", whole, " larger"));
}

void CheckDisk(const CheckedSettings& settings) {
  CheckDirectory(settings);
  CheckPages(settings, "block_bytes");
  CheckAtMost(settings, "block_bytes", "data_bytes");
  if (settings.Number("sync_every") > 0 &&
      settings.Number("write_percent") == 0) {
    settings.Add(
        "sync_every",
        "has no effect, because nothing is written; remove it, or raise "
        "write_percent");
  }
}

void CheckStorage(const CheckedSettings& settings) {
  CheckDirectory(settings);
  CheckPages(settings, "file_bytes");
  CheckAtMost(settings, "file_bytes", "file_set_bytes");
  CheckAtMost(settings, "log_bytes", "log_capacity_bytes");
  CheckAccess(settings);
  const bool uses_memory = settings.Number("memory_percent") > 0;
  const bool has_memory = settings.Number("memory_bytes") > 0;
  if (uses_memory != has_memory) {
    settings.Add(uses_memory ? "memory_bytes" : "memory_percent",
                 absl::StrCat("is 0, but ",
                              uses_memory ? "memory_percent" : "memory_bytes",
                              " is not; set both, or none"));
  }
  if (has_memory) CheckAtMost(settings, "file_bytes", "memory_bytes");
  if (!uses_memory && settings.Number("memory_write_percent") > 0) {
    settings.Add(
        "memory_write_percent",
        "has no effect without memory_percent and memory_bytes; remove "
        "it, or set them");
  }
}

void CheckFeatureQuery(const CheckedSettings& settings) {
  CheckDirectory(settings);
  CheckAccess(settings);
}

}  // namespace

std::vector<ActivityDeclaration> StorageActivities() {
  return {
      {
          .name = "Disk",
          .description = "Reads and writes blocks of a file.",
          .settings = DiskSettings(),
          .metrics = {kChecksumMetric, kInputBytesMetric, kOutputBytesMetric,
                      kOperationsMetric, kFailedOperationsMetric},
          .sized_by = {"operations"},
          .check = &CheckDisk,
      },
      {
          .name = "Storage",
          .description =
              "A storage service's work on a request: reads files and memory, "
              "of which a part is hot, hashes them and writes a log.",
          .settings = StorageSettings(),
          .metrics = {kChecksumMetric, kInputBytesMetric, kOutputBytesMetric,
                      kOperationsMetric, kFailedOperationsMetric},
          .sized_by = {"hash_bytes"},
          .check = &CheckStorage,
      },
      {
          .name = "FeatureQuery",
          .description =
              "Reads small rows of a store on disk by their keys; mostly "
              "waits, if the store is not cached.",
          .settings = FeatureQuerySettings(),
          .metrics = {kChecksumMetric, kInputBytesMetric, kOperationsMetric,
                      kFailedOperationsMetric},
          .sized_by = {"lookups"},
          .check = &CheckFeatureQuery,
      },
  };
}

}  // namespace distbench::config
