// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The connected endpoints (FI_EP_MSG) of a worker.
//
// A connection carries messages in both directions, whichever side has made
// it: with its request to connect, a worker sends the address at which it
// listens itself, by which the other side knows it. All connections share the
// worker's completion queue and its receive buffers.

#ifndef DISTBENCH_PRODUCTS_LIBFABRIC_CONNECTIONS_H_
#define DISTBENCH_PRODUCTS_LIBFABRIC_CONNECTIONS_H_

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/products/libfabric/fabric.h"

namespace distbench::libfabric {

// Used by one thread at a time. Never waits.
class Connections {
 public:
  // Listens. The arguments must outlive the result.
  static absl::StatusOr<std::unique_ptr<Connections>> Open(const Fabric& fabric,
                                                           fid_domain* domain,
                                                           fid_cq* queue);

  // Where this worker listens.
  const std::string& address() const { return address_; }

  // Takes the receive buffers of all connections.
  fid_ep* receiver() const { return receiver_.get(); }

  // Returns the number of a connection to the address, which it begins to make
  // if there is none; FI_ADDR_NOTAVAIL if that is impossible. A connection that
  // has ended keeps its number.
  fi_addr_t Connect(absl::string_view address);

  // Returns the endpoint of a connection. If it is null, `error` is FI_EAGAIN
  // while the connection is being made, else why it has ended.
  fid_ep* Find(fi_addr_t connection, int& error) const;

  // Accepts connections, and notes which were made and which have ended.
  // Returns whether there was anything.
  bool Poll();

  // Of what Poll() looks at, for fi_trywait(3).
  fid* waitable() const { return &events_->fid; }
  // Becomes readable when there is something for Poll(); -1 if the provider has
  // nothing of the kind.
  int wait_fd() const { return wait_fd_; }

 private:
  struct Connection {
    FidPtr<fid_ep> endpoint;
    std::string peer;       // where it listens
    int error = FI_EAGAIN;  // 0 once it is made
  };

  Connections(const Fabric& fabric, fid_domain* domain, fid_cq* queue)
      : fabric_(fabric), domain_(domain), queue_(queue) {}
  absl::Status OpenEvents();
  absl::Status Listen();
  Connection* Add(fi_info* info, absl::string_view peer);
  void Accept(fi_info* info, absl::string_view peer);
  Connection* Note(fid_t endpoint, int error);
  void End(fid_t endpoint, int error);

  const Fabric& fabric_;
  fid_domain* const domain_;
  fid_cq* const queue_;

  // In this order, because later ones use earlier ones.
  FidPtr<fid_eq> events_;
  int wait_fd_ = -1;
  FidPtr<fid_ep> receiver_;
  FidPtr<fid_pep> listener_;
  std::string address_;
  std::vector<std::unique_ptr<Connection>> connections_;  // by number
  // The latest connection of each peer.
  absl::flat_hash_map<std::string, size_t> latest_;
};

}  // namespace distbench::libfabric

#endif  // DISTBENCH_PRODUCTS_LIBFABRIC_CONNECTIONS_H_
