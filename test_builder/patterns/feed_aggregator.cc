#include "test_builder/patterns/patterns.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "test_builder/patterns/feed_work.h"
#include "test_builder/patterns/query_load.h"
#include "test_builder/patterns/traffic_parts.h"

namespace distbench::test_builder {
namespace {

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
      "feed_aggregator_", WorkAlias(values), ArrivalsName(values), "_",
      values.Text("aggregator_count"), "x", values.Text("leaf_count"), "x",
      values.Text("qps"), "x", values.Text("request_size"), "x",
      values.Text("response_size"), "x", values.Text("leaf_request_size"), "x",
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
  std::vector<Parameter> parameters = {
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
  for (Parameter& parameter : FeedWorkParameters()) {
    parameters.push_back(std::move(parameter));
  }
  return WithQueryLoad("100", std::move(parameters));
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
      .parameters = FeedParameters(),
      .build = &BuildFeedAggregator,
  };
}

}  // namespace distbench::test_builder
