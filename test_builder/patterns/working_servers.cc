// Patterns of servers whose handlers do work, such as reading files or running
// a model.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

constexpr int64_t kStorageRequestBytes = 256;
constexpr char kPool[] = "storage";

// The parameters that are settings of the activity, under the same name.
std::vector<Parameter> WorkParameters() {
  return {
      InBytes(IntegerParameter("hash_bytes", "262144", {1, 1 << 30},
                               "Bytes that a request reads and hashes: its "
                               "CPU time.")),
      InBytes(IntegerParameter("file_set_bytes", "67108864", {4096, 1e15},
                               "Size of all files of a server together.")),
      InBytes(IntegerParameter("file_bytes", "65536", {4096, 1 << 30},
                               "Bytes that are read at a time, a multiple of "
                               "4096.")),
      InBytes(IntegerParameter("memory_bytes", "0", {0, 1e15},
                               "Anonymous memory of each thread of a "
                               "server.")),
      IntegerParameter("memory_percent", "0", {0, 100},
                       "Share of the hashed bytes that are from that memory."),
      IntegerParameter("memory_write_percent", "0", {0, 100},
                       "Share of the pages of memory that are written, too."),
      InBytes(IntegerParameter("log_bytes", "1024", {0, 1 << 20},
                               "Bytes that a request writes to a log.")),
  };
}

absl::StatusOr<Traffic> BuildStorageService(const ParameterValues& values) {
  Traffic traffic;
  // Paths do not fit into names of tests, so that they are not in the alias.
  traffic.alias =
      Alias(values,
            "storage_service_{arrivals}_{server_count}x{qps}x{hash_bytes}x"
            "{file_set_bytes}x{memory_bytes}_{io}");
  DistributedSystemDescription& body = traffic.body;
  AddQueriedServers(body, values, "send_queries", "storage_query",
                    kStorageRequestBytes, values.Integer("response_size"));
  AddPool(kPool, values.Integer("threads"), body);
  Stages server(body, AddActionList(body, "storage_query"));
  ActivitySettings settings = {{"directory", values.Text("directory")},
                               {"io", values.Text("io")},
                               {"access", values.Text("access")}};
  for (const Parameter& parameter : WorkParameters()) {
    settings.push_back({parameter.name, values.Integer(parameter.name)});
  }
  server.Do("serve_storage", "Storage", kPool, settings);
  return traffic;
}

std::vector<Parameter> ServerParameters() {
  return {
      IntegerParameter("server_count", "1", {1, kMaxInstances},
                       "Servers, queried in turn."),
      IntegerParameter("threads", "8", {1, 1024},
                       "Requests that each server works on at a time."),
      InBytes(IntegerParameter("response_size", "16384", {0},
                               "Bytes of a response.")),
      TextParameter("directory", "/var/tmp",
                    "Directory of the servers' files, on the disk that "
                    "matters."),
      ChoiceParameter("io", "cached", {"cached", "direct"},
                      "Through the page cache, or past it to the disk."),
      ChoiceParameter("access", "normal", {"uniform", "normal", "zipf"},
                      "Which files and memory are read: all equally often, or "
                      "a part of them more."),
  };
}

}  // namespace

Pattern StorageServicePattern() {
  return {
      .name = "storage_service",
      .summary = "servers that read and hash files",
      .description =
          "Open loop: a client sends qps queries per second to the servers in "
          "turn. For each, a server reads files and memory, of which a part is "
          "hot, hashes them and writes a log. If the files and the memory are "
          "larger than the memory of the host, the disk decides: a subject "
          "for measuring what a service keeps beside a neighbour.",
      .example = "storage_service:qps=50:hash_bytes=100000",
      .parameters = Joined(
          {QueryLoadParameters("100"), ServerParameters(), WorkParameters()}),
      .build = &BuildStorageService,
  };
}

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
