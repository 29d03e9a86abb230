#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/import/import_traces.h"

namespace distbench {
namespace {

using Json = nlohmann::ordered_json;

void AddList(const std::string& title,
             const std::vector<std::string>& sentences, std::string& text) {
  absl::StrAppend(&text, title, ":\n");
  for (const std::string& sentence : sentences) {
    absl::StrAppend(&text, "  ", sentence, "\n");
  }
}

void AddFidelity(const Fidelity& fidelity, std::string& text) {
  absl::StrAppendFormat(
      &text,
      "On simulated time (distances are from 0, alike, to 1):\n"
      "  arrivals: %.6g/s, traces %.6g/s\n"
      "  calls per trace: %.3g, traces %.3g, distance %.3f\n"
      "  levels per trace: distance %.3f\n",
      fidelity.arrivals_per_second.simulated,
      fidelity.arrivals_per_second.traces, fidelity.calls_per_trace.simulated,
      fidelity.calls_per_trace.traces, fidelity.size_distance,
      fidelity.depth_distance);
  for (const RpcFidelity& rpc : fidelity.rpcs) {
    absl::StrAppendFormat(
        &text,
        "  %s: distance of latencies %.3f, mean %.1f us, traces %.1f us; p99 "
        "%.1f us, traces %.1f us; calls per arrival %.3g, traces %.3g\n",
        rpc.rpc, rpc.latency_distance, rpc.mean_us.simulated,
        rpc.mean_us.traces, rpc.p99_us.simulated, rpc.p99_us.traces,
        rpc.calls_per_arrival.simulated, rpc.calls_per_arrival.traces);
  }
}

Json ToJson(const Compared& compared) {
  return {{"traces", compared.traces}, {"simulated", compared.simulated}};
}

Json ToJson(const Fidelity& fidelity) {
  Json json = {{"arrivals_per_second", ToJson(fidelity.arrivals_per_second)},
               {"calls_per_trace", ToJson(fidelity.calls_per_trace)},
               {"size_distance", fidelity.size_distance},
               {"depth_distance", fidelity.depth_distance},
               {"rpcs", Json::array()}};
  for (const RpcFidelity& rpc : fidelity.rpcs) {
    json["rpcs"].push_back(
        {{"rpc", rpc.rpc},
         {"latency_distance", rpc.latency_distance},
         {"mean_us", ToJson(rpc.mean_us)},
         {"p99_us", ToJson(rpc.p99_us)},
         {"calls_per_arrival", ToJson(rpc.calls_per_arrival)}});
  }
  return json;
}

}  // namespace

std::string ImportText(const Import& import) {
  const TrafficModel& model = import.model;
  std::string text = absl::StrFormat(
      "%d traces over %.6g s; %d parts of traces whose causes are missing\n",
      model.traces, static_cast<double>(model.duration_ns) / 1e9,
      model.fragments);
  AddList("In the data", import.config.provenance.in_the_data, text);
  AddList("Inferred", import.config.provenance.inferred, text);
  AddList("Invented", import.config.provenance.invented, text);
  if (!model.notes.empty()) absl::StrAppend(&text, "Repaired or left out:\n");
  for (const auto& [note, count] : model.notes) {
    absl::StrAppend(&text, "  ", count, " times: ", note, "\n");
  }
  if (import.fidelity) AddFidelity(*import.fidelity, text);
  return text;
}

std::string ImportJson(const Import& import) {
  Json json = {{"traces", import.model.traces},
               {"duration_ns", import.model.duration_ns},
               {"fragments", import.model.fragments},
               {"in_the_data", import.config.provenance.in_the_data},
               {"inferred", import.config.provenance.inferred},
               {"invented", import.config.provenance.invented},
               {"notes", import.model.notes}};
  if (import.fidelity) json["fidelity"] = ToJson(*import.fidelity);
  return json.dump(2) + "\n";
}

}  // namespace distbench
