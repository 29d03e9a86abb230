#include "distbench/protocol/grpc/grpc_transport.h"

#include <limits>

#include "distbench/protocol/grpc/client/client_side.h"

namespace distbench {
namespace {

std::unique_ptr<ClientSide> MakeClientSide(ClientType type, EventQueue& queue) {
  switch (type) {
    case ClientType::kPolling:
      return MakePollingClient(queue);
    case ClientType::kCallback:
      return MakeCallbackClient(queue);
  }
  return nullptr;
}

}  // namespace

GrpcTransport::GrpcTransport(WakeTimer& timer, int64_t spin_ns,
                             ClientType client_type)
    : queue_(timer, spin_ns), client_(MakeClientSide(client_type, queue_)) {}

GrpcTransport::~GrpcTransport() {
  Abandon();
  Drain();
  NoEvents nobody;
  queue_.DrainForever(nobody);
}

void GrpcTransport::Abandon() {
  client_->Abandon();
  server_->Close();
}

void GrpcTransport::Drain() {
  NoEvents nobody;
  while (!NothingInFlight()) {
    queue_.Poll(std::numeric_limits<int64_t>::max(), nobody);
  }
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
  // Another thread that ran a turn would not notice that all is drained.
  queue_.StopLending();
  client_->Close();
  server_->Close();
  NoticeDrained();
}

bool GrpcTransport::NothingInFlight() const {
  return client_->in_flight() == 0 && server_->drained();
}

void GrpcTransport::NoticeDrained() {
  if (NothingInFlight() && !drained_.HasBeenNotified()) drained_.Notify();
}

}  // namespace distbench
