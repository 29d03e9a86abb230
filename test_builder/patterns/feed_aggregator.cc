// A feed: its messages, and the work of its services besides.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "test_builder/parameters/parameter.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

constexpr char kMessages[] = R"(
    services { name: "driver" count: 1 }
    services { name: "aggregator" count: <aggregator_count> }
    services { name: "leaf" count: <leaf_count> }
    action_lists { name: "driver" action_names: "send_queries" }
    actions {
      name: "send_queries"
      rpc_name: "feed_query"
      iterations { <query_load> }
    }
    rpc_descriptions {
      name: "feed_query" client: "driver" server: "aggregator"
      fanout_filter: "round_robin"
      request_payload_name: "feed_request_payload"
      response_payload_name: "feed_response_payload"
    }
    payload_descriptions { name: "feed_request_payload" size: <request_size> }
    payload_descriptions { name: "feed_response_payload" size: <response_size> }
    action_lists {
      name: "feed_query"
      action_names: "ask_leaves"
      <aggregator_stages>
    }
    actions { name: "ask_leaves" rpc_name: "leaf_query" }
    rpc_descriptions {
      name: "leaf_query" client: "aggregator" server: "leaf"
      fanout_filter: "all"
      request_payload_name: "leaf_request_payload"
      response_payload_name: "leaf_response_payload"
    }
    payload_descriptions {
      name: "leaf_request_payload"
      size: <leaf_request_size>
    }
    payload_descriptions {
      name: "leaf_response_payload"
      size: <leaf_response_bytes>
    }
    action_lists { name: "leaf_query" <leaf_stages> })";

// The amount of a kind of work in each preset. All amounts are absolute: they
// do not depend on the hosts.
//
// The small preset has all kinds of work, but little of each: a request costs
// about 0.3 ms of CPU time in each leaf. The bottleneck is storage, which
// serves one request at a time, 400 per second. It does not depend on the speed
// of the CPU, which changes from minute to minute on laptops and shared
// machines and would change the highest load.
//
// The others are the configurations of a leaf by FeedSim's run script on a host
// with 16 logical CPUs.
struct WorkAmount {
  absl::string_view name;
  int64_t small;
  int64_t feedsim_v1;
  int64_t feedsim_v2;

  // Of the parameter of this name that overrides the preset; empty if there is
  // none.
  absl::string_view meaning = "";
  Range range = {1};
  Unit unit = Unit::kNone;
};

constexpr WorkAmount kWork[] = {
    // Of each leaf's pools.
    {"serving_threads",
     1,
     16,
     16,
     "Threads of each leaf for its own stages. Default, here and below: the "
     "preset's.",
     {1, 1024}},
    {"ranking_threads",
     1,
     6,
     6,
     "Threads of each leaf that rank, all on one request.",
     {1, 1024}},
    {"serialization_threads",
     1,
     6,
     6,
     "Threads of each leaf that serialise stories.",
     {1, 1024}},
    {"chase_threads", 1, 8, 8},
    // A leaf's stages, in order.
    {"function_calls", 500, 1'600'000, 0},
    {"rank_nodes",
     2000,
     1 << 21,
     1 << 21,
     "Nodes of the graph that leaves rank.",
     {1, 100'000'000}},
    {"rank_degree", 8, 16, 16},
    {"rank_slice", 0, 2'000'000, 2'000'000},  // nodes per request; 0: all
    {"io_wait_us",
     2500,
     200'000,
     20'000,
     "Microseconds that leaves wait for storage, or their mean.",
     {1},
     Unit::kMicroseconds},
    // 0: unlimited.
    {"storage_places",
     1,
     0,
     0,
     "Requests of each leaf that storage serves at once; others queue. "
     "Unlimited in feedsim_v1 and v2.",
     {1, 1024}},
    {"compressed_bytes", 4096, 131'072, 131'072},
    {"entropy_percent", 75, 75, 60},
    {"repeated_percent", 50, 0, 60},
    {"stories",
     2,
     2000,
     200,
     "Stories that leaves serialise for each request.",
     {1, 100'000}},
    {"chase_bytes", 1 << 20, 80'000'000, 80'000'000},
    {"chase_hops", 200, 5120, 5120},
    {"reply_stories", 1, 36, 36},
    // Mock services, and calls of each of their methods per request to a leaf.
    {"mock_count",
     0,
     0,
     2,
     "Mock services that feedsim_v2 asks for features.",
     {1, kMaxInstances}},
    {"mock_calls", 0, 0, 4},
};

std::vector<Parameter> FeedWorkParameters() {
  std::vector<Parameter> parameters;
  for (const WorkAmount& amount : kWork) {
    if (amount.meaning.empty()) continue;
    parameters.push_back(IntegerParameter(amount.name, "", amount.range,
                                          amount.meaning, amount.unit));
  }
  return parameters;
}

// The second generation: leaves extract features, for which they query mock
// services, and the aggregator composes the feed.
constexpr char kSecondGeneration[] = "feedsim_v2";

constexpr Stage kCallFunctions = {
    "call_functions", "FeatureExtract", "serving",
    "hash_lookups=0 tree_walks=0 bitset_intersections=0 "
    "embedding_rows_gathered=0 function_calls=<function_calls>"};

constexpr Stage kExtractFeatures = {
    "extract_features", "FeatureExtract", "serving",
    "hash_lookups=10000 tree_walks=2000 bitset_intersections=1000 "
    "embedding_rows_gathered=1000 function_calls=20000"};

// The pool of a storage that serves a limited number of requests at once.
constexpr absl::string_view kStorage = "storage";

constexpr Stage kLeafStages[] = {
    {"rank", "PageRank", "ranking",
     "nodes=<rank_nodes> degree=<rank_degree> "
     "nodes_per_iteration=<rank_slice> parallelism=<ranking_threads>"},
    {"read_storage", "Wait", kStorage,
     R"(distribution="<io_distribution>" mean_us=<io_wait_us>)"},
    {"compress_reply", "Compress", "serving",
     R"(algorithm="zstd" bytes=<compressed_bytes> corpus_bytes=3145728
        entropy_percent=<entropy_percent>
        repeated_percent=<repeated_percent>)"},
    {"serialize_stories", "Serialize", "serialization",
     "stories=<stories> generate=1 parallelism=<serialization_threads>"},
    {"compress_stories", "Compress", "serialization",
     R"(algorithm="zstd" bytes=<stories_bytes>
        corpus_bytes=<stories_corpus_bytes> entropy_percent=<entropy_percent>
        repeated_percent=<repeated_percent>
        parallelism=<serialization_threads>)"},
    {"chase_pointers", "PointerChase", "chasing",
     "bytes=<chase_bytes> hops=<chase_hops> parallelism=<chase_threads>"},
    {"serialize_reply", "Serialize", "serving",
     "stories=<reply_stories> generate=1"},
    {"decompress_reply", "Decompress", "serving",
     R"(algorithm="zstd" bytes=<compressed_bytes> corpus_bytes=3145728
        entropy_percent=<entropy_percent>
        repeated_percent=<repeated_percent>)"},
    {"deserialize_reply", "Deserialize", "serving", "stories=<reply_stories>"},
};

// The aggregator parses the replies, chooses stories, and compresses its
// answer.
constexpr Stage kAggregatorStages[] = {
    {"read_stories", "Deserialize", "", "stories=<reply_stories>"},
    {"choose_stories", "ConsumeCpu", "", "array_size=3600"},
    {"compress_feed", "Compress", "",
     R"(algorithm="zstd" bytes=8192 corpus_bytes=3145728
        entropy_percent=<entropy_percent>
        repeated_percent=<repeated_percent>)"},
};

// A method of a mock service: the sizes of its answers, uniform between
// consecutive quantiles, and its duration.
struct MockMethod {
  absl::string_view name;
  int64_t bytes[5];  // quantiles 0, 0.5, 0.9, 0.99 and 1
  int64_t mean_us;
  int64_t sigma_thousandths;
};

constexpr MockMethod kMockMethods[] = {
    {"fetch_profile", {64, 512, 2048, 8192, 32'768}, 1000, 500},
    {"fetch_content", {64, 4096, 16'384, 65'536, 262'144}, 3000, 800},
    {"fetch_social", {64, 1024, 8192, 32'768, 131'072}, 2000, 1000},
};

std::string MockMethodForm(const MockMethod& method) {
  const auto& bytes = method.bytes;
  const std::string wait = absl::StrCat(method.name, "_wait");
  const std::string settings =
      absl::StrCat(R"(distribution="lognormal" mean_us=)", method.mean_us,
                   " sigma_thousandths=", method.sigma_thousandths);
  const Stage stage = {wait, "Wait", "", settings};
  return absl::StrCat(absl::Substitute(R"(
    rpc_descriptions {
      name: "$0" client: "leaf" server: "mock"
      fanout_filter: "random"
      request_payload_name: "$0_request_payload"
      response_payload_name: "$0_response_payload"
    }
    payload_descriptions { name: "$0_request_payload" size: 256 }
    payload_descriptions {
      name: "$0_response_payload"
      size_distribution_name: "$0_bytes"
    }
    size_distribution_configs {
      name: "$0_bytes"
      field_names: "payload_size"
      cdf_points { cdf: 0 value: $1 }
      cdf_points { cdf: 0.5 value: $2 }
      cdf_points { cdf: 0.9 value: $3 }
      cdf_points { cdf: 0.99 value: $4 }
      cdf_points { cdf: 1 value: $5 }
    }
    action_lists { name: "$0" action_names: "$0_wait" })",
                                       method.name, bytes[0], bytes[1],
                                       bytes[2], bytes[3], bytes[4]),
                      StagesForm({stage}));
}

constexpr char kPools[] = R"(
    activity_pools { name: "serving" size: <serving_threads> }
    activity_pools { name: "ranking" size: <ranking_threads> }
    activity_pools { name: "serialization" size: <serialization_threads> }
    activity_pools { name: "chasing" size: <chase_threads> })";

int64_t Amount(const DerivedValues& derived, absl::string_view name) {
  int64_t amount = 0;
  const auto found = derived.find(name);
  if (found != derived.end()) (void)absl::SimpleAtoi(found->second, &amount);
  return amount;
}

// Adds the stages of leaves, which begin with `first`, after `asks`.
void DeriveLeafStages(const Stage& first, const std::vector<std::string>& asks,
                      DerivedValues& derived) {
  std::vector<Stage> stages = {first};
  for (Stage stage : kLeafStages) {
    const bool is_unlimited = Amount(derived, "storage_places") == 0;
    if (stage.pool == kStorage && is_unlimited) stage.pool = "";
    stages.push_back(stage);
  }
  for (const std::string& ask : asks) {
    absl::StrAppend(&derived["leaf_stages"], "action_names: \"", ask, "\" ");
  }
  absl::StrAppend(&derived["leaf_stages"], ActionNames(stages));
  absl::StrAppend(&derived["work"],
                  StagesForm(stages, {asks.begin(), asks.end()}));
}

// The work of the second generation besides that of the first one.
void DeriveMocks(DerivedValues& derived) {
  std::string& work = derived["work"];
  std::vector<std::string> asks;
  std::string calls;
  absl::StrAppend(&work, R"(services { name: "mock" count: <mock_count> })");
  for (const MockMethod& method : kMockMethods) {
    absl::StrAppend(&work, MockMethodForm(method));
    asks.push_back(absl::StrCat("ask_", method.name));
    absl::SubstituteAndAppend(&calls, R"(
    actions {
      name: "ask_$0"
      rpc_name: "$0"
      iterations {
        max_iteration_count: <mock_calls>
        max_parallel_iterations: <mock_calls>
      }
    })",
                              method.name);
  }
  work += calls;
  DeriveLeafStages(kExtractFeatures, asks, derived);
  derived["aggregator_stages"] = ActionNames(kAggregatorStages);
  absl::StrAppend(&work, StagesForm(kAggregatorStages, {"ask_leaves"}));
}

// The preset's amounts, or those that override them, and what follows from
// these.
void DeriveAmounts(const ParameterValues& values, DerivedValues& derived) {
  const std::string& preset = values.Text("preset");
  for (const WorkAmount& amount : kWork) {
    const int64_t of_preset = preset == "small"        ? amount.small
                              : preset == "feedsim_v1" ? amount.feedsim_v1
                                                       : amount.feedsim_v2;
    derived.emplace(amount.name, absl::StrCat(values.Has(amount.name)
                                                  ? values.Integer(amount.name)
                                                  : of_preset));
  }
  derived["rank_slice"] = absl::StrCat(
      std::min(Amount(derived, "rank_slice"), Amount(derived, "rank_nodes")));
  constexpr int64_t kStoryBytes = 7900;
  constexpr int64_t kLeastCorpusBytes = 3 << 20;
  const int64_t half_of_stories = Amount(derived, "stories") * kStoryBytes / 2;
  derived["stories_bytes"] = absl::StrCat(half_of_stories);
  derived["stories_corpus_bytes"] =
      absl::StrCat(std::max(kLeastCorpusBytes, half_of_stories));
}

void DeriveWork(const ParameterValues& values, DerivedValues& derived) {
  const bool is_second_generation = values.Text("preset") == kSecondGeneration;
  DeriveAmounts(values, derived);
  derived["io_distribution"] = is_second_generation ? "lognormal" : "fixed";
  derived["work"] = kPools;
  if (Amount(derived, "storage_places") > 0) {
    derived["work"] +=
        R"(activity_pools { name: "storage" size: <storage_places> })";
  }
  if (is_second_generation) {
    DeriveMocks(derived);
  } else {
    DeriveLeafStages(kCallFunctions, {}, derived);
  }
}

// Checks for work parameters that the preset does not have.
absl::Status CheckWorkParameters(const ParameterValues& values) {
  const std::string& preset = values.Text("preset");
  for (const Parameter& parameter : FeedWorkParameters()) {
    const std::string& name = parameter.name;
    const bool applies = !preset.empty() &&
                         (name != "mock_count" || preset == kSecondGeneration);
    if (applies || !values.Has(name)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        name, " has no effect with ",
        preset.empty() ? "no preset" : absl::StrCat("preset=", preset),
        "; remove it, or add preset=",
        name == "mock_count" ? kSecondGeneration
                             : "small, feedsim_v1 or feedsim_v2"));
  }
  return absl::OkStatus();
}

// The preset, and the values that override it.
std::string WorkName(const ParameterValues& values) {
  if (!values.Has("preset")) return "";
  std::string name = absl::StrCat(values.Text("preset"), "_");
  for (const Parameter& parameter : FeedWorkParameters()) {
    if (!values.Has(parameter.name)) continue;
    absl::StrAppend(&name, parameter.name, values.Text(parameter.name), "_");
  }
  return name;
}

// The given size, or else that of the stories in the response.
int64_t LeafResponseBytes(const ParameterValues& values,
                          const DerivedValues& derived) {
  // The reply of a leaf in a feed ranking service.
  constexpr int64_t kStoriesOfReply = 36;
  constexpr int64_t kReplyBytes = 284'672;
  if (values.Has("leaf_response_size")) {
    return values.Integer("leaf_response_size");
  }
  if (!values.Has("preset")) return kReplyBytes;
  return kReplyBytes * Amount(derived, "reply_stories") / kStoriesOfReply;
}

absl::Status DeriveFeed(const ParameterValues& values, DerivedValues& derived) {
  if (absl::Status status = CheckWorkParameters(values); !status.ok()) {
    return status;
  }
  for (const char* name : {"aggregator_stages", "leaf_stages", "work"}) {
    derived[name] = "";
  }
  if (values.Has("preset")) DeriveWork(values, derived);
  derived["work_name"] = WorkName(values);
  derived["leaf_response_bytes"] =
      absl::StrCat(LeafResponseBytes(values, derived));
  return DeriveQueryLoad(values, derived);
}

std::vector<Parameter> FeedParameters() {
  return {
      IntegerParameter("aggregator_count", "1", {1, kMaxInstances},
                       "Aggregators, queried in turn."),
      IntegerParameter("leaf_count", "4", {1, kMaxInstances},
                       "Leaves; every query reaches all."),
      IntegerParameter("request_size", "3000", {0},
                       "Bytes from driver to aggregator.", Unit::kBytes),
      IntegerParameter("response_size", "8192", {0},
                       "Bytes from aggregator to driver.", Unit::kBytes),
      IntegerParameter("leaf_request_size", "8192", {0},
                       "Bytes from aggregator to leaf.", Unit::kBytes),
      IntegerParameter("leaf_response_size", "", {0},
                       "Bytes from leaf to aggregator. Default: those "
                       "of the preset's stories; without a preset "
                       "284672, or 36 stories.",
                       Unit::kBytes),
      ChoiceParameter("preset", "", {"small", "feedsim_v1", kSecondGeneration},
                      "Work of services besides messages: little, for a "
                      "laptop, or as much as FeedSim's. Default: none."),
  };
}

}  // namespace

Pattern FeedAggregatorPattern() {
  return {
      .name = "feed_aggregator",
      .summary = "driver, aggregator and leaves of a feed",
      .description =
          "Open loop: a driver sends qps queries per second to the aggregators "
          "in turn. An aggregator asks every leaf, and answers once it has all "
          "of their stories: large responses that converge on one node. The "
          "sizes are those of a feed ranking service; a preset adds the work "
          "of one.",
      .example = "feed_aggregator:leaf_count=3:qps=50",
      .parameters = Joined(
          {QueryLoadParameters("100"), FeedParameters(), FeedWorkParameters()}),
      .alias =
          "feed_aggregator_<work_name><arrivals>_<aggregator_count>x"
          "<leaf_count>x<qps>x<request_size>x<response_size>x"
          "<leaf_request_size>x<leaf_response_bytes>",
      .body = absl::StrCat(kMessages, "<work>"),
      .derive = &DeriveFeed,
  };
}

}  // namespace distbench::test_builder
