#include "distbench/products/simulation/network/packet_network.h"

#include <algorithm>
#include <limits>

namespace distbench::simulation {

ConnectionEnd& ConnectionTable::Find(uint64_t connection, int from_host,
                                     int to_host) {
  absl::MutexLock lock(&mutex_);
  const auto [entry, is_new] = by_connection_.try_emplace(connection, nullptr);
  if (is_new) {
    std::vector<int> there;
    std::vector<int> back;
    model_.paths->Find(from_host, to_host, connection, there);
    model_.paths->Find(to_host, from_host, connection, back);
    entry->second = &ends_.emplace_back(settings_, from_host, to_host,
                                        RoundTripNs(there, back));
    Ends& ends = *entry->second;
    ends.a.peer = &ends.b;
    ends.b.peer = &ends.a;
    ends.a.path.assign(there.begin(), there.end());
    ends.b.path.assign(back.begin(), back.end());
  }
  Ends& ends = *entry->second;
  return ends.a.host == from_host ? ends.a : ends.b;
}

int64_t ConnectionTable::RoundTripNs(const std::vector<int>& there,
                                     const std::vector<int>& back) const {
  const auto header_bytes = static_cast<double>(settings_.header_bytes);
  double round_trip_ns = 0;
  for (const int index : there) {
    const LinkModel& link = model_.links[index];
    round_trip_ns +=
        static_cast<double>(link.delay_ns) +
        (static_cast<double>(settings_.segment_bytes) + header_bytes) /
            link.bytes_per_ns;
  }
  for (const int index : back) {
    const LinkModel& link = model_.links[index];
    round_trip_ns +=
        static_cast<double>(link.delay_ns) + header_bytes / link.bytes_per_ns;
  }
  return static_cast<int64_t>(round_trip_ns);
}

namespace {

// How many segments a connection sends when it is its turn.
constexpr int kSegmentsPerTurn = 2;

}  // namespace

PacketNetwork::PacketNetwork(const ClusterModel& model, Simulator& simulator,
                             const RandomLoss& loss)
    : settings_(MakeTcpSettings(model.fabric.transport())),
      loss_(loss),
      simulator_(simulator),
      connections_(model, settings_),
      nodes_(model.host_count + model.switch_count) {
  for (const LinkModel& link : model.links) {
    links_.push_back({.timeline = LinkTimeline(link.bytes_per_ns),
                      .owner = link.to < model.host_count ? link.to : link.from,
                      .to = link.to,
                      .delay_ns = link.delay_ns,
                      .queue_bytes = static_cast<double>(link.queue_bytes),
                      .ecn_bytes = link.ecn_bytes > 0 && settings_.dctcp
                                       ? static_cast<double>(link.ecn_bytes)
                                       : std::numeric_limits<double>::max()});
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].random = base::WorkRandom(loss.seed, i);
  }
}

SimulatedNetworkCounters PacketNetwork::counters() const {
  SimulatedNetworkCounters sum;
  for (const Node& node : nodes_) {
    sum.packets += node.counters.packets;
    sum.dropped_packets += node.counters.dropped_packets;
    sum.marked_packets += node.counters.marked_packets;
    sum.retransmissions += node.counters.retransmissions;
    sum.timeouts += node.counters.timeouts;
  }
  return sum;
}

void PacketNetwork::OnEvent(const SimulatedEvent& event) {
  switch (static_cast<EventKind>(event.kind)) {
    case kPacket:
      return OnPacket(*static_cast<SimulatedPacket*>(event.content),
                      simulator_.now_ns(event.node));
    case kTimer:
      return OnTimer(*static_cast<ConnectionEnd*>(event.content), event.value);
    case kLinkDrained:
      return OnLinkDrained(static_cast<int>(event.value));
    case kDelayedAcks:
      return OnDelayedAcks(static_cast<int>(event.value));
  }
}

// What hosts send.

ConnectionEnd& PacketNetwork::EndOf(const SimulatedMessage& message) {
  const auto [entry, is_new] =
      nodes_[message.from_host].ends.try_emplace(message.connection, nullptr);
  if (is_new) {
    entry->second = &connections_.Find(message.connection, message.from_host,
                                       message.to_host);
  }
  return *entry->second;
}

void PacketNetwork::Send(const SimulatedMessage& message) {
  const int64_t now_ns = simulator_.now_ns(message.from_host);
  ConnectionEnd& end = EndOf(message);
  // A stream cannot say where a message of no bytes is.
  end.sender.Write(std::max<int64_t>(message.bytes, 1), now_ns);

  StreamMessage& queued = *nodes_[message.from_host].messages.Get();
  queued.end_offset = end.sender.written();
  queued.receiver = message.receiver;
  queued.arrival = message.arrival;
  end.messages.Append(queued);
  Pump(end, now_ns);
}

// How much is in front of a host's link at most, beside acknowledgements:
// enough to keep it busy while others take their turn.
double PacketNetwork::HostQueueBytes(const Link& link) {
  constexpr double kMaxBytes = 64'000;
  return std::min(kMaxBytes, link.queue_bytes);
}

bool PacketNetwork::HasRoom(const Link& link, int64_t now_ns) {
  return link.timeline.free_ns() <= now_ns ||
         link.timeline.backlog_bytes(now_ns) < HostQueueBytes(link);
}

void PacketNetwork::Pump(ConnectionEnd& end, int64_t now_ns) {
  const bool others_wait = nodes_[end.host].for_link.first != nullptr;
  while (!end.waits_for_link && end.sender.MaySend()) {
    if (others_wait || !HasRoom(HostLink(end), now_ns)) {
      WaitForLink(end);
    } else {
      SendSegment(end, now_ns);
    }
  }
  WatchDeadline(end);
}

void PacketNetwork::PumpAfterAck(ConnectionEnd& end, int64_t now_ns) {
  if (!end.sender.MaySend()) {
    WatchDeadline(end);
    return;
  }
  Link& link = HostLink(end);
  const double segment_ns =
      static_cast<double>(settings_.segment_bytes + settings_.header_bytes) /
      link.timeline.bytes_per_ns();
  link.timeline.Hold(
      now_ns +
      static_cast<int64_t>(nodes_[end.host].random.Fraction() * segment_ns));
  Pump(end, now_ns);
}

void PacketNetwork::WaitForLink(ConnectionEnd& end) {
  WaitingForLink& waiting = nodes_[end.host].for_link;
  waiting.Append(end);
  if (!waiting.has_event) ScheduleLinkDrained(end);
}

// When half of the queue is left.
void PacketNetwork::ScheduleLinkDrained(const ConnectionEnd& end) {
  const Link& link = HostLink(end);
  const auto half_ns = static_cast<int64_t>(HostQueueBytes(link) / 2 /
                                            link.timeline.bytes_per_ns());
  const int64_t time_ns =
      std::max(simulator_.now_ns(end.host), link.timeline.free_ns() - half_ns);
  nodes_[end.host].for_link.has_event = true;
  simulator_.Schedule(end.host, end.host, time_ns, *this,
                      {.kind = kLinkDrained, .value = end.host});
}

void PacketNetwork::OnLinkDrained(int host) {
  WaitingForLink& waiting = nodes_[host].for_link;
  waiting.has_event = false;
  const int64_t now_ns = simulator_.now_ns(host);
  while (waiting.first != nullptr &&
         HasRoom(HostLink(*waiting.first), now_ns)) {
    ConnectionEnd& end = waiting.TakeFirst();
    for (int i = 0; i < kSegmentsPerTurn && end.sender.MaySend(); ++i) {
      SendSegment(end, now_ns);
    }
    if (end.sender.MaySend()) waiting.Append(end);
    WatchDeadline(end);
  }
  if (waiting.first != nullptr) ScheduleLinkDrained(*waiting.first);
}

void PacketNetwork::SendSegment(ConnectionEnd& end, int64_t now_ns) {
  const TcpSegment segment = end.sender.Next(now_ns);
  if (segment.is_repeated) ++nodes_[end.host].counters.retransmissions;
  end.receiver.OnDataSent(now_ns);
  SendPacket(end, segment, now_ns);
}

void PacketNetwork::SendAck(ConnectionEnd& end, int64_t now_ns) {
  SendPacket(end, {}, now_ns);
}

void PacketNetwork::SendPacket(ConnectionEnd& end, const TcpSegment& segment,
                               int64_t now_ns) {
  Node& node = nodes_[end.host];
  ++node.counters.packets;
  SimulatedPacket& packet = *node.packets.Get();
  packet.from = &end;
  packet.hop = 0;
  packet.segment = segment;
  packet.stamp_ns = now_ns;
  packet.is_marked = false;
  packet.acked_offset = end.receiver.next();
  packet.echoed_stamp_ns = end.receiver.echoed_stamp_ns();
  packet.echoes_mark = end.receiver.marked();
  end.receiver.OnAckSent();
  if (end.waits_to_ack) node.to_ack.Remove(end);
  if (IsLost(packet, node)) {
    ++node.counters.dropped_packets;
    ReturningPool<SimulatedPacket>::Return(&packet);
    return;
  }
  Forward(packet, now_ns);
}

bool PacketNetwork::IsLost(const SimulatedPacket& packet, Node& node) const {
  const double share =
      packet.segment.bytes > 0 ? loss_.data : loss_.acknowledgements;
  return share > 0 && node.random.Fraction() < share;
}

// What nodes do with packets.

void PacketNetwork::Forward(SimulatedPacket& packet, int64_t now_ns) {
  const auto& path = packet.from->path;
  Link& link = links_[path[packet.hop]];
  const int64_t bytes = packet.segment.bytes + settings_.header_bytes;
  if (packet.hop > 0) {
    const double backlog = link.timeline.backlog_bytes(now_ns);
    SimulatedNetworkCounters& counters = nodes_[link.owner].counters;
    if (backlog + static_cast<double>(bytes) > link.queue_bytes) {
      ++counters.dropped_packets;
      ReturningPool<SimulatedPacket>::Return(&packet);
      return;
    }
    if (backlog > link.ecn_bytes && packet.segment.bytes > 0) {
      ++counters.marked_packets;
      packet.is_marked = true;
    }
  }
  ++packet.hop;
  const int64_t sent_ns = link.timeline.Transmit(now_ns, bytes);
  const bool is_last = packet.hop == static_cast<int>(path.size());
  const int next = is_last ? link.to : links_[path[packet.hop]].owner;
  simulator_.Schedule(link.owner, next, sent_ns + link.delay_ns, *this,
                      {.kind = kPacket, .content = &packet});
}

void PacketNetwork::OnPacket(SimulatedPacket& packet, int64_t now_ns) {
  const auto& path = packet.from->path;
  if (packet.hop < static_cast<int>(path.size())) {
    Forward(packet, now_ns);
    return;
  }
  ConnectionEnd& end = *packet.from->peer;
  Receive(end, packet, now_ns);
  ReturningPool<SimulatedPacket>::Return(&packet);
  Deliver(end);
}

void PacketNetwork::Receive(ConnectionEnd& end, const SimulatedPacket& packet,
                            int64_t now_ns) {
  const bool has_data = packet.segment.bytes > 0;
  end.sender.OnAck({.offset = packet.acked_offset,
                    .marked = packet.echoes_mark,
                    .has_data = has_data,
                    .round_trip_ns = now_ns - packet.echoed_stamp_ns},
                   now_ns);
  if (has_data) {
    ReceiveData(end, packet, now_ns);
  } else {
    PumpAfterAck(end, now_ns);
  }
}

void PacketNetwork::ReceiveData(ConnectionEnd& end,
                                const SimulatedPacket& packet, int64_t now_ns) {
  TcpReceiver& receiver = end.receiver;
  if (receiver.MustAckBefore(packet.is_marked)) SendAck(end, now_ns);
  const TcpReceiver::AckTime ack_time =
      receiver.OnSegment(packet.segment.offset, packet.segment.bytes,
                         packet.is_marked, packet.stamp_ns, now_ns);
  // Only an acknowledgement without data counts as a duplicate.
  if (receiver.has_gap()) SendAck(end, now_ns);
  PumpAfterAck(end, now_ns);
  if (!receiver.owes_ack()) return;
  if (ack_time == TcpReceiver::AckTime::kNow) {
    SendAck(end, now_ns);
  } else {
    DelayAck(end, now_ns);
  }
}

void PacketNetwork::Deliver(ConnectionEnd& end) {
  StreamQueue& messages = end.peer->messages;
  while (const StreamMessage* message = messages.Take(end.receiver.next())) {
    message->receiver->OnEvent(message->arrival);
  }
}

// Timers.

void PacketNetwork::DelayAck(ConnectionEnd& end, int64_t now_ns) {
  if (end.waits_to_ack) return;
  WaitingToAck& waiting = nodes_[end.host].to_ack;
  end.ack_deadline_ns = now_ns + settings_.delayed_ack_ns;
  waiting.Append(end);
  if (waiting.has_event) return;
  waiting.has_event = true;
  simulator_.Schedule(end.host, end.host, end.ack_deadline_ns, *this,
                      {.kind = kDelayedAcks, .value = end.host});
}

void PacketNetwork::OnDelayedAcks(int host) {
  WaitingToAck& waiting = nodes_[host].to_ack;
  const int64_t now_ns = simulator_.now_ns(host);
  while (waiting.first != nullptr && waiting.first->ack_deadline_ns <= now_ns) {
    waiting.first->receiver.OnAckDelayed();
    SendAck(*waiting.first, now_ns);
  }
  waiting.has_event = waiting.first != nullptr;
  if (!waiting.has_event) return;
  simulator_.Schedule(host, host, waiting.first->ack_deadline_ns, *this,
                      {.kind = kDelayedAcks, .value = host});
}

// One event at most waits for a deadline, unless that moves forward: most of
// the time, it finds that the deadline has moved back.
void PacketNetwork::WatchDeadline(ConnectionEnd& end) {
  const int64_t deadline_ns = end.sender.deadline_ns();
  if (deadline_ns == TcpSender::kNoDeadline) return;
  if (end.timer_event_ns != 0 && end.timer_event_ns <= deadline_ns) return;
  end.timer_event_ns = deadline_ns;
  simulator_.Schedule(end.host, end.host, deadline_ns, *this,
                      {.kind = kTimer, .value = deadline_ns, .content = &end});
}

void PacketNetwork::OnTimer(ConnectionEnd& end, int64_t event_ns) {
  if (end.timer_event_ns != event_ns) return;  // another one came first
  end.timer_event_ns = 0;
  const int64_t now_ns = simulator_.now_ns(end.host);
  if (end.sender.deadline_ns() <= now_ns) {
    ++nodes_[end.host].counters.timeouts;
    end.sender.OnTimeout(now_ns);
    Pump(end, now_ns);
  }
  WatchDeadline(end);
}

// The lists of a host's connections.

void PacketNetwork::WaitingForLink::Append(ConnectionEnd& end) {
  end.waits_for_link = true;
  end.next_for_link = nullptr;
  (first == nullptr ? first : last->next_for_link) = &end;
  last = &end;
}

ConnectionEnd& PacketNetwork::WaitingForLink::TakeFirst() {
  ConnectionEnd& end = *first;
  first = end.next_for_link;
  end.waits_for_link = false;
  return end;
}

void PacketNetwork::WaitingToAck::Append(ConnectionEnd& end) {
  end.waits_to_ack = true;
  end.next_to_ack = nullptr;
  end.previous_to_ack = first == nullptr ? nullptr : last;
  (first == nullptr ? first : last->next_to_ack) = &end;
  last = &end;
}

void PacketNetwork::WaitingToAck::Remove(ConnectionEnd& end) {
  end.waits_to_ack = false;
  (end.previous_to_ack == nullptr ? first : end.previous_to_ack->next_to_ack) =
      end.next_to_ack;
  (end.next_to_ack == nullptr ? last : end.next_to_ack->previous_to_ack) =
      end.previous_to_ack;
}

}  // namespace distbench::simulation
