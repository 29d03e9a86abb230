#include "distbench/protocol/grpc/grpc_transport.h"

namespace distbench {
namespace {

// For completions that nobody is interested in any more.
class NoEvents final : public TransportEvents {
 public:
  void OnDone(ClientCall*) override {}
  void OnRequest(ServerCall*) override {}
};

}  // namespace

GrpcTransport::GrpcTransport(WakeTimer& timer, int64_t spin_ns)
    : queue_(timer, spin_ns), client_(queue_), server_(queue_) {}

GrpcTransport::~GrpcTransport() {
  client_.Abandon();
  server_.Close();
  NoEvents nobody;
  queue_.DrainForever(nobody);
}

void GrpcTransport::BeginShutdown() {
  shutting_down_.store(true, std::memory_order_release);
  queue_.Wake();
}

void GrpcTransport::Poll(int64_t deadline_ns, TransportEvents& events) {
  if (shutting_down_.load(std::memory_order_acquire)) ContinueShutdown();
  queue_.Poll(deadline_ns, events);
  if (closed_) NoticeDrained();
}

void GrpcTransport::ContinueShutdown() {
  if (closed_) return;
  closed_ = true;
  client_.Close();
  server_.Close();
  NoticeDrained();
}

void GrpcTransport::NoticeDrained() {
  if (client_.in_flight() == 0 && server_.drained() &&
      !drained_.HasBeenNotified()) {
    drained_.Notify();
  }
}

}  // namespace distbench
