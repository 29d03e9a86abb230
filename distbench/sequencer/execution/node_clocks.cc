// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/execution/node_clocks.h"

#include <algorithm>
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/base/hosts.h"
#include "distbench/base/human_units.h"
#include "distbench/base/saturating_add.h"
#include "distbench/base/time_units.h"

namespace distbench::sequencer {
namespace {

// The time, in addition to the round trip, that the sequencer needs to send the
// start to each node, and that the nodes of a host, which share its CPUs, need
// to receive it and pass it on to their instances.
constexpr absl::Duration kBaseStartLead = absl::Milliseconds(5);
constexpr absl::Duration kStartLeadPerNode = absl::Microseconds(100);
constexpr absl::Duration kStartLeadPerNodeOfHost = absl::Microseconds(400);

// Clocks that anything sets differ by less.
constexpr int64_t kUsualOffsetNs = 100 * base::kNsPerMs;

// Delays of a node's start behind the first node's: below the first, networks
// and schedulers explain it; above the second, a part of the load is missing
// for longer than people notice.
constexpr int64_t kNoticeableDelayNs = 10 * base::kNsPerMs;
constexpr int64_t kLongDelayNs = 100 * base::kNsPerMs;

int64_t MostNodesOnAHost(const Participants& participants) {
  base::HostNumbers hosts;
  absl::flat_hash_map<int, int64_t> counts;
  int64_t most = 0;
  for (const Participant& participant : participants) {
    const NodeRegistration& node = participant.share.node->registration();
    most = std::max(most, ++counts[hosts.Of(node.hostname(), node.boot_id())]);
  }
  return most;
}

Finding MakeFinding(Finding::Severity severity, const std::string& code,
                    const std::string& message, const std::string& advice) {
  Finding finding;
  finding.set_severity(severity);
  finding.set_code(code);
  finding.set_message(message);
  finding.set_advice(advice);
  return finding;
}

}  // namespace

std::optional<ClockOffset> OffsetToCorrect(const NodeSession& node) {
  if (node.is_local()) return std::nullopt;  // the same clock
  const std::optional<ClockOffset> offset = node.clock_offset();
  if (!offset.has_value() || !offset->exceeds_error()) return std::nullopt;
  return offset;
}

std::optional<Finding> JudgeClockOffsets(const Participants& participants) {
  const Participant* worst = nullptr;
  ClockOffset most;
  int64_t count = 0;
  for (const Participant& participant : participants) {
    const auto offset = OffsetToCorrect(*participant.share.node);
    if (!offset || std::abs(offset->offset_ns) <= kUsualOffsetNs) continue;
    ++count;
    if (std::abs(offset->offset_ns) <= std::abs(most.offset_ns)) continue;
    worst = &participant;
    most = *offset;
  }
  if (worst == nullptr) return std::nullopt;
  return MakeFinding(
      Finding::NOTE, "clock_offset",
      absl::StrCat(
          count == 1 ? "" : absl::StrCat(count, " clocks are far off: "),
          "the clock of ", worst->Name(), " is ",
          base::HumanDuration(most.offset_ns),
          " ahead of the sequencer's, give or take ",
          base::HumanDuration(most.error_ns),
          "; starts and time stamps were corrected, and latencies do not "
          "depend "
          "on it"),
      "Synchronise the clocks of the hosts by NTP or PTP.");
}

absl::Duration StartLead(const Participants& participants) {
  int64_t worst_error_ns = 0;
  for (const Participant& participant : participants) {
    if (auto offset = participant.share.node->clock_offset()) {
      worst_error_ns = std::max(worst_error_ns, offset->error_ns);
    }
  }
  // The error is half of a round trip.
  return kBaseStartLead + 4 * absl::Nanoseconds(worst_error_ns) +
         participants.size() * kStartLeadPerNode +
         MostNodesOnAHost(participants) * kStartLeadPerNodeOfHost;
}

namespace {

// If even the first node started so much after the planned start.
std::optional<Finding> JudgeAllStart(int64_t lateness_ns) {
  if (lateness_ns <= kLongDelayNs) return std::nullopt;
  return MakeFinding(
      Finding::WARN, "late_start",
      absl::StrCat("all nodes started ", base::HumanDuration(lateness_ns),
                   " after the planned start, from which the times of faults "
                   "and of phases count"),
      "Repeat the run. If it happens again, look for load on the host of the "
      "sequencer, and for delays of its network.");
}

}  // namespace

std::optional<Finding> JudgeStart(const Participants& participants) {
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  const Participant* last = nullptr;
  for (const Participant& participant : participants) {
    if (!participant.start_lateness_ns) continue;
    first_ns = std::min(first_ns, *participant.start_lateness_ns);
    if (last == nullptr ||
        *participant.start_lateness_ns > *last->start_lateness_ns) {
      last = &participant;
    }
  }
  if (last == nullptr) return std::nullopt;
  const auto delay_ns = [first_ns](const Participant& participant) {
    return base::SaturatingSubtract(*participant.start_lateness_ns, first_ns);
  };
  if (delay_ns(*last) <= kNoticeableDelayNs) return JudgeAllStart(first_ns);
  const auto count =
      std::count_if(participants.begin(), participants.end(),
                    [&](const Participant& participant) {
                      return participant.start_lateness_ns &&
                             delay_ns(participant) > kNoticeableDelayNs;
                    });
  return MakeFinding(
      delay_ns(*last) > kLongDelayNs ? Finding::WARN : Finding::NOTE,
      "late_start",
      absl::StrCat(
          count == 1 ? "" : absl::StrCat(count, " nodes started late: "),
          last->Name(), " started ", base::HumanDuration(delay_ns(*last)),
          " after the first node, as the command came late"),
      "Repeat the run. If it happens again, look for load on that host, and "
      "for delays between it and the sequencer.");
}

void AddClockOffsets(const Participants& participants, RunInfo& info) {
  for (const Participant& participant : participants) {
    const NodeSession& node = *participant.share.node;
    const std::optional<ClockOffset> offset = node.clock_offset();
    if (node.is_local() || !offset.has_value()) continue;
    NodeClockOffset& proto = (*info.mutable_clock_offsets())[node.alias()];
    proto.set_offset_ns(offset->offset_ns);
    proto.set_error_ns(offset->error_ns);
  }
}

}  // namespace distbench::sequencer
