// A feed: its messages, and the work of its services besides.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "glog/logging.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

// The amount of each kind of work. All amounts are absolute: they do not depend
// on the hosts.
struct FeedWork {
  // Threads of each leaf's pools.
  int64_t serving_threads = 1;
  int64_t ranking_threads = 1;
  int64_t serialization_threads = 1;
  int64_t chase_threads = 1;

  // A leaf's stages, in order.
  int64_t function_calls = 0;
  int64_t rank_nodes = 1;
  int64_t rank_degree = 16;
  int64_t rank_slice = 0;  // nodes per request; 0: all
  std::string io_distribution = "fixed";
  int64_t io_wait_us = 1;
  int64_t storage_places = 0;  // concurrent waits of a leaf; 0: unlimited
  int64_t compressed_bytes = 1;
  int64_t entropy_percent = 75;
  int64_t repeated_percent = 0;
  int64_t stories = 1;         // serialised and compressed
  int64_t story_bytes = 7900;  // of each story, when compressed
  int64_t chase_bytes = 64;
  int64_t chase_hops = 1;
  int64_t reply_stories = 1;

  // Only in the second generation: leaves extract features, for which they
  // query mock services, and the aggregator composes the feed.
  bool second_generation = false;
  int64_t feature_scale = 1;  // factor on the counts of FeatureExtract
  int64_t mock_count = 0;
  int64_t mock_calls = 0;  // of each kind, per request to a leaf
};

// A leaf's pools.
constexpr char kServing[] = "serving";
constexpr char kRanking[] = "ranking";
constexpr char kSerialization[] = "serialization";
constexpr char kChasing[] = "chasing";
constexpr char kStorage[] = "storage";

// All kinds of work, but little of each: a request costs about 0.3 ms of CPU
// time in each leaf. The bottleneck is storage, which serves one request at a
// time, 400 per second. It does not depend on the speed of the CPU, which
// changes from minute to minute on laptops and shared machines and would change
// the highest load.
FeedWork Small() {
  FeedWork work;
  work.function_calls = 500;
  work.rank_nodes = 2000;
  work.rank_degree = 8;
  work.io_wait_us = 2500;
  work.storage_places = 1;
  work.compressed_bytes = 4096;
  work.repeated_percent = 50;
  work.stories = 2;
  work.chase_bytes = 1 << 20;
  work.chase_hops = 200;
  work.reply_stories = 1;
  return work;
}

// The configuration of a leaf by FeedSim's run script on a host with 16 logical
// CPUs.
FeedWork FeedSimV1() {
  FeedWork work;
  work.serving_threads = 16;
  work.ranking_threads = 6;
  work.serialization_threads = 6;
  work.chase_threads = 8;
  work.function_calls = 1'600'000;
  work.rank_nodes = 1 << 21;
  work.rank_degree = 16;
  work.rank_slice = 2'000'000;
  work.io_wait_us = 200'000;
  work.compressed_bytes = 131'072;
  work.stories = 2000;
  work.chase_bytes = 80'000'000;
  work.chase_hops = 5120;
  work.reply_stories = 36;
  return work;
}

FeedWork FeedSimV2() {
  FeedWork work = FeedSimV1();
  work.second_generation = true;
  work.function_calls = 0;
  work.feature_scale = 200;
  work.io_distribution = "lognormal";
  work.io_wait_us = 20'000;
  work.entropy_percent = 60;
  work.repeated_percent = 60;
  work.stories = 200;
  work.mock_count = 2;
  work.mock_calls = 4;
  return work;
}

ActionList& ListOf(DistributedSystemDescription& body, absl::string_view name) {
  for (ActionList& list : *body.mutable_action_lists()) {
    if (list.name() == name) return list;
  }
  LOG(FATAL) << "the pattern has no list " << name;
}

ActivitySettings CorpusOf(const FeedWork& work, int64_t bytes) {
  return {{"algorithm", "zstd"},
          {"bytes", bytes},
          {"corpus_bytes", std::max<int64_t>(3 << 20, bytes)},
          {"entropy_percent", work.entropy_percent},
          {"repeated_percent", work.repeated_percent}};
}

void AddFeatures(const FeedWork& work, Stages& stages) {
  const int64_t scale = work.feature_scale;
  stages.Do("extract_features", "FeatureExtract", kServing,
            {{"hash_lookups", 50 * scale},
             {"tree_walks", 10 * scale},
             {"bitset_intersections", 5 * scale},
             {"embedding_rows_gathered", 5 * scale},
             {"function_calls", 100 * scale}});
}

void AddLeafStages(const FeedWork& work, Stages& stages) {
  if (work.function_calls > 0) {
    stages.Do("call_functions", "FeatureExtract", kServing,
              {{"hash_lookups", int64_t{0}},
               {"tree_walks", int64_t{0}},
               {"bitset_intersections", int64_t{0}},
               {"embedding_rows_gathered", int64_t{0}},
               {"function_calls", work.function_calls}});
  }
  if (work.second_generation) AddFeatures(work, stages);
  stages.Do("rank", "PageRank", kRanking,
            {{"nodes", work.rank_nodes},
             {"degree", work.rank_degree},
             {"nodes_per_iteration", work.rank_slice},
             {"parallelism", work.ranking_threads}});
  stages.Do(
      "read_storage", "Wait", work.storage_places > 0 ? kStorage : "",
      {{"distribution", work.io_distribution}, {"mean_us", work.io_wait_us}});
  stages.Do("compress_reply", "Compress", kServing,
            CorpusOf(work, work.compressed_bytes));
  stages.Do("serialize_stories", "Serialize", kSerialization,
            {{"stories", work.stories},
             {"generate", int64_t{1}},
             {"parallelism", work.serialization_threads}});
  ActivitySettings half = CorpusOf(work, work.stories * work.story_bytes / 2);
  half.push_back({"parallelism", work.serialization_threads});
  stages.Do("compress_stories", "Compress", kSerialization, half);
  stages.Do("chase_pointers", "PointerChase", kChasing,
            {{"bytes", work.chase_bytes},
             {"hops", work.chase_hops},
             {"parallelism", work.chase_threads}});
  stages.Do("serialize_reply", "Serialize", kServing,
            {{"stories", work.reply_stories}, {"generate", int64_t{1}}});
  stages.Do("decompress_reply", "Decompress", kServing,
            CorpusOf(work, work.compressed_bytes));
  stages.Do("deserialize_reply", "Deserialize", kServing,
            {{"stories", work.reply_stories}});
}

// A method of a mock service: the sizes of its answers, uniform between
// consecutive quantiles, and its duration.
struct MockMethod {
  const char* name;
  std::vector<std::pair<double, int64_t>> bytes_cdf;
  int64_t mean_us;
  int64_t sigma_thousandths;
};

std::vector<MockMethod> MockMethods() {
  return {{"fetch_profile",
           {{0, 64}, {0.5, 512}, {0.9, 2048}, {0.99, 8192}, {1, 32'768}},
           1000,
           500},
          {"fetch_content",
           {{0, 64}, {0.5, 4096}, {0.9, 16'384}, {0.99, 65'536}, {1, 262'144}},
           3000,
           800},
          {"fetch_social",
           {{0, 64}, {0.5, 1024}, {0.9, 8192}, {0.99, 32'768}, {1, 131'072}},
           2000,
           1000}};
}

void AddMockMethod(const MockMethod& method,
                   DistributedSystemDescription& body) {
  const std::string name = method.name;
  AddRpcWithPayloads(body, name, "leaf", "mock", "random", name);
  AddPayloadPair(body, name, 256, 0);
  PayloadSpec& response =
      *body.mutable_payload_descriptions(body.payload_descriptions_size() - 1);
  response.clear_size();
  response.set_size_distribution_name(absl::StrCat(name, "_bytes"));
  DistributionConfig& bytes = *body.add_size_distribution_configs();
  bytes.set_name(absl::StrCat(name, "_bytes"));
  bytes.add_field_names("payload_size");
  for (const auto& [cdf, value] : method.bytes_cdf) {
    CdfPoint& point = *bytes.add_cdf_points();
    point.set_cdf(cdf);
    point.set_value(value);
  }
  Stages stages(body, AddActionList(body, name));
  stages.Do(absl::StrCat(name, "_wait"), "Wait", "",
            {{"distribution", "lognormal"},
             {"mean_us", method.mean_us},
             {"sigma_thousandths", method.sigma_thousandths}});
}

// The aggregator parses the replies, chooses stories, and compresses its
// answer.
void AddAggregatorStages(const FeedWork& work, Stages& stages) {
  stages.Do("read_stories", "Deserialize", "",
            {{"stories", work.reply_stories}});
  stages.Do("choose_stories", "ConsumeCpu", "",
            {{"array_size", 100 * work.reply_stories}});
  stages.Do("compress_feed", "Compress", "", CorpusOf(work, 8192));
}

// The choices for the parameter "preset".
std::vector<std::string> FeedPresets() {
  return {"small", "feedsim_v1", "feedsim_v2"};
}

// A parameter that overrides the preset's amount.
struct WorkParameter {
  Parameter parameter;
  int64_t FeedWork::*amount;
};

std::vector<WorkParameter> WorkAmounts() {
  return {
      {IntegerParameter("serving_threads", "", {1, 1024},
                        "Threads of each leaf for its own stages. Default, "
                        "here and below: the preset's."),
       &FeedWork::serving_threads},
      {IntegerParameter("ranking_threads", "", {1, 1024},
                        "Threads of each leaf that rank, all on one request."),
       &FeedWork::ranking_threads},
      {IntegerParameter("serialization_threads", "", {1, 1024},
                        "Threads of each leaf that serialise stories."),
       &FeedWork::serialization_threads},
      {IntegerParameter("rank_nodes", "", {1, 100'000'000},
                        "Nodes of the graph that leaves rank."),
       &FeedWork::rank_nodes},
      {InMicroseconds(IntegerParameter("io_wait_us", "", {1},
                                       "Microseconds that leaves wait for "
                                       "storage, or their mean.")),
       &FeedWork::io_wait_us},
      {IntegerParameter("storage_places", "", {1, 1024},
                        "Requests of each leaf that storage serves at once; "
                        "others queue. Unlimited in feedsim_v1 and v2."),
       &FeedWork::storage_places},
      {IntegerParameter("stories", "", {1, 100'000},
                        "Stories that leaves serialise for each request."),
       &FeedWork::stories},
      {IntegerParameter("mock_count", "", {1, kMaxInstances},
                        "Mock services that feedsim_v2 asks for features."),
       &FeedWork::mock_count},
  };
}

std::vector<Parameter> FeedWorkParameters() {
  std::vector<Parameter> parameters;
  for (const WorkParameter& each : WorkAmounts()) {
    parameters.push_back(each.parameter);
  }
  return parameters;
}

// preset: one of FeedPresets().
FeedWork FeedWorkOf(const std::string& preset, const ParameterValues& values) {
  FeedWork work = preset == "small"        ? Small()
                  : preset == "feedsim_v1" ? FeedSimV1()
                                           : FeedSimV2();
  for (const auto& [parameter, amount] : WorkAmounts()) {
    if (values.Has(parameter.name)) {
      work.*amount = values.Integer(parameter.name);
    }
  }
  work.rank_slice = std::min(work.rank_slice, work.rank_nodes);
  return work;
}

// Adds the pools, activities, actions and any mock services, and makes the
// actions part of the lists "leaf_query" and "feed_query".
void AddFeedWork(const FeedWork& work, DistributedSystemDescription& body) {
  AddPool(kServing, work.serving_threads, body);
  AddPool(kRanking, work.ranking_threads, body);
  AddPool(kSerialization, work.serialization_threads, body);
  AddPool(kChasing, work.chase_threads, body);
  if (work.storage_places > 0) AddPool(kStorage, work.storage_places, body);
  if (work.second_generation) {
    AddService(body, "mock", work.mock_count);
    for (const MockMethod& method : MockMethods()) AddMockMethod(method, body);
  }
  Stages leaf(body, ListOf(body, "leaf_query"));
  if (work.second_generation) {
    std::vector<std::string> methods;
    for (const MockMethod& method : MockMethods()) {
      methods.push_back(method.name);
    }
    leaf.Call("ask", methods, work.mock_calls);
  }
  AddLeafStages(work, leaf);
  if (!work.second_generation) return;
  Stages aggregator(body, ListOf(body, "feed_query"));
  aggregator.Continue("ask_leaves");
  AddAggregatorStages(work, aggregator);
}

// The reply of a leaf in a feed ranking service.
constexpr int64_t kStoriesOfReply = 36;
constexpr int64_t kReplyBytes = 284'672;

bool HasWork(const ParameterValues& values) { return values.Has("preset"); }

// Checks for work parameters that the preset does not have.
absl::Status CheckWorkParameters(const ParameterValues& values) {
  const std::string& preset = values.Text("preset");
  for (const Parameter& parameter : FeedWorkParameters()) {
    const std::string& name = parameter.name;
    const bool applies =
        HasWork(values) && (name != "mock_count" || preset == "feedsim_v2");
    if (applies || !values.Has(name)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        name, " has no effect with ",
        preset.empty() ? "no preset" : absl::StrCat("preset=", preset),
        "; remove it, or add preset=",
        name == "mock_count" ? "feedsim_v2"
                             : "small, feedsim_v1 or feedsim_v2"));
  }
  return absl::OkStatus();
}

// The preset, and the values that override it.
std::string WorkAlias(const ParameterValues& values) {
  if (!HasWork(values)) return "";
  std::string alias = absl::StrCat(values.Text("preset"), "_");
  for (const Parameter& parameter : FeedWorkParameters()) {
    if (!values.Has(parameter.name)) continue;
    absl::StrAppend(&alias, parameter.name, values.Text(parameter.name), "_");
  }
  return alias;
}

// The given size, or else that of the stories in the response.
int64_t LeafResponseBytes(const ParameterValues& values) {
  if (values.Has("leaf_response_size")) {
    return values.Integer("leaf_response_size");
  }
  const int64_t stories =
      HasWork(values) ? FeedWorkOf(values.Text("preset"), values).reply_stories
                      : kStoriesOfReply;
  return kReplyBytes * stories / kStoriesOfReply;
}

std::string FeedAlias(const ParameterValues& values) {
  return absl::StrCat(
      "feed_aggregator_", WorkAlias(values),
      Alias(values,
            "{arrivals}_{aggregator_count}x{leaf_count}x{qps}x{request_size}x"
            "{response_size}x{leaf_request_size}x"),
      LeafResponseBytes(values));
}

absl::StatusOr<Traffic> BuildFeedAggregator(const ParameterValues& values) {
  if (absl::Status status = CheckWorkParameters(values); !status.ok()) {
    return status;
  }
  Traffic traffic;
  traffic.alias = FeedAlias(values);
  DistributedSystemDescription& body = traffic.body;
  AddService(body, "driver", 1);
  AddService(body, "aggregator", values.Integer("aggregator_count"));
  AddService(body, "leaf", values.Integer("leaf_count"));

  AddActionList(body, "driver", {"send_queries"});
  SetQueryLoad(
      values,
      *AddRpcAction(body, "send_queries", "feed_query").mutable_iterations());
  AddRpcWithPayloads(body, "feed_query", "driver", "aggregator", "round_robin",
                     "feed");
  AddPayloadPair(body, "feed", values.Integer("request_size"),
                 values.Integer("response_size"));

  AddActionList(body, "feed_query", {"ask_leaves"});
  AddRpcAction(body, "ask_leaves", "leaf_query");
  AddRpcWithPayloads(body, "leaf_query", "aggregator", "leaf", "all", "leaf");
  AddPayloadPair(body, "leaf", values.Integer("leaf_request_size"),
                 LeafResponseBytes(values));
  AddActionList(body, "leaf_query");
  if (HasWork(values)) {
    AddFeedWork(FeedWorkOf(values.Text("preset"), values), body);
  }
  return traffic;
}

std::vector<Parameter> FeedParameters() {
  return {
      IntegerParameter("aggregator_count", "1", {1, kMaxInstances},
                       "Aggregators, queried in turn."),
      IntegerParameter("leaf_count", "4", {1, kMaxInstances},
                       "Leaves; every query reaches all."),
      InBytes(IntegerParameter("request_size", "3000", {0},
                               "Bytes from driver to aggregator.")),
      InBytes(IntegerParameter("response_size", "8192", {0},
                               "Bytes from aggregator to driver.")),
      InBytes(IntegerParameter("leaf_request_size", "8192", {0},
                               "Bytes from aggregator to leaf.")),
      InBytes(IntegerParameter("leaf_response_size", "", {0},
                               "Bytes from leaf to aggregator. Default: those "
                               "of the preset's stories; without a preset "
                               "284672, or 36 stories.")),
      ChoiceParameter("preset", "", FeedPresets(),
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
      .build = &BuildFeedAggregator,
  };
}

}  // namespace distbench::test_builder
