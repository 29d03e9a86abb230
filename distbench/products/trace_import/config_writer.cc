#include "distbench/products/trace_import/config_writer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "distbench/base/time_units.h"
#include "distbench/config/validate/test_validation.h"
#include "distbench/products/trace_import/distribution_fit.h"
#include "google/protobuf/text_format.h"

namespace distbench::trace_import {
namespace {

std::string Indented(absl::string_view text, absl::string_view prefix) {
  std::string lines = absl::StrCat(
      prefix, absl::StrReplaceAll(text, {{"\n", absl::StrCat("\n", prefix)}}));
  if (!text.empty() && text.back() == '\n') {
    lines.resize(lines.size() - prefix.size());
  }
  return lines;
}

void AddSentences(absl::string_view title,
                  const std::vector<std::string>& sentences,
                  std::string& text) {
  absl::StrAppend(&text, "#\n# ", title, ":\n");
  for (const std::string& sentence : sentences) {
    absl::StrAppend(&text, "# - ", sentence, "\n");
  }
}

}  // namespace

std::string ConfigText(const Provenance& from,
                       const std::vector<ConfigPart>& parts) {
  std::string text = "# Made from traces by distbench import.\n";
  AddSentences("In the data", from.in_the_data, text);
  AddSentences("Inferred", from.inferred, text);
  AddSentences("Invented", from.invented, text);
  absl::StrAppend(&text, "tests {\n");
  for (const ConfigPart& part : parts) {
    if (!part.comment.empty()) {
      absl::StrAppend(&text, "\n", Indented(part.comment, "  # "), "\n");
    }
    std::string content;
    google::protobuf::TextFormat::PrintToString(part.content, &content);
    absl::StrAppend(&text, Indented(content, "  "));
  }
  return absl::StrCat(text, "}\n");
}

HandlerLists::HandlerLists(const TrafficModel& model, const ConfigNames& names)
    : model_(model), names_(names) {
  for (const auto& [name, instances] : model.services) {
    lists_.Take(names.Service(name));
  }
  for (size_t i = 0; i < model.rpcs.size(); ++i) lists_.Take(names.Rpc(i));
}

void HandlerLists::Add(int rpc, const std::string& delays,
                       DistributedSystemDescription& test) {
  const std::string& name = names_.Rpc(rpc);
  ActionList handler;
  handler.set_name(name);
  std::string work;
  if (!delays.empty()) {
    work = actions_.Take(name + ".work");
    Action& action = *test.add_actions();
    action.set_name(work);
    action.set_delay_distribution_name(delays);
    handler.add_action_names(work);
  }
  std::vector<std::string> calls;  // by group
  for (const CallGroup& group : model_.rpcs[rpc].groups) {
    Action action;
    action.set_name(
        actions_.Take(absl::StrCat(name, ".calls.", names_.Rpc(group.rpc))));
    if (!work.empty()) action.add_dependencies(work);
    for (const int before : group.after) {
      action.add_dependencies(calls[before]);
    }
    calls.push_back(action.name());
    handler.add_action_names(action.name());
    SetCalls(group, SimplifyCounts(group.counts), action, test);
    *test.add_actions() = action;
  }
  *test.add_action_lists() = handler;
}

void HandlerLists::SetCalls(const CallGroup& group, const CountWeights& counts,
                            Action& action,
                            DistributedSystemDescription& test) {
  if (counts.size() == 1) return SetCount(group, counts[0].first, action);
  // An action that a coin skips would skip those that depend on it, too. A list
  // is done, whatever its coins say.
  action.set_action_list_name(lists_.Take(action.name()));
  AddChoice(group, counts, action.action_list_name(), test);
}

void HandlerLists::SetCount(const CallGroup& group, int count,
                            Action& action) const {
  action.set_rpc_name(names_.Rpc(group.rpc));
  if (count == 1) return;
  action.mutable_iterations()->set_max_iteration_count(count);
  if (group.is_parallel) {
    action.mutable_iterations()->set_max_parallel_iterations(count);
  }
}

void HandlerLists::AddChoice(const CallGroup& group, const CountWeights& counts,
                             const std::string& name,
                             DistributedSystemDescription& test) {
  int64_t total = 0;
  for (const auto& [count, weight] : counts) total += weight;
  const auto [count, weight] = counts[0];
  const CountWeights others(counts.begin() + 1, counts.end());
  const std::string coin = absl::StrCat("calls_", count);

  ActionList list;
  list.set_name(name);
  (*list.mutable_predicate_probabilities())[coin] = static_cast<float>(
      static_cast<double>(weight) / static_cast<double>(total));
  if (count > 0) {
    Action action;
    action.set_name(actions_.Take(absl::StrCat(name, ".", count)));
    action.add_predicates(coin);
    SetCount(group, count, action);
    list.add_action_names(action.name());
    *test.add_actions() = action;
  }
  Action action;
  action.set_name(actions_.Take(absl::StrCat(name, ".not_", count)));
  action.add_predicates("!" + coin);
  SetCalls(group, others, action, test);
  list.add_action_names(action.name());
  *test.add_actions() = action;
  *test.add_action_lists() = list;
}

namespace {

using Process = ArrivalModel::Process;

constexpr int64_t kMinDurationUs = 1'000'000;
constexpr int64_t kMaxDurationUs = 600'000'000;

// What is not in the traces.
constexpr char kInventedPayload[] = "invented_size";
constexpr int64_t kInventedBytes = 1024;
constexpr double kInventedRate = 1;  // per second
constexpr char kInventedError[] = "UNAVAILABLE";

// The largest that a gamma process may have.
constexpr double kMaxVariation = 20;

class ConfigWriter {
 public:
  ConfigWriter(const TrafficModel& model, const ConfigNames& names,
               double sampled_fraction)
      : model_(model),
        names_(names),
        sampled_fraction_(sampled_fraction),
        handlers_(model, names) {}

  ImportedConfig Write() {
    FindReachable();
    WriteBasics();
    WriteServices();
    for (const auto& [rpc, clients] : clients_) WriteRpc(rpc, clients);
    WriteArrivals();
    StateWhatIsCommon();
    for (const ConfigPart& part : parts_) config_.test.MergeFrom(part.content);
    config_.text = ConfigText(config_.provenance, parts_);
    return std::move(config_);
  }

 private:
  // Finds the RPCs that arrivals cause, and their clients.
  void FindReachable() {
    std::vector<int> next;
    const auto reach = [&](int rpc, const std::string& client) {
      if (clients_.count(rpc) == 0) next.push_back(rpc);
      clients_[rpc].insert(client);
      services_.insert({client, model_.rpcs[rpc].server});
      if (client == model_.rpcs[rpc].server) talk_to_themselves_.insert(client);
    };
    for (const ArrivalModel& arrival : model_.arrivals) {
      reach(arrival.rpc, arrival.client);
    }
    while (!next.empty()) {
      const RpcModel& rpc = model_.rpcs[next.back()];
      next.pop_back();
      for (const CallGroup& group : rpc.groups) reach(group.rpc, rpc.server);
    }
    const size_t left_out = model_.rpcs.size() - clients_.size();
    if (left_out > 0) {
      config_.provenance.in_the_data.push_back(
          absl::StrCat(left_out,
                       " RPCs are left out: only parts of traces, whose causes "
                       "are missing, ",
                       model_.options.only_successes ? "or failed calls " : "",
                       "have them"));
    }
  }

  DistributedSystemDescription& AddPart(std::string comment) {
    parts_.emplace_back().comment = std::move(comment);
    return parts_.back().content;
  }

  void WriteBasics() {
    DistributedSystemDescription& test = AddPart("");
    test.set_name("imported");
    test.set_default_protocol("grpc");
  }

  void WriteServices() {
    for (const std::string& name : services_) {
      const int64_t seen = model_.services.at(name);
      int64_t count = std::max<int64_t>(1, seen);
      std::string comment = seen > 0
                                ? absl::StrCat(seen, " instances were seen.")
                                : "Invented: the number of instances.";
      // No instance calls itself.
      if (count == 1 && talk_to_themselves_.count(name) > 0) {
        count = 2;
        comment = "Invented: a second instance, because it calls itself.";
      }
      if (count != seen) ++invented_counts_;
      ServiceSpec& service = *AddPart(comment).add_services();
      service.set_name(names_.Service(name));
      service.set_count(static_cast<int32_t>(count));
      instances_[name] = count;
    }
  }

  void WriteRpc(int index, const std::set<std::string>& clients) {
    const RpcModel& rpc = model_.rpcs[index];
    const std::string& name = names_.Rpc(index);
    DistributedSystemDescription& test = AddPart(RpcComment(rpc));
    RpcSpec& spec = *test.add_rpc_descriptions();
    spec.set_name(name);
    for (const std::string& client : clients) {
      spec.add_client(names_.Service(client));
    }
    spec.set_server(names_.Service(rpc.server));
    if (instances_.at(rpc.server) > 1) spec.set_fanout_filter("random");
    if (rpc.sizes.empty()) {
      spec.set_request_payload_name(kInventedPayload);
      spec.set_response_payload_name(kInventedPayload);
      ++without_sizes_;
    } else {
      spec.set_distribution_config_name(name + ".sizes");
      DistributionConfig& sizes = *test.add_distribution_config();
      sizes = FitSizes(rpc.sizes);
      sizes.set_name(name + ".sizes");
    }
    handlers_.Add(index, WriteDelays(rpc, name, test), test);
    if (model_.options.only_successes && rpc.failures > 0) {
      WriteFault(rpc, name, test);
    }
  }

  void WriteFault(const RpcModel& rpc, const std::string& name,
                  DistributedSystemDescription& test) {
    ServerFault& fault = *test.add_server_faults();
    fault.set_name(name + ".fails");
    fault.set_service(names_.Service(rpc.server));
    fault.set_rpc_name(name);
    fault.set_probability(static_cast<double>(rpc.failures) /
                          static_cast<double>(rpc.calls));
    fault.set_error_code(kInventedError);
    ++faulty_;
  }

  std::string RpcComment(const RpcModel& rpc) {
    std::string comment =
        absl::StrCat(rpc.calls, " calls, ", rpc.failures, " of them failed");
    if (rpc.failures > 0) {
      absl::StrAppendFormat(&comment, ", after %.1f us on average",
                            static_cast<double>(rpc.failed_ns) /
                                base::kNsPerUs /
                                static_cast<double>(rpc.failures));
    }
    comment += ".";
    failures_ += rpc.failures;
    if (rpc.executions == 0) {
      ++without_server_;
      absl::StrAppend(&comment,
                      "\nNo span of the server: times include the network.");
    }
    if (rpc.server_is_inferred) {
      ++inferred_servers_;
      absl::StrAppend(&comment, "\nInferred: its server.");
    }
    if (rpc.sizes.empty()) absl::StrAppend(&comment, "\nInvented: its sizes.");
    AddMissingSizes("requests", rpc.without_request_size, rpc, comment);
    AddMissingSizes("responses", rpc.without_response_size, rpc, comment);
    if (rpc.without_request_size + rpc.without_response_size > 0) {
      ++with_half_sizes_;
    }
    return comment;
  }

  static void AddMissingSizes(const char* messages, int64_t count,
                              const RpcModel& rpc, std::string& comment) {
    if (count == 0) return;
    absl::StrAppend(&comment, "\nInvented: that ", messages,
                    " without a size have 0 bytes (", count, " of ",
                    rpc.sizes.size(), ").");
  }

  // Returns the name of the distribution; empty if nothing takes any time.
  static std::string WriteDelays(const RpcModel& rpc, const std::string& name,
                                 DistributedSystemDescription& test) {
    const bool takes_time =
        std::any_of(rpc.self_ns.begin(), rpc.self_ns.end(),
                    [](int64_t self_ns) { return self_ns > 0; });
    if (!takes_time) return "";
    DistributionConfig& delays = *test.add_delay_distribution_configs();
    delays = FitDelays(rpc.self_ns);
    delays.set_name(name + ".work");
    return delays.name();
  }

  void WriteArrivals() {
    std::map<std::string, ActionList> programs;  // by service
    for (const ArrivalModel& arrival : model_.arrivals) {
      const std::string& client = names_.Service(arrival.client);
      DistributedSystemDescription& test = AddPart(ArrivalComment(arrival));
      Action& action = *test.add_actions();
      action.set_name(absl::StrCat(client, ".asks.", names_.Rpc(arrival.rpc)));
      action.set_rpc_name(names_.Rpc(arrival.rpc));
      Iterations& iterations = *action.mutable_iterations();
      iterations.set_open_loop_interval_ns(IntervalNs(arrival));
      SetProcess(arrival, iterations);
      iterations.set_max_duration_us(std::clamp(
          model_.duration_ns / 1000, kMinDurationUs, kMaxDurationUs));
      programs[client].add_action_names(action.name());
    }
    for (auto& [client, program] : programs) {
      program.set_name(client);
      *AddPart("What comes from outside, by way of " + client + ".")
           .add_action_lists() = std::move(program);
    }
  }

  void SetProcess(const ArrivalModel& arrival, Iterations& iterations) const {
    if (arrival.process == Process::kBursty) {
      iterations.mutable_arrivals()->set_process("gamma");
      iterations.mutable_arrivals()->set_coefficient_of_variation(
          UnsampledVariation(arrival.variation));
    } else if (arrival.process == Process::kConstant &&
               instances_.at(arrival.client) > 1) {
      // Those of all instances together are constant. Otherwise, all instances
      // would ask at the same moments.
      iterations.mutable_arrivals()->set_process("constant");
      iterations.mutable_arrivals()->set_client_phase("spread");
    } else {
      iterations.set_open_loop_interval_distribution(
          arrival.process == Process::kConstant ? "constant" : "exponential");
    }
  }

  // Of each instance of the client. A request in weeks, or one whose clock
  // began in 1970, has a longer interval than a config may have.
  int64_t IntervalNs(const ArrivalModel& arrival) const {
    const double rate = arrival.rate_per_second > 0
                            ? arrival.rate_per_second / sampled_fraction_
                            : kInventedRate;
    const auto instances = static_cast<double>(instances_.at(arrival.client));
    return std::llround(
        std::clamp(base::kNsPerSecond * instances / rate, 1.0,
                   static_cast<double>(config::kMaxIntervalNs)));
  }

  // Of all requests, if only a share was traced. Thinning a renewal process
  // with the variation c leaves one whose squared variation is s c^2 + 1 - s,
  // for the share s that is kept.
  double UnsampledVariation(double traced) const {
    const double squared = 1 + (traced * traced - 1) / sampled_fraction_;
    return std::min(kMaxVariation, std::round(100 * std::sqrt(squared)) / 100);
  }

  std::string ArrivalComment(const ArrivalModel& arrival) {
    if (arrival.rate_per_second <= 0) {
      ++invented_rates_;
      return absl::StrCat(arrival.count,
                          " requests arrived.\nInvented: the rate.");
    }
    std::string comment = absl::StrFormat(
        "%d requests arrived, %.6g/s", arrival.count, arrival.rate_per_second);
    if (arrival.process == Process::kFew) {
      return comment +
             ".\nInvented: that they are a Poisson process; there are too few "
             "to tell.";
    }
    absl::StrAppendFormat(
        &comment, "; their intervals vary by %.2f (a Poisson process: 1).",
        arrival.variation);
    if (arrival.process == Process::kBursty) {
      ++bursty_;
      absl::StrAppend(&comment,
                      "\nA gamma process has this variation. That intervals "
                      "depend on each other is lost.");
    }
    return comment;
  }

  void StateWhatIsCommon() {
    Provenance& from = config_.provenance;
    from.in_the_data.push_back(
        absl::StrCat(model_.traces, " traces; services, RPCs, who calls whom"));
    if (without_sizes_ < clients_.size()) {
      from.in_the_data.push_back(
          "sizes of messages, as joint distributions of both directions");
    }
    if (failures_ > 0) {
      from.in_the_data.push_back(absl::StrCat(
          failures_, " failures",
          faulty_ > 0 ? ""
                      : ", which the config does not repeat; --failures "
                        "makes faults of them"));
    }
    from.inferred = {
        "how often an RPC calls another one; independent of other calls",
        "sequence and parallelism, by whether calls mostly overlap",
        "processing time: what a server did not wait for others; the config "
        "spends it before the first call, without a thread",
        "arrivals, from when traces begin"};
    if (without_server_ > 0) {
      from.inferred.push_back(absl::StrCat(
          "processing time of ", without_server_,
          " RPCs, whose servers have no spans, from their clients: it includes "
          "the network"));
    }
    if (faulty_ > 0) {
      from.inferred.push_back(absl::StrCat(
          "failures of ", faulty_,
          " RPCs: a probability for each, independent of other failures. "
          "Failed calls are answered at once and call nothing; times and calls "
          "of the RPCs are those of the others"));
    }
    if (inferred_servers_ > 0) {
      from.inferred.push_back(absl::StrCat(
          "the servers of ", inferred_servers_,
          " RPCs, from the services of their clients' spans, which are not "
          "those of their callers"));
    }
    if (bursty_ > 0) {
      from.inferred.push_back(absl::StrCat(
          bursty_,
          " arrivals are burstier than a Poisson process: they are gamma "
          "processes with the variation of their intervals"));
    }
    StateInvented(from.invented);
  }

  void StateInvented(std::vector<std::string>& invented) {
    invented = {"the driver, which is grpc", "which instance is called: any"};
    if (without_sizes_ > 0) {
      invented.push_back(
          absl::StrCat("sizes of ", without_sizes_, " of ", clients_.size(),
                       " RPCs: ", kInventedBytes, " bytes each way"));
      PayloadSpec& payload = *AddPart("Invented: sizes that no trace has.")
                                  .add_payload_descriptions();
      payload.set_name(kInventedPayload);
      payload.set_size(kInventedBytes);
    }
    if (with_half_sizes_ > 0) {
      invented.push_back(absl::StrCat(
          "0 bytes in a direction, for calls of ", with_half_sizes_,
          " RPCs that have only the size of the other one"));
    }
    if (faulty_ > 0) {
      invented.push_back(absl::StrCat(
          "the error of failures, which is ", kInventedError,
          ", and what callers do about it: they go on. Which calls were "
          "retries cannot be known; they count as calls like others"));
    }
    if (invented_counts_ > 0) {
      invented.push_back(absl::StrCat("numbers of instances of ",
                                      invented_counts_, " services"));
    }
    if (invented_rates_ > 0) {
      invented.push_back(
          absl::StrCat("rates of ", invented_rates_,
                       " arrivals: no two requests have different times"));
    }
  }

  const TrafficModel& model_;
  const ConfigNames& names_;
  const double sampled_fraction_;
  HandlerLists handlers_;
  std::map<int, std::set<std::string>> clients_;  // by RPC, those reachable
  std::set<std::string> services_;
  std::set<std::string> talk_to_themselves_;
  std::map<std::string, int64_t> instances_;  // by service
  std::vector<ConfigPart> parts_;
  ImportedConfig config_;

  // For the provenance.
  size_t without_sizes_ = 0;
  int64_t with_half_sizes_ = 0;  // RPCs with calls that have one of two sizes
  int64_t without_server_ = 0;
  int64_t inferred_servers_ = 0;
  int64_t failures_ = 0;
  int64_t faulty_ = 0;  // RPCs with faults
  int64_t invented_counts_ = 0;
  int64_t invented_rates_ = 0;
  int64_t bursty_ = 0;
};

}  // namespace

ImportedConfig WriteConfig(const TrafficModel& model, const ConfigNames& names,
                           double sampled_fraction) {
  return ConfigWriter(model, names, sampled_fraction).Write();
}

}  // namespace distbench::trace_import
