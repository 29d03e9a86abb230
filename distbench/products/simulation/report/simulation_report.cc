#include "distbench/products/simulation/report/simulation_report.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/base/message_json.h"
#include "distbench/products/simulation/report/report.pb.h"
#include "distbench/report/derived/figures.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/text/text_summary_sections.h"

namespace distbench::simulation {
namespace {

std::string TimeText(double ns) {
  return absl::FormatDuration(absl::Nanoseconds(ns));
}

std::string CountText(int64_t count, absl::string_view what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

// "100 hosts of 8 CPUs"
std::string HostCount(const SimulationFacts& simulation) {
  return absl::StrCat(CountText(simulation.host_count(), "host"), " of ",
                      CountText(simulation.fabric().host().cpus(), "CPU"));
}

std::string NetworkName(const SimulatedFabric& fabric) {
  switch (fabric.network_case()) {
    case SimulatedFabric::kLeafSpine:
      return "leaf-spine network";
    case SimulatedFabric::kGraph:
      return "network of switches given one by one";
    case SimulatedFabric::kSingleSwitch:
    case SimulatedFabric::NETWORK_NOT_SET:
      break;
  }
  return "single switch";
}

std::string LinkText(absl::string_view name, const SimulatedLink& link) {
  return absl::StrFormat("%s %g Gb/s, delay %s", name, link.gbps(),
                         TimeText(static_cast<double>(link.delay_ns())));
}

std::string NetworkText(const SimulatedFabric& fabric) {
  std::string text = NetworkName(fabric);
  switch (fabric.network_case()) {
    case SimulatedFabric::kLeafSpine: {
      const SimulatedLeafSpine& network = fabric.leaf_spine();
      return absl::StrCat(text, ": ",
                          CountText(network.hosts_per_leaf(), "host"),
                          " per leaf, ", CountText(network.spines(), "spine"),
                          "; ", LinkText("hosts'", network.host_link()), "; ",
                          LinkText("spines'", network.spine_link()));
    }
    case SimulatedFabric::kGraph:
      return absl::StrCat(text, ": ", fabric.graph().switches_size(), " with ",
                          CountText(fabric.graph().links_size(), "link"),
                          " between them");
    case SimulatedFabric::kSingleSwitch:
    case SimulatedFabric::NETWORK_NOT_SET:
      break;
  }
  return absl::StrCat(text, ": ",
                      LinkText("links", fabric.single_switch().host_link()));
}

std::string HostsText(const SimulationFacts& simulation) {
  const SimulatedHost& host = simulation.fabric().host();
  std::string text = absl::StrCat(HostCount(simulation),
                                  host.scheduler() == SimulatedHost::FIFO
                                      ? ", first come, first served"
                                      : ", shared equally by runnable threads");
  if (host.stalls_per_second() > 0 && host.mean_stall_ns() > 0) {
    absl::StrAppendFormat(&text, "; %g stalls per second, of %s in the mean",
                          host.stalls_per_second(),
                          TimeText(host.mean_stall_ns()));
  }
  if (host.slow_share() > 0) {
    // As they are chosen: of few hosts, a small share is none.
    absl::StrAppendFormat(
        &text, "; %d of them %g times as slow",
        std::lround(host.slow_share() * simulation.host_count()),
        host.slowness());
  }
  return text;
}

std::string MeasuredText(double value, bool has_error, double error) {
  std::string text = absl::StrFormat("%.6g", value);
  // Without an exponent, which is hard to compare with the value.
  if (has_error && error >= 100) absl::StrAppendFormat(&text, " ± %.0f", error);
  if (has_error && error < 100) absl::StrAppendFormat(&text, " ± %.2g", error);
  return text;
}

std::string CostText(absl::string_view name, const StackCosts::Cost& cost) {
  std::string text =
      absl::StrCat(name, " ",
                   MeasuredText(cost.fixed_ns(), cost.has_fixed_error_ns(),
                                cost.fixed_error_ns()),
                   " ns");
  if (cost.batch_ns() > 0) {
    absl::StrAppend(&text, " and ",
                    MeasuredText(cost.batch_ns(), cost.has_batch_error_ns(),
                                 cost.batch_error_ns()),
                    " ns per batch");
  }
  absl::StrAppend(&text, " and ",
                  MeasuredText(cost.ns_per_byte(), cost.has_ns_per_byte_error(),
                               cost.ns_per_byte_error()),
                  " ns per byte");
  if (cost.after_ns() > 0) {
    absl::StrAppendFormat(&text, " (%.6g ns of it after the message has left)",
                          cost.after_ns());
  }
  return text;
}

// Ends with where the figures come from.
std::string StackText(const StackCosts& costs) {
  std::string text = absl::StrCat(
      CostText("client sends", costs.client_send()), ", ",
      CostText("server receives", costs.server_receive()), ", ",
      CostText("server sends", costs.server_send()), ", ",
      CostText("client receives", costs.client_receive()), "; waking up ",
      MeasuredText(costs.wakeup_ns(), costs.has_wakeup_error_ns(),
                   costs.wakeup_error_ns()),
      " ns and ",
      MeasuredText(costs.wakeup_cpu_ns(), costs.has_wakeup_cpu_error_ns(),
                   costs.wakeup_cpu_error_ns()),
      " ns of CPU time; spread ", absl::StrFormat("%.3g", costs.sigma()),
      "; within a host ", costs.same_host_delay_ns(),
      " ns. Source: ", costs.source().empty() ? "not stated" : costs.source());
  return text;
}

std::string ActivityText(const ActivityCosts& costs) {
  return absl::StrFormat(
      "%.4g ns of CPU per iteration, spread %.3g%s", costs.cpu_ns(),
      costs.sigma(),
      costs.name().empty() ? "" : absl::StrCat("; only config ", costs.name()));
}

}  // namespace

std::string DescribeSimulation(const SimulationFacts& simulation) {
  return absl::StrCat("Simulated, not measured: ", HostCount(simulation), ", ",
                      NetworkName(simulation.fabric()));
}

std::vector<Assumption> AssumptionsOf(const SimulationFacts& simulation) {
  const SimulatedFabric& fabric = simulation.fabric();
  std::vector<Assumption> assumptions = {{"hosts", HostsText(simulation)},
                                         {"network", NetworkText(fabric)}};
  for (const StackCosts& costs : fabric.stacks()) {
    assumptions.push_back(
        {absl::StrCat("costs of ", costs.driver()), StackText(costs)});
  }
  for (const ActivityCosts& costs : fabric.activities()) {
    assumptions.push_back(
        {absl::StrCat("costs of ", costs.activity()), ActivityText(costs)});
  }
  return assumptions;
}

// Findings on simulations: how far they can be believed.

namespace {

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
  if (std::any_of(test.services().begin(), test.services().end(),
                  [](const ServiceSpec& service) {
                    return service.has_numa_binding();
                  })) {
    parts.push_back("numa_binding");
  }
  return parts;
}

}  // namespace

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
  if (!parts.empty()) {
    findings.Add(Finding::WARN, "simulation",
                 absl::StrCat("simulated hosts do not have what the test asks "
                              "for by ",
                              absl::StrJoin(parts, ", "),
                              "; the run is that of a test without"),
                 "Run the test for real, if it is about these.");
  }
}

base::Json SimulationJson(const TestResult& result) {
  if (!report::IsSimulated(result)) return nullptr;
  const SimulationFacts& simulation = result.simulation();
  ReportedSimulation shown;
  report::CopyByName(simulation, shown);
  shown.set_event_count(static_cast<int64_t>(simulation.event_count()));
  shown.set_summary(DescribeSimulation(simulation));
  google::protobuf::TextFormat::PrintToString(simulation.fabric(),
                                              shown.mutable_fabric());
  for (const Assumption& assumption : AssumptionsOf(simulation)) {
    ReportedSimulation::ReportedAssumption& added = *shown.add_assumptions();
    added.set_subject(assumption.subject);
    added.set_text(assumption.text);
  }
  return base::MessageJson(shown);
}

// Names and sources come from files of users.
std::vector<std::string> AssumptionLines(const TestResult& result) {
  if (!report::IsSimulated(result)) return {};
  const SimulationFacts& simulation = result.simulation();
  std::vector<std::string> lines;
  for (const Assumption& assumption : AssumptionsOf(simulation)) {
    lines.push_back(absl::StrCat("  ", report::OneLine(assumption.subject),
                                 ": ", report::OneLine(assumption.text)));
  }
  lines.push_back(absl::StrFormat(
      "  extent: %d events in %.4g s of simulated time",
      simulation.event_count(), simulation.simulated_seconds()));
  return lines;
}

}  // namespace distbench::simulation
