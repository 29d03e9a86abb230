// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/grpc_transport.h"

#include <algorithm>
#include <limits>

#include "distbench/protocol/grpc/client/client_side.h"

namespace distbench::protocol {
namespace {

std::unique_ptr<ClientSide> MakeClientSide(const GrpcSettings& settings,
                                           EventQueue& queue,
                                           const CallbackQueue* callbacks,
                                           StreamCounts& counts) {
  if (settings.streams.has_value()) {
    return MakeStreamClient(queue, *settings.streams, counts);
  }
  const bool by_callback = settings.client_type == ClientType::kCallback;
  return MakeUnaryClient(queue, by_callback ? callbacks : nullptr);
}

}  // namespace

GrpcTransport::GrpcTransport(std::unique_ptr<WakeTimer::Alarm> alarm,
                             const GrpcSettings& settings,
                             const CallbackQueue* callbacks,
                             StreamCounts& counts)
    : queue_(std::move(alarm), settings.spin_ns),
      client_streams_(settings.client_type == ClientType::kPolling),
      streaming_calls_(queue_),
      client_(MakeClientSide(settings, queue_, callbacks, counts)) {
  if (settings.streams.has_value()) queue_.StopLending();
}

GrpcTransport::~GrpcTransport() {
  Abandon();
  NoEvents nobody;
  while (!NothingInFlight()) {
    queue_.Poll(std::numeric_limits<int64_t>::max(), nobody);
  }
  queue_.DrainForever(nobody);
}

void GrpcTransport::SetChannels(std::vector<std::vector<Channel>> channels) {
  if (client_streams_) streaming_calls_.SetChannels(channels);
  client_->SetChannels(std::move(channels));
}

void GrpcTransport::Abandon() {
  client_->Abandon();
  streaming_calls_.Abandon();
  server_->Close();
}

void GrpcTransport::BeginShutdown() {
  shutting_down_.store(true, std::memory_order_release);
  queue_.Wake();
}

void GrpcTransport::Poll(int64_t deadline_ns, TransportEvents& events) {
  if (shutting_down_.load(std::memory_order_acquire)) ContinueShutdown();
  queue_.Poll(std::min(deadline_ns, client_->Work(events)), events);
  if (closed_) NoticeDrained();
}

void GrpcTransport::ContinueShutdown() {
  if (closed_) return;
  closed_ = true;
  // Another thread that ran a turn would not notice that all is drained.
  queue_.StopLending();
  client_->Close();
  streaming_calls_.Close();
  server_->Close();
  NoticeDrained();
}

bool GrpcTransport::NothingInFlight() const {
  return client_->in_flight() == 0 && streaming_calls_.in_flight() == 0 &&
         server_->drained();
}

void GrpcTransport::NoticeDrained() {
  if (NothingInFlight() && !drained_.HasBeenNotified()) drained_.Notify();
}

}  // namespace distbench::protocol
