// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/config_writer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/strings/substitute.h"
#include "distbench/base/digest.h"
#include "distbench/base/time_units.h"
#include "distbench/config/validate/test_validation.h"
#include "distbench/products/trace_import/distribution_fit.h"
#include "google/protobuf/text_format.h"

namespace distbench::trace_import {
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

// Longer names make configs illegible; they are cut off.
constexpr size_t kMaxKeptLength = 80;
constexpr size_t kPseudonymBytes = 4;

std::string Pseudonym(absl::string_view kind, absl::string_view name,
                      absl::string_view key) {
  const std::string text = absl::StrCat(key.size(), ":", key, kind, ":", name);
  return absl::StrCat(
      kind, "_",
      absl::BytesToHexString(base::Sha256(text).substr(0, kPseudonymBytes)));
}

// With the characters that names in configs have.
std::string Kept(absl::string_view name) {
  std::string kept(name.substr(0, kMaxKeptLength));
  for (char& c : kept) {
    const bool fits = absl::ascii_isalnum(c) || c == '-' || c == '.';
    if (!fits) c = '_';
  }
  return kept.empty() ? "unnamed" : kept;
}

// Without the service that many operations begin with.
absl::string_view ShortOperation(const RpcModel& rpc) {
  absl::string_view operation = rpc.operation;
  absl::ConsumePrefix(&operation, absl::StrCat(rpc.server, "/"));
  return operation.empty() ? absl::string_view(rpc.operation) : operation;
}

// Takes the name or, if it is taken, the name with a number.
std::string TakeName(const std::string& name, std::set<std::string>& taken) {
  std::string unique = name;
  for (int i = 2; !taken.insert(unique).second; ++i) {
    unique = absl::StrCat(name, "_", i);
  }
  return unique;
}

// A number that is read back as it is.
std::string Exact(double number) { return absl::StrFormat("%.17g", number); }

// A list of names.
std::string Quoted(const std::vector<std::string>& names) {
  return names.empty() ? "[]"
                       : absl::StrCat("['", absl::StrJoin(names, "', '"), "']");
}

class ConfigWriter {
 public:
  ConfigWriter(const TrafficModel& model, const NamingOptions& naming,
               double sampled_fraction)
      : model_(model),
        hides_names_(naming.hide_names),
        sampled_fraction_(sampled_fraction) {
    from_.notes = model.notes;
    const auto take_name = [&](const char* kind, absl::string_view name,
                               absl::string_view kept) {
      return TakeName(
          hides_names_ ? Pseudonym(kind, name, naming.key) : Kept(kept),
          lists_);
    };
    for (const auto& [name, instances] : model.services) {
      service_names_[name] = take_name("service", name, name);
    }
    for (const RpcModel& rpc : model.rpcs) {
      config_.rpc_names.push_back(
          take_name("rpc", absl::StrCat(rpc.server, "/", rpc.operation),
                    ShortOperation(rpc)));
    }
  }

  ImportedConfig Write() {
    SayWhatIsCommon();
    FindReachable();
    Put("name: 'imported' default_protocol: 'grpc'");
    EndPiece("");
    WriteServices();
    for (const auto& [rpc, clients] : clients_) WriteRpc(rpc, clients);
    WriteInventedSizes();
    WriteArrivals();
    config_.text = absl::StrCat(ProvenanceComment(from_), "tests {\n",
                                config_.text, "}\n");
    return std::move(config_);
  }

 private:
  // Adds what a text says, in the format of configs, to the present piece of
  // the test. Names have no quotes in them.
  template <typename... Args>
  void Put(absl::string_view format, const Args&... args) {
    google::protobuf::TextFormat::Parser parser;
    parser.MergeFromString(absl::Substitute(format, args...), &piece_);
  }

  // Ends the piece, which has a comment of some lines above it; empty: none.
  void EndPiece(absl::string_view comment) {
    if (!comment.empty()) {
      absl::StrAppend(&config_.text, "\n  # ",
                      absl::StrReplaceAll(comment, {{"\n", "\n  # "}}), "\n");
    }
    google::protobuf::TextFormat::Printer printer;
    printer.SetInitialIndentLevel(1);
    std::string text;
    printer.PrintToString(piece_, &text);
    config_.text += text;
    config_.test.MergeFrom(piece_);
    piece_.Clear();
  }

  // Finds the RPCs that arrivals cause, and their clients.
  void FindReachable() {
    std::vector<int> next;
    const auto reach = [&](int rpc, const std::string& client) {
      if (!clients_.contains(rpc)) next.push_back(rpc);
      clients_[rpc].insert(client);
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
    if (left_out == 0) return;
    from_.in_the_data[absl::StrCat(
        "left out: # RPCs, of which there are only parts of traces, whose "
        "causes are missing",
        model_.options.only_successes ? ", or failed calls" : "")] =
        static_cast<int64_t>(left_out);
  }

  void SayWhatIsCommon() {
    from_.in_the_data = {
        {"# traces; services, RPCs, who calls whom", model_.traces}};
    from_.inferred = {
        {"how often an RPC calls another one; independent of other calls", 1},
        {"sequence and parallelism, by whether calls mostly overlap", 1},
        {"processing time: what a server did not wait for others; the config "
         "spends it before the first call, without a thread",
         1},
        {"arrivals, from when traces begin", 1}};
    from_.invented = {{"the driver, which is grpc", 1},
                      {"which instance is called: any", 1}};
    if (hides_names_) {
      from_.invented["names of services and operations: pseudonyms"] = 1;
    } else {
      from_.in_the_data
          ["names of services and operations; --hide_names replaces them"] = 1;
    }
  }

  void WriteServices() {
    std::map<std::string, bool> calls_itself;  // by service
    for (const auto& [rpc, clients] : clients_) {
      for (const std::string& client : clients) calls_itself[client];
      const std::string& server = model_.rpcs[rpc].server;
      calls_itself[server] |= clients.contains(server);
    }
    for (const auto& [name, does] : calls_itself) WriteService(name, does);
  }

  void WriteService(const std::string& name, bool calls_itself) {
    const int64_t seen = model_.services.at(name);
    int64_t count = std::max<int64_t>(1, seen);
    std::string comment = seen > 0 ? absl::StrCat(seen, " instances were seen.")
                                   : "Invented: the number of instances.";
    // No instance calls itself.
    if (count == 1 && calls_itself) {
      count = 2;
      comment = "Invented: a second instance, because it calls itself.";
    }
    if (count != seen) ++from_.invented["numbers of instances of # services"];
    Put("services { name: '$0' count: $1 }", service_names_.at(name), count);
    instances_[name] = count;
    EndPiece(comment);
  }

  void WriteRpc(int index, const std::set<std::string>& clients) {
    const RpcModel& rpc = model_.rpcs[index];
    const std::string& name = config_.rpc_names[index];
    std::vector<std::string> client_names;
    for (const std::string& client : clients) {
      client_names.push_back(service_names_.at(client));
    }
    Put("rpc_descriptions { name: '$0' client: $1 server: '$2' $3 $4 }", name,
        Quoted(client_names), service_names_.at(rpc.server),
        instances_.at(rpc.server) > 1 ? "fanout_filter: 'random'" : "",
        rpc.sizes.empty()
            ? absl::Substitute("request_payload_name: '$0' "
                               "response_payload_name: '$0'",
                               kInventedPayload)
            : absl::Substitute("distribution_config_name: '$0.sizes'", name));
    if (!rpc.sizes.empty()) {
      *piece_.add_distribution_config() = FitSizes(rpc.sizes, name + ".sizes");
    }
    WriteHandler(index);
    if (model_.options.only_successes && rpc.failures > 0) {
      WriteFault(rpc, name);
    }
    EndPiece(RpcComment(rpc));
  }

  void WriteFault(const RpcModel& rpc, const std::string& name) {
    Put("server_faults { name: '$0.fails' service: '$1' rpc_name: '$0' "
        "probability: $2 error_code: '$3' }",
        name, service_names_.at(rpc.server),
        Exact(static_cast<double>(rpc.failures) /
              static_cast<double>(rpc.calls)),
        kInventedError);
    ++from_.inferred
          ["failures of # RPCs: a probability for each, independent of other "
           "failures. Failed calls are answered at once and call nothing; "
           "times and calls of the RPCs are those of the others"];
    from_.invented[absl::StrCat(
        "the error of failures, which is ", kInventedError,
        ", and what callers do about it: they go on. Which calls were retries "
        "cannot be known; they count as calls like others")] = 1;
  }

  // What is particular about the RPC, which the head counts, too.
  std::string RpcComment(const RpcModel& rpc) {
    std::string comment =
        absl::StrCat(rpc.calls, " calls, ", rpc.failures, " of them failed");
    if (rpc.failures > 0) {
      absl::StrAppendFormat(&comment, ", after %.1f us on average",
                            static_cast<double>(rpc.failed_ns) /
                                base::kNsPerUs /
                                static_cast<double>(rpc.failures));
      from_.in_the_data[absl::StrCat(
          "# failures", model_.options.only_successes
                            ? ""
                            : ", which the config does not repeat; --failures "
                              "makes faults of them")] += rpc.failures;
    }
    comment += ".";
    if (rpc.executions == 0) {
      ++from_.inferred
            ["processing time of # RPCs, whose servers have no spans, from "
             "their clients: it includes the network"];
      comment += "\nNo span of the server: times include the network.";
    }
    if (rpc.server_is_inferred) {
      ++from_.inferred
            ["the servers of # RPCs, from the services of their clients' "
             "spans, which are not those of their callers"];
      comment += "\nInferred: its server.";
    }
    if (rpc.async_calls > 0) {
      ++from_.inferred
            ["that nobody waits for calls of # RPCs; how long messages wait "
             "for their consumers is not repeated"];
      absl::StrAppend(&comment, "\nInferred: that nobody waits for ",
                      rpc.async_calls, " of them.");
    }
    if (rpc.sizes.empty()) {
      has_invented_sizes_ = true;
      ++from_.invented[absl::StrCat("sizes of # RPCs: ", kInventedBytes,
                                    " bytes each way")];
      comment += "\nInvented: its sizes.";
    } else {
      from_.in_the_data
          ["sizes of messages, as joint distributions of both directions"] = 1;
    }
    AddMissingSizes("requests", rpc.without_request_size, rpc, comment);
    AddMissingSizes("responses", rpc.without_response_size, rpc, comment);
    if (rpc.without_request_size + rpc.without_response_size > 0) {
      ++from_.invented
            ["0 bytes in a direction, for calls of # RPCs with only the size "
             "of the other one"];
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

  // What the server of an RPC does: it works, then calls others, at once or in
  // turn, and answers when all have ended that it waits for.
  void WriteHandler(int index) {
    const RpcModel& rpc = model_.rpcs[index];
    const std::string& name = config_.rpc_names[index];
    std::vector<std::string> actions;  // of the list
    std::vector<std::string> waited_for;
    if (absl::c_any_of(rpc.self_ns, [](int64_t ns) { return ns > 0; })) {
      actions.push_back(TakeName(name + ".work", actions_));
      waited_for = actions;
      Put("actions { name: '$0' delay_distribution_name: '$1.work' }",
          actions[0], name);
      *piece_.add_delay_distribution_configs() =
          FitDelays(rpc.self_ns, name + ".work");
    }
    const size_t first_call = actions.size();
    for (const CallGroup& group : rpc.groups) {
      std::vector<std::string> before(actions.begin(),
                                      actions.begin() + first_call);
      for (const int i : group.after) before.push_back(actions[first_call + i]);
      actions.push_back(
          TakeName(absl::StrCat(name, ".calls.", config_.rpc_names[group.rpc]),
                   actions_));
      if (!group.is_async) waited_for.push_back(actions.back());
      WriteCalls(group, SimplifyCounts(group.counts), actions.back(),
                 absl::Substitute("dependencies: $0", Quoted(before)));
    }
    if (waited_for.size() < actions.size()) {
      actions.push_back(TakeName(name + ".answer", actions_));
      Put("actions { name: '$0' dependencies: $1 "
          "send_response_when_done: true }",
          actions.back(), Quoted(waited_for));
    }
    Put("action_lists { name: '$0' action_names: $1 }", name, Quoted(actions));
  }

  // Adds an action of this name that makes one of the numbers of calls, and has
  // what is said of it.
  void WriteCalls(const CallGroup& group, const CountWeights& counts,
                  const std::string& name, const std::string& said) {
    const auto [count, weight] = counts[0];
    if (counts.size() == 1) return WriteCalls(group, count, name, said);
    // An action that a coin skips would skip those that depend on it, too. A
    // list is done, whatever its coins say: one of the first number.
    const std::string list = TakeName(name, lists_);
    int64_t total = 0;
    for (const auto& each : counts) total += each.second;
    const std::string coin = absl::StrCat("calls_", count);
    std::vector<std::string> actions;
    if (count > 0) {
      actions.push_back(TakeName(absl::StrCat(list, ".", count), actions_));
      WriteCalls(group, count, actions[0],
                 absl::StrCat("predicates: '", coin, "'"));
    }
    actions.push_back(TakeName(absl::StrCat(list, ".not_", count), actions_));
    WriteCalls(group, CountWeights(counts.begin() + 1, counts.end()),
               actions.back(), absl::StrCat("predicates: '!", coin, "'"));
    Put("action_lists { name: '$0' action_names: $1 "
        "predicate_probabilities { key: '$2' value: $3 } }",
        list, Quoted(actions), coin,
        Exact(static_cast<double>(weight) / static_cast<double>(total)));
    Put("actions { name: '$0' $1 action_list_name: '$2' }", name, said, list);
  }

  void WriteCalls(const CallGroup& group, int count, const std::string& name,
                  const std::string& said) {
    std::string iterations;
    if (count != 1)
      absl::StrAppend(&iterations, "iterations { max_iteration_count: ", count,
                      group.is_parallel
                          ? absl::StrCat(" max_parallel_iterations: ", count)
                          : "",
                      " }");
    Put("actions { name: '$0' $1 rpc_name: '$2' $3 }", name, said,
        config_.rpc_names[group.rpc], iterations);
  }

  void WriteInventedSizes() {
    if (!has_invented_sizes_) return;
    Put("payload_descriptions { name: '$0' size: $1 }", kInventedPayload,
        kInventedBytes);
    EndPiece("Invented: sizes that no trace has.");
  }

  void WriteArrivals() {
    std::map<std::string, std::vector<std::string>> programs;  // by service
    for (const ArrivalModel& arrival : model_.arrivals) {
      const std::string& client = service_names_.at(arrival.client);
      const std::string& rpc = config_.rpc_names[arrival.rpc];
      const auto instances = static_cast<double>(instances_.at(arrival.client));
      const int64_t interval_ns = IntervalNs(arrival, instances);
      config_.arrivals_per_second +=
          base::kNsPerSecond * instances / static_cast<double>(interval_ns);
      programs[client].push_back(absl::StrCat(client, ".asks.", rpc));
      Put("actions { name: '$0' rpc_name: '$1' iterations { "
          "open_loop_interval_ns: $2 $3 max_duration_us: $4 } }",
          programs[client].back(), rpc, interval_ns, ProcessText(arrival),
          std::clamp(model_.duration_ns / base::kNsPerUs, kMinDurationUs,
                     kMaxDurationUs));
      EndPiece(ArrivalComment(arrival));
    }
    for (const auto& [client, actions] : programs) {
      Put("action_lists { name: '$0' action_names: $1 }", client,
          Quoted(actions));
      EndPiece(
          absl::StrCat("What comes from outside, by way of ", client, "."));
    }
  }

  std::string ProcessText(const ArrivalModel& arrival) const {
    if (arrival.process == Process::kBursty) {
      return absl::Substitute(
          "arrivals { process: 'gamma' coefficient_of_variation: $0 }",
          Exact(UnsampledVariation(arrival.variation)));
    }
    if (arrival.process != Process::kConstant) {
      return "open_loop_interval_distribution: 'exponential'";
    }
    // Those of all instances together are constant. Otherwise, all instances
    // would ask at the same moments.
    return instances_.at(arrival.client) > 1
               ? "arrivals { process: 'constant' client_phase: 'spread' }"
               : "open_loop_interval_distribution: 'constant'";
  }

  // Of each instance of the client. A request in weeks, or one whose clock
  // began in 1970, has a longer interval than a config may have.
  int64_t IntervalNs(const ArrivalModel& arrival, double instances) const {
    const double rate = arrival.rate_per_second > 0
                            ? arrival.rate_per_second / sampled_fraction_
                            : kInventedRate;
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
      ++from_.invented
            ["rates of # arrivals: no two requests have different times"];
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
      ++from_.inferred
            ["bursts of # arrivals, beyond those of a Poisson process: as of "
             "gamma processes with the variation of their intervals"];
      comment +=
          "\nA gamma process has this variation. That intervals depend on each "
          "other is lost.";
    }
    return comment;
  }

  const TrafficModel& model_;
  const bool hides_names_;
  const double sampled_fraction_;
  std::set<std::string> lists_;  // of services, of RPCs, and others
  std::set<std::string> actions_;
  std::map<std::string, std::string> service_names_;
  std::map<int, std::set<std::string>> clients_;  // by RPC, those reachable
  std::map<std::string, int64_t> instances_;      // by service
  bool has_invented_sizes_ = false;
  DistributedSystemDescription piece_;
  ImportedConfig config_;
  Provenance& from_ = config_.provenance;
};

}  // namespace

ImportedConfig WriteConfig(const TrafficModel& model,
                           const NamingOptions& naming,
                           double sampled_fraction) {
  return ConfigWriter(model, naming, sampled_fraction).Write();
}

}  // namespace distbench::trace_import
