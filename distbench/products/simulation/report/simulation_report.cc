// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What simulated results add to reports: what was assumed, and how far the
// figures can be believed.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "distbench/base/json.h"
#include "distbench/base/message_json.h"
#include "distbench/base/plugins.h"
#include "distbench/products/simulation/report/page_files.h"
#include "distbench/products/simulation/report/report.pb.h"
#include "distbench/report/derived/figures.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/parts/document_parts.h"
#include "distbench/report/parts/finding_rule.h"
#include "distbench/report/parts/text_part.h"
#include "google/protobuf/text_format.h"
#include "proto/results.pb.h"

namespace distbench::simulation {
namespace {

std::string CountText(int64_t count, absl::string_view what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

std::string NetworkName(const SimulatedFabric& fabric) {
  if (fabric.has_leaf_spine()) return "leaf-spine network";
  if (fabric.has_graph()) return "network of switches given one by one";
  return "single switch";
}

// As fabrics are written, in one line.
std::string TextOf(const google::protobuf::Message& message) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  printer.PrintToString(message, &text);
  if (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string HostsText(const SimulationFacts& simulation) {
  const SimulatedHost& host = simulation.fabric().host();
  std::string text = CountText(simulation.host_count(), "host");
  if (host.slow_share() > 0) {
    // As they are chosen: of few hosts, a small share is none.
    absl::StrAppend(&text, ", ",
                    std::lround(host.slow_share() * simulation.host_count()),
                    " of them slow");
  }
  return absl::StrCat(text, ": ", TextOf(host));
}

std::string NetworkText(const SimulatedFabric& fabric) {
  if (fabric.has_leaf_spine()) return TextOf(fabric.leaf_spine());
  if (!fabric.has_graph()) return TextOf(fabric.single_switch());
  return absl::StrCat(fabric.graph().switches_size(), " with ",
                      CountText(fabric.graph().links_size(), "link"),
                      " between them");
}

// In the order in which people read it. Fabrics have defaults filled in.
void AddAssumptions(const SimulationFacts& simulation,
                    ReportedSimulation& shown) {
  const auto add = [&](const std::string& subject, const std::string& text) {
    auto& added = *shown.add_assumptions();
    added.set_subject(subject);
    added.set_text(text);
  };
  const SimulatedFabric& fabric = simulation.fabric();
  add("hosts", HostsText(simulation));
  add("network", absl::StrCat(NetworkName(fabric), ": ", NetworkText(fabric)));
  for (StackCosts costs : fabric.stacks()) {
    const std::string subject = absl::StrCat("costs of ", costs.driver());
    costs.clear_driver();
    add(subject, TextOf(costs));
  }
  for (ActivityCosts costs : fabric.activities()) {
    const std::string subject = absl::StrCat("costs of ", costs.activity());
    costs.clear_activity();
    add(subject, TextOf(costs));
  }
}

// One line, such as "Simulated, not measured: 100 hosts of 8 CPUs, leaf-spine
// network".
std::string DescribeSimulation(const SimulationFacts& simulation) {
  return absl::StrCat(
      "Simulated, not measured: ", CountText(simulation.host_count(), "host"),
      " of ", CountText(simulation.fabric().host().cpus(), "CPU"), ", ",
      NetworkName(simulation.fabric()));
}

// ---- Findings ---------------------------------------------------------------

constexpr absl::string_view kDirectionAdvice =
    "Take the figures for a direction, not for a prediction. Measure a small "
    "part of the system for real, calibrate the costs by it (distbench "
    "simulate "
    "--calibrate_from), and compare it with its own simulation.";

// What the test asks for and simulated hosts do not have.
std::vector<std::string> NotSimulated(
    const DistributedSystemDescription& test) {
  std::vector<std::string> parts;
  if (test.requirements().facts_size() > 0) parts.push_back("requirements");
  if (test.controls().groups_size() > 0) parts.push_back("controls");
  if (test.has_measure_wire_time()) parts.push_back("measure_wire_time");
  if (absl::c_any_of(test.services(), [](const ServiceSpec& service) {
        return service.has_numa_binding();
      })) {
    parts.push_back("numa_binding");
  }
  return parts;
}

// Nothing on results of real hosts.
void JudgeSimulation(const TestResult& result, report::FindingList& findings) {
  if (!report::IsSimulated(result)) return;
  for (const std::string& reason :
       result.simulation().outside_of_validation()) {
    findings.Add(
        Finding::WARN, "simulation",
        absl::StrCat(
            "outside of what was validated: ", reason,
            ". The figures may be far off (docs/products/simulation.md)"),
        std::string(kDirectionAdvice));
  }
  const std::vector<std::string> parts = NotSimulated(result.traffic_config());
  if (parts.empty()) return;
  findings.Add(Finding::WARN, "simulation",
               absl::StrCat("simulated hosts do not have what the test asks "
                            "for by ",
                            absl::StrJoin(parts, ", "),
                            "; the run is that of a test without"),
               "Run the test for real, if it is about these.");
}

const base::Plugin<report::FindingRule> kRule(
    "simulation", new report::FindingRule{JudgeSimulation, {"simulation"}});

// ---- Parts of reports -------------------------------------------------------

base::Json SimulationJson(const TestResult& result, const report::JsonLimits&) {
  if (!report::IsSimulated(result)) return nullptr;
  const SimulationFacts& simulation = result.simulation();
  ReportedSimulation shown;
  report::CopyByName(simulation, shown);
  shown.set_event_count(static_cast<int64_t>(simulation.event_count()));
  shown.set_summary(DescribeSimulation(simulation));
  google::protobuf::TextFormat::PrintToString(simulation.fabric(),
                                              shown.mutable_fabric());
  AddAssumptions(simulation, shown);
  return base::MessageJson(shown);
}

const base::Plugin<report::TestKey> kKey("simulation",
                                         new report::TestKey{{"admission"},
                                                             SimulationJson});

std::vector<std::string> OpeningOf(const TestResult& result) {
  if (!report::IsSimulated(result)) return {};
  return {DescribeSimulation(result.simulation())};
}

std::vector<std::string> AssumptionLines(const TestResult& result) {
  if (!report::IsSimulated(result)) return {};
  const SimulationFacts& simulation = result.simulation();
  ReportedSimulation shown;
  AddAssumptions(simulation, shown);
  std::vector<std::string> lines;
  for (const auto& assumption : shown.assumptions()) {
    lines.push_back(
        absl::StrCat("  ", assumption.subject(), ": ", assumption.text()));
  }
  lines.push_back(absl::StrFormat(
      "  extent: %d events in %.4g s of simulated time",
      simulation.event_count(), simulation.simulated_seconds()));
  return lines;
}

const base::Plugin<report::SummarySection> kSection(
    "Simulation", new report::SummarySection{
                      {"Driver counters"}, AssumptionLines, OpeningOf});

const base::Plugin<report::PagePart> kPage("simulation",
                                           new report::PagePart{{"findings"},
                                                                kSimulationHtml,
                                                                kSimulationJs});

}  // namespace
}  // namespace distbench::simulation
