#include "distbench/products/simulation/model/slurm_topology.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/base/hostlist.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/products/simulation/model/fabric_rules.h"

namespace distbench::simulation {
namespace {

// A line with its continuations, without comments.
struct SlurmLine {
  int number = 0;  // of its first line, from 1
  std::string text;
};

std::vector<SlurmLine> SlurmLines(absl::string_view text) {
  std::vector<SlurmLine> lines;
  bool continues = false;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripTrailingAsciiWhitespace(line.substr(0, line.find('#')));
    if (!continues) lines.push_back({number, ""});
    continues = !line.empty() && line.back() == '\\';
    if (continues) line.remove_suffix(1);
    absl::StrAppend(&lines.back().text, line);
  }
  return lines;
}

// Takes "key = value" or "key="quoted value"" from the front of a line. Returns
// false if there is none; what is left is then wrong, unless it is empty.
bool TakeParameter(absl::string_view& line, std::string& key,
                   absl::string_view& value) {
  line = absl::StripLeadingAsciiWhitespace(line);
  const size_t equals = line.find('=');
  if (equals == absl::string_view::npos) return false;
  key = absl::AsciiStrToLower(
      absl::StripTrailingAsciiWhitespace(line.substr(0, equals)));
  absl::string_view rest =
      absl::StripLeadingAsciiWhitespace(line.substr(equals + 1));
  const bool quoted = !rest.empty() && rest.front() == '"';
  if (quoted) rest.remove_prefix(1);
  const size_t end =
      std::min(rest.find_first_of(quoted ? "\"" : " \t\r\v\f"), rest.size());
  if (quoted && end == rest.size()) return false;
  value = rest.substr(0, end);
  line = rest.substr(end + (quoted ? 1 : 0));
  return true;
}

class SlurmReader {
 public:
  explicit SlurmReader(absl::string_view source) : source_(source) {}

  absl::StatusOr<SlurmTopology> Read(absl::string_view text) {
    for (const SlurmLine& line : SlurmLines(text)) ReadLine(line);
    if (switches_.empty() && problems_.count() == 0) {
      problems_.Add(config::Path(source_),
                    "has no switch; must have lines such as "
                    "SwitchName=s0 Nodes=node[0-31]");
    }
    FindChildren();
    for (size_t i = 0; i < switches_.size(); ++i) CountHosts(i);
    if (problems_.count() > 0)
      return config::ToStatus(std::move(problems_).Take());
    return Topology();
  }

 private:
  enum class Count { kNotBegun, kBegun, kDone };

  struct SlurmSwitch {
    int line = 0;
    std::string name;
    std::string nodes;
    std::string switches;
    std::vector<int> children;
    int64_t host_count = 0;  // below it
    Count count = Count::kNotBegun;
  };

  config::Path At(int line) const {
    return config::Path(absl::StrCat(source_, ":", line));
  }

  void ReadLine(const SlurmLine& line) {
    SlurmSwitch found;
    found.line = line.number;
    absl::string_view rest = line.text;
    std::string key;
    absl::string_view value;
    while (TakeParameter(rest, key, value)) {
      if (!SetParameter(key, value, found)) return;
    }
    if (!absl::StripAsciiWhitespace(rest).empty()) {
      problems_.Add(At(line.number),
                    absl::StrCat(config::Quoted(rest),
                                 " is not a parameter; must be such as "
                                 "SwitchName=s0 Nodes=node[0-31]"));
      return;
    }
    if (key.empty()) return;  // an empty line
    AddSwitch(std::move(found));
  }

  bool SetParameter(const std::string& key, absl::string_view value,
                    SlurmSwitch& found) {
    if (key == "switchname") {
      found.name = std::string(value);
    } else if (key == "nodes") {
      found.nodes = std::string(value);
    } else if (key == "switches") {
      found.switches = std::string(value);
    } else if (key == "linkspeed") {
      has_link_speed_ = true;
    } else {
      problems_.Add(At(found.line),
                    absl::StrCat(config::Quoted(key),
                                 " is not a parameter of topology/tree; must "
                                 "be SwitchName, Nodes, Switches or "
                                 "LinkSpeed"));
      return false;
    }
    return true;
  }

  void AddSwitch(SlurmSwitch found) {
    if (found.name.empty()) {
      problems_.Add(At(found.line), "has no SwitchName; each switch needs one");
      return;
    }
    if (found.nodes.empty() && found.switches.empty()) {
      problems_.Add(At(found.line),
                    absl::StrCat("switch ", config::Quoted(found.name),
                                 " has nothing below it; needs Nodes or "
                                 "Switches"));
    }
    if (!index_of_name_.emplace(found.name, switches_.size()).second) {
      problems_.Add(At(found.line),
                    absl::StrCat("switch ", config::Quoted(found.name),
                                 " is there already; must be there once"));
      return;
    }
    switches_.push_back(std::move(found));
  }

  // Adds the problem with a list, if any.
  std::vector<std::string> Names(const SlurmSwitch& its_switch,
                                 absl::string_view list) {
    if (list.empty()) return {};
    auto names = base::ParseHostlist(list);
    if (names.ok()) return *std::move(names);
    problems_.Add(At(its_switch.line), std::string(names.status().message()));
    return {};
  }

  void FindChildren() {
    size_t count = 0;
    for (SlurmSwitch& parent : switches_) {
      const std::vector<std::string> names = Names(parent, parent.switches);
      count += names.size();
      if (count > kMaxSimulatedSwitches) {
        problems_.Add(
            At(parent.line),
            absl::StrCat("the file names more than ", kMaxSimulatedSwitches,
                         " switches, which is the limit"));
        return;
      }
      for (const std::string& name : names) {
        const auto child = index_of_name_.find(name);
        if (child != index_of_name_.end()) {
          parent.children.push_back(child->second);
        } else {
          problems_.Add(At(parent.line),
                        absl::StrCat("switch ", config::Quoted(name),
                                     " has no line of its own; must have one"));
        }
      }
    }
  }

  // Depth first. Counts no more hosts than can be simulated.
  int64_t CountHosts(int index) {
    SlurmSwitch& at = switches_[index];
    if (at.count == Count::kBegun) {
      problems_.Add(At(at.line),
                    absl::StrCat("switch ", config::Quoted(at.name),
                                 " is below itself; must be a "
                                 "tree"));
      at.count = Count::kDone;
    }
    if (at.count == Count::kDone) return at.host_count;
    at.count = Count::kBegun;
    int64_t hosts = 0;
    if (total_hosts_ <= kMaxSimulatedHosts) {
      hosts = static_cast<int64_t>(Names(at, at.nodes).size());
      total_hosts_ += hosts;
    }
    for (const int child : at.children) hosts += CountHosts(child);
    at.host_count = std::min<int64_t>(hosts, kMaxSimulatedHosts);
    at.count = Count::kDone;
    return at.host_count;
  }

  SlurmTopology Topology() const {
    SlurmTopology topology;
    for (const SlurmSwitch& each : switches_) {
      SimulatedGraph::Switch& added = *topology.graph.add_switches();
      added.set_name(each.name);
      if (!each.nodes.empty()) added.add_hosts(each.nodes);
      for (const int child : each.children) {
        AddUplink(switches_[child], each, topology.graph);
      }
    }
    if (topology.graph.links_size() > 0) {
      topology.notes.push_back(
          "says nothing of rates: a host's link has the default, and one "
          "between switches as much as all hosts below it; give a graph as "
          "text to say otherwise");
    }
    if (has_link_speed_) {
      topology.notes.push_back(
          "LinkSpeed is ignored: its unit is arbitrary (topology.conf(5))");
    }
    return topology;
  }

  static void AddUplink(const SlurmSwitch& child, const SlurmSwitch& parent,
                        SimulatedGraph& graph) {
    SimulatedGraph::Link& added = *graph.add_links();
    added.set_from(child.name);
    added.set_to(parent.name);
    SimulatedLink& link = *added.mutable_link();
    const int64_t hosts = std::max<int64_t>(child.host_count, 1);
    link.set_gbps(link.gbps() * hosts);
    link.set_queue_bytes(link.queue_bytes() * hosts);
    link.set_ecn_bytes(link.ecn_bytes() * hosts);
  }

  const absl::string_view source_;
  config::Problems problems_;
  std::vector<SlurmSwitch> switches_;
  absl::flat_hash_map<std::string, int> index_of_name_;
  int64_t total_hosts_ = 0;
  bool has_link_speed_ = false;
};

}  // namespace

absl::StatusOr<SlurmTopology> ParseSlurmTopology(absl::string_view text,
                                                 absl::string_view source) {
  return SlurmReader(source).Read(text);
}

}  // namespace distbench::simulation
