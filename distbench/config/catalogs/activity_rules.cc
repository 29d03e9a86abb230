#include "distbench/config/catalogs/activity_rules.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/catalogs/storage_activities.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::config {
namespace {

// The settings of one activity, with the place to report their problems.
class Rules {
 public:
  Rules(const Path& path, const NamedSettings& given,
        const SettingsDeclaration& declaration, Problems& problems)
      : path_(path),
        given_(given),
        all_(ResolveSettings(given, declaration)),
        problems_(problems) {}

  std::string Text(const std::string& name) const {
    return std::get<std::string>(all_.at(name));
  }

  int64_t Number(const std::string& name) const {
    return std::get<int64_t>(all_.at(name));
  }

  bool IsGiven(const std::string& name) const {
    return std::any_of(
        given_.begin(), given_.end(),
        [&](const NamedSetting& setting) { return setting.name() == name; });
  }

  void Add(const std::string& name, std::string message) const {
    problems_.Add(path_.At(name), std::move(message));
  }

 private:
  const Path& path_;
  const NamedSettings& given_;
  const std::map<std::string, SettingValue> all_;
  Problems& problems_;
};

void CheckWait(const Rules& rules) {
  const std::string distribution = rules.Text("distribution");
  if (distribution == "lognormal" || !rules.IsGiven("sigma_thousandths")) {
    return;
  }
  rules.Add(
      "sigma_thousandths",
      absl::StrCat("has no effect, because the distribution is ",
                   Quoted(distribution), "; remove it, or use \"lognormal\""));
}

// Names a setting that another one makes useless.
void CheckIsUsed(const Rules& rules, const std::string& name, bool is_used,
                 const std::string& reason, const std::string& remedy) {
  if (is_used || !rules.IsGiven(name)) return;
  rules.Add(name, absl::StrCat("has no effect, because ", reason,
                               "; remove it, or ", remedy));
}

void CheckCacheShare(const Rules& rules) {
  CheckIsUsed(rules, "cache_percent", rules.Number("bytes") == 0,
              "bytes gives the size", "remove bytes");
}

void CheckGrowMemory(const Rules& rules) {
  const int64_t bytes = rules.Number("bytes_per_iteration");
  const int64_t limit = rules.Number("limit_bytes");
  if (bytes > limit) {
    rules.Add("bytes_per_iteration",
              absl::StrCat(bytes, " is more than limit_bytes, ", limit,
                           "; make it smaller, or limit_bytes larger"));
  }
  const bool touches = rules.Number("hot_percent") > 0;
  if (!touches && rules.Text("at_limit") == "keep") {
    rules.Add("hot_percent",
              "is 0, so that at the limit iterations would have nothing to do; "
              "raise it, or set at_limit to \"restart\"");
  }
  CheckIsUsed(rules, "access", touches, "hot_percent is 0",
              "raise hot_percent");
}

void CheckCacheThrash(const Rules& rules) {
  CheckCacheShare(rules);
  CheckIsUsed(rules, "stride_bytes", rules.Text("order") == "strided",
              "the order is \"random\"", "use \"strided\"");
}

void CheckCompress(const Rules& rules) {
  const std::string algorithm = rules.Text("algorithm");
  const int64_t level = rules.Number("level");
  if (algorithm == "snappy" && level != 0) {
    rules.Add("level",
              "has no effect, because snappy has no levels; remove it");
  }
  if (algorithm == "zlib" && level > 9) {
    rules.Add("level", absl::StrCat(level, " is out of range; zlib's levels ",
                                    "are 1 to 9"));
  }
  if (rules.Number("bytes") > rules.Number("corpus_bytes")) {
    rules.Add("bytes",
              absl::StrCat(rules.Number("bytes"), " is more than the corpus' ",
                           rules.Number("corpus_bytes"),
                           " bytes; make it smaller, or corpus_bytes larger"));
  }
}

void CheckPageRank(const Rules& rules) {
  // An edge takes four bytes.
  constexpr int64_t kMaxEdges = 4'000'000'000;
  const int64_t nodes = rules.Number("nodes");
  if (rules.Number("nodes_per_iteration") > nodes) {
    rules.Add("nodes_per_iteration",
              absl::StrCat(rules.Number("nodes_per_iteration"),
                           " is more than the graph's ", nodes,
                           " nodes; make it smaller, or 0 for all"));
  }
  if (nodes * rules.Number("degree") > kMaxEdges) {
    rules.Add("nodes", absl::StrCat("times degree is more than ", kMaxEdges,
                                    " edges; make one of them smaller"));
  }
}

void CheckFeatureExtract(const Rules& rules) {
  constexpr const char* kCounts[] = {
      "hash_lookups", "tree_walks", "bitset_intersections",
      "embedding_rows_gathered", "function_calls"};
  if (std::all_of(std::begin(kCounts), std::end(kCounts),
                  [&](const char* name) { return rules.Number(name) == 0; })) {
    rules.Add(kCounts[0],
              "is 0, and so are all other counts; raise at least one of them");
  }
  constexpr int64_t kMaxValues = 1'000'000'000;
  if (rules.Number("embedding_rows") * rules.Number("embedding_dimension") >
      kMaxValues) {
    rules.Add("embedding_rows",
              absl::StrCat("times embedding_dimension is more than ",
                           kMaxValues, "; make one of them smaller"));
  }
}

void CheckStories(const Rules& rules) {
  // An action takes a few hundred bytes and is stored four times. The limit
  // also keeps the message below protobuf's 2 GiB.
  constexpr int64_t kMaxActions = 10'000'000;
  const int64_t objects = rules.Number("stories") * rules.Number("objects");
  if (objects > kMaxActions ||
      objects * rules.Number("actions") > kMaxActions) {
    rules.Add("stories",
              absl::StrCat("times objects times actions is more than ",
                           kMaxActions, "; make one of them smaller"));
  }
}

void CheckDirectory(const Rules& rules) {
  const std::string directory = rules.Text("directory");
  if (absl::StartsWith(directory, "/")) return;
  rules.Add("directory",
            absl::StrCat(Quoted(directory),
                         " is not an absolute path, and engines have no "
                         "directory of their own; begin with \"/\""));
}

// Files are read and written in whole pages.
void CheckPages(const Rules& rules, const std::string& name) {
  if (rules.Number(name) % kFilePageBytes == 0) return;
  rules.Add(name, absl::StrCat(rules.Number(name), " is not a multiple of ",
                               kFilePageBytes, "; round it"));
}

// Settings that only one of the distributions of addresses has.
void CheckAccess(const Rules& rules) {
  constexpr std::pair<const char*, const char*> kOwners[] = {
      {"spread_percent", "normal"}, {"skew_thousandths", "zipf"}};
  const std::string access = rules.Text("access");
  for (const auto& [name, owner] : kOwners) {
    if (access == owner || !rules.IsGiven(name)) continue;
    rules.Add(name,
              absl::StrCat("has no effect, because access is ", Quoted(access),
                           "; remove it, or use ", Quoted(owner)));
  }
}

void CheckAtMost(const Rules& rules, const std::string& part,
                 const std::string& whole) {
  if (rules.Number(part) <= rules.Number(whole)) return;
  rules.Add(part, absl::StrCat(rules.Number(part), " is more than ", whole,
                               ", ", rules.Number(whole),
                               "; make it smaller, or ", whole, " larger"));
}

void CheckDisk(const Rules& rules) {
  CheckDirectory(rules);
  CheckPages(rules, "block_bytes");
  CheckAtMost(rules, "block_bytes", "data_bytes");
  if (rules.Number("sync_every") > 0 && rules.Number("write_percent") == 0) {
    rules.Add("sync_every",
              "has no effect, because nothing is written; remove it, or raise "
              "write_percent");
  }
}

void CheckStorage(const Rules& rules) {
  CheckDirectory(rules);
  CheckPages(rules, "file_bytes");
  CheckAtMost(rules, "file_bytes", "file_set_bytes");
  CheckAtMost(rules, "log_bytes", "log_capacity_bytes");
  CheckAccess(rules);
  const bool uses_memory = rules.Number("memory_percent") > 0;
  const bool has_memory = rules.Number("memory_bytes") > 0;
  if (uses_memory != has_memory) {
    rules.Add(uses_memory ? "memory_bytes" : "memory_percent",
              absl::StrCat("is 0, but ",
                           uses_memory ? "memory_percent" : "memory_bytes",
                           " is not; set both, or none"));
  }
  if (has_memory) CheckAtMost(rules, "file_bytes", "memory_bytes");
  if (!uses_memory && rules.Number("memory_write_percent") > 0) {
    rules.Add("memory_write_percent",
              "has no effect without memory_percent and memory_bytes; remove "
              "it, or set them");
  }
}

void CheckFeatureQuery(const Rules& rules) {
  CheckDirectory(rules);
  CheckAccess(rules);
}

void CheckInfer(const Rules& rules) {
  // Eight GiB of weights.
  constexpr int64_t kMaxWeights = int64_t{1} << 31;
  const int64_t width = rules.Number("width");
  if (rules.Number("layers") * width * width > kMaxWeights) {
    rules.Add("width",
              absl::StrCat("squared times layers is more than ", kMaxWeights,
                           " weights; make one of them smaller"));
  }
}

}  // namespace

void CheckActivityRules(const Path& path, const std::string& function,
                        const NamedSettings& settings,
                        const SettingsDeclaration& declaration,
                        Problems& problems) {
  const Rules rules(path, settings, declaration, problems);
  if (function == "Wait") CheckWait(rules);
  if (function == "GrowMemory") CheckGrowMemory(rules);
  if (function == "MemoryBandwidth") CheckCacheShare(rules);
  if (function == "CacheThrash") CheckCacheThrash(rules);
  if (function == "PageRank") CheckPageRank(rules);
  if (function == "FeatureExtract") CheckFeatureExtract(rules);
  if (function == "Compress" || function == "Decompress") CheckCompress(rules);
  if (function == "Serialize" || function == "Deserialize") CheckStories(rules);
  if (function == "Infer") CheckInfer(rules);
  if (function == "Disk") CheckDisk(rules);
  if (function == "Storage") CheckStorage(rules);
  if (function == "FeatureQuery") CheckFeatureQuery(rules);
}

}  // namespace distbench::config
