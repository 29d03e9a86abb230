#include "distbench/products/protection/antagonists/antagonist_activities.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/config/catalogs/settings.h"

namespace distbench::protection {
namespace {

using config::CheckedSettings;
using config::Choice;
using config::Number;
using config::SettingDeclaration;
using config::SettingsDeclaration;

// Maxima of an iteration, so that it takes about a tenth of a second at most on
// an idle host: a test can end only between iterations.
constexpr int64_t kMaxArithmetic = 100'000'000;
constexpr int64_t kMaxBytesPerIteration = 1 << 30;
constexpr int64_t kMaxAccesses = 1'000'000;
constexpr int64_t kMaxChildren = 1000;

constexpr int64_t kMaxMemoryBytes = 1'000'000'000'000;
constexpr int64_t kSmallestPageBytes = 4096;
constexpr int64_t kCacheLineBytes = 64;

SettingDeclaration SizeOfData(const std::string& description) {
  return Number("bytes", description, 0, 0, kMaxMemoryBytes);
}

SettingDeclaration CachePercent(int64_t default_value) {
  return Number("cache_percent",
                "The same, in percent of the host's last-level cache.",
                default_value, 1, 100'000);
}

SettingDeclaration BytesPerIteration(const std::string& description) {
  return Number("bytes_per_iteration", description, 16 << 20,
                kSmallestPageBytes, kMaxBytesPerIteration);
}

SettingsDeclaration BurnCpuSettings() {
  return {.settings = {
              Choice("kind",
                     "What it computes with: 64-bit integers, doubles, or "
                     "vectors of eight floats.",
                     {"integer", "floating_point", "vector"}),
              Number("operations",
                     "Steps of two or three arithmetic instructions, each on "
                     "one integer, double or vector.",
                     1'000'000, 1, kMaxArithmetic),
          }};
}

SettingsDeclaration GrowMemorySettings() {
  return {
      .settings = {
          BytesPerIteration("Fresh memory that an iteration allocates and "
                            "fills, in whole pages."),
          {.name = "limit_bytes",
           .description = "The most memory that the instance holds.",
           .default_value = int64_t{0},
           .minimum = kSmallestPageBytes,
           .maximum = kMaxMemoryBytes,
           .required = true},
          Choice("at_limit",
                 "At the limit, keep the memory and go on touching it, or "
                 "free all of it and start again.",
                 {"keep", "restart"}),
          Number("hot_percent",
                 "Part of the memory that each iteration touches again, page "
                 "by page; the rest gets cold.",
                 100, 0, 100),
          Choice("access", "How hot pages are touched.",
                 {"both", "read", "write"}),
          Choice("content",
                 "What pages are filled with: random bytes do not compress, "
                 "repeated ones do.",
                 {"random", "repeated"}),
          Choice("huge_pages",
                 "Whether to advise the kernel against huge pages (avoid), or "
                 "to use them (prefer).",
                 {"avoid", "prefer"}),
      }};
}

SettingsDeclaration MemoryBandwidthSettings() {
  return {
      .settings = {
          Choice("access", "copy (b = a), read, write, or triad (c = a + s b).",
                 {"copy", "read", "write", "triad"}),
          BytesPerIteration("Bytes that an iteration reads and writes."),
          SizeOfData("Size of all arrays; 0: by cache_percent. Enlarged "
                     "to hold what an iteration uses."),
          CachePercent(400),
      }};
}

SettingsDeclaration CacheThrashSettings() {
  return {.settings = {
              Choice("order", "The order in which it visits cache lines.",
                     {"random", "strided"}),
              Number("stride_bytes",
                     "Distance of strided accesses, in whole cache lines.",
                     kCacheLineBytes, kCacheLineBytes, 1 << 30),
              Choice("access", "What it does to a line.",
                     {"both", "read", "write"}),
              Number("accesses", "Cache lines that an iteration visits.",
                     100'000, 1, kMaxAccesses),
              SizeOfData("Size of the working set; 0: by cache_percent."),
              CachePercent(100),
          }};
}

SettingsDeclaration ForkStormSettings() {
  return {.settings = {
              Choice("program",
                     "What a child does: end at once (none), or execute "
                     "/bin/true (true).",
                     {"none", "true"}),
              Number("children",
                     "Processes that an iteration starts and then waits for.",
                     10, 1, kMaxChildren),
          }};
}

// Names a setting that another one makes useless.
void CheckIsUsed(const CheckedSettings& settings, const std::string& name,
                 bool is_used, const std::string& reason,
                 const std::string& remedy) {
  if (is_used || !settings.IsGiven(name)) return;
  settings.Add(name, absl::StrCat("has no effect, because ", reason,
                                  "; remove it, or ", remedy));
}

void CheckCacheShare(const CheckedSettings& settings) {
  CheckIsUsed(settings, "cache_percent", settings.Number("bytes") == 0,
              "bytes gives the size", "remove bytes");
}

void CheckGrowMemory(const CheckedSettings& settings) {
  const int64_t bytes = settings.Number("bytes_per_iteration");
  const int64_t limit = settings.Number("limit_bytes");
  if (bytes > limit) {
    settings.Add("bytes_per_iteration",
                 absl::StrCat(bytes, " is more than limit_bytes, ", limit,
                              "; make it smaller, or limit_bytes larger"));
  }
  const bool touches = settings.Number("hot_percent") > 0;
  if (!touches && settings.Text("at_limit") == "keep") {
    settings.Add(
        "hot_percent",
        "is 0, so that at the limit iterations would have nothing to do; "
        "raise it, or set at_limit to \"restart\"");
  }
  CheckIsUsed(settings, "access", touches, "hot_percent is 0",
              "raise hot_percent");
}

void CheckCacheThrash(const CheckedSettings& settings) {
  CheckCacheShare(settings);
  CheckIsUsed(settings, "stride_bytes", settings.Text("order") == "strided",
              "the order is \"random\"", "use \"strided\"");
}

}  // namespace

config::ActivityDeclaration BurnCpuActivity() {
  return {
      .name = "BurnCpu",
      .description =
          "Computes in registers, without memory. Unlike SpinFor it does "
          "an amount of work, whose time says how much CPU it got, and "
          "unlike ConsumeCpu it leaves caches alone.",
      .settings = BurnCpuSettings(),
      .metrics = {config::kChecksumMetric, config::kOperationsMetric},
      .sized_by = {"operations"},
  };
}

config::ActivityDeclaration GrowMemoryActivity() {
  return {
      .name = "GrowMemory",
      .description =
          "Allocates memory, fills it, and touches a part of all that it "
          "holds again. Threads share the memory. An iteration ends after "
          "0.1 s, if that comes first, and the next one continues. The "
          "memory is freed when the instance's main list ends. Bytes are "
          "those of the pages that were read and written; operations "
          "counts these pages, and failed_operations the allocations that "
          "the system refused.",
      .settings = GrowMemorySettings(),
      .metrics = {config::kInputBytesMetric, config::kOutputBytesMetric,
                  config::kOperationsMetric, config::kFailedOperationsMetric},
      .sized_by = {"bytes_per_iteration"},
      .check = &CheckGrowMemory,
  };
}

config::ActivityDeclaration MemoryBandwidthActivity() {
  return {
      .name = "MemoryBandwidth",
      .description =
          "Streams through arrays that exceed the caches. Each thread has "
          "its own.",
      .settings = MemoryBandwidthSettings(),
      .metrics = {config::kChecksumMetric, config::kInputBytesMetric,
                  config::kOutputBytesMetric},
      .sized_by = {"bytes_per_iteration"},
      .check = &CheckCacheShare,
  };
}

config::ActivityDeclaration CacheThrashActivity() {
  return {
      .name = "CacheThrash",
      .description =
          "Visits cache lines of a working set as large as the last-level "
          "cache, many at a time. Unlike PolluteDataCache it knows the "
          "cache and may write, and unlike PointerChase it does not wait "
          "for one line before it asks for the next. A line counts with "
          "its 64 bytes.",
      .settings = CacheThrashSettings(),
      .metrics = {config::kChecksumMetric, config::kInputBytesMetric,
                  config::kOutputBytesMetric, config::kOperationsMetric},
      .sized_by = {"accesses"},
      .check = &CheckCacheThrash,
  };
}

config::ActivityDeclaration ForkStormActivity() {
  return {
      .name = "ForkStorm",
      .description =
          "Starts processes and waits for them; those that do not end "
          "within 2 s are killed. An iteration starts none after 0.1 s. "
          "operations counts those that succeeded.",
      .settings = ForkStormSettings(),
      .metrics = {config::kOperationsMetric, config::kFailedOperationsMetric},
      .sized_by = {"children"},
  };
}

}  // namespace distbench::protection
