#include "distbench/products/simulation/model/layouts.h"

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/products/simulation/model/fabric_rules.h"

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
  LeafSpinePaths(int hosts_per_leaf, int spines, int first_link)
      : hosts_per_leaf_(hosts_per_leaf),
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
        ChooseByHash(FlowHash(from_host, to_host, connection), spines_);
    links.assign({LinkFromHost(from_host), LinkToSpine(from_leaf, spine),
                  LinkToSpine(to_leaf, spine) + 1, LinkToHost(to_host)});
  }

 private:
  int LinkToSpine(int leaf, int spine) const {
    return first_link_ + 2 * (leaf * spines_ + spine);
  }

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
      .queue_bytes = link.queue_bytes(),
      .ecn_bytes = link.ecn_bytes(),
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
  model.paths =
      std::make_shared<LeafSpinePaths>(layout.hosts_per_leaf(), layout.spines(),
                                       static_cast<int>(model.links.size()));
  for (int leaf = 0; leaf < leaves; ++leaf) {
    for (int spine = 0; spine < layout.spines(); ++spine) {
      AddLink(layout.spine_link(), first_leaf + leaf, first_spine + spine,
              model);
    }
  }
}

}  // namespace distbench::simulation
