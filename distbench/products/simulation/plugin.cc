// What this product adds to the program.

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "distbench/base/plugins.h"
#include "distbench/cli/command.h"
#include "distbench/cli/test_simulation.h"
#include "distbench/cli/value_candidates.h"
#include "distbench/flags/completion.h"
#include "distbench/products/simulation/cluster/simulated_cluster.h"
#include "distbench/products/simulation/command.h"
#include "distbench/products/simulation/command_flags.h"
#include "distbench/products/simulation/report/page_files.h"
#include "distbench/products/simulation/report/simulation_report.h"
#include "distbench/products/simulation/variation/field_path.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/parts/document_parts.h"
#include "distbench/report/parts/finding_rule.h"
#include "distbench/report/parts/text_part.h"
#include "google/protobuf/message.h"
#include "proto/simulation.pb.h"
#include "proto/traffic_config.pb.h"
#include "test_builder/command_line.h"

namespace distbench::simulation {
namespace {

using cli::Command;
using cli::HelpSection;

const base::Plugin<base::Product> kProduct(
    "simulation", new base::Product{"Runs tests on simulated hosts"});

const base::Plugin<Command> kCommand("simulate",
                                     new Command{HelpSection::kTests,
                                                 AddSimulateCommand});

// For commands of other products that can simulate their tests.
class Options final : public cli::SimulationOptions {
 public:
  std::vector<std::string> AddFlags(CLI::App& command) override {
    return AddSimulationFlags(command, flags_);
  }

  absl::StatusOr<cli::SimulatedHosts> Read() const override {
    absl::StatusOr<ClusterRunOptions> options = ReadSimulationFlags(flags_);
    if (!options.ok()) return options.status();
    cli::SimulatedHosts hosts;
    hosts.fabric = options->fabric;
    hosts.count = options->host_count;
    hosts.run = [options = *std::move(options)](
                    const DistributedSystemDescription& test,
                    int64_t start_unix_ns,
                    const std::atomic<bool>& is_cancelled) {
      ClusterRunOptions of_run = options;
      of_run.start_unix_ns = start_unix_ns;
      of_run.is_cancelled = &is_cancelled;
      return RunSimulatedTest(test, of_run);
    };
    return hosts;
  }

 private:
  SimulationFlags flags_;
};

std::unique_ptr<cli::SimulationOptions> MakeOptions() {
  return std::make_unique<Options>();
}

const base::Plugin<cli::TestSimulation> kSimulation("simulation",
                                                    new cli::TestSimulation{
                                                        MakeOptions});

}  // namespace

// What --vary may vary.

namespace {

// Parameters of a pattern, as --vary has them.
void AddParameters(const std::string& pattern,
                   std::vector<flags::Candidate>& candidates) {
  const std::string stays = absl::StrCat(pattern, ":");
  for (const flags::Candidate& setting :
       test_builder::ConfigCandidates(stays)) {
    if (!absl::EndsWith(setting.word, "=")) continue;
    candidates.push_back(
        {setting.word.substr(stays.size()), setting.description});
  }
}

void AddFields(absl::string_view prefix, absl::string_view typed,
               const google::protobuf::Message& message,
               std::set<std::string>& names) {
  if (!absl::ConsumePrefix(&typed, prefix)) {
    names.insert(std::string(prefix));
    return;
  }
  for (const std::string& field : FieldCandidates(typed, message)) {
    names.insert(absl::StrCat(prefix, field));
  }
}

// Elements of lists are those of the tests that the command line names.
std::vector<flags::Candidate> VariationCandidates(
    const flags::ValueRequest& request) {
  std::vector<flags::Candidate> candidates = cli::NamesInConfigs(
      request, [&](const auto& test, std::set<std::string>& names) {
        for (const ServiceSpec& service : test.services()) {
          names.insert(absl::StrCat("service.", service.name(), "="));
        }
        AddFields("test.", request.typed, test, names);
      });
  const std::string pattern = flags::FlagValue(request.words, "--pattern");
  if (!pattern.empty()) AddParameters(pattern, candidates);
  std::set<std::string> names;
  AddFields("fabric.", request.typed, SimulatedFabric(), names);
  if (candidates.empty() || !pattern.empty()) {
    AddFields("test.", request.typed, DistributedSystemDescription(), names);
  }
  for (const std::string& name : names) candidates.push_back({name});
  return candidates;
}

const base::Plugin<cli::ValueType> kVariations("NAME=VALUE,VALUE",
                                               new cli::ValueType{
                                                   VariationCandidates});

}  // namespace

// What simulations add to reports.

namespace {

absl::string_view AdviceFor(absl::string_view code) {
  if (code != "simulation") return "";
  return "Take the figures for a direction, not for a prediction. Measure a "
         "small part of the system for real, calibrate the costs by it "
         "(distbench simulate --calibrate_from), and compare it with its own "
         "simulation.";
}

base::Json ValueOf(const TestResult& result, const report::JsonLimits&) {
  return SimulationJson(result);
}

std::vector<std::string> OpeningOf(const TestResult& result) {
  if (!report::IsSimulated(result)) return {};
  return {DescribeSimulation(result.simulation())};
}

const base::Plugin<report::FindingRule> kRule("simulation",
                                              new report::FindingRule{
                                                  JudgeSimulation, AdviceFor});

const base::Plugin<report::TestKey> kKey("simulation",
                                         new report::TestKey{{"admission"},
                                                             ValueOf});

const base::Plugin<report::SummarySection> kSection(
    "Simulation", new report::SummarySection{
                      {"Driver counters"}, AssumptionLines, OpeningOf});

const base::Plugin<report::PagePart> kPage("simulation",
                                           new report::PagePart{{"findings"},
                                                                kSimulationHtml,
                                                                kSimulationJs});

}  // namespace
}  // namespace distbench::simulation
