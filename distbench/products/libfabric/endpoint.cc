// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/libfabric/endpoint.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <sys/uio.h>
#include <utility>

#include <algorithm>
#include <cstring>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/clock.h"
#include "distbench/payload/payload_slab.h"

namespace distbench::libfabric {
namespace {

// Events of one Read(), so that the worker's timers get their turn.
constexpr size_t kBatch = 64;

constexpr size_t kMaxSends = 1024;

// Messages up to this size are copied; larger ones refer to their payload.
constexpr size_t kCopiedBytes = 512;

absl::Status Problem(absl::string_view what, int64_t code) {
  return absl::UnavailableError(FabricProblem(what, code));
}

// The addresses of the endpoints of this process. Thread-safe.
class Directory {
 public:
  static Directory& Get() {
    static Directory* const directory = new Directory;
    return *directory;
  }

  void Add(const std::string& address) {
    const absl::MutexLock lock(&mutex_);
    addresses_.insert(address);
  }
  void Remove(const std::string& address) {
    const absl::MutexLock lock(&mutex_);
    addresses_.erase(address);
  }
  bool Has(const std::string& address) {
    const absl::MutexLock lock(&mutex_);
    return addresses_.contains(address);
  }

 private:
  absl::Mutex mutex_;
  absl::flat_hash_set<std::string> addresses_ ABSL_GUARDED_BY(mutex_);
};

// A provider that takes one piece of memory per message gets a copy.
size_t SendBufferBytes(const fi_info& info, size_t receive_bytes) {
  return info.tx_attr->iov_limit < 2 ? receive_bytes : kCopiedBytes;
}

// Whether a provider may be given an address of a peer, by comparison with one
// of its own: it reads as many bytes as those have, and a string's scheme must
// be its own.
bool LooksLike(absl::string_view address, absl::string_view own,
               uint32_t format) {
  if (format != FI_ADDR_STR) return address.size() == own.size();
  const size_t scheme_bytes = own.find("://");
  return scheme_bytes != absl::string_view::npos &&
         address.substr(0, scheme_bytes) == own.substr(0, scheme_bytes);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Endpoint>> Endpoint::Open(
    const Fabric& fabric, const LibfabricSettings& settings) {
  std::unique_ptr<Endpoint> endpoint(new Endpoint(fabric, settings));
  const absl::Status status = endpoint->Start();
  if (!status.ok()) return status;
  return endpoint;
}

Endpoint::Endpoint(const Fabric& fabric, const LibfabricSettings& settings)
    : fabric_(fabric),
      info_(*fabric.info()),
      receive_bytes_(
          std::min<size_t>(static_cast<size_t>(settings.receive_buffer_bytes),
                           info_.ep_attr->max_msg_size)),
      receive_count_(std::min<size_t>(
          static_cast<size_t>(settings.receive_buffers), info_.rx_attr->size)),
      send_count_(std::min<size_t>(kMaxSends, info_.tx_attr->size)),
      send_bytes_(SendBufferBytes(info_, receive_bytes_)) {}

Endpoint::~Endpoint() { Directory::Get().Remove(address_); }

bool Endpoint::IsInThisProcess(const std::string& address) {
  return Directory::Get().Has(address);
}

absl::Status Endpoint::Start() {
  fid_domain* domain = nullptr;
  int code = fi_domain(fabric_.get(), fabric_.info(), &domain, nullptr);
  if (code != 0)
    return Problem("open the domain of libfabric's provider", code);
  domain_.reset(domain);
  absl::Status status = OpenQueue();
  if (status.ok()) {
    status = fabric_.is_connected() ? OpenConnections() : OpenDatagrams();
  }
  if (status.ok()) status = OpenBuffers();
  if (status.ok()) Directory::Get().Add(address_);
  return status;
}

absl::Status Endpoint::OpenDatagrams() {
  fid_ep* endpoint = nullptr;
  int code = fi_endpoint(domain_.get(), fabric_.info(), &endpoint, nullptr);
  if (code != 0) return Problem("make an endpoint of libfabric", code);
  endpoint_.reset(endpoint);
  fi_av_attr address_attributes = {};
  address_attributes.type = FI_AV_TABLE;
  fid_av* addresses = nullptr;
  code = fi_av_open(domain_.get(), &address_attributes, &addresses, nullptr);
  if (code != 0) return Problem("make a table of libfabric's addresses", code);
  addresses_.reset(addresses);
  code = fi_ep_bind(endpoint, &addresses->fid, 0);
  if (code == 0) code = fi_ep_bind(endpoint, &queue_->fid, FI_SEND | FI_RECV);
  if (code == 0) code = fi_enable(endpoint);
  if (code != 0) return Problem("enable an endpoint of libfabric", code);
  receiver_ = endpoint;
  return ReadAddress();
}

absl::Status Endpoint::OpenConnections() {
  absl::StatusOr<std::unique_ptr<Connections>> connections =
      Connections::Open(fabric_, domain_.get(), queue_.get());
  if (!connections.ok()) return connections.status();
  connections_ = *std::move(connections);
  receiver_ = connections_->receiver();
  address_ = connections_->address();
  const int events_fd = connections_->wait_fd();
  // A worker that is woken for some events only is not woken.
  if (events_fd < 0) {
    wait_fds_.clear();
  } else if (!wait_fds_.empty()) {
    wait_fds_.push_back(events_fd);
  }
  return absl::OkStatus();
}

absl::Status Endpoint::OpenQueue() {
  fi_cq_attr attributes = {};
  attributes.size = receive_count_ + send_count_;
  attributes.format = FI_CQ_FORMAT_MSG;
  fid_cq* queue = nullptr;
  attributes.wait_obj = FI_WAIT_FD;
  int code = fi_cq_open(domain_.get(), &attributes, &queue, nullptr);
  if (code == 0) {
    queue_.reset(queue);
    int wait_fd = -1;
    code = fi_control(&queue->fid, FI_GETWAIT, &wait_fd);
    if (code == 0) {
      wait_fds_.push_back(wait_fd);
      return absl::OkStatus();
    }
    queue_.reset();
  }
  attributes.wait_obj = FI_WAIT_NONE;
  code = fi_cq_open(domain_.get(), &attributes, &queue, nullptr);
  if (code != 0) return Problem("make a completion queue of libfabric", code);
  queue_.reset(queue);
  return absl::OkStatus();
}

absl::Status Endpoint::Register(const void* memory, size_t bytes,
                                uint64_t access, FidPtr<fid_mr>& region) {
  if ((info_.domain_attr->mr_mode & FI_MR_LOCAL) == 0) return absl::OkStatus();
  fid_mr* registered = nullptr;
  const int code = fi_mr_reg(domain_.get(), memory, bytes, access, 0, 0, 0,
                             &registered, nullptr);
  if (code != 0) return Problem("register memory with libfabric", code);
  region.reset(registered);
  return absl::OkStatus();
}

absl::Status Endpoint::OpenBuffers() {
  const size_t receive_memory = receive_count_ * receive_bytes_;
  const size_t bytes = receive_memory + send_count_ * send_bytes_;
  memory_.reset(new char[bytes]);
  absl::Status status =
      Register(memory_.get(), bytes, FI_SEND | FI_RECV, memory_region_);
  if (!status.ok()) return status;
  status = Register(payload::PayloadSlab().data(),
                    payload::PayloadSlab().size(), FI_SEND, slab_region_);
  if (!status.ok()) return status;
  operations_.resize(receive_count_ + send_count_);
  for (size_t i = 0; i < operations_.size(); ++i) {
    Operation& operation = operations_[i];
    operation.is_send = i >= receive_count_;
    operation.bytes = operation.is_send ? memory_.get() + receive_memory +
                                              (i - receive_count_) * send_bytes_
                                        : memory_.get() + i * receive_bytes_;
    (operation.is_send ? free_sends_ : unposted_).push_back(&operation);
  }
  PostAll();
  return absl::OkStatus();
}

absl::Status Endpoint::ReadAddress() {
  address_.resize(kMaxFabricAddressBytes);
  size_t bytes = address_.size();
  const int code = fi_getname(&endpoint_->fid, address_.data(), &bytes);
  if (code != 0) return Problem("read an endpoint's address", code);
  address_.resize(std::min(bytes, address_.size()));
  return absl::OkStatus();
}

fi_addr_t Endpoint::Insert(absl::string_view address) {
  if (!LooksLike(address, address_, info_.addr_format)) {
    return FI_ADDR_NOTAVAIL;
  }
  if (connections_ != nullptr) return connections_->Connect(address);
  std::string copy(address);
  fi_addr_t inserted = FI_ADDR_NOTAVAIL;
  const int count =
      fi_av_insert(addresses_.get(), copy.c_str(), 1, &inserted, 0, nullptr);
  return count == 1 ? inserted : FI_ADDR_NOTAVAIL;
}

void Endpoint::Post(Operation* receive) {
  void* const descriptor =
      memory_region_ == nullptr ? nullptr : fi_mr_desc(memory_region_.get());
  const ssize_t code = fi_recv(receiver_, receive->bytes, receive_bytes_,
                               descriptor, FI_ADDR_UNSPEC, &receive->context);
  // It is tried again at the next Read().
  if (code != 0) unposted_.push_back(receive);
}

void Endpoint::PostAll() {
  std::vector<Operation*> receives;
  receives.swap(unposted_);
  for (Operation* receive : receives) Post(receive);
}

Endpoint::Sent Endpoint::Send(fi_addr_t to, const MessageHeader& header,
                              absl::string_view head, int64_t payload_bytes,
                              size_t message_bytes, uint64_t owner) {
  int error = 0;
  fid_ep* const sender = SenderTo(to, error);
  if (sender == nullptr) return {.error = error};
  if (free_sends_.empty()) return {.error = FI_EAGAIN};
  Operation* const buffer = free_sends_.back();
  message_bytes = std::min(message_bytes, receive_bytes_);
  const size_t buffer_bytes = std::min(message_bytes, send_bytes_);
  EncodeMessageHeader(header, buffer->bytes);
  Sent sent;
  sent.head_bytes = std::min(head.size(), buffer_bytes - kMessageHeaderBytes);
  std::memcpy(buffer->bytes + kMessageHeaderBytes, head.data(),
              sent.head_bytes);
  const size_t used = kMessageHeaderBytes + sent.head_bytes;
  if (sent.head_bytes == head.size()) {
    const size_t room =
        (info_.tx_attr->iov_limit < 2 ? buffer_bytes : message_bytes) - used;
    sent.payload_bytes = std::min<int64_t>(
        payload_bytes,
        static_cast<int64_t>(std::min(room, payload::kPayloadSlabBytes)));
  }
  const size_t total = used + static_cast<size_t>(sent.payload_bytes);
  ssize_t code = 0;
  if (total > buffer_bytes) {
    code = SendLarge(sender, to, buffer, used, sent.payload_bytes);
    sent.is_pending = true;
  } else {
    std::memset(buffer->bytes + used, 'D', total - used);
    sent.is_pending = total > info_.tx_attr->inject_size;
    code = sent.is_pending ? fi_send(sender, buffer->bytes, total,
                                     memory_region_ == nullptr
                                         ? nullptr
                                         : fi_mr_desc(memory_region_.get()),
                                     to, &buffer->context)
                           : fi_inject(sender, buffer->bytes, total, to);
  }
  if (code != 0) return {.error = static_cast<int>(-code)};
  if (sent.is_pending) {
    buffer->owner = owner;
    free_sends_.pop_back();
  }
  return sent;
}

fid_ep* Endpoint::SenderTo(fi_addr_t to, int& error) const {
  if (to == FI_ADDR_NOTAVAIL) {
    error = FI_EADDRNOTAVAIL;
    return nullptr;
  }
  if (connections_ == nullptr) return endpoint_.get();
  return connections_->Find(to, error);
}

// Sends what the buffer has and, without a copy, payload.
int Endpoint::SendLarge(fid_ep* sender, fi_addr_t to, Operation* buffer,
                        size_t copied_bytes, int64_t payload_bytes) {
  const iovec pieces[] = {
      {.iov_base = buffer->bytes, .iov_len = copied_bytes},
      {.iov_base = const_cast<char*>(payload::PayloadSlab().data()),
       .iov_len = static_cast<size_t>(payload_bytes)}};
  void* descriptors[2] = {};
  if (memory_region_ != nullptr) {
    descriptors[0] = fi_mr_desc(memory_region_.get());
    descriptors[1] = fi_mr_desc(slab_region_.get());
  }
  return static_cast<int>(
      fi_sendv(sender, pieces, descriptors, 2, to, &buffer->context));
}

bool Endpoint::Read(Events& events) {
  if (!unposted_.empty()) PostAll();
  fi_cq_msg_entry entries[kBatch];
  const ssize_t count = fi_cq_read(queue_.get(), entries, kBatch);
  if (count == -FI_EAVAIL) return ReadError(events);
  if (count <= 0) return connections_ != nullptr && connections_->Poll();
  const int64_t read_ns = base::RealClock().MonotonicNs();
  for (ssize_t i = 0; i < count; ++i) {
    Complete(reinterpret_cast<Operation*>(entries[i].op_context),
             entries[i].len, read_ns, events);
  }
  return true;
}

void Endpoint::Complete(Operation* operation, size_t bytes, int64_t read_ns,
                        Events& events) {
  if (operation->is_send) {
    free_sends_.push_back(operation);
    events.OnSent(operation->owner, 0);
    return;
  }
  if (bytes > 0 && bytes <= receive_bytes_) {
    events.OnMessage(absl::string_view(operation->bytes, bytes), read_ns);
  }
  Post(operation);
}

bool Endpoint::ReadError(Events& events) {
  fi_cq_err_entry entry = {};
  if (fi_cq_readerr(queue_.get(), &entry, 0) != 1) return false;
  auto* const operation = static_cast<Operation*>(entry.op_context);
  // Errors that concern no operation of ours have nothing to tell.
  if (operation == nullptr) return true;
  if (operation->is_send) {
    free_sends_.push_back(operation);
    events.OnSent(operation->owner, entry.err == 0 ? FI_EOTHER : entry.err);
  } else {
    // Its sender notices that the message is missing.
    Post(operation);
  }
  return true;
}

bool Endpoint::MayWait() const {
  fid* objects[] = {&queue_->fid, nullptr};
  if (connections_ != nullptr) objects[1] = connections_->waitable();
  return fi_trywait(fabric_.get(), objects, connections_ == nullptr ? 1 : 2) ==
         0;
}

}  // namespace distbench::libfabric
