// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_ROUTES_ROUTES_H_
#define DISTBENCH_ENGINE_ROUTES_ROUTES_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "distbench/config/plan/plan.h"
#include "distbench/protocol/driver.h"

namespace distbench::engine {

// The destinations of an instance, and the peers that its RPCs are counted
// under.
//
// A route is what the driver connects to: one peer, or the members of a
// multi-server channel. An RPC is counted under the peer that answered it. An
// unanswered RPC to a single peer is counted under that peer. An unanswered RPC
// through a channel has no known peer, so it is counted under the channel, as
// "SERVICE[CHANNEL]". Such RPCs have failed, so a channel has failures only.
//
// Built once, then immutable.
class Routes {
 public:
  // plan must outlive this.
  explicit Routes(const config::Plan& plan) : plan_(plan) {}

  // Returns the route to an instance of a service, given its number, or through
  // `channel` of the service unless that is kNone. Makes the route if
  // necessary.
  int To(int service, int number, int channel);

  int count() const { return static_cast<int>(routes_.size()); }

  // Instances that are called, directly or as members of channels: indices into
  // plan.instances.
  const std::vector<int>& peers() const { return peers_; }

  // The driver's peers, by route. `addresses` is in the order of peers(); those
  // of servers outside of the test are the plan's instead.
  std::vector<protocol::Peer> ConnectTo(
      const std::vector<std::string>& addresses) const;

  // The number of entries that RPCs are counted under: peers(), then channels.
  int counted_count() const {
    return static_cast<int>(peers_.size() + channels_.size());
  }
  std::string NameOfCounted(int counted) const;

  // Returns the entry that a finished RPC is counted under. responding_instance
  // comes from the network and may have any value.
  int CountedUnder(int route, int responding_instance) const {
    const int peer = routes_[route].peer;
    return peer != config::kNone ? peer
                                 : CountedOfChannel(route, responding_instance);
  }

  bool IsChannel(int route) const {
    return routes_[route].peer == config::kNone;
  }

 private:
  struct Route {
    int peer = config::kNone;     // index into peers_; none: through a channel
    int channel = config::kNone;  // index into channels_
  };
  struct Channel {
    int service = 0;
    int channel = 0;           // the service's channel
    std::vector<int> members;  // indices into peers_
    std::vector<int> peer_of;  // by number within the service: index into
                               // peers_, or none
  };

  int ToInstance(int instance);
  int ToChannel(int service, int channel);
  const config::MultiServerChannelPlan& PlanOf(const Channel& channel) const;
  const config::ServicePlan& ServiceOf(int peer) const {
    return plan_.services[plan_.instances[peers_[peer]].service];
  }
  int PeerOf(int instance);
  int CountedOfChannel(int route, int responding_instance) const;

  const config::Plan& plan_;
  std::vector<Route> routes_;
  std::vector<int> peers_;
  std::vector<Channel> channels_;
  std::map<int, int> peer_of_instance_;
  std::map<int, int> route_of_peer_;
  std::map<std::pair<int, int>, int> route_of_channel_;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_ROUTES_ROUTES_H_
