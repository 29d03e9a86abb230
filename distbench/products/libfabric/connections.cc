// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/libfabric/connections.h"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <utility>

#include "distbench/products/libfabric/fabric.h"
#include "distbench/products/libfabric/wire.h"

namespace distbench::libfabric {
namespace {

absl::Status Failed(absl::string_view what, int64_t code) {
  return absl::UnavailableError(FabricProblem(what, code));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Connections>> Connections::Open(
    const Fabric& fabric, fid_domain* domain, fid_cq* queue) {
  std::unique_ptr<Connections> connections(
      new Connections(fabric, domain, queue));
  absl::Status status = connections->OpenEvents();
  if (status.ok()) status = connections->Listen();
  if (!status.ok()) return status;
  return connections;
}

absl::Status Connections::OpenEvents() {
  fi_eq_attr attributes = {};
  attributes.wait_obj = FI_WAIT_FD;
  fid_eq* events = nullptr;
  int code = fi_eq_open(fabric_.get(), &attributes, &events, nullptr);
  if (code == 0) {
    events_.reset(events);
    code = fi_control(&events->fid, FI_GETWAIT, &wait_fd_);
    if (code == 0) return absl::OkStatus();
    wait_fd_ = -1;
    events_.reset();
  }
  attributes.wait_obj = FI_WAIT_NONE;
  code = fi_eq_open(fabric_.get(), &attributes, &events, nullptr);
  if (code != 0) return Failed("make an event queue of libfabric", code);
  events_.reset(events);
  return absl::OkStatus();
}

absl::Status Connections::Listen() {
  fid_ep* receiver = nullptr;
  int code =
      fi_srx_context(domain_, fabric_.info()->rx_attr, &receiver, nullptr);
  if (code != 0) return Failed("share receive buffers of libfabric", code);
  receiver_.reset(receiver);
  fid_pep* listener = nullptr;
  code = fi_passive_ep(fabric_.get(), fabric_.info(), &listener, nullptr);
  if (code != 0) return Failed("make a passive endpoint of libfabric", code);
  listener_.reset(listener);
  code = fi_pep_bind(listener, &events_->fid, 0);
  if (code == 0) code = fi_listen(listener);
  if (code != 0) return Failed("listen with libfabric", code);
  address_.resize(kMaxFabricAddressBytes);
  size_t bytes = address_.size();
  code = fi_getname(&listener->fid, address_.data(), &bytes);
  if (code != 0) return Failed("read an endpoint's address", code);
  address_.resize(std::min(bytes, address_.size()));
  return absl::OkStatus();
}

// Returns null if the provider makes no endpoint.
Connections::Connection* Connections::Add(fi_info* info,
                                          absl::string_view peer) {
  auto connection = std::make_unique<Connection>();
  connection->peer = std::string(peer);
  fid_ep* endpoint = nullptr;
  if (fi_endpoint(domain_, info, &endpoint, nullptr) != 0) {
    return nullptr;
  }
  connection->endpoint.reset(endpoint);
  int code = fi_ep_bind(endpoint, &events_->fid, 0);
  if (code == 0) code = fi_ep_bind(endpoint, &queue_->fid, FI_SEND | FI_RECV);
  if (code == 0) code = fi_ep_bind(endpoint, &receiver_->fid, 0);
  if (code == 0) code = fi_enable(endpoint);
  if (code != 0) return nullptr;
  latest_[connection->peer] = connections_.size();
  connections_.push_back(std::move(connection));
  return connections_.back().get();
}

fi_addr_t Connections::Connect(absl::string_view address) {
  const auto known = latest_.find(address);
  if (known != latest_.end() && connections_[known->second]->endpoint) {
    return known->second;
  }
  Connection* const connection = Add(fabric_.info(), address);
  if (connection == nullptr) return FI_ADDR_NOTAVAIL;
  const int code =
      fi_connect(connection->endpoint.get(), connection->peer.data(),
                 address_.data(), address_.size());
  if (code != 0) End(&connection->endpoint->fid, -code);
  return connections_.size() - 1;
}

fid_ep* Connections::Find(fi_addr_t connection, int& error) const {
  const Connection& found = *connections_[connection];
  error = found.error;
  return error == 0 ? found.endpoint.get() : nullptr;
}

bool Connections::Poll() {
  // An event, and the data that came with it.
  alignas(fi_eq_cm_entry) char
      event[sizeof(fi_eq_cm_entry) + kMaxFabricAddressBytes];
  uint32_t kind = 0;
  const ssize_t bytes =
      fi_eq_read(events_.get(), &kind, event, sizeof(event), 0);
  if (bytes == -FI_EAVAIL) {
    fi_eq_err_entry failure = {};
    if (fi_eq_readerr(events_.get(), &failure, 0) < 0) return false;
    End(failure.fid, failure.err == 0 ? FI_EOTHER : failure.err);
    return true;
  }
  if (bytes < static_cast<ssize_t>(sizeof(fi_eq_cm_entry))) return false;
  const auto* const entry = reinterpret_cast<const fi_eq_cm_entry*>(event);
  if (kind == FI_CONNREQ) {
    Accept(entry->info, absl::string_view(event, bytes).substr(sizeof(*entry)));
  } else if (kind == FI_CONNECTED) {
    Note(entry->fid, 0);
  } else if (kind == FI_SHUTDOWN) {
    End(entry->fid, FI_ECONNRESET);
  }
  return true;
}

void Connections::Accept(fi_info* info, absl::string_view peer) {
  Connection* const connection = Add(info, peer);
  if (connection == nullptr) {
    fi_reject(listener_.get(), info->handle, nullptr, 0);
  } else {
    const int code = fi_accept(connection->endpoint.get(), nullptr, 0);
    if (code != 0) End(&connection->endpoint->fid, -code);
  }
  Libfabric().freeinfo(info);
}

// Returns null if the endpoint is not, or no longer, one of a connection.
Connections::Connection* Connections::Note(fid_t endpoint, int error) {
  for (const auto& connection : connections_) {
    if (connection->endpoint == nullptr) continue;
    if (&connection->endpoint->fid != endpoint) continue;
    connection->error = error;
    return connection.get();
  }
  return nullptr;
}

// Closes the endpoint; the provider completes what was posted with an error.
void Connections::End(fid_t endpoint, int error) {
  Connection* const connection = Note(endpoint, error);
  if (connection != nullptr) connection->endpoint.reset();
}

}  // namespace distbench::libfabric
