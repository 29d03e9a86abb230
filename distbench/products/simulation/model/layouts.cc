#include "distbench/products/simulation/model/layouts.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/hostlist.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/products/simulation/model/read_fabric.h"

namespace distbench::simulation {
namespace {

constexpr double kBitsPerByte = 8;

class SingleSwitchPaths : public PathFinder {
 public:
  void Find(int from_host, int to_host, uint64_t /*connection*/,
            std::vector<int>& links) const override {
    links.assign({LinkFromHost(from_host), LinkToHost(to_host)});
  }
};

// Leaves and spines are numbered from 0; their links begin at first_link: for
// each leaf, those to and from each spine.
class LeafSpinePaths : public PathFinder {
 public:
  LeafSpinePaths(uint64_t seed, int hosts_per_leaf, int spines, int first_link)
      : seed_(seed),
        hosts_per_leaf_(hosts_per_leaf),
        spines_(spines),
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

}  // namespace

void AddLink(const SimulatedLink& link, int from, int to, ClusterModel& model) {
  LinkModel direction = {
      .from = from,
      .to = to,
      .bytes_per_ns = link.gbps() / kBitsPerByte,
      .delay_ns = link.delay_ns(),
  };
  model.links.push_back(direction);
  std::swap(direction.from, direction.to);
  model.links.push_back(direction);
}

void AddHost(const SimulatedLink& link, int switch_node, ClusterModel& model) {
  AddLink(link, static_cast<int>(model.switch_of_host.size()), switch_node,
          model);
  model.switch_of_host.push_back(switch_node);
}

void LayOutSingleSwitch(ClusterModel& model) {
  model.switch_count = 1;
  for (int host = 0; host < model.host_count; ++host) {
    AddHost(model.fabric.single_switch().host_link(), model.host_count, model);
  }
  model.paths = std::make_shared<SingleSwitchPaths>();
}

void LayOutLeafSpine(ClusterModel& model, config::Problems& problems) {
  const SimulatedLeafSpine& layout = model.fabric.leaf_spine();
  const int leaves = (model.host_count - 1) / layout.hosts_per_leaf() + 1;
  if (int64_t{leaves} * layout.spines() > kMaxSimulatedLinks) {
    problems.Add(
        config::Path("leaf_spine"),
        absl::StrCat("has ", leaves, " leaves and ", layout.spines(),
                     " spines, and thus more than ", kMaxSimulatedLinks,
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
      model.seed, layout.hosts_per_leaf(), layout.spines(),
      static_cast<int>(model.links.size()));
  for (int leaf = 0; leaf < leaves; ++leaf) {
    for (int spine = 0; spine < layout.spines(); ++spine) {
      AddLink(layout.spine_link(), first_leaf + leaf, first_spine + spine,
              model);
    }
  }
}

GraphPaths::GraphPaths(const ClusterModel& model, int first_link)
    : seed_(model.seed) {
  AddWays(model, first_link);
  distances_.resize(model.switch_count);
  switch_of_host_.reserve(model.host_count);
  for (const int node : model.switch_of_host) {
    const int at = node - model.host_count;
    switch_of_host_.push_back(at);
    if (distances_[at].empty()) distances_[at] = DistancesTo(at);
  }
}

void GraphPaths::AddWays(const ClusterModel& model, int first_link) {
  const int link_count = static_cast<int>(model.links.size());
  first_way_.assign(model.switch_count + 1, 0);
  for (int i = first_link; i < link_count; ++i) {
    ++first_way_[model.links[i].from - model.host_count + 1];
  }
  for (int i = 0; i < model.switch_count; ++i) {
    first_way_[i + 1] += first_way_[i];
  }
  ways_.resize(link_count - first_link);
  std::vector<int> next = first_way_;
  for (int i = first_link; i < link_count; ++i) {
    ways_[next[model.links[i].from - model.host_count]++] = {
        .to = model.links[i].to - model.host_count, .link = i};
  }
}

// Breadth first. Links lead both ways, so that the distances from a switch are
// those to it.
std::vector<uint16_t> GraphPaths::DistancesTo(int switch_index) const {
  std::vector<uint16_t> distances(first_way_.size() - 1, kFar);
  std::vector<int> reached = {switch_index};
  distances[switch_index] = 0;
  for (size_t i = 0; i < reached.size(); ++i) {
    const int at = reached[i];
    for (int way = first_way_[at]; way < first_way_[at + 1]; ++way) {
      const int to = ways_[way].to;
      if (distances[to] != kFar) continue;
      distances[to] = distances[at] + 1;
      reached.push_back(to);
    }
  }
  return distances;
}

const GraphPaths::Way& GraphPaths::NextWay(
    int at, const std::vector<uint16_t>& distances, uint64_t flow) const {
  const auto leads_closer = [&](const Way& way) {
    return distances[way.to] < distances[at];
  };
  int count = 0;
  for (int way = first_way_[at]; way < first_way_[at + 1]; ++way) {
    count += leads_closer(ways_[way]);
  }
  int chosen = ChooseByHash(base::WorkRandom::Mix(flow + at), count);
  int way = first_way_[at];
  for (;; ++way) {
    if (leads_closer(ways_[way]) && chosen-- == 0) return ways_[way];
  }
}

void GraphPaths::Find(int from_host, int to_host, uint64_t connection,
                      std::vector<int>& links) const {
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

bool GraphPaths::AreConnected(int from_host, int to_host) const {
  return distances_[switch_of_host_[to_host]][switch_of_host_[from_host]] !=
         kFar;
}

namespace {

// Resolves the names of a graph's switches and hosts.
class GraphLayout {
 public:
  GraphLayout(ClusterModel& model, config::Problems& problems)
      : graph_(model.fabric.graph()), model_(model), problems_(problems) {}

  void LayOut() {
    if (!HasFittingSize()) return;
    model_.switch_count = graph_.switches_size();
    AddSwitches();
    AddHosts();
    const int first_link = static_cast<int>(model_.links.size());
    AddLinks();
    // With problems, hosts may be missing.
    if (problems_.count() > 0) return;
    auto paths = std::make_shared<GraphPaths>(model_, first_link);
    CheckConnected(*paths);
    model_.paths = std::move(paths);
  }

 private:
  bool HasFittingSize() {
    if (graph_.switches_size() > kMaxSimulatedSwitches) {
      problems_.Add(path_.Field("switches"),
                    absl::StrCat("are ", graph_.switches_size(), "; at most ",
                                 kMaxSimulatedSwitches, " can be simulated"));
      return false;
    }
    if (graph_.links_size() > kMaxSimulatedLinks) {
      problems_.Add(path_.Field("links"),
                    absl::StrCat("are ", graph_.links_size(), "; at most ",
                                 kMaxSimulatedLinks, " can be simulated"));
      return false;
    }
    return true;
  }

  config::Path PathOfSwitch(int index) const {
    return path_.Field("switches").At(index);
  }

  void AddSwitches() {
    for (int i = 0; i < graph_.switches_size(); ++i) {
      const std::string& name = graph_.switches(i).name();
      switch_names_.push_back(name);
      if (name.empty()) {
        problems_.Add(PathOfSwitch(i).Field("name"),
                      "is missing; links need it");
      } else if (!switch_of_name_.emplace(name, i).second) {
        problems_.Add(PathOfSwitch(i).Field("name"),
                      absl::StrCat(config::Quoted(name),
                                   " is the name of another switch; must be "
                                   "unique"));
      }
      CheckLink(PathOfSwitch(i).Field("host_link"),
                graph_.switches(i).host_link(), problems_);
    }
  }

  // Takes hosts until there are enough, but looks at all.
  void AddHosts() {
    for (int i = 0; i < graph_.switches_size(); ++i) {
      for (int list = 0; list < graph_.switches(i).hosts_size(); ++list) {
        AddHostsOfList(i, list);
        if (names_.size() > kMaxSimulatedHosts) {
          problems_.Add(path_.Field("switches"),
                        absl::StrCat("have more than ", kMaxSimulatedHosts,
                                     " hosts, which is the limit"));
          return;
        }
      }
    }
    if (model_.switch_of_host.size() < static_cast<size_t>(model_.host_count)) {
      problems_.Add(
          path_.Field("switches"),
          absl::StrCat("have ", names_.size(), " hosts, but ",
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
      if (!names_.insert(host).second) {
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
      CheckLink(path.Field("link"), link.link(), problems_);
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
  absl::flat_hash_set<std::string> names_;  // of all hosts
};

}  // namespace

void LayOutGraph(ClusterModel& model, config::Problems& problems) {
  GraphLayout(model, problems).LayOut();
}

}  // namespace distbench::simulation
