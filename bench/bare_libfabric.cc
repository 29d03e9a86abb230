// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The throughput of libfabric's reliable datagrams without a framework around
// them: one endpoint per thread, a message per request and per reply, received
// whole in posted buffers. The server answers in order.

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <utility>

#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/throughput.h"

namespace {

constexpr char kProvider[] = "tcp";
constexpr char kHost[] = "127.0.0.1";
constexpr int kBatch = 64;
constexpr size_t kAddressBytes = 64;

// Begins every message, so that the server knows whom to answer.
struct Header {
  uint64_t address_bytes = 0;  // of an address that follows; 0: not the first
  uint64_t peer = 0;           // as the receiver knows the sender
};

[[noreturn]] void Fail(const char* what, int64_t code) {
  std::fprintf(stderr, "%s: %s\n", what, fi_strerror(static_cast<int>(-code)));
  std::exit(1);
}

void Check(const char* what, int64_t code) {
  if (code != 0) Fail(what, code);
}

// What is posted; the provider uses the beginning.
struct Operation {
  fi_context2 context;
  bool is_send;
  std::vector<char> bytes;
};

class Endpoint {
 public:
  Endpoint(size_t send_bytes, size_t receive_bytes, size_t count) {
    Open(2 * count);
    for (size_t i = 0; i < count; ++i) {
      free_sends_.push_back(Make(true, send_bytes));
      Receive(Make(false, receive_bytes));
    }
  }

  std::string address() const {
    std::string address(kAddressBytes, '\0');
    size_t bytes = address.size();
    Check("fi_getname", fi_getname(&endpoint_->fid, address.data(), &bytes));
    address.resize(bytes);
    return address;
  }

  fi_addr_t Insert(const std::string& address) {
    fi_addr_t inserted = FI_ADDR_NOTAVAIL;
    if (fi_av_insert(addresses_, address.data(), 1, &inserted, 0, nullptr) !=
        1) {
      Fail("fi_av_insert", -FI_EINVAL);
    }
    return inserted;
  }

  // Returns the buffer of the next message, of which the caller fills in the
  // beginning.
  Operation* TakeSend() {
    while (free_sends_.empty()) Progress();
    Operation* const send = free_sends_.back();
    free_sends_.pop_back();
    return send;
  }

  void Send(Operation* send, fi_addr_t to) {
    const size_t bytes = send->bytes.size();
    while (true) {
      const bool injects = bytes <= info_->tx_attr->inject_size;
      const ssize_t code =
          injects ? fi_inject(endpoint_, send->bytes.data(), bytes, to)
                  : fi_send(endpoint_, send->bytes.data(), bytes, nullptr, to,
                            &send->context);
      if (code == 0 && injects) free_sends_.push_back(send);
      if (code == 0) return;
      if (code != -FI_EAGAIN) Fail("fi_send", code);
      Progress();
    }
  }

  // Waits for a message. Receive() must follow when it is no longer used.
  Operation* Next(int spin_us) {
    const int64_t until_ns = bench::NowNs() + int64_t{1000} * spin_us;
    while (arrived_.empty()) {
      if (Progress() || bench::NowNs() < until_ns) continue;
      fid* queues[] = {&queue_->fid};
      if (fi_trywait(fabric_, queues, 1) != 0) continue;
      pollfd ready = {.fd = wait_fd_, .events = POLLIN, .revents = 0};
      poll(&ready, 1, -1);
    }
    Operation* const operation = arrived_.front();
    arrived_.pop_front();
    return operation;
  }

  void Receive(Operation* operation) {
    Check("fi_recv",
          fi_recv(endpoint_, operation->bytes.data(), operation->bytes.size(),
                  nullptr, FI_ADDR_UNSPEC, &operation->context));
  }

 private:
  void Open(size_t queue_size) {
    fi_info* hints = fi_allocinfo();
    hints->caps = FI_MSG;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->fabric_attr->prov_name = strdup(kProvider);
    Check("fi_getinfo", fi_getinfo(FI_VERSION(1, 17), kHost, nullptr,
                                   FI_SOURCE | FI_NUMERICHOST, hints, &info_));
    fi_freeinfo(hints);
    Check("fi_fabric", fi_fabric(info_->fabric_attr, &fabric_, nullptr));
    Check("fi_domain", fi_domain(fabric_, info_, &domain_, nullptr));
    Check("fi_endpoint", fi_endpoint(domain_, info_, &endpoint_, nullptr));
    fi_av_attr table = {};
    table.type = FI_AV_TABLE;
    Check("fi_av_open", fi_av_open(domain_, &table, &addresses_, nullptr));
    fi_cq_attr queue = {};
    queue.size = queue_size;
    queue.format = FI_CQ_FORMAT_CONTEXT;
    queue.wait_obj = FI_WAIT_FD;
    Check("fi_cq_open", fi_cq_open(domain_, &queue, &queue_, nullptr));
    Check("FI_GETWAIT", fi_control(&queue_->fid, FI_GETWAIT, &wait_fd_));
    Check("fi_ep_bind", fi_ep_bind(endpoint_, &addresses_->fid, 0));
    Check("fi_ep_bind", fi_ep_bind(endpoint_, &queue_->fid, FI_SEND | FI_RECV));
    Check("fi_enable", fi_enable(endpoint_));
  }

  Operation* Make(bool is_send, size_t bytes) {
    operations_.push_back(std::make_unique<Operation>());
    operations_.back()->is_send = is_send;
    operations_.back()->bytes.assign(std::max(bytes, sizeof(Header)), 'D');
    return operations_.back().get();
  }

  // Returns whether anything has happened.
  bool Progress() {
    fi_cq_entry entries[kBatch];
    const ssize_t count = fi_cq_read(queue_, entries, kBatch);
    if (count == -FI_EAGAIN) return false;
    if (count < 0) Fail("fi_cq_read", count);
    for (ssize_t i = 0; i < count; ++i) {
      auto* operation = static_cast<Operation*>(entries[i].op_context);
      operation->is_send ? free_sends_.push_back(operation)
                         : arrived_.push_back(operation);
    }
    return true;
  }

  fi_info* info_ = nullptr;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_ep* endpoint_ = nullptr;
  fid_av* addresses_ = nullptr;
  fid_cq* queue_ = nullptr;
  int wait_fd_ = -1;
  std::vector<std::unique_ptr<Operation>> operations_;
  std::vector<Operation*> free_sends_;
  std::deque<Operation*> arrived_;
};

// The first message of a client has its address behind the header.
size_t FirstBytes() { return sizeof(Header) + kAddressBytes; }

// Answers each request with a reply whose header is the request's, with the
// number by which the server knows the client.
void Serve(Endpoint& endpoint, const bench::Options& options) {
  while (true) {
    Operation* const request = endpoint.Next(options.spin_us);
    Header header;
    std::memcpy(&header, request->bytes.data(), sizeof(header));
    if (header.address_bytes > 0) {
      header.peer = endpoint.Insert(std::string(
          request->bytes.data() + sizeof(header), header.address_bytes));
    }
    endpoint.Receive(request);
    Operation* const reply = endpoint.TakeSend();
    std::memcpy(reply->bytes.data(), &header, sizeof(header));
    endpoint.Send(reply, header.peer);
  }
}

size_t BufferCount(const bench::Options& options) {
  return static_cast<size_t>(std::max(options.in_flight, 16)) + 1;
}

// As for distbench, a message has its own header besides its bytes.
size_t WithHeader(int bytes) { return sizeof(Header) + bytes; }

std::string Hexadecimal(const std::string& bytes) {
  std::string digits;
  for (const unsigned char byte : bytes) {
    char two[3];
    std::snprintf(two, sizeof(two), "%02x", byte);
    digits += two;
  }
  return digits;
}

std::string Bytes(const std::string& digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

void RunServer(const bench::Options& options) {
  // One endpoint serves all clients, on one thread.
  Endpoint endpoint(WithHeader(options.response_bytes),
                    std::max(WithHeader(options.request_bytes), FirstBytes()),
                    BufferCount(options));
  bench::AnnounceServer(Hexadecimal(endpoint.address()));
  Serve(endpoint, options);
}

void RunClientThread(const bench::Options& options, bench::Recorder& recorder) {
  const int in_flight = options.in_flight / options.threads;
  Endpoint endpoint(WithHeader(options.request_bytes),
                    WithHeader(options.response_bytes), BufferCount(options));
  const fi_addr_t server = endpoint.Insert(Bytes(options.target));
  const std::string address = endpoint.address();
  Operation first = {.context = {}, .is_send = true, .bytes = {}};
  first.bytes.resize(FirstBytes());
  Header header = {.address_bytes = address.size()};
  std::memcpy(first.bytes.data(), &header, sizeof(header));
  std::memcpy(first.bytes.data() + sizeof(header), address.data(),
              address.size());
  Operation* const send = endpoint.TakeSend();
  std::swap(send->bytes, first.bytes);
  endpoint.Send(send, server);
  Operation* reply = endpoint.Next(options.spin_us);
  std::memcpy(&header, reply->bytes.data(), sizeof(header));
  header.address_bytes = 0;
  endpoint.Receive(reply);
  std::deque<int64_t> sent_ns;
  const auto send_one = [&] {
    Operation* const request = endpoint.TakeSend();
    request->bytes.resize(WithHeader(options.request_bytes), 'D');
    std::memcpy(request->bytes.data(), &header, sizeof(header));
    sent_ns.push_back(bench::NowNs());
    endpoint.Send(request, server);
  };
  for (int i = 0; i < in_flight; ++i) send_one();
  while (!sent_ns.empty()) {
    reply = endpoint.Next(options.spin_us);
    const int64_t now_ns = bench::NowNs();
    recorder.Record(sent_ns.front(), now_ns);
    sent_ns.pop_front();
    endpoint.Receive(reply);
    if (!recorder.finished(now_ns)) send_one();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options =
      bench::ParseOptions(argc, argv, "Bare libfabric: throughput.");
  if (options.server) RunServer(options);
  bench::RunClientThreads(options, [&](bench::Recorder& recorder) {
    RunClientThread(options, recorder);
  });
}
