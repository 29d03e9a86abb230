#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/hostlist.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/products/simulation/model/fabric_rules.h"
#include "distbench/products/simulation/model/graph_paths.h"
#include "distbench/products/simulation/model/layouts.h"

namespace distbench::simulation {
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
                graph_.switches(i).host_link(), model_.fabric.transport(),
                problems_);
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
      CheckLink(path.Field("link"), link.link(), model_.fabric.transport(),
                problems_);
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
