// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/libfabric/libfabric_transport.h"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/clock.h"
#include "distbench/products/libfabric/wire.h"

namespace distbench::libfabric {
namespace {

// How often links are looked at.
constexpr int64_t kCheckNs = 1'000'000'000;

// A provider that cannot wake a sleeping worker is looked at this often.
constexpr int64_t kNapNs = 200'000;

// A message that the provider has not accepted is tried again this soon,
// because it does not say when it will.
constexpr int64_t kRetryNs = 20'000;

// Messages that wait until the worker polls.
constexpr size_t kMaxDeferred = 1024;

}  // namespace

LibfabricTransport::LibfabricTransport(const LibfabricSettings& settings,
                                       const std::string& test_nonce,
                                       size_t worker,
                                       LibfabricCounters& counters,
                                       std::unique_ptr<Endpoint> endpoint)
    : context_{.settings = settings,
               .test_nonce = test_nonce,
               .worker = worker,
               .counters = counters,
               .endpoint = std::move(endpoint)} {}

absl::Status LibfabricTransport::Open() {
  absl::Status status = poller_.Open();
  for (const int fd : context_.endpoint->wait_fds()) {
    if (status.ok()) status = poller_.Watch(fd, EPOLLIN, doorbell_);
  }
  return status;
}

template <typename Change>
void LibfabricTransport::Post(const Change& change) {
  {
    const absl::MutexLock lock(&mutex_);
    change(inbox_);
    has_mail_.store(true, std::memory_order_release);
  }
  Wake();
}

void LibfabricTransport::SetPeers(std::vector<protocol::StreamPeer> peers) {
  is_connecting_ = true;
  Post([&](Inbox& inbox) { inbox.peers = std::move(peers); });
}

bool LibfabricTransport::ContinueConnecting() {
  if (!is_connecting_) return true;
  // If the worker has the turn, it does the same.
  if (!turn_.TryLock()) return false;
  Turn(nullptr);
  turn_.Unlock();
  return !is_connecting_;
}

void LibfabricTransport::GiveUpConnecting() {
  Post([](Inbox& inbox) { inbox.give_up = true; });
}

std::vector<std::string> LibfabricTransport::TakeFailures() {
  const absl::MutexLock lock(&mutex_);
  return std::exchange(failures_, {});
}

void LibfabricTransport::BeginShutdown() {
  Post([](Inbox& inbox) { inbox.shutdown = true; });
}

void LibfabricTransport::TakeInbox() {
  Inbox inbox;
  {
    const absl::MutexLock lock(&mutex_);
    std::swap(inbox, inbox_);
    has_mail_.store(false, std::memory_order_relaxed);
  }
  if (inbox.peers.has_value()) client_.SetPeers(*std::move(inbox.peers));
  if (inbox.give_up && is_connecting_) NoteConnecting(/*give_up=*/true);
  if (inbox.shutdown) Shutdown();
}

// Ends the connecting once nothing is left to wait for.
void LibfabricTransport::NoteConnecting(bool give_up) {
  bool waits = false;
  std::vector<std::string> failures;
  client_.ForEachConnection([&](const ClientLink& link) {
    if (link.is_up()) return;
    if (link.problem().empty()) waits = true;
    failures.push_back(absl::StrCat(
        link.name(), " (",
        link.problem().empty() ? "no answer in time" : link.problem(), ")"));
  });
  if (waits && !give_up) return;
  const absl::MutexLock lock(&mutex_);
  failures_ = std::move(failures);
  is_connecting_ = false;
}

void LibfabricTransport::Poll(int64_t deadline_ns,
                              protocol::TransportEvents& events) {
  if (is_settled_.load(std::memory_order_acquire)) {
    return PollOnce(deadline_ns, events);
  }
  const absl::MutexLock lock(&turn_);
  PollOnce(deadline_ns, events);
}

void LibfabricTransport::PollOnce(int64_t deadline_ns,
                                  protocol::TransportEvents& events) {
  if (Turn(&events) || deadline_ns <= 0) return;
  if (is_woken_.exchange(false, std::memory_order_acq_rel)) return;
  deadline_ns = std::min(deadline_ns, next_due_ns());
  const int64_t now_ns = base::NowNs();
  const int64_t spin_ns =
      std::max(context_.settings.spin_ns, brief_waits_.spin_ns());
  if (Spin(std::min(deadline_ns, now_ns + spin_ns), events)) return;
  Sleep(deadline_ns, events);
  brief_waits_.OnSlept(base::NowNs() - now_ns);
}

// Does everything but wait. `events` is null if they cannot be delivered.
// Returns whether anything has happened.
bool LibfabricTransport::Turn(protocol::TransportEvents* events) {
  if (has_mail_.load(std::memory_order_acquire)) TakeInbox();
  SettleLinks();
  bool happened = Work(events);
  Dispatcher dispatcher(*this, events);
  if (events != nullptr && !deferred_.empty()) {
    for (const Deferred& deferred : std::exchange(deferred_, {})) {
      dispatcher.OnMessage(deferred.message, deferred.read_ns);
    }
    happened = true;
  }
  if (deferred_.size() < kMaxDeferred) {
    nothing_left_ = !context_.endpoint->Read(dispatcher);
    happened |= !nothing_left_;
  }
  // What was read may have made room for what waits to be sent.
  SettleLinks();
  if (events != nullptr) happened |= client_.DeliverEnded(*events);
  if (is_connecting_.load(std::memory_order_relaxed)) NoteConnecting(false);
  return happened;
}

void LibfabricTransport::SettleLinks() {
  if (context_.to_flush.empty()) return;
  // Links that are not done enter the list again.
  settling_.swap(context_.to_flush);
  for (Link* link : settling_) link->Settle();
  settling_.clear();
}

bool LibfabricTransport::Work(protocol::TransportEvents* events) {
  const int64_t now_ns = base::NowNs();
  const int64_t due_ns = next_due_ns();
  if (now_ns >= due_ns &&
      late_deadlines_.MayJudge(due_ns, now_ns, nothing_left_)) {
    Judge(now_ns);
  }
  const bool delivered = events != nullptr && client_.DeliverEnded(*events);
  if (shutting_down_ && client_.in_flight() == 0 &&
      !drained_.HasBeenNotified()) {
    drained_.Notify();
  }
  return delivered;
}

// Ends what is overdue.
void LibfabricTransport::Judge(int64_t now_ns) {
  if (now_ns >= client_.next_due_ns()) client_.Work(now_ns);
  if (now_ns < next_check_ns_) return;
  next_check_ns_ = now_ns + kCheckNs;
  context_.links.ForEach([&](Link& link) { link.CheckLife(now_ns); });
  server_.Work(now_ns);
}

int64_t LibfabricTransport::next_due_ns() const {
  return std::min(client_.next_due_ns(), next_check_ns_);
}

// Returns whether anything has happened by then.
bool LibfabricTransport::Spin(int64_t until_ns,
                              protocol::TransportEvents& events) {
  Dispatcher dispatcher(*this, &events);
  while (base::NowNs() < until_ns) {
    if (context_.endpoint->Read(dispatcher)) return true;
    SettleLinks();
    if (client_.DeliverEnded(events)) return true;
    if (is_woken_.load(std::memory_order_relaxed)) return true;
  }
  return false;
}

void LibfabricTransport::Sleep(int64_t deadline_ns,
                               protocol::TransportEvents& events) {
  const bool is_told = !context_.endpoint->wait_fds().empty();
  if (is_told && !context_.endpoint->MayWait()) return;
  if (!is_told) deadline_ns = std::min(deadline_ns, base::NowNs() + kNapNs);
  if (!context_.to_flush.empty()) {
    deadline_ns = std::min(deadline_ns, base::NowNs() + kRetryNs);
  }
  poller_.Poll(deadline_ns, events);
  is_woken_.store(false, std::memory_order_relaxed);
}

void LibfabricTransport::Wake() {
  is_woken_.store(true, std::memory_order_release);
  poller_.Wake();
}

void LibfabricTransport::Shutdown() {
  if (std::exchange(shutting_down_, true)) return;
  client_.Close();
  client_.ForEachConnection([](ClientLink& link) { link.Close(); });
  server_.Close();
}

void LibfabricTransport::Dispatcher::OnMessage(absl::string_view message,
                                               int64_t read_ns) {
  if (message.size() < kMessageHeaderBytes) {
    ++transport_.context_.counters.stray_messages;
    return;
  }
  const MessageHeader header = DecodeMessageHeader(message.data());
  const absl::string_view content = message.substr(kMessageHeaderBytes);
  if (header.kind == MessageKind::kHello && header.link == 0) {
    return transport_.server_.OnHello(content);
  }
  Link* const link = transport_.context_.links.Find(header.link);
  if (link == nullptr) {
    ++transport_.context_.counters.stray_messages;
  } else if (events_ == nullptr && header.kind != MessageKind::kWelcome) {
    transport_.deferred_.push_back(
        {.message = std::string(message), .read_ns = read_ns});
  } else {
    link->Deliver(header, content, read_ns, events_);
  }
}

void LibfabricTransport::Dispatcher::OnSent(uint64_t owner, int error) {
  Link* const link = transport_.context_.links.Find(owner);
  if (link != nullptr) link->OnSent(error);
}

}  // namespace distbench::libfabric
