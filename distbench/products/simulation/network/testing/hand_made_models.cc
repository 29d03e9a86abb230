#include "distbench/products/simulation/network/testing/hand_made_models.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "distbench/base/work_random.h"
#include "distbench/products/simulation/network/network.h"

namespace distbench::simulation {
namespace {

class SwitchPaths : public PathFinder {
 public:
  void Find(int from_host, int to_host, uint64_t /*connection*/,
            std::vector<int>& links) const override {
    links.assign({2 * from_host, 2 * to_host + 1});
  }
};

class LeafPaths : public PathFinder {
 public:
  LeafPaths(int leaves, int hosts_per_leaf, int spines)
      : first_spine_link_(2 * leaves * hosts_per_leaf),
        hosts_per_leaf_(hosts_per_leaf),
        spines_(spines) {}

  void Find(int from_host, int to_host, uint64_t connection,
            std::vector<int>& links) const override {
    links.assign({2 * from_host});
    const int from_leaf = from_host / hosts_per_leaf_;
    const int to_leaf = to_host / hosts_per_leaf_;
    if (from_leaf != to_leaf) {
      const int spine =
          static_cast<int>(base::WorkRandom::Mix(connection) % spines_);
      links.push_back(UpLink(from_leaf, spine));
      links.push_back(UpLink(to_leaf, spine) + 1);
    }
    links.push_back(2 * to_host + 1);
  }

 private:
  int UpLink(int leaf, int spine) const {
    return first_spine_link_ + 2 * (leaf * spines_ + spine);
  }

  const int first_spine_link_;
  const int hosts_per_leaf_;
  const int spines_;
};

void AddBothWays(int a, int b, LinkModel link, ClusterModel& model) {
  link.from = a;
  link.to = b;
  model.links.push_back(link);
  std::swap(link.from, link.to);
  model.links.push_back(link);
}

}  // namespace

ClusterModel SingleSwitchModel(int hosts, const LinkModel& link) {
  ClusterModel model;
  model.host_count = hosts;
  model.switch_count = 1;
  for (int host = 0; host < hosts; ++host) {
    AddBothWays(host, hosts, link, model);
  }
  model.paths = std::make_shared<SwitchPaths>();
  model.min_delay_ns = link.delay_ns;
  return model;
}

ClusterModel LeafSpineModel(int leaves, int hosts_per_leaf, int spines,
                            const LinkModel& host_link,
                            const LinkModel& spine_link) {
  ClusterModel model;
  model.host_count = leaves * hosts_per_leaf;
  model.switch_count = leaves + spines;
  const int first_leaf = model.host_count;
  for (int host = 0; host < model.host_count; ++host) {
    AddBothWays(host, first_leaf + host / hosts_per_leaf, host_link, model);
  }
  for (int leaf = 0; leaf < leaves; ++leaf) {
    for (int spine = 0; spine < spines; ++spine) {
      AddBothWays(first_leaf + leaf, first_leaf + leaves + spine, spine_link,
                  model);
    }
  }
  model.paths = std::make_shared<LeafPaths>(leaves, hosts_per_leaf, spines);
  model.min_delay_ns = std::min(host_link.delay_ns, spine_link.delay_ns);
  return model;
}

void UseTransport(SimulatedTransport::Kind kind, ClusterModel& model) {
  model.fabric.mutable_transport()->set_kind(kind);
}

SimulatorOptions OptionsFor(const ClusterModel& model, int threads) {
  SimulatorOptions options;
  options.threads = threads;
  options.lookahead_ns = LookaheadNs(model);
  for (int node = 0; node < model.host_count + model.switch_count; ++node) {
    options.thread_of_node.push_back(node % threads);
  }
  return options;
}

}  // namespace distbench::simulation
