#include "distbench/products/simulation/model/read_fabric.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/base/files.h"
#include "distbench/base/hostlist.h"
#include "distbench/base/time_units.h"
#include "distbench/config/catalogs/activity_catalog.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/catalogs/product_words.h"
#include "distbench/config/problems/problem.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/reading/config_text.h"
#include "distbench/config/reading/load.h"
#include "distbench/products/simulation/model/cluster_model.h"
#include "glog/logging.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace distbench::simulation {
namespace {

constexpr int64_t kMaxDelayNs = 10 * base::kNsPerSecond;
constexpr double kMinGbps = 1e-6;  // 1 kbit/s
constexpr double kMaxGbps = 1e9;
constexpr double kMaxCostNs = 1e12;
constexpr double kMaxSigma = 5;

// Sets the numbers and enumerations that are not set, to their own values.
void SetNumbers(google::protobuf::Message& message) {
  using Field = google::protobuf::FieldDescriptor;
  const auto& reflection = *message.GetReflection();
  const auto& descriptor = *message.GetDescriptor();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const Field* field = descriptor.field(i);
    if (field->is_repeated() || reflection.HasField(message, field)) continue;
    switch (field->cpp_type()) {
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
        break;  // names and messages
    }
  }
}

// False for numbers that are not finite.
bool IsWithin(double value, double minimum, double maximum) {
  return value >= minimum && value <= maximum;
}

void CheckNumber(const config::Path& path, double value, double minimum,
                 double maximum, config::Problems& problems) {
  if (IsWithin(value, minimum, maximum)) return;
  problems.Add(path, absl::StrCat("is ", value, "; must be between ", minimum,
                                  " and ", maximum));
}

void CheckHost(const SimulatedHost& host, config::Problems& problems) {
  const config::Path path("host");
  config::CheckRange(path.Field("cpus"), host.cpus(), 1, 4096, problems);
  CheckNumber(path.Field("stalls_per_second"), host.stalls_per_second(), 0, 1e6,
              problems);
  CheckNumber(path.Field("mean_stall_ns"), host.mean_stall_ns(), 0, kMaxCostNs,
              problems);
  const double stalled =
      host.stalls_per_second() * host.mean_stall_ns() / base::kNsPerSecond;
  if (stalled >= 1) {
    problems.Add(path.Field("mean_stall_ns"),
                 absl::StrCat("with stalls_per_second, stalls take ", stalled,
                              " of the time; must be less than 1"));
  }
  CheckNumber(path.Field("slow_share"), host.slow_share(), 0, 1, problems);
  CheckNumber(path.Field("slowness"), host.slowness(), 1, 1e6, problems);
}

void CheckLeafSpine(const SimulatedLeafSpine& leaf_spine,
                    config::Problems& problems) {
  const config::Path path("leaf_spine");
  config::CheckRange(path.Field("hosts_per_leaf"), leaf_spine.hosts_per_leaf(),
                     1, kMaxSimulatedHosts, problems);
  config::CheckRange(path.Field("spines"), leaf_spine.spines(), 1,
                     kMaxSimulatedSwitches, problems);
  CheckLink(path.Field("host_link"), leaf_spine.host_link(), problems);
  CheckLink(path.Field("spine_link"), leaf_spine.spine_link(), problems);
}

void CheckCost(const config::Path& path, const StackCosts::Cost& cost,
               config::Problems& problems) {
  CheckNumber(path.Field("fixed_ns"), cost.fixed_ns(), 0, kMaxCostNs, problems);
  CheckNumber(path.Field("ns_per_byte"), cost.ns_per_byte(), 0, 1e6, problems);
  CheckNumber(path.Field("batch_ns"), cost.batch_ns(), 0, kMaxCostNs, problems);
  CheckNumber(path.Field("after_ns"), cost.after_ns(), 0, kMaxCostNs, problems);
}

// A driver or activity of a product that this program lacks may have costs.
void CheckStacks(const SimulatedFabric& fabric, config::Problems& problems) {
  std::vector<std::string> names;
  for (const config::DriverDeclaration& driver : config::DriverCatalog()) {
    names.push_back(driver.name);
  }
  std::set<std::string> seen;
  for (int i = 0; i < fabric.stacks_size(); ++i) {
    const StackCosts& costs = fabric.stacks(i);
    const config::Path path = config::Path("stacks").At(i);
    if (config::FindDriver(costs.driver()) == nullptr &&
        config::ProductOfWord(costs.driver()).empty()) {
      problems.Add(
          path.Field("driver"),
          absl::StrCat(config::Quoted(costs.driver()), " is not a driver; ",
                       config::Suggestion(costs.driver(), names)));
    } else if (!seen.insert(costs.driver()).second) {
      problems.Add(path.Field("driver"),
                   absl::StrCat(config::Quoted(costs.driver()),
                                " has costs already; keep one entry"));
    }
    CheckCost(path.Field("client_send"), costs.client_send(), problems);
    CheckCost(path.Field("server_receive"), costs.server_receive(), problems);
    CheckCost(path.Field("server_send"), costs.server_send(), problems);
    CheckCost(path.Field("client_receive"), costs.client_receive(), problems);
    CheckNumber(path.Field("wakeup_ns"), costs.wakeup_ns(), 0, kMaxCostNs,
                problems);
    CheckNumber(path.Field("wakeup_cpu_ns"), costs.wakeup_cpu_ns(), 0,
                kMaxCostNs, problems);
    CheckNumber(path.Field("sigma"), costs.sigma(), 0, kMaxSigma, problems);
    config::CheckRange(path.Field("same_host_delay_ns"),
                       costs.same_host_delay_ns(), 0, kMaxDelayNs, problems);
  }
}

void CheckActivities(const SimulatedFabric& fabric,
                     config::Problems& problems) {
  std::set<std::pair<std::string, std::string>> seen;
  for (int i = 0; i < fabric.activities_size(); ++i) {
    const ActivityCosts& costs = fabric.activities(i);
    const config::Path path = config::Path("activities").At(i);
    const config::ActivityDeclaration* activity =
        config::FindActivity(costs.activity());
    if (activity == nullptr &&
        config::ProductOfWord(costs.activity()).empty()) {
      problems.Add(
          path.Field("activity"),
          absl::StrCat(
              config::Quoted(costs.activity()), " is not an activity; ",
              config::Suggestion(costs.activity(), config::ActivityNames())));
    } else if (activity != nullptr && activity->waits) {
      problems.Add(path.Field("activity"),
                   absl::StrCat(config::Quoted(costs.activity()),
                                " only waits, and needs no CPU time; leave it "
                                "out"));
    } else if (!seen.emplace(costs.activity(), costs.name()).second) {
      problems.Add(path, "repeats an entry above; keep one of them");
    }
    if (!costs.has_cpu_ns()) {
      problems.Add(path.Field("cpu_ns"),
                   "is missing; must be the CPU time of an iteration");
    }
    CheckNumber(path.Field("cpu_ns"), costs.cpu_ns(), 0, kMaxCostNs, problems);
    CheckNumber(path.Field("sigma"), costs.sigma(), 0, kMaxSigma, problems);
  }
}

}  // namespace

void FillInDefaults(SimulatedFabric& fabric) {
  SetNumbers(*fabric.mutable_host());
  switch (fabric.network_case()) {
    case SimulatedFabric::NETWORK_NOT_SET:
    case SimulatedFabric::kSingleSwitch:
      SetNumbers(*fabric.mutable_single_switch()->mutable_host_link());
      break;
    case SimulatedFabric::kLeafSpine:
      SetNumbers(*fabric.mutable_leaf_spine());
      SetNumbers(*fabric.mutable_leaf_spine()->mutable_host_link());
      SetNumbers(*fabric.mutable_leaf_spine()->mutable_spine_link());
      break;
    case SimulatedFabric::kGraph:
      for (auto& each : *fabric.mutable_graph()->mutable_switches()) {
        SetNumbers(*each.mutable_host_link());
      }
      for (auto& each : *fabric.mutable_graph()->mutable_links()) {
        SetNumbers(*each.mutable_link());
      }
      break;
  }
}

void CheckLink(const config::Path& path, const SimulatedLink& link,
               config::Problems& problems) {
  CheckNumber(path.Field("gbps"), link.gbps(), kMinGbps, kMaxGbps, problems);
  config::CheckRange(path.Field("delay_ns"), link.delay_ns(), 1, kMaxDelayNs,
                     problems);
}

void CheckFabric(const SimulatedFabric& fabric, config::Problems& problems) {
  CheckHost(fabric.host(), problems);
  if (fabric.has_single_switch()) {
    CheckLink(config::Path("single_switch").Field("host_link"),
              fabric.single_switch().host_link(), problems);
  }
  if (fabric.has_leaf_spine()) CheckLeafSpine(fabric.leaf_spine(), problems);
  CheckStacks(fabric, problems);
  CheckActivities(fabric, problems);
}

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

namespace {

absl::StatusOr<SimulatedFabric> FabricOfSlurm(const std::string& text,
                                              const std::string& path) {
  absl::StatusOr<SlurmTopology> topology = ParseSlurmTopology(text, path);
  if (!topology.ok()) return topology.status();
  for (const std::string& note : topology->notes) {
    LOG(WARNING) << path << ": " << note;
  }
  SimulatedFabric fabric;
  *fabric.mutable_graph() = std::move(topology->graph);
  return fabric;
}

}  // namespace

absl::StatusOr<SimulatedFabric> ReadFabric(const std::string& path) {
  absl::StatusOr<std::string> contents = base::ReadFile(path);
  if (!contents.ok()) return contents.status();
  if (absl::EndsWith(path, ".conf")) return FabricOfSlurm(*contents, path);
  SimulatedFabric fabric;
  absl::Status status = config::ParseAnyText(*contents, path, fabric);
  if (!status.ok()) return status;
  status = config::ToStatus(ProblemsOf(fabric), {path, *std::move(contents)},
                            fabric);
  if (!status.ok()) return status;
  return fabric;
}

}  // namespace distbench::simulation
