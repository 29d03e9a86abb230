#include "distbench/products/numa_compare/numa_table.h"

#include <cmath>
#include <string>
#include <vector>

#include "distbench/base/json.h"
#include "distbench/base/message_json.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::numa_compare {
namespace {

base::Json JsonOf(const NumaComparison& comparison) {
  return base::MessageJson(ReportNumaComparison(comparison));
}

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

void AddSearches(const std::string& objective, const std::vector<double>& loads,
                 google::protobuf::RepeatedPtrField<SearchReport>& searches) {
  for (const double load : loads) {
    SearchReport& search = *searches.Add();
    search.mutable_search()->add_objectives(objective);
    search.set_load_unit("iterations per second");
    search.set_verdict(load > 0 ? "converged" : "generator_limited");
    if (load > 0) search.set_load(load);
  }
}

NumaDeployment& AddDeployment(const std::string& name, int instances,
                              const std::vector<double>& loads,
                              NumaComparison& comparison) {
  NumaDeployment& deployment = *comparison.add_deployments();
  deployment.set_name(name);
  deployment.set_instances(instances);
  deployment.set_workers_per_instance(4 / instances);
  AddSearches("cpu<=60%", loads, *deployment.mutable_cpu_target_searches());
  return deployment;
}

BindingProof& AddProof(NumaDeployment& deployment) {
  BindingProof& proof = (*deployment.mutable_binding_proofs())["server/0"];
  proof.mutable_binding()->set_cpus("2-3");
  proof.mutable_binding()->set_memory_policy(NumaBinding::BIND);
  proof.mutable_binding()->set_memory_nodes("1");
  (*proof.mutable_cpu_time_ns_by_cpu())[3] = 1000;
  (*proof.mutable_cpu_time_ns_by_cpu())[2] = 3000;
  (*proof.mutable_resident_bytes_by_node())[1] = 3 << 20;
  return proof;
}

TEST(NumaTableTest, RatiosToTheFirstWithIntervals) {
  NumaComparison comparison;
  AddDeployment("one_unbound", 1, {100, 110, 90}, comparison);
  AddDeployment("bound", 2, {200, 220, 180}, comparison);
  const base::Json json = JsonOf(comparison);
  const base::Json& first = json["deployments"][0]["cpu_target"];
  EXPECT_NEAR(first["load"].get<double>(), std::cbrt(100.0 * 110 * 90), 1e-9);
  EXPECT_TRUE(first["ratio"].is_null());
  const base::Json& bound = json["deployments"][1]["cpu_target"];
  EXPECT_NEAR(bound["ratio"].get<double>(), 2, 1e-9);
  EXPECT_LT(bound["ratio_lower"].get<double>(), 2);
  EXPECT_GT(bound["ratio_upper"].get<double>(), 2);
  EXPECT_THAT(json["deployments"][1]["objective"]["searches"], IsEmpty());
}

TEST(NumaTableTest, SearchesThatFoundNothingDoNotCount) {
  NumaComparison comparison;
  AddDeployment("one_unbound", 1, {100, 0}, comparison);
  AddDeployment("bound", 2, {0}, comparison);
  const base::Json json = JsonOf(comparison);
  const base::Json& first = json["deployments"][0]["cpu_target"];
  EXPECT_THAT(first["searches"], SizeIs(2));
  EXPECT_NEAR(first["load"].get<double>(), 100, 1e-9);
  const base::Json& bound = json["deployments"][1]["cpu_target"];
  EXPECT_TRUE(bound["load"].is_null());
  EXPECT_TRUE(bound["ratio"].is_null());
  EXPECT_THAT(RenderNumaComparison(comparison), HasSubstr("  1/2  "));
}

// A final run of each search at its load, with RPCs of this duration, and one
// at a higher load that missed.
void AddFinalRuns(const std::vector<int64_t>& latencies_ns,
                  google::protobuf::RepeatedPtrField<SearchReport>& searches) {
  for (size_t i = 0; i < latencies_ns.size(); ++i) {
    SearchReport& search = searches[static_cast<int>(i)];
    const auto add = [&](const std::string& phase, const std::string& outcome,
                         double load, int64_t latency_ns) {
      SearchProbe& probe = *search.add_probes();
      probe.set_phase(phase);
      probe.set_outcome(outcome);
      probe.set_requested_load(load);
      stats::LogHistogram histogram;
      histogram.RecordN(latency_ns, 100);
      results::EncodeHistogram(
          histogram, *probe.mutable_statistics()->mutable_response_time_ns());
    };
    add("refine", "met", search.load(), 77 * latencies_ns[i]);
    add("final", "missed", 2 * search.load(), 99 * latencies_ns[i]);
    add("final", "met", search.load(), latencies_ns[i]);
  }
}

TEST(NumaTableTest, MeanLatencyIsThatOfTheFinalRuns) {
  NumaComparison comparison;
  NumaDeployment& first =
      AddDeployment("one_unbound", 1, {100, 100}, comparison);
  AddFinalRuns({1'000'000, 4'000'000}, *first.mutable_cpu_target_searches());
  NumaDeployment& bound = AddDeployment("bound", 2, {150, 150}, comparison);
  AddFinalRuns({1'100'000, 4'400'000}, *bound.mutable_cpu_target_searches());
  const base::Json json = JsonOf(comparison);
  EXPECT_NEAR(
      json["deployments"][0]["cpu_target"]["mean_latency_ns"].get<double>(),
      2'000'000, 20'000);
  const base::Json& capacity = json["deployments"][1]["cpu_target"];
  EXPECT_NEAR(capacity["mean_latency_ratio"].get<double>(), 1.1, 0.01);
  EXPECT_FALSE(capacity["mean_latency_ratio_lower"].is_null());
  EXPECT_THAT(RenderNumaComparison(comparison),
              AllOf(ContainsRegex("mean latency +ratio to the first\n"),
                    ContainsRegex("bound .* 2\\.2 ms +1\\.1")));
}

TEST(NumaTableTest, SearchesWithoutFinalRunsHaveNoLatency) {
  NumaComparison comparison;
  AddDeployment("one_unbound", 1, {100}, comparison);
  EXPECT_THAT(RenderNumaComparison(comparison), Not(HasSubstr(" ms")));
  EXPECT_TRUE(
      JsonOf(comparison)["deployments"][0]["cpu_target"]["mean_latency_ns"]
          .is_null());
}

TEST(NumaTableTest, TextHasCapacitiesProofsAndNotes) {
  NumaComparison comparison;
  AddDeployment("one_unbound", 1, {100}, comparison);
  NumaDeployment& bound = AddDeployment("bound", 2, {150}, comparison);
  BindingProof& proof = AddProof(bound);
  comparison.add_omissions("The moon was left out.");
  const std::string held = RenderNumaComparison(comparison);
  EXPECT_THAT(held, HasSubstr("Highest iterations per second with cpu<=60%:"));
  EXPECT_THAT(held, ContainsRegex("  bound +2 +4 +150 +1/1 +1\\.500 +- +-\n"));
  EXPECT_THAT(held, HasSubstr("bound server/0: asked for CPUs 2-3, memory bind "
                              "1; CPU time by CPU 2: 75 %, 3: 25 %; memory by "
                              "node 1: 3.0 MiB\n"));
  EXPECT_THAT(held, HasSubstr("Note: The moon was left out."));
  EXPECT_THAT(held, Not(HasSubstr("NOT HELD")));
  EXPECT_EQ(JsonOf(comparison)["deployments"][1]["bindings_held"], true);

  proof.add_violations("it ran away");
  EXPECT_THAT(RenderNumaComparison(comparison),
              HasSubstr("NOT HELD: it ran away"));
  EXPECT_EQ(JsonOf(comparison)["deployments"][1]["bindings_held"], false);
}

TEST(NumaTableTest, JsonHasWhatThePageShows) {
  NumaComparison comparison;
  AddDeployment("one_unbound", 1, {100}, comparison);
  AddProof(AddDeployment("bound", 2, {150, 0}, comparison));
  const auto json = JsonOf(comparison);
  const auto& bound = json["deployments"][1];
  EXPECT_NEAR(bound["cpu_target"]["ratio"].get<double>(), 1.5, 1e-9);
  EXPECT_TRUE(bound["cpu_target"]["ratio_lower"].is_null());
  EXPECT_EQ(bound["cpu_target"]["searches"][1]["verdict"], "generator_limited");
  EXPECT_EQ(bound["bindings_held"], true);
  EXPECT_TRUE(json["deployments"][0]["bindings_held"].is_null());
  EXPECT_EQ(bound["proofs"][0]["cpu_time_ns_by_cpu"]["2"], 3000);
  EXPECT_TRUE(bound["proofs"][0]["cpu_migrations"].is_null());
}

TEST(NumaTableTest, NothingComparedIsNothing) {
  EXPECT_EQ(RenderNumaComparison({}), "");
}

}  // namespace
}  // namespace distbench::numa_compare
