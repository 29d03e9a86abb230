// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/routes/routes.h"

#include "absl/strings/str_cat.h"
#include "distbench/config/plan/driver_options.h"

namespace distbench::engine {
namespace {

protocol::Peer OutsidePeer(const config::ServicePlan& service) {
  protocol::Peer peer;
  for (const std::string& address : service.outside_addresses) {
    peer.addresses.push_back(absl::StrCat(config::kOutsidePrefix, address));
  }
  if (peer.addresses.size() > 1) peer.policy = service.outside_policy;
  return peer;
}

}  // namespace

int Routes::To(int service, int number, int channel) {
  return channel != config::kNone
             ? ToChannel(service, channel)
             : ToInstance(plan_.services[service].first_instance + number);
}

int Routes::ToInstance(int instance) {
  const int peer = PeerOf(instance);
  const auto [found, is_new] = route_of_peer_.try_emplace(peer, count());
  if (is_new) routes_.push_back({.peer = peer});
  return found->second;
}

int Routes::ToChannel(int service, int channel) {
  const auto [found, is_new] =
      route_of_channel_.try_emplace({service, channel}, count());
  if (!is_new) return found->second;
  routes_.push_back({.channel = static_cast<int>(channels_.size())});
  Channel& made = channels_.emplace_back();
  made.service = service;
  made.channel = channel;
  made.peer_of.assign(plan_.services[service].instance_count, config::kNone);
  for (const int number : PlanOf(made).members) {
    const int peer = PeerOf(plan_.services[service].first_instance + number);
    made.members.push_back(peer);
    made.peer_of[number] = peer;
  }
  return found->second;
}

std::vector<protocol::Peer> Routes::ConnectTo(
    const std::vector<std::string>& addresses) const {
  std::vector<protocol::Peer> targets;
  for (const Route& route : routes_) {
    protocol::Peer& target = targets.emplace_back();
    if (route.peer != config::kNone) {
      const config::ServicePlan& service = ServiceOf(route.peer);
      if (service.outside_addresses.empty()) {
        target.addresses.push_back(addresses[route.peer]);
      } else {
        target = OutsidePeer(service);
      }
      continue;
    }
    const Channel& channel = channels_[route.channel];
    target.policy = PlanOf(channel).policy;
    for (const int peer : channel.members) {
      target.addresses.push_back(addresses[peer]);
    }
  }
  return targets;
}

std::string Routes::NameOfCounted(int counted) const {
  if (counted < peers_.size()) return plan_.instances[peers_[counted]].name;
  const Channel& channel = channels_[counted - peers_.size()];
  return absl::StrCat(plan_.services[channel.service].name, "[",
                      PlanOf(channel).name, "]");
}

const config::MultiServerChannelPlan& Routes::PlanOf(
    const Channel& channel) const {
  return plan_.services[channel.service].multi_server_channels[channel.channel];
}

int Routes::PeerOf(int instance) {
  const auto [found, is_new] =
      peer_of_instance_.try_emplace(instance, static_cast<int>(peers_.size()));
  if (is_new) peers_.push_back(instance);
  return found->second;
}

int Routes::CountedOfChannel(int route, int responding_instance) const {
  const int number = routes_[route].channel;
  const std::vector<int>& peer_of = channels_[number].peer_of;
  if (responding_instance >= 0 && responding_instance < peer_of.size() &&
      peer_of[responding_instance] != config::kNone) {
    return peer_of[responding_instance];
  }
  return static_cast<int>(peers_.size()) + number;
}

}  // namespace distbench::engine
