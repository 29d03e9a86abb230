#include "distbench/protocol/tcp/client_connection.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/clock.h"

namespace distbench {
namespace {

int64_t NowNs() { return RealClock().MonotonicNs(); }

FrameKind ReplyKind(const TcpSettings& settings) {
  return settings.measures_time_parts ? FrameKind::kTimedReply
                                      : FrameKind::kReply;
}

}  // namespace

ClientConnection::ClientConnection(ConnectionContext& context,
                                   DialTarget target, Calls& calls,
                                   Listener& listener)
    : Connection(context, ReplyKind(context.settings),
                 context.settings.client_max_batch),
      name_(std::move(target.name)),
      address_(target.address),
      expects_times_(context.settings.measures_time_parts),
      max_queued_bytes_(context.settings.send_queue_bytes),
      calls_(calls),
      listener_(listener),
      redialer_(context, context.settings.handshake_timeout_ns) {
  Open(std::move(target.stream), /*watched=*/false);
}

void ClientConnection::StampCalls() {
  if (unstamped_.empty()) return;
  const int64_t now_ns = NowNs();
  for (ClientCall* call : unstamped_) call->sent_ns = now_ns;
  unstamped_.clear();
}

void ClientConnection::OnReady(uint32_t epoll_events, TransportEvents& events) {
  if (redialer_.dial().in_progress()) {
    if (redialer_.Continue(*this)) FinishDial();
    return;
  }
  if (!is_open()) return;
  if (epoll_events & EPOLLERR) epoll_events = TakeReports(epoll_events);
  if (epoll_events & EPOLLOUT) OnWritable();
  if (epoll_events & ~uint32_t{EPOLLOUT}) {
    if (expects_times_) {
      ReadReplies<FrameKind::kTimedReply>(events);
    } else {
      ReadReplies<FrameKind::kReply>(events);
    }
  }
  SettleError();
}

template <FrameKind kind>
inline void ClientConnection::ReadReplies(TransportEvents& events) {
  Read([&](const FrameHeader& frame, absl::string_view head, int64_t read_ns) {
    return OnReply<kind>(frame, head, read_ns, events);
  });
}

// Inline because there is one caller for each kind, which handles every reply.
template <FrameKind kind>
inline StreamError ClientConnection::OnReply(const FrameHeader& frame,
                                             absl::string_view head,
                                             int64_t read_ns,
                                             TransportEvents& events) {
  if (head.size() < TimesBytes(kind)) return StreamError::kMalformedMessage;
  const char* const times = head.data();
  head.remove_prefix(TimesBytes(kind));
  Calls::Entry* entry;
  switch (calls_.Find(frame.call_id, entry)) {
    case Calls::Match::kUnknown:
      return StreamError::kUnknownCall;
    case Calls::Match::kEnded:
      ++context().counters.late_replies;
      return StreamError::kNone;
    case Calls::Match::kFound:
      break;
  }
  if (entry->owner != this) return StreamError::kUnknownCall;
  const ResponseHeader* const header =
      heads_.Read(head, frame.message_bytes - frame.head_bytes);
  if (header == nullptr) return StreamError::kMalformedMessage;
  redialer_.OnReply();
  ClientCall& call = *entry->call;
  calls_.Remove(*entry);
  call.done_ns = read_ns;
  call.received_bytes = frame.message_bytes - TimesBytes(kind);
  call.responding_instance = header->server_instance;
  call.error = header->error_message;
  if constexpr (kind == FrameKind::kTimedReply) {
    const ReplyTimes reported = DecodeReplyTimes(times);
    call.server_queue_ns = reported.queue_ns;
    call.server_handler_ns = reported.handler_ns;
  }
  events.OnDone(&call);
  return StreamError::kNone;
}

bool ClientConnection::IsInUse() const {
  return calls_.AnyOf(
      [this](const Calls::Entry& entry) { return entry.owner == this; });
}

void ClientConnection::OnClosed(const std::string& reason) {
  GoDown(absl::StrCat("UNAVAILABLE: the connection to ", name_,
                      " was lost: ", reason));
}

// Fails the calls in flight.
void ClientConnection::GoDown(const std::string& error) {
  StampCalls();
  Close();
  redialer_.OnDown(NowNs());
  listener_.OnDown(*this, error);
}

void ClientConnection::RequestDial() {
  if (is_open() || is_dialing()) return;
  redialer_.Request();
  listener_.OnDialNeeded(*this);
}

void ClientConnection::Work(int64_t now_ns) {
  if (now_ns < next_due_ns()) return;
  if (redialer_.Work(now_ns, address_, *this)) FinishDial();
}

void ClientConnection::FinishDial() {
  Dial& dial = redialer_.dial();
  if (dial.state() == Dial::State::kConnected) {
    Open(dial.TakeStream(), /*watched=*/true);
    return;
  }
  ++context().counters.failed_reconnects;
  GoDown(absl::StrCat("UNAVAILABLE: cannot connect to ", name_,
                      " again: ", dial.error()));
}

}  // namespace distbench
