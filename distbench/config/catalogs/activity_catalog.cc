#include "distbench/config/catalogs/activity_catalog.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/plugins.h"
#include "distbench/config/catalogs/activity_settings.h"
#include "distbench/config/catalogs/storage_activities.h"
#include "distbench/config/problems/suggest.h"

namespace distbench::config {
namespace {

// Number of array elements. A larger array exceeds the memory of any host.
constexpr int64_t kMaxArraySize = 1'000'000'000;
constexpr int64_t kMaxRepetitions = 1'000'000'000;
constexpr int64_t kMaxEntries = 100'000'000;
constexpr int64_t kMaxCorpusBytes = 1 << 30;
// More than eleven days.
constexpr int64_t kMaxDurationUs = 1'000'000'000'000;

SettingDeclaration ArraySize(int64_t default_value) {
  return {
      .name = "array_size",
      .description = "Number of 8-byte elements.",
      .default_value = default_value,
      .minimum = 1,
      .maximum = kMaxArraySize,
  };
}

SettingDeclaration Repetitions(const std::string& name,
                               const std::string& description) {
  return {
      .name = name,
      .description = description,
      .default_value = int64_t{1000},
      .minimum = 1,
      .maximum = kMaxRepetitions,
  };
}

SettingsDeclaration Duration() {
  return {.settings = {{
              .name = "duration_us",
              .description = "How long, in microseconds.",
              .default_value = int64_t{0},
              .minimum = 1,
              .maximum = kMaxDurationUs,
              .required = true,
          }}};
}

SettingsDeclaration FeatureExtractSettings() {
  return {
      .settings = {
          Number("hash_lookups",
                 "Look-ups in a hash table; half find their key.", 1000, 0,
                 kMaxRepetitions),
          Number("hash_entries", "Entries of the hash table.", 100'000, 1,
                 kMaxEntries),
          Number("tree_walks", "Walks from the root of a tree to a leaf.", 200,
                 0, kMaxRepetitions),
          Number("tree_nodes", "Nodes of the tree.", 100'000, 1, kMaxEntries),
          Number("bitset_intersections",
                 "Intersections of two of 1000 bit sets, counting bits.", 100,
                 0, kMaxRepetitions),
          Number("bitset_bits", "Bits of each set.", 4096, 1, 10'000'000),
          Number("embedding_rows_gathered",
                 "Rows of a table of floats to sum up.", 100, 0,
                 kMaxRepetitions),
          Number("embedding_rows", "Rows of the table.", 100'000, 1,
                 kMaxEntries),
          Number("embedding_dimension", "Floats in a row.", 64, 1, 10'000),
          Number("function_calls", "Calls of random functions, of 10000.", 1000,
                 0, kMaxRepetitions),
          Parallelism(),
          Seed(),
      }};
}

SettingsDeclaration PageRankSettings() {
  return {.settings = {
              Number("nodes", "Nodes of the graph.", 100'000, 1, kMaxEntries),
              Number("degree", "Edges from each node.", 16, 1, 1000),
              Number("iterations", "PageRank iterations in each iteration.", 1,
                     1, 1000),
              Number("nodes_per_iteration",
                     "Nodes whose rank each iteration computes; 0: all.", 0, 0,
                     kMaxEntries),
              Number("damping_percent", "Probability of following an edge.", 85,
                     0, 100),
              Choice("graph",
                     "One graph per process (shared) or concurrent iteration.",
                     {"thread", "shared"}),
              Parallelism(),
              Seed(),
          }};
}

SettingsDeclaration CompressSettings() {
  return {.settings = {
              Choice("algorithm", "The library.", {"zstd", "zlib", "snappy"}),
              Number("level",
                     "0: the library's default; zlib: 1 to 9, zstd: 1 to 19.",
                     0, 0, 19),
              Number("bytes", "Uncompressed bytes per iteration.", 131'072, 1,
                     kMaxCorpusBytes),
              Number("corpus_bytes",
                     "Size of the data from which pieces are taken.", 3 << 20,
                     1, kMaxCorpusBytes),
              Number("entropy_percent",
                     "Entropy of bytes that do not repeat, in percent of 8 "
                     "bits: 75 is 64 characters.",
                     75, 0, 100),
              Number("repeated_percent",
                     "Share of the data that repeats recent data.", 50, 0, 100),
              Parallelism(),
              Seed(),
          }};
}

SettingsDeclaration StoriesSettings() {
  return {.settings = {
              Number("stories", "Stories per iteration.", 36, 1, 1'000'000),
              Number("objects", "Objects per story.", 20, 0, 10'000),
              Number("actions",
                     "Actions per object; also its properties of each of "
                     "three kinds.",
                     5, 0, 10'000),
              Parallelism(),
              Seed(),
          }};
}

SettingsDeclaration SerializeSettings() {
  SettingsDeclaration declaration = StoriesSettings();
  declaration.settings.push_back(Number(
      "generate", "1: each iteration creates its stories first.", 0, 0, 1));
  return declaration;
}

SettingsDeclaration PointerChaseSettings() {
  return {.settings = {
              Number("bytes", "Size of the memory.", 80'000'000, 64,
                     1'000'000'000'000),
              Number("hops", "Steps from one cache line to the next.", 5120, 1,
                     kMaxRepetitions),
              Parallelism(),
              Seed(),
          }};
}

SettingsDeclaration InferSettings() {
  return {
      .settings = {
          Number("layers", "Layers of the model.", 4, 1, 1000),
          Number("width", "Values from one layer to the next.", 256, 1, 65'536),
          Number("batch", "Inputs per iteration.", 8, 1, 65'536),
          Number("allocations",
                 "Small blocks of memory that each layer allocates and "
                 "frees for each input.",
                 16, 0, 1'000'000),
          Number("allocation_bytes",
                 "Largest size of such a block; sizes are uniform.", 512, 1,
                 1 << 20),
          Parallelism(),
          Seed(),
      }};
}

SettingsDeclaration WaitSettings() {
  return {.settings = {
              {
                  .name = "distribution",
                  .description = "Distribution of the times.",
                  .default_value = "fixed",
                  .allowed_values = {"fixed", "exponential", "lognormal"},
              },
              {
                  .name = "mean_us",
                  .description = "Mean time, in microseconds.",
                  .default_value = int64_t{0},
                  .minimum = 1,
                  .maximum = kMaxDurationUs,
                  .required = true,
              },
              {
                  .name = "sigma_thousandths",
                  .description = "Standard deviation of the logarithm of "
                                 "lognormal times, in thousandths.",
                  .default_value = int64_t{1000},
                  .minimum = 0,
                  .maximum = 10'000,
              },
          }};
}

void CheckWait(const CheckedSettings& settings) {
  const std::string distribution = settings.Text("distribution");
  if (distribution == "lognormal" || !settings.IsGiven("sigma_thousandths")) {
    return;
  }
  settings.Add(
      "sigma_thousandths",
      absl::StrCat("has no effect, because the distribution is ",
                   Quoted(distribution), "; remove it, or use \"lognormal\""));
}

void CheckCompress(const CheckedSettings& settings) {
  const std::string algorithm = settings.Text("algorithm");
  const int64_t level = settings.Number("level");
  if (algorithm == "snappy" && level != 0) {
    settings.Add("level",
                 "has no effect, because snappy has no levels; remove it");
  }
  if (algorithm == "zlib" && level > 9) {
    settings.Add(
        "level",
        absl::StrCat(level, " is out of range; zlib's levels ", "are 1 to 9"));
  }
  if (settings.Number("bytes") > settings.Number("corpus_bytes")) {
    settings.Add(
        "bytes",
        absl::StrCat(settings.Number("bytes"), " is more than the corpus' ",
                     settings.Number("corpus_bytes"),
                     " bytes; make it smaller, or corpus_bytes larger"));
  }
}

void CheckPageRank(const CheckedSettings& settings) {
  // An edge takes four bytes.
  constexpr int64_t kMaxEdges = 4'000'000'000;
  const int64_t nodes = settings.Number("nodes");
  if (settings.Number("nodes_per_iteration") > nodes) {
    settings.Add("nodes_per_iteration",
                 absl::StrCat(settings.Number("nodes_per_iteration"),
                              " is more than the graph's ", nodes,
                              " nodes; make it smaller, or 0 for all"));
  }
  if (nodes * settings.Number("degree") > kMaxEdges) {
    settings.Add("nodes", absl::StrCat("times degree is more than ", kMaxEdges,
                                       " edges; make one of them smaller"));
  }
}

void CheckFeatureExtract(const CheckedSettings& settings) {
  constexpr const char* kCounts[] = {
      "hash_lookups", "tree_walks", "bitset_intersections",
      "embedding_rows_gathered", "function_calls"};
  if (std::all_of(
          std::begin(kCounts), std::end(kCounts),
          [&](const char* name) { return settings.Number(name) == 0; })) {
    settings.Add(
        kCounts[0],
        "is 0, and so are all other counts; raise at least one of them");
  }
  constexpr int64_t kMaxValues = 1'000'000'000;
  if (settings.Number("embedding_rows") *
          settings.Number("embedding_dimension") >
      kMaxValues) {
    settings.Add("embedding_rows",
                 absl::StrCat("times embedding_dimension is more than ",
                              kMaxValues, "; make one of them smaller"));
  }
}

void CheckStories(const CheckedSettings& settings) {
  // An action takes a few hundred bytes and is stored four times. The limit
  // also keeps the message below protobuf's 2 GiB.
  constexpr int64_t kMaxActions = 10'000'000;
  const int64_t objects =
      settings.Number("stories") * settings.Number("objects");
  if (objects > kMaxActions ||
      objects * settings.Number("actions") > kMaxActions) {
    settings.Add("stories",
                 absl::StrCat("times objects times actions is more than ",
                              kMaxActions, "; make one of them smaller"));
  }
}

void CheckInfer(const CheckedSettings& settings) {
  // Eight GiB of weights.
  constexpr int64_t kMaxWeights = int64_t{1} << 31;
  const int64_t width = settings.Number("width");
  if (settings.Number("layers") * width * width > kMaxWeights) {
    settings.Add("width",
                 absl::StrCat("squared times layers is more than ", kMaxWeights,
                              " weights; make one of them smaller"));
  }
}

std::vector<ActivityDeclaration> WorkActivities() {
  return {
      {
          .name = "ConsumeCpu",
          .description = "Fills an array, sorts it and sums it up.",
          .settings = {.settings = {ArraySize(1000)}},
          .metrics = {kChecksumMetric},
          .sized_by = {"array_size"},
      },
      {
          .name = "PolluteDataCache",
          .description =
              "Reads elements of an array in random order, which evicts "
              "other data from the cache.",
          .settings = {.settings = {ArraySize(2'000'000),
                                    Repetitions("array_reads_per_iteration",
                                                "Elements to read.")}},
          .metrics = {kChecksumMetric},
          .sized_by = {"array_reads_per_iteration"},
      },
      {
          .name = "PolluteInstructionCache",
          .description =
              "Calls many different functions in random order, which evicts "
              "other code from the cache.",
          .settings = {.settings = {Repetitions(
                           "function_invocations_per_iteration",
                           "Functions to call.")}},
          .metrics = {kChecksumMetric},
          .sized_by = {"function_invocations_per_iteration"},
      },
      {
          .name = "SleepFor",
          .description = "Waits without using CPU.",
          .settings = Duration(),
          .waits = true,
      },
      {
          .name = "SpinFor",
          .description = "Uses a thread's CPU time.",
          .settings = Duration(),
          .sized_by = {"duration_us"},
      },
      {
          .name = "FeatureExtract",
          .description =
              "Looks up keys, walks a tree, intersects sets, adds up embedding "
              "vectors and calls functions, at random.",
          .settings = FeatureExtractSettings(),
          .metrics = {kChecksumMetric},
          .sized_by = {"hash_lookups", "tree_walks", "bitset_intersections",
                       "embedding_rows_gathered", "function_calls"},
          .check = &CheckFeatureExtract,
      },
      {
          .name = "PageRank",
          .description = "Ranks the nodes of a random graph.",
          .settings = PageRankSettings(),
          .metrics = {kChecksumMetric},
          .sized_by = {"nodes", "nodes_per_iteration"},
          .check = &CheckPageRank,
      },
      {
          .name = "Compress",
          .description = "Compresses data of a given kind.",
          .settings = CompressSettings(),
          .metrics = {kChecksumMetric, kInputBytesMetric, kOutputBytesMetric},
          .sized_by = {"bytes", "corpus_bytes"},
          .check = &CheckCompress,
      },
      {
          .name = "Decompress",
          .description =
              "Decompresses the output of Compress with the same settings.",
          .settings = CompressSettings(),
          .metrics = {kChecksumMetric, kInputBytesMetric, kOutputBytesMetric},
          .sized_by = {"bytes", "corpus_bytes"},
          .check = &CheckCompress,
      },
      {
          .name = "Serialize",
          .description = "Serialises a graph of protobuf messages.",
          .settings = SerializeSettings(),
          .metrics = {kChecksumMetric, kOutputBytesMetric},
          .sized_by = {"stories"},
          .check = &CheckStories,
      },
      {
          .name = "Deserialize",
          .description = "Parses a graph of protobuf messages.",
          .settings = StoriesSettings(),
          .metrics = {kChecksumMetric, kInputBytesMetric},
          .sized_by = {"stories"},
          .check = &CheckStories,
      },
      {
          .name = "PointerChase",
          .description =
              "Follows pointers through memory, each to a different cache "
              "line.",
          .settings = PointerChaseSettings(),
          .metrics = {kChecksumMetric},
          .sized_by = {"hops"},
      },
      {
          .name = "Infer",
          .description =
              "Forward inference of a neural network: a matrix product and "
              "many small allocations in each layer.",
          .settings = InferSettings(),
          .metrics = {kChecksumMetric},
          .sized_by = {"batch"},
          .check = &CheckInfer,
      },
      {
          .name = "Wait",
          .description =
              "Waits without using CPU, for a time that is fixed or drawn: a "
              "server, device or remote service of known capacity.",
          .settings = WaitSettings(),
          .waits = true,
          .check = &CheckWait,
      },
  };
}

std::vector<ActivityDeclaration> MakeActivityCatalog() {
  std::vector<ActivityDeclaration> catalog = WorkActivities();
  for (ActivityDeclaration& activity : StorageActivities()) {
    catalog.push_back(std::move(activity));
  }
  for (const auto& [name, activity] :
       base::Plugins<ActivityDeclaration>::All()) {
    catalog.push_back(*activity);
  }
  return catalog;
}

}  // namespace

absl::Span<const ActivityDeclaration> ActivityCatalog() {
  static const auto* const catalog =
      new std::vector<ActivityDeclaration>(MakeActivityCatalog());
  return *catalog;
}

const ActivityDeclaration* FindActivity(absl::string_view name) {
  for (const ActivityDeclaration& activity : ActivityCatalog()) {
    if (activity.name == name) return &activity;
  }
  return nullptr;
}

std::vector<std::string> ActivityNames() {
  std::vector<std::string> names;
  for (const ActivityDeclaration& activity : ActivityCatalog()) {
    names.push_back(activity.name);
  }
  return names;
}

std::string ActivityFunctionOf(const ActivityConfig& config) {
  for (const NamedSetting& setting : config.activity_settings()) {
    if (setting.name() == kActivityFunctionSetting) {
      return setting.string_value();
    }
  }
  return "";
}

}  // namespace distbench::config
