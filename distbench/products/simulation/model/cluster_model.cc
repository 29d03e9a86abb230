// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/model/cluster_model.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"
#include "distbench/base/hostlist.h"
#include "distbench/base/work_random.h"
#include "distbench/config/catalogs/activity_catalog.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/catalogs/product_words.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/rules/field_rules.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace distbench::simulation {
namespace {

constexpr double kBitsPerByte = 8;

// Keeps the choice of slow hosts apart from the seed's other uses.
constexpr uint64_t kSlowHostStream = 0x51;

// ---- Defaults ---------------------------------------------------------------

// Sets the numbers and enumerations that are not set, to their own values, in
// the message and all messages that it may have.
void FillIn(google::protobuf::Message& message) {
  using Field = google::protobuf::FieldDescriptor;
  const auto& reflection = *message.GetReflection();
  const auto& descriptor = *message.GetDescriptor();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const Field* field = descriptor.field(i);
    if (field->is_repeated()) {
      if (field->message_type() == nullptr) continue;
      for (int k = 0; k < reflection.FieldSize(message, field); ++k) {
        FillIn(*reflection.MutableRepeatedMessage(&message, field, k));
      }
      continue;
    }
    switch (field->cpp_type()) {
      case Field::CPPTYPE_MESSAGE:
        FillIn(*reflection.MutableMessage(&message, field));
        break;
      case Field::CPPTYPE_INT32:
        reflection.SetInt32(&message, field,
                            reflection.GetInt32(message, field));
        break;
      case Field::CPPTYPE_INT64:
        reflection.SetInt64(&message, field,
                            reflection.GetInt64(message, field));
        break;
      case Field::CPPTYPE_DOUBLE:
        reflection.SetDouble(&message, field,
                             reflection.GetDouble(message, field));
        break;
      case Field::CPPTYPE_ENUM:
        reflection.SetEnum(&message, field, reflection.GetEnum(message, field));
        break;
      default:
        break;  // names
    }
  }
}

// Puts the defaults into all fields that are missing, except for those of
// stacks and activities, which are zero or not known where they are missing.
void FillInDefaults(SimulatedFabric& fabric) {
  FillIn(*fabric.mutable_host());
  if (fabric.has_graph()) {
    FillIn(*fabric.mutable_graph());
  } else if (fabric.has_leaf_spine()) {
    FillIn(*fabric.mutable_leaf_spine());
  } else {
    FillIn(*fabric.mutable_single_switch());
  }
}

// ---- Rules that are not those of single fields ------------------------------

// A driver or activity of a product that this program lacks may have costs.
void CheckStacks(const SimulatedFabric& fabric, config::Problems& problems) {
  std::vector<std::string> names;
  for (const config::DriverDeclaration& driver : config::DriverCatalog()) {
    names.push_back(driver.name);
  }
  std::set<std::string> seen;
  for (int i = 0; i < fabric.stacks_size(); ++i) {
    const std::string& driver = fabric.stacks(i).driver();
    const config::Path path = config::Path("stacks").At(i).Field("driver");
    if (config::FindDriver(driver) == nullptr &&
        config::ProductOfWord(driver).empty()) {
      problems.Add(path, config::Quoted(driver), " is not a driver; ",
                   config::Suggestion(driver, names));
    } else if (!seen.insert(driver).second) {
      problems.Add(path, config::Quoted(driver),
                   " has costs already; keep one entry");
    }
  }
}

void CheckActivities(const SimulatedFabric& fabric,
                     config::Problems& problems) {
  std::set<std::pair<std::string, std::string>> seen;
  for (int i = 0; i < fabric.activities_size(); ++i) {
    const std::string& name = fabric.activities(i).activity();
    const config::Path path = config::Path("activities").At(i);
    const config::ActivityDeclaration* activity = config::FindActivity(name);
    if (activity == nullptr && config::ProductOfWord(name).empty()) {
      problems.Add(path.Field("activity"), config::Quoted(name),
                   " is not an activity; ",
                   config::Suggestion(name, config::ActivityNames()));
    } else if (activity != nullptr && activity->waits) {
      problems.Add(path.Field("activity"), config::Quoted(name),
                   " only waits, and needs no CPU time; leave it out");
    } else if (!seen.emplace(name, fabric.activities(i).name()).second) {
      problems.Add(path, "repeats an entry above; keep one of them");
    }
  }
}

// ---- Leaves and spines ------------------------------------------------------

HostLink LinkOf(const SimulatedLink& link) {
  return {link.gbps() / kBitsPerByte, link.delay_ns()};
}

// All spines are equally far away, so that it does not matter which of them a
// connection passes. A single switch is one leaf.
void LayOutLeaves(const SimulatedLink& host_link, int hosts_per_leaf,
                  int64_t between_leaves_ns, ClusterModel& model) {
  model.host_links.assign(model.host_count, LinkOf(host_link));
  model.switch_delay_ns = [=](int from_host, int to_host, uint64_t) {
    return from_host / hosts_per_leaf == to_host / hosts_per_leaf
               ? 0
               : between_leaves_ns;
  };
}

// ---- Graphs -----------------------------------------------------------------

// A number that looks random, of one direction of a connection.
uint64_t FlowHash(uint64_t seed, int from_host, int to_host,
                  uint64_t connection) {
  const uint64_t hosts =
      (static_cast<uint64_t>(from_host) << 32) | static_cast<uint32_t>(to_host);
  return base::WorkRandom(seed, hosts, connection)();
}

// Maps a hash evenly to the numbers below `count`.
int ChooseByHash(uint64_t hash, int count) {
  return static_cast<int>((static_cast<unsigned __int128>(hash) * count) >> 64);
}

// A link that leads to a switch.
struct Way {
  int to;
  int64_t delay_ns;
};

// Shortest paths between the switches of a graph. At each switch, a hash of the
// flow and the switch chooses among the links that lead closer, as routers do
// (RFC 2992). Memory: two bytes for each pair of a switch and a switch with
// hosts.
class GraphPaths {
 public:
  // `ways` are those from each switch, in both directions of each link.
  GraphPaths(uint64_t seed, std::vector<std::vector<Way>> ways,
             std::vector<int> switch_of_host)
      : seed_(seed),
        ways_(std::move(ways)),
        switch_of_host_(std::move(switch_of_host)),
        distances_(ways_.size()) {
    for (const int at : switch_of_host_) {
      if (distances_[at].empty()) distances_[at] = DistancesTo(at);
    }
  }

  // Requires AreConnected(from_host, to_host).
  int64_t DelayNs(int from_host, int to_host, uint64_t connection) const {
    const uint64_t flow = FlowHash(seed_, from_host, to_host, connection);
    const int destination = switch_of_host_[to_host];
    int64_t delay_ns = 0;
    for (int at = switch_of_host_[from_host]; at != destination;) {
      const Way& way = NextWay(at, distances_[destination], flow);
      delay_ns += way.delay_ns;
      at = way.to;
    }
    return delay_ns;
  }

  bool AreConnected(int from_host, int to_host) const {
    return distances_[switch_of_host_[to_host]][switch_of_host_[from_host]] !=
           kFar;
  }

 private:
  static constexpr uint16_t kFar = UINT16_MAX;

  // The numbers of links from each switch to this one, breadth first. Links
  // lead both ways, so that the distances from a switch are those to it.
  std::vector<uint16_t> DistancesTo(int destination) const {
    std::vector<uint16_t> distances(ways_.size(), kFar);
    std::vector<int> reached = {destination};
    distances[destination] = 0;
    for (size_t i = 0; i < reached.size(); ++i) {
      for (const Way& way : ways_[reached[i]]) {
        if (distances[way.to] != kFar) continue;
        distances[way.to] = distances[reached[i]] + 1;
        reached.push_back(way.to);
      }
    }
    return distances;
  }

  // The way to take at a switch, given the distances to the destination.
  const Way& NextWay(int at, const std::vector<uint16_t>& distances,
                     uint64_t flow) const {
    const auto leads_closer = [&](const Way& way) {
      return distances[way.to] < distances[at];
    };
    const std::vector<Way>& ways = ways_[at];
    const auto count =
        static_cast<int>(std::count_if(ways.begin(), ways.end(), leads_closer));
    int chosen = ChooseByHash(base::WorkRandom::Mix(flow + at), count);
    return *std::find_if(ways.begin(), ways.end(), [&](const Way& way) {
      return leads_closer(way) && chosen-- == 0;
    });
  }

  const uint64_t seed_;
  const std::vector<std::vector<Way>> ways_;
  const std::vector<int> switch_of_host_;
  std::vector<std::vector<uint16_t>> distances_;  // empty without hosts
};

// Resolves the names of a graph's switches and hosts.
class GraphLayout {
 public:
  GraphLayout(ClusterModel& model, config::Problems& problems)
      : graph_(model.fabric.graph()),
        model_(model),
        problems_(problems),
        ways_(graph_.switches_size()) {}

  void LayOut() {
    NameSwitches();
    AddHosts();
    AddLinks();
    // With problems, hosts may be missing.
    if (problems_.count() > 0) return;
    auto paths = std::make_shared<GraphPaths>(model_.seed, std::move(ways_),
                                              switch_of_host_);
    CheckConnected(*paths);
    model_.switch_delay_ns = [paths = std::move(paths)](int from, int to,
                                                        uint64_t connection) {
      return paths->DelayNs(from, to, connection);
    };
  }

 private:
  config::Path PathOfSwitch(int index) const {
    return path_.Field("switches").At(index);
  }

  void NameSwitches() {
    for (int i = 0; i < graph_.switches_size(); ++i) {
      const std::string& name = graph_.switches(i).name();
      switch_names_.push_back(name);
      if (name.empty() || switch_of_name_.emplace(name, i).second) continue;
      problems_.Add(PathOfSwitch(i).Field("name"), config::Quoted(name),
                    " is the name of another switch; must be unique");
    }
  }

  // Takes hosts until there are enough, but looks at all.
  void AddHosts() {
    for (int i = 0; i < graph_.switches_size(); ++i) {
      for (int list = 0; list < graph_.switches(i).hosts_size(); ++list) {
        AddHostsOfList(i, list);
        if (host_names_.size() <= kMaxSimulatedHosts) continue;
        problems_.Add(path_.Field("switches"), "have more than ",
                      kMaxSimulatedHosts, " hosts, which is the limit");
        return;
      }
    }
    if (switch_of_host_.size() < static_cast<size_t>(model_.host_count)) {
      problems_.Add(path_.Field("switches"), "have ", host_names_.size(),
                    " hosts, but ", model_.host_count,
                    " are simulated; add hosts, or simulate fewer");
    }
  }

  void AddHostsOfList(int at, int list) {
    const SimulatedGraph::Switch& its_switch = graph_.switches(at);
    const config::Path path = PathOfSwitch(at).Field("hosts").At(list);
    const auto hosts = base::ParseHostlist(its_switch.hosts(list));
    if (!hosts.ok()) {
      problems_.Add(path, hosts.status().message());
      return;
    }
    for (const std::string& host : *hosts) {
      if (!host_names_.insert(host).second) {
        problems_.Add(path, "host ", config::Quoted(host),
                      " is at a switch already; must be there once");
      } else if (model_.host_names.size() <
                 static_cast<size_t>(model_.host_count)) {
        model_.host_names.push_back(host);
        switch_of_host_.push_back(at);
        model_.host_links.push_back(LinkOf(its_switch.host_link()));
      }
    }
  }

  void AddLinks() {
    for (int i = 0; i < graph_.links_size(); ++i) {
      const SimulatedGraph::Link& link = graph_.links(i);
      const config::Path path = path_.Field("links").At(i);
      const int from = FindSwitch(path.Field("from"), link.from());
      const int to = FindSwitch(path.Field("to"), link.to());
      if (from < 0 || to < 0) continue;
      if (from == to) {
        problems_.Add(path.Field("to"), "the link leads from ",
                      config::Quoted(link.from()),
                      " to itself; must connect two switches");
      }
      ways_[from].push_back({to, link.link().delay_ns()});
      ways_[to].push_back({from, link.link().delay_ns()});
    }
  }

  // Returns a negative number if there is none.
  int FindSwitch(const config::Path& path, const std::string& name) {
    const auto found = switch_of_name_.find(name);
    if (found != switch_of_name_.end()) return found->second;
    if (!problems_.full()) {
      problems_.Add(path, config::Quoted(name), " is not a switch; ",
                    config::Suggestion(name, switch_names_));
    }
    return -1;
  }

  // One problem per switch that the first host cannot reach.
  void CheckConnected(const GraphPaths& paths) {
    int checked = -1;
    for (int host = 0; host < model_.host_count; ++host) {
      const int at = switch_of_host_[host];
      if (at == checked) continue;
      checked = at;
      if (paths.AreConnected(0, host)) continue;
      problems_.Add(path_.Field("links"), "no path leads from host ",
                    config::Quoted(model_.host_names[0]), " to host ",
                    config::Quoted(model_.host_names[host]), " at switch ",
                    config::Quoted(switch_names_[at]), "; add a link");
    }
  }

  const config::Path path_ = config::Path("graph");
  const SimulatedGraph& graph_;
  ClusterModel& model_;
  config::Problems& problems_;
  std::vector<std::string> switch_names_;
  absl::flat_hash_map<std::string, int> switch_of_name_;
  absl::flat_hash_set<std::string> host_names_;  // of all hosts
  std::vector<std::vector<Way>> ways_;           // by switch
  std::vector<int> switch_of_host_;
};

// ---- The model --------------------------------------------------------------

void DrawSlowness(ClusterModel& model) {
  const SimulatedHost& host = model.fabric.host();
  model.slowness.assign(model.host_count, 1);
  std::vector<int> hosts(model.host_count);
  std::iota(hosts.begin(), hosts.end(), 0);
  base::WorkRandom random(model.seed, kSlowHostStream);
  const auto slow_count =
      static_cast<int>(std::lround(host.slow_share() * model.host_count));
  // The beginning of a Fisher-Yates shuffle.
  for (int i = 0; i < slow_count; ++i) {
    std::swap(hosts[i], hosts[i + random.Below(model.host_count - i)]);
    model.slowness[hosts[i]] = host.slowness();
  }
}

void LayOutNetwork(ClusterModel& model, config::Problems& problems) {
  const SimulatedFabric& fabric = model.fabric;
  if (fabric.has_graph()) {
    GraphLayout(model, problems).LayOut();
  } else if (fabric.has_leaf_spine()) {
    const SimulatedLeafSpine& layout = fabric.leaf_spine();
    LayOutLeaves(layout.host_link(), layout.hosts_per_leaf(),
                 2 * layout.spine_link().delay_ns(), model);
  } else {
    LayOutLeaves(fabric.single_switch().host_link(), model.host_count,
                 /*between_leaves_ns=*/0, model);
  }
  for (int host = static_cast<int>(model.host_names.size());
       host < model.host_count; ++host) {
    model.host_names.push_back(absl::StrCat("host", host));
  }
}

// A model, as far as it can be made.
ClusterModel CheckedModel(const SimulatedFabric& fabric, int host_count,
                          uint64_t seed, config::Problems& problems) {
  ClusterModel model;
  model.fabric = fabric;
  model.host_count = host_count;
  model.seed = seed;
  config::CheckRange(config::Path("host_count"), host_count, 1,
                     kMaxSimulatedHosts, problems);
  config::CheckFields(fabric, config::Path(), /*names=*/nullptr, problems);
  CheckStacks(fabric, problems);
  CheckActivities(fabric, problems);
  FillInDefaults(model.fabric);
  // Wrong sizes would make wrong layouts; a graph only has names and links.
  if (problems.count() == 0 || (fabric.has_graph() && host_count > 0)) {
    LayOutNetwork(model, problems);
  }
  if (problems.count() == 0) DrawSlowness(model);
  return model;
}

}  // namespace

absl::StatusOr<ClusterModel> MakeClusterModel(const SimulatedFabric& fabric,
                                              int host_count, uint64_t seed) {
  config::Problems problems;
  ClusterModel model = CheckedModel(fabric, host_count, seed, problems);
  if (problems.count() > 0) return config::ToStatus(std::move(problems).Take());
  return model;
}

absl::StatusOr<SimulatedFabric> ReadFabric(const std::string& path) {
  absl::StatusOr<std::string> contents = base::ReadFile(path);
  if (!contents.ok()) return contents.status();
  if (absl::EndsWith(path, ".conf")) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": topologies of Slurm are no longer read; write the switches as a "
        "fabric: graph { switches { name: \"leaf0\" hosts: \"node[0-31]\" } ",
        "... } (docs/products/simulation_fabric.md)"));
  }
  SimulatedFabric fabric;
  const absl::Status parsed = config::ParseAnyText(*contents, path, fabric);
  if (!parsed.ok()) return parsed;
  config::Problems problems;
  CheckedModel(fabric, /*host_count=*/1, /*seed=*/0, problems);
  const absl::Status right = config::ToStatus(
      std::move(problems).Take(), {path, *std::move(contents)}, fabric);
  if (!right.ok()) return right;
  return fabric;
}

}  // namespace distbench::simulation
