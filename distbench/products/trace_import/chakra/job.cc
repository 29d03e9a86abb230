// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/trace_import/chakra/job.h"

#include <algorithm>
#include <compare>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "distbench/base/json.h"
#include "distbench/base/time_units.h"
#include "distbench/products/trace_import/chakra/rank_grid.h"
#include "distbench/products/trace_import/distribution_fit.h"
#include "test_builder/building/config_text.h"
#include "test_builder/patterns/collective_schedule.h"

namespace distbench::trace_import {
namespace {

constexpr char kService[] = "rank";

// Of an operation, as of the patterns' parameters, and of a message, as of
// PayloadSpec.
constexpr int64_t kMaxBytes = 1'000'000'000'000;
constexpr int64_t kMaxMessageBytes = 2'147'483'647;

// All that a config may have without being too large to handle.
constexpr int kMaxActions = 200'000;

std::string TextOf(const Communication& each) {
  return absl::StrCat(each.type == ChakraType::kSend      ? "sends a message"
                      : each.type == ChakraType::kReceive ? "receives a message"
                                                          : "does ",
                      each.operation,
                      each.tag == 0 ? "" : absl::StrCat(" with tag ", each.tag),
                      " (node ", each.node, ")");
}

bool AreAlike(const Communication& a, const Communication& b) {
  return a.type == b.type && a.operation == b.operation && a.tag == b.tag;
}

// ---- What all ranks do ------------------------------------------------------

absl::Status CheckAlike(const std::vector<RankWork>& works) {
  const std::vector<Communication>& first = works[0].communications;
  for (size_t rank = 1; rank < works.size(); ++rank) {
    const std::vector<Communication>& other = works[rank].communications;
    const auto [mine, its] = std::mismatch(
        first.begin(), first.end(), other.begin(), other.end(), AreAlike);
    if (mine == first.end() && its == other.end()) continue;
    const auto what = [](const auto& where, const auto& all) {
      return where == all.end() ? "has ended" : TextOf(*where);
    };
    return absl::InvalidArgumentError(absl::StrCat(
        "rank ", rank, " does not do the same as rank 0: after ",
        mine - first.begin(), " communications, it ", what(its, other),
        ", and rank 0 ", what(mine, first),
        ". Ranks with different graphs, such as the stages of a pipeline, are "
        "no test; give the files of ranks that are alike"));
  }
  return absl::OkStatus();
}

// By what messages are sent: whom each rank sends them to, and their tag.
struct MessageRpc {
  std::string filter;
  int64_t tag = 0;

  // Not auto: libc++ before 16 has no <=> of strings.
  friend std::strong_ordering operator<=>(const MessageRpc&,
                                          const MessageRpc&) = default;
};

class JobWriter {
 public:
  JobWriter(const std::vector<RankWork>& works, const JobOptions& options)
      : works_(works),
        options_(options),
        ranks_(options.ranks > 0 ? options.ranks
                                 : static_cast<int64_t>(works.size())),
        count_(works[0].communications.size()) {}

  absl::StatusOr<JobImport> Write() {
    for (const auto& step :
         {&JobWriter::CheckRanks, &JobWriter::FindGrid,
          &JobWriter::WriteMessages, &JobWriter::WriteCommunications}) {
      absl::Status status = (this->*step)();
      if (!status.ok()) return status;
    }
    WriteEnd();
    WriteRanks();
    SayWhereFrom();
    Count();
    test_.mutable_action_lists()->Add(std::move(list_));
    const auto checked = CheckImported(test_, "the ranks", import_.provenance);
    if (!checked.ok()) return checked.status();
    import_.text = absl::StrCat(ProvenanceComment(import_.provenance),
                                test_builder::ConfigText({test_}));
    import_.test = std::move(test_);
    return std::move(import_);
  }

 private:
  absl::Status CheckRanks() {
    const auto given = static_cast<int64_t>(works_.size());
    if (given > 1 && ranks_ != given) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--ranks=", ranks_, ", and there are files of ", given,
          " ranks; give one file, so that all ranks do what it does, or the "
          "files of all"));
    }
    if (ranks_ < 2) {
      return absl::InvalidArgumentError(
          "there is a file of one rank only; give those of all ranks, or "
          "--ranks=N, so that N ranks do what it does");
    }
    if (ranks_ > kMaxRanks) {
      return absl::InvalidArgumentError(
          absl::StrCat("there are ", ranks_, " ranks; at most ", kMaxRanks,
                       " are possible"));
    }
    if (count_ == 0) {
      return absl::InvalidArgumentError(
          "rank 0 has no communications of its accelerator; there is nothing "
          "to test");
    }
    return CheckAlike(works_);
  }

  const RankWork& WorkOfRank(int64_t rank) const {
    return works_[works_.size() == 1 ? 0 : rank];
  }

  const Communication& FirstOf(size_t index) const {
    return works_[0].communications[index];
  }

  // The largest of all ranks.
  int64_t BytesOf(size_t index) {
    int64_t bytes = 0;
    bool differ = false;
    for (const RankWork& work : works_) {
      const int64_t its = work.communications[index].bytes;
      differ = differ || its != works_[0].communications[index].bytes;
      bytes = std::max(bytes, its);
    }
    if (differ) {
      ++import_.provenance.inferred
            ["sizes of # communications, which differ "
             "between ranks: the largest"];
    }
    return bytes;
  }

  absl::Status FindGrid() {
    std::set<RankGroups> all;
    for (size_t i = 0; i < count_; ++i) {
      if (FirstOf(i).type != ChakraType::kCollective) continue;
      const absl::StatusOr<RankGroups> groups = GroupsOf(i);
      if (!groups.ok()) return At(i, groups.status());
      groups_[i] = *groups;
      all.insert(*groups);
      if (FirstOf(i).group.empty()) continue;
      ++(works_.size() == 1
             ? import_.provenance.invented["groups of # collectives: all ranks"]
             : import_.provenance.inferred["groups of # collectives: the ranks "
                                           "whose files name them"]);
    }
    absl::StatusOr<std::vector<RankAxis>> grid = GridOf(ranks_, all);
    if (!grid.ok()) return grid.status();
    grid_ = *std::move(grid);
    return absl::OkStatus();
  }

  // Those who do the collective together. With one file, all ranks do.
  absl::StatusOr<RankGroups> GroupsOf(size_t index) const {
    if (works_.size() == 1) return RankGroups{.size = ranks_};
    std::vector<std::string> names;
    for (const RankWork& work : works_) {
      names.push_back(work.communications[index].group);
    }
    return GroupsByName(names);
  }

  absl::Status At(size_t index, const absl::Status& status) const {
    return absl::InvalidArgumentError(absl::StrCat(
        "node ", FirstOf(index).node, " of rank 0: ", status.message()));
  }

  // ---- Messages ----

  // How the rank of each message knows its peer: senders whom they send to.
  absl::StatusOr<MessageRpc> RpcOf(size_t index) const {
    if (works_.size() == 1) {
      return absl::InvalidArgumentError(
          "whom other ranks send messages to is not known; give the files of "
          "all ranks");
    }
    const bool is_send = FirstOf(index).type == ChakraType::kSend;
    std::vector<int64_t> peers(ranks_, -1);
    for (int64_t rank = 0; rank < ranks_; ++rank) {
      const Communication& its = WorkOfRank(rank).communications[index];
      const int64_t peer = its.peer;
      if (peer >= ranks_ || peer == rank) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the other side of rank ", rank, " (node ", its.node, ") is rank ",
            peer, "; there are ", ranks_, ": give the files of all"));
      }
      const int64_t sender = is_send ? rank : peer;
      int64_t& receiver = peers[sender];
      if (receiver >= 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("rank ", sender,
                         " is the other side of two ranks; messages must "
                         "go to one rank each"));
      }
      receiver = is_send ? peer : rank;
    }
    const auto filter = FilterOf(peers, grid_);
    if (!filter.ok()) return filter.status();
    return MessageRpc{*filter, FirstOf(index).tag};
  }

  // Declares the RPCs of messages. The first message that is received is the
  // first one that was sent, and so on.
  absl::Status WriteMessages() {
    std::map<MessageRpc, std::pair<std::vector<size_t>, std::vector<size_t>>>
        messages;
    for (size_t i = 0; i < count_; ++i) {
      if (FirstOf(i).type == ChakraType::kCollective) continue;
      const auto rpc = RpcOf(i);
      if (!rpc.ok()) return At(i, rpc.status());
      auto& [sends, receives] = messages[*rpc];
      (FirstOf(i).type == ChakraType::kSend ? sends : receives).push_back(i);
    }
    for (const auto& [rpc, both] : messages) {
      const auto& [sends, receives] = both;
      if (sends.size() != receives.size()) {
        const bool is_sent = sends.size() > receives.size();
        const size_t alone =
            (is_sent ? sends
                     : receives)[std::min(sends.size(), receives.size())];
        return At(alone,
                  absl::InvalidArgumentError(absl::StrCat(
                      is_sent ? "what it sends is not received"
                              : "what it receives is not sent",
                      " (of one tag, ", sends.size(),
                      " messages are sent to "
                      "the peer, and ",
                      receives.size(),
                      " received from it); give traces of whole steps")));
      }
      for (size_t i = 0; i < sends.size(); ++i) {
        absl::Status status = WriteMessage(rpc, sends[i], receives[i]);
        if (!status.ok()) return status;
      }
    }
    return absl::OkStatus();
  }

  absl::Status WriteMessage(const MessageRpc& rpc, size_t send,
                            size_t receive) {
    const int64_t bytes = BytesOf(send);
    if (bytes > kMaxMessageBytes) return TooLarge(send, bytes);
    std::string& name = messages_[{rpc.filter, rpc.tag, bytes}];
    if (name.empty()) {
      name = absl::StrCat("message_", messages_.size());
      PayloadSpec& payload = *test_.add_payload_descriptions();
      payload.set_name(name);
      payload.set_size(bytes);
      RpcSpec& spec = *test_.add_rpc_descriptions();
      spec.set_name(name);
      spec.add_client(kService);
      spec.set_server(kService);
      spec.set_request_payload_name(name);
      spec.set_fanout_filter(rpc.filter);
      test_.add_action_lists()->set_name(name);
    }
    names_[send] = name;
    names_[receive] = name;
    return absl::OkStatus();
  }

  absl::Status TooLarge(size_t index, int64_t bytes) const {
    return At(index,
              absl::InvalidArgumentError(absl::StrCat(
                  "needs a message of ", bytes, " bytes; at most ",
                  kMaxMessageBytes, " are possible: correct comm_size")));
  }

  // ---- Collectives ----

  // The operation's name, which it has with others that are alike.
  absl::StatusOr<std::string> WriteCollective(size_t index) {
    const Communication& first = FirstOf(index);
    const RankGroups& groups = groups_.at(index);
    const std::vector<std::string> algorithms =
        test_builder::AlgorithmsOf(first.operation);
    const bool is_said = absl::c_linear_search(algorithms, first.algorithm);
    const RankAxis& axis = *absl::c_find_if(grid_, [&](const RankAxis& each) {
      return each.stride == groups.stride && each.size == groups.size;
    });
    const int64_t bytes = BytesOf(index);
    // What is gathered is what all ranks bring.
    const int64_t factor = first.operation == "all_gather" ? groups.size : 1;
    if (bytes > kMaxBytes / factor) return TooLarge(index, bytes);
    test_builder::Collective collective = {
        .operation = first.operation,
        .algorithm = is_said ? first.algorithm : algorithms.front(),
        .axis = axis.name,
        .ranks = groups.size,
        .size = bytes * factor};
    std::string& name =
        collectives_[{collective.operation, collective.algorithm,
                      collective.axis, collective.size}];
    if (!name.empty()) return name;
    name = absl::StrCat(first.operation, "_", collectives_.size());
    ++(is_said ? import_.provenance.inferred
                     ["algorithms of # kinds of collectives, from the names of "
                      "their kernels"]
               : import_.provenance
                     .invented["algorithms of # kinds of collectives"]);
    collective.name = name;
    const int payloads = test_.payload_descriptions_size();
    absl::Status status = test_builder::AddCollective(collective, "", test_);
    if (!status.ok()) return At(index, status);
    for (int i = payloads; i < test_.payload_descriptions_size(); ++i) {
      const int64_t size = test_.payload_descriptions(i).size();
      if (size > kMaxMessageBytes) return TooLarge(index, size);
    }
    ActionList& once = *test_.add_action_lists();
    once.set_name(absl::StrCat(name, ".once"));
    once.add_action_names(name);
    return name;
  }

  absl::Status WriteCommunications() {
    for (size_t i = 0; i < count_; ++i) {
      const Communication& first = FirstOf(i);
      Action step;
      step.set_name(StepName(static_cast<int>(i)));
      if (first.type == ChakraType::kSend) {
        step.set_rpc_name(names_.at(i));
      } else if (first.type == ChakraType::kReceive) {
        step.set_receive_rpc_name(names_.at(i));
        // Those of an RPC are received one by one.
        std::string& before = last_receive_[names_.at(i)];
        if (!before.empty()) step.add_dependencies(before);
        before = step.name();
      } else if (groups_.at(i).size == 1) {
        ++import_.provenance.in_the_data
              ["# collectives of one rank alone, which take no time"];
      } else {
        const absl::StatusOr<std::string> name = WriteCollective(i);
        if (!name.ok()) return name.status();
        step.set_action_list_name(absl::StrCat(*name, ".once"));
      }
      WaitFor(
          [i](const RankWork& work) -> const WaitsFor& {
            return work.communications[i].waits_for;
          },
          step);
      Add(std::move(step));
      if (test_.actions_size() > kMaxActions) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the test would have more than ", kMaxActions,
            " actions; cut the trace at one step of the job, or give fewer "
            "ranks"));
      }
    }
    return absl::OkStatus();
  }

  // ---- Computations ----

  static std::string StepName(int index) {
    return index == kBegin ? "begin" : absl::StrCat("step_", index + 1);
  }

  void Add(Action action) {
    list_.add_action_names(action.name());
    *test_.add_actions() = std::move(action);
  }

  // Lets the action wait for what it does at any rank. A rank that does not
  // wait for it waits for something later, in any case.
  void WaitFor(const std::function<const WaitsFor&(const RankWork&)>& waits_of,
               Action& action) {
    std::map<int, std::vector<int64_t>> times_ns;
    for (const RankWork& work : works_) {
      for (const auto& [from, time_us] : waits_of(work)) {
        times_ns[from].push_back(time_us * base::kNsPerUs);
      }
    }
    for (auto& [from, times] : times_ns) {
      std::string before = from == kBegin ? "" : StepName(from);
      if (absl::c_any_of(times, [](int64_t ns) { return ns > 0; })) {
        Action compute;
        compute.set_name(
            absl::StrCat("compute_", StepName(from), "_", action.name()));
        if (!before.empty()) compute.add_dependencies(before);
        compute.set_delay_distribution_name(TimesName(std::move(times)));
        before = compute.name();
        Add(std::move(compute));
      }
      if (!before.empty() &&
          !absl::c_linear_search(action.dependencies(), before)) {
        action.add_dependencies(before);
      }
    }
  }

  // The distribution of these times.
  std::string TimesName(std::vector<int64_t> times_ns) {
    absl::c_sort(times_ns);
    std::string& name = times_[times_ns];
    if (name.empty()) {
      name = absl::StrCat("computation_", times_.size());
      *test_.add_delay_distribution_configs() =
          FitDelays(std::move(times_ns), name);
    }
    return name;
  }

  // What is computed after the last communications.
  void WriteEnd() {
    Action end;
    end.set_name("end");
    WaitFor([](const RankWork& work) -> const WaitsFor& { return work.end; },
            end);
    Add(std::move(end));
  }

  // ---- The whole ----

  void WriteRanks() {
    test_.set_name("imported");
    ServiceSpec& service = *test_.add_services();
    service.set_name(kService);
    service.set_x_size(static_cast<int>(grid_[0].size));
    if (grid_.size() > 1) service.set_y_size(static_cast<int>(grid_[1].size));
    if (grid_.size() > 2) service.set_z_size(static_cast<int>(grid_[2].size));
    // As the patterns have it: messages are received in their order.
    test_.set_workers_per_instance(1);
    ActionList& main = *test_.add_action_lists();
    main.set_name(kService);
    main.add_action_names("iterations");
    Action& all = *test_.add_actions();
    all.set_name("iterations");
    all.set_action_list_name("iteration");
    Iterations& iterations = *all.mutable_iterations();
    iterations.set_max_iteration_count(options_.iterations +
                                       options_.warmup_iterations);
    iterations.set_warmup_iterations(options_.warmup_iterations);
    list_.set_name("iteration");
  }

  void SayWhereFrom() {
    Provenance& from = import_.provenance;
    const RankWork& first = works_[0];
    from.in_the_data["files of # ranks"] = static_cast<int64_t>(works_.size());
    from.in_the_data[absl::StrCat(
        "version of Chakra's schema: ",
        first.version.empty() ? "not said" : first.version)] = 1;
    from.in_the_data
        ["# communications of each rank in an iteration, their "
         "sizes, and which waits for which"] = static_cast<int64_t>(count_);
    from.in_the_data
        ["times of # computations, as the longest way from one "
         "communication to the next: which they were is lost"] =
        first.computations;
    from.inferred
        ["computations of one stream or thread are done one after the "
         "other, in the order of their ids, and so are collectives of "
         "one group"] = 1;
    if (works_.size() > 1) {
      from.inferred
          ["times between communications are drawn from those of all "
           "ranks: that a rank is always slow is lost"] = 1;
    } else {
      from.invented["that # ranks do the same as the one of the file"] = ranks_;
    }
    from.invented["# iterations, and those before them that are not measured"] =
        options_.iterations;
    from.invented["that computations use no CPU: ranks wait"] = 1;
    from.invented["that broadcasts begin at the first rank of a group"] =
        absl::c_any_of(first.communications, [](const Communication& each) {
          return each.operation == "broadcast";
        });
    for (Tally* tally : {&from.in_the_data, &from.invented}) {
      std::erase_if(*tally, [](const auto& each) { return each.second == 0; });
    }
  }

  void Count() {
    import_.ranks = ranks_;
    import_.communications = static_cast<int64_t>(count_);
    for (const RankWork& work : works_) {
      import_.nodes += work.nodes;
      import_.critical_path_us =
          std::max(import_.critical_path_us, work.critical_path_us);
      for (const auto& [note, count] : work.notes) {
        import_.provenance.notes[note] += count;
      }
    }
  }

  const std::vector<RankWork>& works_;
  const JobOptions options_;
  const int64_t ranks_;
  const size_t count_;                   // of communications of each rank
  std::map<size_t, RankGroups> groups_;  // by collective
  std::vector<RankAxis> grid_;
  std::map<size_t, std::string> names_;  // the RPCs of messages
  std::map<std::tuple<std::string, int64_t, int64_t>, std::string> messages_;
  std::map<std::tuple<std::string, std::string, std::string, int64_t>,
           std::string>
      collectives_;
  std::map<std::string, std::string> last_receive_;  // by RPC
  std::map<std::vector<int64_t>, std::string> times_;
  ActionList list_;  // an iteration
  DistributedSystemDescription test_;
  JobImport import_;
};

}  // namespace

absl::StatusOr<JobImport> ImportJob(const std::vector<RankWork>& works,
                                    const JobOptions& options) {
  return JobWriter(works, options).Write();
}

std::string JobText(const JobImport& import) {
  return absl::StrCat(
      absl::StrFormat("%d ranks of %d nodes in all; %d communications of each "
                      "rank in an iteration, which takes %.6g ms if they take "
                      "no time\n",
                      import.ranks, import.nodes, import.communications,
                      static_cast<double>(import.critical_path_us) / 1e3),
      ProvenanceText(import.provenance));
}

std::string JobJson(const JobImport& import) {
  base::Json json = {{"ranks", import.ranks},
                     {"nodes", import.nodes},
                     {"communications", import.communications},
                     {"critical_path_us", import.critical_path_us}};
  AddProvenance(import.provenance, json);
  return base::DumpJson(json, 2) + "\n";
}

}  // namespace distbench::trace_import
