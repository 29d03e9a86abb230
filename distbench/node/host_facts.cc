// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/host_facts.h"

#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "distbench/base/files.h"
#include "distbench/base/hosts.h"
#include "distbench/base/memory.h"
#include "distbench/base/plugins.h"
#include "distbench/base/threads.h"
#include "distbench/hosting/engine_program.h"
#include "distbench/node/netlink.h"
#include "distbench/node/node_extension.h"
#include "distbench/node/proc_files.h"
#include "distbench/numa/topology.h"

namespace distbench::node {
namespace {

// The key depends on the architecture: "model name" on x86, elsewhere "cpu
// model", "Processor" or nothing.
std::string CpuModel(const std::string& root) {
  std::ifstream file(root + "/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const absl::string_view name =
        absl::StripAsciiWhitespace(absl::string_view(line).substr(0, colon));
    if (name == "model name" || name == "cpu model" || name == "Processor") {
      return std::string(absl::StripAsciiWhitespace(
          absl::string_view(line).substr(colon + 1)));
    }
  }
  return "";
}

void SetIfKnown(std::string text, std::string* (HostFacts::*field)(),
                HostFacts& facts) {
  if (!text.empty()) *(facts.*field)() = std::move(text);
}

// Facts that are the first line of a file.
constexpr struct {
  const char* path;
  std::string* (HostFacts::*field)();
} kTextFacts[] = {
    {"/proc/sys/net/ipv4/tcp_congestion_control",
     &HostFacts::mutable_tcp_congestion_control},
    {"/proc/sys/net/core/default_qdisc",
     &HostFacts::mutable_default_queueing_discipline},
    {"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
     &HostFacts::mutable_cpu_frequency_governor},
    {"/sys/devices/system/cpu/cpuidle/current_driver",
     &HostFacts::mutable_idle_driver},
};

// The choice of several that is in brackets: "always [madvise] never".
std::string Chosen(const std::string& line) {
  const size_t start = line.find('[');
  const size_t end = line.find(']');
  if (start == std::string::npos || end == std::string::npos) return "";
  return line.substr(start + 1, end - start - 1);
}

// Drivers say either whether there is boost, or that there is none.
void AddCpuModes(const std::string& root, HostFacts& facts) {
  const std::string folder = root + "/sys/devices/system/cpu/";
  const std::string smt = base::FirstLine(folder + "smt/active");
  if (!smt.empty()) facts.set_is_smt_active(smt == "1");
  const std::string boost = base::FirstLine(folder + "cpufreq/boost");
  const std::string no_turbo =
      base::FirstLine(folder + "intel_pstate/no_turbo");
  if (!boost.empty()) {
    facts.set_is_cpu_boost_enabled(boost == "1");
  } else if (!no_turbo.empty()) {
    facts.set_is_cpu_boost_enabled(no_turbo == "0");
  }
}

// "state3" is number 3, and deeper than "state2".
bool ParseNumber(absl::string_view name, absl::string_view prefix,
                 int& number) {
  return absl::ConsumePrefix(&name, prefix) && absl::SimpleAtoi(name, &number);
}

// An idle state counts as enabled if any CPU may use it.
void AddIdleStates(const std::string& root, HostFacts& facts) {
  const std::string folder = root + "/sys/devices/system/cpu/";
  std::map<int, std::string> states;
  for (const std::string& cpu : base::NamesIn(folder)) {
    int number = 0;
    if (!ParseNumber(cpu, "cpu", number)) continue;
    const std::string of_cpu = absl::StrCat(folder, cpu, "/cpuidle/");
    for (const std::string& state : base::NamesIn(of_cpu)) {
      if (!ParseNumber(state, "state", number)) continue;
      if (base::FirstLine(absl::StrCat(of_cpu, state, "/disable")) != "0")
        continue;
      states[number] = base::FirstLine(absl::StrCat(of_cpu, state, "/name"));
    }
  }
  for (auto& [number, name] : states) facts.add_idle_states(std::move(name));
}

void AddMitigations(const std::string& root, HostFacts& facts) {
  const std::string folder = root + "/sys/devices/system/cpu/vulnerabilities/";
  for (const std::string& name : base::NamesIn(folder)) {
    (*facts.mutable_mitigations())[name] = base::FirstLine(folder + name);
  }
}

// Reads the distribution and its release from os-release(5).
void AddOperatingSystem(const std::string& root, HostFacts& facts) {
  std::ifstream file(root + "/etc/os-release");
  for (std::string line; std::getline(file, line);) {
    absl::string_view value = line;
    const char* name = nullptr;
    if (absl::ConsumePrefix(&value, "PRETTY_NAME=")) name = "os";
    if (absl::ConsumePrefix(&value, "ID=")) name = "os_id";
    if (name == nullptr) continue;
    absl::ConsumePrefix(&value, "\"");
    absl::ConsumeSuffix(&value, "\"");
    (*facts.mutable_versions())[name] = std::string(value);
  }
}

}  // namespace

HostFacts FindLastingFacts() {
  HostFacts all;
  for (const auto& [name, facts] : base::Plugins<LastingFacts>::All()) {
    all.MergeFrom(facts->find());
  }
  return all;
}

HostFacts ReadHostFacts(const std::string& root) {
  HostFacts facts;
  facts.set_hostname(base::Hostname());
  utsname names;
  if (uname(&names) == 0) {
    facts.set_kernel(
        absl::StrCat(names.sysname, " ", names.release, " ", names.machine));
  }
  SetIfKnown(CpuModel(root), &HostFacts::mutable_cpu_model, facts);
  facts.set_cpu_count(base::UsableCpuCount());
  facts.set_online_cpu_count(static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  *facts.mutable_topology() = numa::ReadHostTopology(root);
  if (const int count = facts.topology().numa_nodes_size(); count > 0) {
    facts.set_numa_node_count(count);
  }
  if (const int64_t bytes = base::ReadMemInfoBytes(root, "MemTotal");
      bytes > 0) {
    facts.set_memory_bytes(bytes);
  }
  for (const auto& [path, field] : kTextFacts) {
    SetIfKnown(base::FirstLine(root + path), field, facts);
  }
  if (const auto mode = base::ReadNumber(root + "/proc/sys/net/ipv4/tcp_ecn")) {
    facts.set_tcp_ecn_mode(static_cast<int>(*mode));
  }
  SetIfKnown(Chosen(base::FirstLine(
                 root + "/sys/kernel/mm/transparent_hugepage/enabled")),
             &HostFacts::mutable_transparent_huge_pages, facts);
  AddCpuModes(root, facts);
  AddIdleStates(root, facts);
  AddMitigations(root, facts);
  if (const auto energy = ReadEnergy(root); !energy.ok()) {
    facts.set_energy_problem(std::string(energy.status().message()));
  }
  AddNetworkDevices(root, ReadQueueingDisciplines(), facts);
  hosting::AddVersions(*facts.mutable_versions());
  AddOperatingSystem(root, facts);
  for (const auto& [name, product] : base::Plugins<NodeExtension>::All()) {
    product->AddFacts(root, facts);
  }
  return facts;
}

namespace {

bool IsUp(const std::string& device) {
  int flags = 0;
  const std::string text = base::FirstLine(device + "/flags");
  return absl::SimpleHexAtoi(text, &flags) && (flags & IFF_UP) != 0;
}

// The interrupts of a virtio device are those of the PCI device above it.
std::vector<std::string> Interrupts(const std::string& device) {
  std::vector<std::string> interrupts =
      base::NamesIn(device + "/device/msi_irqs");
  if (interrupts.empty())
    interrupts = base::NamesIn(device + "/device/../msi_irqs");
  return interrupts;
}

void AddInterruptCpus(const std::string& root, const std::string& device,
                      NetworkDevice& proto) {
  std::set<std::string> lists;
  for (const std::string& interrupt : Interrupts(device)) {
    std::string cpus = base::FirstLine(
        absl::StrCat(root, "/proc/irq/", interrupt, "/smp_affinity_list"));
    if (!cpus.empty()) lists.insert(std::move(cpus));
  }
  for (const std::string& cpus : lists) proto.add_interrupt_cpus(cpus);
}

}  // namespace

std::optional<QueueingDiscipline> ParseQueueingDiscipline(
    absl::string_view message) {
  const auto header = ConsumeStruct<tcmsg>(message);
  if (!header) return std::nullopt;
  QueueingDiscipline discipline{.device = header->tcm_ifindex,
                                .handle = header->tcm_handle,
                                .parent = header->tcm_parent};
  ForEachAttribute(message, [&](uint16_t type, absl::string_view value) {
    if (type != TCA_KIND) return;
    discipline.kind = std::string(value.substr(0, value.find('\0')));
  });
  if (discipline.kind.empty()) return std::nullopt;
  return discipline;
}

std::map<int, std::string> NameQueueingDisciplines(
    const std::vector<QueueingDiscipline>& disciplines) {
  std::map<int, std::string> names;
  for (const QueueingDiscipline& root : disciplines) {
    if (root.parent != TC_H_ROOT) continue;
    std::set<std::string> children;
    for (const QueueingDiscipline& child : disciplines) {
      if (child.device == root.device && child.parent != TC_H_ROOT &&
          TC_H_MAJ(child.parent) == TC_H_MAJ(root.handle)) {
        children.insert(child.kind);
      }
    }
    names[root.device] =
        children.empty()
            ? root.kind
            : absl::StrCat(root.kind, " (", absl::StrJoin(children, ", "), ")");
  }
  return names;
}

std::map<int, std::string> ReadQueueingDisciplines() {
  const tcmsg request{};
  std::vector<QueueingDiscipline> disciplines;
  const absl::Status status =
      DumpNetlink(NETLINK_ROUTE, RTM_GETQDISC, BytesOf(request),
                  [&](absl::string_view message) {
                    if (auto discipline = ParseQueueingDiscipline(message)) {
                      disciplines.push_back(*std::move(discipline));
                    }
                  });
  if (!status.ok()) return {};
  return NameQueueingDisciplines(disciplines);
}

void AddNetworkDevices(const std::string& root,
                       const std::map<int, std::string>& disciplines,
                       HostFacts& facts) {
  for (const std::string& name : base::NamesIn(root + "/sys/class/net")) {
    const std::string device = absl::StrCat(root, "/sys/class/net/", name);
    if (!IsUp(device)) continue;
    NetworkDevice& proto = *facts.add_network_devices();
    proto.set_name(name);
    if (const auto mtu = base::ReadNumber(device + "/mtu")) {
      proto.set_mtu(static_cast<int>(*mtu));
    }
    // -1 if the device is not near any node, or the host has only one.
    const auto node = base::ReadNumber(device + "/device/numa_node");
    if (node.value_or(-1) >= 0) proto.set_numa_node(static_cast<int>(*node));
    // No device has the index 0.
    const auto index = base::ReadNumber(device + "/ifindex");
    const auto discipline =
        disciplines.find(static_cast<int>(index.value_or(0)));
    if (discipline != disciplines.end()) {
      proto.set_queueing_discipline(discipline->second);
    }
    AddInterruptCpus(root, device, proto);
  }
}

}  // namespace distbench::node
