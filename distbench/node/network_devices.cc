#include "distbench/node/network_devices.h"

#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/files.h"
#include "distbench/node/netlink.h"

namespace distbench::node {
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
