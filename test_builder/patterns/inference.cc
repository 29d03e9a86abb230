#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

constexpr int64_t kPromptBytes = 2048;
constexpr int64_t kAnswerBytes = 1024;
constexpr char kFetching[] = "fetching";
constexpr char kComputing[] = "computing";

// The work of an inference service on a request. The amounts are absolute: they
// do not depend on the hosts.
struct Model {
  int64_t lookups;        // rows that are fetched
  int64_t feature_scale;  // factor on the counts of FeatureExtract
  int64_t layers;
  int64_t width;
  int64_t batch;
  int64_t allocations;
};

// Two services whose requests differ by an order of magnitude: A is a complex
// model, B a simple one. On a CPU of 3 GHz, a request of A takes some
// milliseconds of CPU time, and one of B some tenths.
Model ModelOf(const std::string& name) {
  if (name == "a") {
    return {.lookups = 40,
            .feature_scale = 50,
            .layers = 8,
            .width = 512,
            .batch = 16,
            .allocations = 64};
  }
  return {.lookups = 10,
          .feature_scale = 10,
          .layers = 3,
          .width = 128,
          .batch = 8,
          .allocations = 16};
}

ActivitySettings FeaturesOf(const Model& model) {
  const int64_t scale = model.feature_scale;
  return {{"hash_lookups", 20 * scale},
          {"tree_walks", 4 * scale},
          {"bitset_intersections", 2 * scale},
          {"embedding_rows_gathered", 4 * scale},
          {"function_calls", 10 * scale}};
}

absl::StatusOr<Traffic> BuildInference(const ParameterValues& values) {
  const Model model = ModelOf(values.Text("model"));
  Traffic traffic;
  traffic.alias =
      Alias(values, "inference_{model}_{arrivals}_{server_count}x{qps}_{io}");
  DistributedSystemDescription& body = traffic.body;
  AddQueriedServers(body, values, "send_queries", "infer", kPromptBytes,
                    kAnswerBytes);
  AddPool(kFetching, values.Integer("fetching_threads"), body);
  AddPool(kComputing, values.Integer("computing_threads"), body);
  Stages server(body, AddActionList(body, "infer"));
  server.Do("fetch_features", "FeatureQuery", kFetching,
            {{"directory", values.Text("directory")},
             {"rows", values.Integer("rows")},
             {"lookups", model.lookups},
             {"io", values.Text("io")}});
  server.Do("extract_features", "FeatureExtract", kComputing,
            FeaturesOf(model));
  server.Do("run_model", "Infer", kComputing,
            {{"layers", model.layers},
             {"width", model.width},
             {"batch", model.batch},
             {"allocations", model.allocations}});
  return traffic;
}

std::vector<Parameter> InferenceParameters() {
  return Joined(
      {QueryLoadParameters("20"),
       {
           ChoiceParameter(
               "model", "b", {"a", "b"},
               "The work on a request: much (a, a complex model) or "
               "little (b, a simple one)."),
           IntegerParameter("server_count", "1", {1, kMaxInstances},
                            "Servers, queried in turn."),
           IntegerParameter(
               "fetching_threads", "4", {1, 1024},
               "Requests for which each server fetches features at "
               "a time."),
           IntegerParameter("computing_threads", "2", {1, 1024},
                            "Requests for which each server computes at a "
                            "time."),
           IntegerParameter("rows", "50000", {1, 1e9},
                            "Rows of 256 bytes in the store of features."),
           TextParameter("directory", "/var/tmp",
                         "Directory of the store, on the disk that matters."),
           ChoiceParameter("io", "cached", {"cached", "direct"},
                           "Features through the page cache, or from the "
                           "disk."),
       }});
}

}  // namespace

Pattern InferencePattern() {
  return {
      .name = "inference",
      .summary = "a client and servers that run a model",
      .description =
          "Open loop: a client sends qps queries per second to the servers in "
          "turn. For each, a server fetches features from a store on disk "
          "(with "
          "io=direct it mostly waits), extracts features from them (it "
          "computes), and runs a model forward (it multiplies matrices and "
          "allocates many small pieces of memory).",
      .example = "inference:model=a:qps=5",
      .parameters = InferenceParameters(),
      .build = &BuildInference,
  };
}

}  // namespace distbench::test_builder
