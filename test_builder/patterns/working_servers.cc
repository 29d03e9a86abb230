// Patterns of servers whose handlers do work, such as reading files or running
// a model.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

constexpr Stage kServeStorage[] = {
    {"serve_storage", "Storage", "storage",
     R"(directory="<directory>" io="<io>" access="<access>"
        hash_bytes=<hash_bytes> file_set_bytes=<file_set_bytes>
        file_bytes=<file_bytes> memory_bytes=<memory_bytes>
        memory_percent=<memory_percent>
        memory_write_percent=<memory_write_percent> log_bytes=<log_bytes>)"}};

std::string StorageServers() {
  return absl::StrCat(
      QueriedServers("send_queries", "storage_query", "256", "<response_size>"),
      R"(activity_pools { name: "storage" size: <threads> }
         action_lists { name: "storage_query")",
      ActionNames(kServeStorage), "}", StagesForm(kServeStorage));
}

std::vector<Parameter> WorkParameters() {
  return {
      IntegerParameter("hash_bytes", "262144", {1, 1 << 30},
                       "Bytes that a request reads and hashes: its "
                       "CPU time.",
                       Unit::kBytes),
      IntegerParameter("file_set_bytes", "67108864", {4096, 1e15},
                       "Size of all files of a server together.", Unit::kBytes),
      IntegerParameter("file_bytes", "65536", {4096, 1 << 30},
                       "Bytes that are read at a time, a multiple of "
                       "4096.",
                       Unit::kBytes),
      IntegerParameter("memory_bytes", "0", {0, 1e15},
                       "Anonymous memory of each thread of a "
                       "server.",
                       Unit::kBytes),
      IntegerParameter("memory_percent", "0", {0, 100},
                       "Share of the hashed bytes that are from that memory."),
      IntegerParameter("memory_write_percent", "0", {0, 100},
                       "Share of the pages of memory that are written, too."),
      IntegerParameter("log_bytes", "1024", {0, 1 << 20},
                       "Bytes that a request writes to a log.", Unit::kBytes),
  };
}

std::vector<Parameter> ServerParameters() {
  return {
      IntegerParameter("server_count", "1", {1, kMaxInstances},
                       "Servers, queried in turn."),
      IntegerParameter("threads", "8", {1, 1024},
                       "Requests that each server works on at a time."),
      IntegerParameter("response_size", "16384", {0}, "Bytes of a response.",
                       Unit::kBytes),
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
      // Paths do not fit into names of tests, so that they are not in the
      // alias.
      .alias =
          "storage_service_<arrivals>_<server_count>x<qps>x<hash_bytes>x"
          "<file_set_bytes>x<memory_bytes>_<io>",
      .body = StorageServers(),
      .derive = &DeriveQueryLoad,
  };
}

namespace {

// The work of an inference service on a request. The amounts are absolute: they
// do not depend on the hosts.
//
// Two services whose requests differ by an order of magnitude: A is a complex
// model, B a simple one. On a CPU of 3 GHz, a request of A takes some
// milliseconds of CPU time, and one of B some tenths.
struct ModelAmount {
  absl::string_view name;
  int64_t a;
  int64_t b;
};

constexpr ModelAmount kModels[] = {
    {"lookups", 40, 10},  // rows that are fetched
    // The counts of FeatureExtract.
    {"hash_lookups", 1000, 200},
    {"tree_walks", 200, 40},
    {"bitset_intersections", 100, 20},
    {"embedding_rows_gathered", 200, 40},
    {"function_calls", 500, 100},
    // Those of Infer.
    {"layers", 8, 3},
    {"width", 512, 128},
    {"batch", 16, 8},
    {"allocations", 64, 16},
};

absl::Status DeriveModel(const ParameterValues& values,
                         DerivedValues& derived) {
  const bool is_a = values.Text("model") == "a";
  for (const ModelAmount& amount : kModels) {
    derived.emplace(amount.name, absl::StrCat(is_a ? amount.a : amount.b));
  }
  return DeriveQueryLoad(values, derived);
}

constexpr Stage kInfer[] = {
    {"fetch_features", "FeatureQuery", "fetching",
     R"(directory="<directory>" rows=<rows> lookups=<lookups> io="<io>")"},
    {"extract_features", "FeatureExtract", "computing",
     "hash_lookups=<hash_lookups> tree_walks=<tree_walks> "
     "bitset_intersections=<bitset_intersections> "
     "embedding_rows_gathered=<embedding_rows_gathered> "
     "function_calls=<function_calls>"},
    {"run_model", "Infer", "computing",
     "layers=<layers> width=<width> batch=<batch> allocations=<allocations>"}};

std::string InferenceServers() {
  return absl::StrCat(
      QueriedServers("send_queries", "infer", "2048", "1024"),
      R"(activity_pools { name: "fetching" size: <fetching_threads> }
         activity_pools { name: "computing" size: <computing_threads> }
         action_lists { name: "infer")",
      ActionNames(kInfer), "}", StagesForm(kInfer));
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
      .alias = "inference_<model>_<arrivals>_<server_count>x<qps>_<io>",
      .body = InferenceServers(),
      .derive = &DeriveModel,
  };
}

}  // namespace distbench::test_builder
