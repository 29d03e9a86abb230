// The lists of a host's connections.

#include "distbench/products/simulation/network/packet_network.h"

namespace distbench::simulation {

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
