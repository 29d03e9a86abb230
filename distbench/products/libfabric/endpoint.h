// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A worker's endpoint of reliable datagrams, or its connected endpoints, with
// its buffers.

#ifndef DISTBENCH_PRODUCTS_LIBFABRIC_ENDPOINT_H_
#define DISTBENCH_PRODUCTS_LIBFABRIC_ENDPOINT_H_

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/products/libfabric/connections.h"
#include "distbench/products/libfabric/fabric.h"
#include "distbench/products/libfabric/settings.h"
#include "distbench/products/libfabric/wire.h"

namespace distbench::libfabric {

// Sends and receives messages of bounded size. Never waits. Used by one thread
// at a time.
class Endpoint {
 public:
  // What Read() tells.
  class Events {
   public:
    // A message has arrived, of at least one byte; valid during the call.
    virtual void OnMessage(absl::string_view message, int64_t read_ns) = 0;
    // The provider is done with a message of this owner. `error` is its code
    // if the message was not sent, else 0.
    virtual void OnSent(uint64_t owner, int error) = 0;

   protected:
    ~Events() = default;
  };

  // What has become of a message.
  struct Sent {
    // 0, or libfabric's code: FI_EAGAIN if the message may be tried again
    // later.
    int error = 0;
    // How much of the input the message has.
    size_t head_bytes = 0;
    int64_t payload_bytes = 0;
    // Whether OnSent() follows.
    bool is_pending = false;
  };

  // `fabric` must outlive the result.
  static absl::StatusOr<std::unique_ptr<Endpoint>> Open(
      const Fabric& fabric, const LibfabricSettings& settings);

  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // The address by which others insert this endpoint.
  const std::string& address() const { return address_; }

  // Whether an endpoint of this process has the address.
  static bool IsInThisProcess(const std::string& address);

  // Makes an address known for sending; connected endpoints begin to connect.
  // Addresses stay until the end; the same one takes no more room unless its
  // connection has ended. Returns FI_ADDR_NOTAVAIL, to which nothing can be
  // sent, if the provider does not accept it. Any bytes are allowed.
  fi_addr_t Insert(absl::string_view address);

  // The largest message that arrives whole.
  size_t receive_bytes() const { return receive_bytes_; }

  // The most messages that may be pending.
  size_t send_buffers() const { return send_count_; }

  // Sends a message of at most message_bytes: the header, as much of `head` as
  // fits, and then of payload_bytes of payload.
  Sent Send(fi_addr_t to, const MessageHeader& header, absl::string_view head,
            int64_t payload_bytes, size_t message_bytes, uint64_t owner);

  // Takes a bounded number of events. Returns whether there were any.
  bool Read(Events& events);

  // One of them becomes readable when there is something for Read(). Empty if
  // the provider has nothing of the kind.
  const std::vector<int>& wait_fds() const { return wait_fds_; }

  // Returns whether a thread may wait for them now.
  bool MayWait() const;

 private:
  // What is posted. The provider uses `context` meanwhile.
  struct Operation {
    fi_context2 context;
    bool is_send;
    uint64_t owner;  // of a send
    char* bytes;
  };

  Endpoint(const Fabric& fabric, const LibfabricSettings& settings);
  absl::Status Start();
  absl::Status OpenDatagrams();
  absl::Status OpenConnections();
  absl::Status OpenQueue();
  absl::Status OpenBuffers();
  absl::Status Register(const void* memory, size_t bytes, uint64_t access,
                        FidPtr<fid_mr>& region);
  absl::Status ReadAddress();
  void Post(Operation* receive);
  void PostAll();
  // Returns null if nothing can be sent now, and then sets the error.
  fid_ep* SenderTo(fi_addr_t to, int& error) const;
  int SendLarge(fid_ep* sender, fi_addr_t to, Operation* buffer,
                size_t copied_bytes, int64_t payload_bytes);
  void Complete(Operation* operation, size_t bytes, int64_t read_ns,
                Events& events);
  bool ReadError(Events& events);

  const Fabric& fabric_;
  const fi_info& info_;
  const size_t receive_bytes_;
  const size_t receive_count_;
  const size_t send_count_;
  const size_t send_bytes_;  // of a buffer

  // In this order, because later ones use earlier ones.
  std::unique_ptr<char[]> memory_;
  std::vector<Operation> operations_;  // receives, then sends
  FidPtr<fid_domain> domain_;
  FidPtr<fid_mr> memory_region_;
  FidPtr<fid_mr> slab_region_;
  FidPtr<fid_cq> queue_;
  FidPtr<fid_av> addresses_;
  FidPtr<fid_ep> endpoint_;                   // of datagrams
  std::unique_ptr<Connections> connections_;  // otherwise
  fid_ep* receiver_ = nullptr;                // takes receive buffers
  std::vector<int> wait_fds_;
  std::string address_;

  std::vector<Operation*> free_sends_;
  std::vector<Operation*> unposted_;  // receives
};

}  // namespace distbench::libfabric

#endif  // DISTBENCH_PRODUCTS_LIBFABRIC_ENDPOINT_H_
