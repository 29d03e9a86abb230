#include "distbench/products/simulation/model/cluster_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/files.h"
#include "distbench/base/hostlist.h"
#include "distbench/base/work_random.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/reading/load.h"
#include "distbench/products/simulation/model/fabric.h"

namespace distbench::simulation {
namespace {

constexpr int64_t kMaxLinks = 10'000'000;
constexpr double kBitsPerByte = 8;

// Keeps the choice of slow hosts apart from the seed's other uses.
constexpr uint64_t kSlowHostStream = 0x51;

int LinkFromHost(int host) { return 2 * host; }
int LinkToHost(int host) { return 2 * host + 1; }

// Adds both directions of a link.
void AddLink(const SimulatedLink& link, int from, int to, ClusterModel& model) {
  const double bytes_per_ns = link.gbps() / kBitsPerByte;
  model.links.push_back({from, to, bytes_per_ns, link.delay_ns()});
  model.links.push_back({to, from, bytes_per_ns, link.delay_ns()});
}

// Adds the next host, at a switch (a node).
void AddHost(const SimulatedLink& link, int switch_node, ClusterModel& model) {
  AddLink(link, static_cast<int>(model.switch_of_host.size()), switch_node,
          model);
  model.switch_of_host.push_back(switch_node);
}

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

// ---- A single switch --------------------------------------------------------

class SingleSwitchPaths : public PathFinder {
 public:
  void Find(int from_host, int to_host, uint64_t /*connection*/,
            std::vector<int>& links) const override {
    links.assign({LinkFromHost(from_host), LinkToHost(to_host)});
  }
};

void LayOutSingleSwitch(ClusterModel& model) {
  model.switch_count = 1;
  for (int host = 0; host < model.host_count; ++host) {
    AddHost(model.fabric.single_switch().host_link(), model.host_count, model);
  }
  model.paths = std::make_shared<SingleSwitchPaths>();
}

// ---- Leaves and spines ------------------------------------------------------

// Leaves and spines are numbered from 0; their links begin at first_link: for
// each leaf, those to and from each spine.
class LeafSpinePaths : public PathFinder {
 public:
  LeafSpinePaths(uint64_t seed, const SimulatedLeafSpine& layout,
                 int first_link)
      : seed_(seed),
        hosts_per_leaf_(layout.hosts_per_leaf()),
        spines_(layout.spines()),
        first_link_(first_link) {}

  void Find(int from_host, int to_host, uint64_t connection,
            std::vector<int>& links) const override {
    const int from_leaf = from_host / hosts_per_leaf_;
    const int to_leaf = to_host / hosts_per_leaf_;
    if (from_leaf == to_leaf) {
      links.assign({LinkFromHost(from_host), LinkToHost(to_host)});
      return;
    }
    const int spine =
        ChooseByHash(FlowHash(seed_, from_host, to_host, connection), spines_);
    links.assign({LinkFromHost(from_host), LinkToSpine(from_leaf, spine),
                  LinkToSpine(to_leaf, spine) + 1, LinkToHost(to_host)});
  }

 private:
  int LinkToSpine(int leaf, int spine) const {
    return first_link_ + 2 * (leaf * spines_ + spine);
  }

  const uint64_t seed_;
  const int hosts_per_leaf_;
  const int spines_;
  const int first_link_;
};

void LayOutLeafSpine(ClusterModel& model, config::Problems& problems) {
  const SimulatedLeafSpine& layout = model.fabric.leaf_spine();
  const int leaves = (model.host_count - 1) / layout.hosts_per_leaf() + 1;
  if (int64_t{leaves} * layout.spines() > kMaxLinks) {
    problems.Add(config::Path("leaf_spine"),
                 absl::StrCat("has ", leaves, " leaves and ", layout.spines(),
                              " spines, and thus more than ", kMaxLinks,
                              " links between them; raise hosts_per_leaf or "
                              "lower spines"));
    return;
  }
  const int first_leaf = model.host_count;
  const int first_spine = first_leaf + leaves;
  for (int host = 0; host < model.host_count; ++host) {
    AddHost(layout.host_link(), first_leaf + host / layout.hosts_per_leaf(),
            model);
  }
  model.switch_count = leaves + layout.spines();
  model.paths = std::make_shared<LeafSpinePaths>(
      model.seed, layout, static_cast<int>(model.links.size()));
  for (int leaf = 0; leaf < leaves; ++leaf) {
    for (int spine = 0; spine < layout.spines(); ++spine) {
      AddLink(layout.spine_link(), first_leaf + leaf, first_spine + spine,
              model);
    }
  }
}

// ---- Graphs -----------------------------------------------------------------

// Shortest paths between the switches of a graph. At each switch, a hash of the
// flow and the switch chooses among the links that lead closer, as routers do
// (RFC 2992). Memory: two bytes for each pair of a switch and a switch with
// hosts.
class GraphPaths : public PathFinder {
 public:
  // Of a model whose hosts and links are complete.
  explicit GraphPaths(const ClusterModel& model)
      : seed_(model.seed),
        ways_(model.switch_count),
        distances_(model.switch_count) {
    for (size_t i = 2 * model.host_count; i < model.links.size(); ++i) {
      const LinkModel& link = model.links[i];
      ways_[link.from - model.host_count].push_back(
          {link.to - model.host_count, static_cast<int>(i)});
    }
    for (const int node : model.switch_of_host) {
      const int at = node - model.host_count;
      switch_of_host_.push_back(at);
      if (distances_[at].empty()) distances_[at] = DistancesTo(at);
    }
  }

  // Requires AreConnected(from_host, to_host).
  void Find(int from_host, int to_host, uint64_t connection,
            std::vector<int>& links) const override {
    const uint64_t flow = FlowHash(seed_, from_host, to_host, connection);
    const int destination = switch_of_host_[to_host];
    links.assign({LinkFromHost(from_host)});
    for (int at = switch_of_host_[from_host]; at != destination;) {
      const Way& way = NextWay(at, distances_[destination], flow);
      links.push_back(way.link);
      at = way.to;
    }
    links.push_back(LinkToHost(to_host));
  }

  bool AreConnected(int from_host, int to_host) const {
    return distances_[switch_of_host_[to_host]][switch_of_host_[from_host]] !=
           kFar;
  }

 private:
  static constexpr uint16_t kFar = UINT16_MAX;

  struct Way {
    int to;    // a switch, from 0
    int link;  // that leads there
  };

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
  std::vector<std::vector<Way>> ways_;  // by switch
  std::vector<int> switch_of_host_;
  std::vector<std::vector<uint16_t>> distances_;  // empty without hosts
};

// Resolves the names of a graph's switches and hosts.
class GraphLayout {
 public:
  GraphLayout(ClusterModel& model, config::Problems& problems)
      : graph_(model.fabric.graph()), model_(model), problems_(problems) {}

  void LayOut() {
    model_.switch_count = graph_.switches_size();
    NameSwitches();
    AddHosts();
    AddLinks();
    // With problems, hosts may be missing.
    if (problems_.count() > 0) return;
    auto paths = std::make_shared<GraphPaths>(model_);
    CheckConnected(*paths);
    model_.paths = std::move(paths);
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
      problems_.Add(PathOfSwitch(i).Field("name"),
                    absl::StrCat(config::Quoted(name),
                                 " is the name of another switch; must be "
                                 "unique"));
    }
  }

  // Takes hosts until there are enough, but looks at all.
  void AddHosts() {
    for (int i = 0; i < graph_.switches_size(); ++i) {
      for (int list = 0; list < graph_.switches(i).hosts_size(); ++list) {
        AddHostsOfList(i, list);
        if (host_names_.size() <= kMaxSimulatedHosts) continue;
        problems_.Add(path_.Field("switches"),
                      absl::StrCat("have more than ", kMaxSimulatedHosts,
                                   " hosts, which is the limit"));
        return;
      }
    }
    if (model_.switch_of_host.size() < static_cast<size_t>(model_.host_count)) {
      problems_.Add(
          path_.Field("switches"),
          absl::StrCat("have ", host_names_.size(), " hosts, but ",
                       model_.host_count,
                       " are simulated; add hosts, or simulate fewer"));
    }
  }

  void AddHostsOfList(int at, int list) {
    const SimulatedGraph::Switch& its_switch = graph_.switches(at);
    const config::Path path = PathOfSwitch(at).Field("hosts").At(list);
    const auto hosts = base::ParseHostlist(its_switch.hosts(list));
    if (!hosts.ok()) {
      problems_.Add(path, std::string(hosts.status().message()));
      return;
    }
    for (const std::string& host : *hosts) {
      if (!host_names_.insert(host).second) {
        problems_.Add(path, absl::StrCat("host ", config::Quoted(host),
                                         " is at a switch already; must be "
                                         "there once"));
      } else if (model_.host_names.size() <
                 static_cast<size_t>(model_.host_count)) {
        model_.host_names.push_back(host);
        AddHost(its_switch.host_link(), model_.host_count + at, model_);
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
        problems_.Add(
            path.Field("to"),
            absl::StrCat("the link leads from ", config::Quoted(link.from()),
                         " to itself; must connect two switches"));
      }
      AddLink(link.link(), model_.host_count + from, model_.host_count + to,
              model_);
    }
  }

  // Returns a negative number if there is none.
  int FindSwitch(const config::Path& path, const std::string& name) {
    const auto found = switch_of_name_.find(name);
    if (found != switch_of_name_.end()) return found->second;
    if (!problems_.full()) {
      problems_.Add(path,
                    absl::StrCat(config::Quoted(name), " is not a switch; ",
                                 config::Suggestion(name, switch_names_)));
    }
    return -1;
  }

  // One problem per switch that the first host cannot reach.
  void CheckConnected(const GraphPaths& paths) {
    int checked = -1;
    for (int host = 0; host < model_.host_count; ++host) {
      const int at = model_.switch_of_host[host] - model_.host_count;
      if (at == checked) continue;
      checked = at;
      if (paths.AreConnected(0, host)) continue;
      problems_.Add(
          path_.Field("links"),
          absl::StrCat("no path leads from host ",
                       config::Quoted(model_.host_names[0]), " to host ",
                       config::Quoted(model_.host_names[host]), " at switch ",
                       config::Quoted(switch_names_[at]), "; add a link"));
    }
  }

  const config::Path path_ = config::Path("graph");
  const SimulatedGraph& graph_;
  ClusterModel& model_;
  config::Problems& problems_;
  std::vector<std::string> switch_names_;
  absl::flat_hash_map<std::string, int> switch_of_name_;
  absl::flat_hash_set<std::string> host_names_;  // of all hosts
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
  if (model.fabric.has_leaf_spine()) {
    LayOutLeafSpine(model, problems);
  } else if (model.fabric.has_graph()) {
    GraphLayout(model, problems).LayOut();
  } else {
    LayOutSingleSwitch(model);
  }
  for (int host = static_cast<int>(model.host_names.size());
       host < model.host_count; ++host) {
    model.host_names.push_back(absl::StrCat("host", host));
  }
  for (const LinkModel& link : model.links) {
    if (model.min_delay_ns == 0 || link.delay_ns < model.min_delay_ns) {
      model.min_delay_ns = link.delay_ns;
    }
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
  CheckFabric(fabric, problems);
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
