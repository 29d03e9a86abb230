// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/wire_time.h"

#include <arpa/inet.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/time_units.h"
#include "distbench/protocol/addresses.h"

namespace distbench::protocol {
namespace {

// The clock was set if it is off by more; to look at both clocks takes less.
constexpr int64_t kMaxOffsetErrorNs = 5'000;

// How long a host may take to begin to stamp what it receives.
constexpr int64_t kMostStampingDelayNs = base::kNsPerSecond;

// The flag of a send that is to be stamped.
uint32_t SendFlag(config::WireClock wire_clock) {
  return wire_clock == config::WireClock::kHardware
             ? SOF_TIMESTAMPING_TX_HARDWARE
             : SOF_TIMESTAMPING_TX_SOFTWARE;
}

// The flags of a socket whose sends may be stamped, and whose receives are.
int SocketFlags(config::WireClock wire_clock) {
  constexpr int kReports =
      SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY;
  return kReports |
         (wire_clock == config::WireClock::kHardware
              ? SOF_TIMESTAMPING_RX_HARDWARE | SOF_TIMESTAMPING_RAW_HARDWARE
              : SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE);
}

// Whether a position is at or behind another one; they wrap around.
bool Covers(uint32_t position, uint32_t other) {
  return static_cast<int32_t>(position - other) >= 0;
}

// Returns the numeric address of an end of a TCP connection, or "".
std::string IpOfEnd(int (*name_of)(int, sockaddr*, socklen_t*), int fd) {
  sockaddr_storage storage = {};
  socklen_t length = sizeof(storage);
  auto& address = reinterpret_cast<sockaddr&>(storage);
  return name_of(fd, &address, &length) == 0 ? IpOf(address) : "";
}

int OptionOf(int fd, int option) {
  int value = 0;
  socklen_t length = sizeof(value);
  return getsockopt(fd, SOL_SOCKET, option, &value, &length) == 0 ? value : -1;
}

// Others have an error queue that is none, or lose what is in it.
absl::Status CheckKind(int fd) {
  const int family = OptionOf(fd, SO_DOMAIN);
  if (family != AF_INET && family != AF_INET6) {
    return absl::FailedPreconditionError(
        "measure_wire_time: Unix sockets have no time stamps; use transport "
        "\"tcp\", or remove it");
  }
  if (OptionOf(fd, SO_PROTOCOL) != IPPROTO_TCP) {
    return absl::FailedPreconditionError(
        "measure_wire_time: sockets of Multipath TCP have no time stamps of "
        "what they send; set mptcp to \"off\", or remove it");
  }
  return absl::OkStatus();
}

// The interface of a connection, by its address; what goes to an address of
// this host itself goes over lo.
std::string InterfaceOf(int fd) {
  const std::string ip = IpOfEnd(getsockname, fd);
  if (ip == IpOfEnd(getpeername, fd)) return "lo";
  const auto interfaces = ListInterfaceAddresses();
  if (interfaces.ok()) {
    const auto found = absl::c_find_if(
        *interfaces,
        [&](const InterfaceAddress& address) { return address.ip == ip; });
    if (found != interfaces->end()) return found->interface_name;
  }
  return absl::StrCat("that of ", ip);
}

}  // namespace

SocketStamps::SocketStamps(int fd, config::WireClock wire_clock,
                           const base::Clock& clock)
    : fd_(fd),
      wire_clock_(wire_clock),
      clock_(clock),
      clock_offset_ns_(MeasureOffsetNs()) {}

absl::Status SocketStamps::Begin() {
  const int flags = SocketFlags(wire_clock_);
  if (const absl::Status kind = CheckKind(fd_); !kind.ok()) return kind;
  if (setsockopt(fd_, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags)) ==
      0) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the kernel gives no time stamps of sockets "
                   "(SO_TIMESTAMPING): ",
                   std::strerror(errno), "; remove measure_wire_time"));
}

// Drivers of interfaces, and those without a device, stamp a packet while it is
// sent, so that the stamp is there now. To take it at once is cheaper than to
// be told of it by the poller.
ssize_t SocketStamps::NoteSent(ssize_t sent) {
  if (sent <= 0) return sent;
  sent_bytes_ += sent;
  if (!stamps_sends_) return sent;
  while (CollectOne()) {
    if (!sent_.empty() && Covers(sent_.back().last_byte, last_byte())) break;
  }
  return sent;
}

ssize_t SocketStamps::Send(const iovec* pieces, int count, int flags) {
  return NoteSent(stamps_sends_ ? SendStamped(fd_, pieces, count,
                                              SendFlag(wire_clock_), flags)
                                : SendPieces(fd_, pieces, count, flags));
}

// As protocol::SendWithoutCopy().
ssize_t SocketStamps::SendWithoutCopy(const iovec& piece) {
  const ssize_t sent = Send(&piece, 1, MSG_ZEROCOPY);
  return sent < 0 && errno == ENOBUFS ? Send(&piece, 1) : sent;
}

ssize_t SocketStamps::Receive(char* buffer, size_t size) {
  WireStamp stamp;
  const ssize_t received = stamps_receives_
                               ? ReceiveStamped(fd_, buffer, size, stamp)
                               : protocol::Receive(fd_, buffer, size);
  if (received < 0) {
    const int error = errno;
    Collect();  // reports may be why the poller has called
    errno = error;
  }
  if (received <= 0) return received;
  received_.came_ns = TimeOf(stamp);
  ++received_.count;
  if (received_.came_ns != 0) {
    has_stamped_receives_ = true;
    CheckClock();
  }
  return received;
}

security::SocketCalls SocketStamps::Calls() {
  return {.receive =
              [this](int, void* buffer, size_t size, int) {
                return Receive(static_cast<char*>(buffer), size);
              },
          .send =
              [this](int, const void* data, size_t size, int) {
                const iovec piece = {.iov_base = const_cast<void*>(data),
                                     .iov_len = size};
                return Send(&piece, 1);
              }};
}

bool SocketStamps::CollectOne() {
  SocketReport report;
  if (!TakeReport(fd_, report)) return false;
  zero_copy_.sends += report.zero_copy.sends;
  zero_copy_.copied += report.zero_copy.copied;
  const int64_t left_ns = TimeOf(report.stamp);
  if (report.is_stamp && left_ns != 0) {
    has_stamped_sends_ = true;
    sent_.push_back({.last_byte = report.last_byte, .left_ns = left_ns});
  }
  return true;
}

bool SocketStamps::Collect() {
  bool any = false;
  while (CollectOne()) any = true;
  return any;
}

ZeroCopyReports SocketStamps::TakeZeroCopy() {
  return std::exchange(zero_copy_, {});
}

// The clock of the interface is not that of the host, and cannot be looked at.
void SocketStamps::CheckClock() {
  if (wire_clock_ == config::WireClock::kHardware) return;
  const auto is_off = [this](int64_t offset_ns) {
    return std::abs(offset_ns - clock_offset_ns_) > kMaxOffsetErrorNs;
  };
  if (!is_off(clock_.UnixNs() - clock_.MonotonicNs())) [[likely]] {
    return;
  }
  // Or this thread was interrupted between both.
  const int64_t offset_ns = MeasureOffsetNs();
  if (!is_off(offset_ns)) return;
  clock_offset_ns_ = offset_ns;
  ++received_.clock_steps;
}

// Of several attempts, the one during which the least time has passed.
int64_t SocketStamps::MeasureOffsetNs() const {
  int64_t offset_ns = 0;
  int64_t shortest_ns = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < 5; ++i) {
    const int64_t before_ns = clock_.MonotonicNs();
    const int64_t unix_ns = clock_.UnixNs();
    const int64_t taken_ns = clock_.MonotonicNs() - before_ns;
    if (taken_ns >= shortest_ns) continue;
    shortest_ns = taken_ns;
    offset_ns = unix_ns - before_ns - taken_ns / 2;
  }
  return offset_ns;
}

ReceiveStamping::ReceiveStamping()
    : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
  const int flags = SocketFlags(config::WireClock::kSoftware);
  setsockopt(socket_.get(), SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const bool is_connected = bind(socket_.get(), generic, length) == 0 &&
                            getsockname(socket_.get(), generic, &length) == 0 &&
                            connect(socket_.get(), generic, length) == 0;
  if (!is_connected) socket_.Close();
}

void ReceiveStamping::Await() {
  const int64_t end_ns = base::NowNs() + kMostStampingDelayNs;
  WireStamp stamp;
  char byte = 0;
  while (socket_.is_open() && stamp.software_ns == 0 &&
         base::NowNs() < end_ns) {
    if (send(socket_.get(), &byte, 1, MSG_NOSIGNAL) != 1) return;
    pollfd ready = {.fd = socket_.get(), .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, /*timeout=*/100) == 1) {
      ReceiveStamped(socket_.get(), &byte, 1, stamp);
    }
  }
}

absl::Status CheckStamps(SocketStamps& stamps, int fd,
                         config::WireClock wire_clock) {
  stamps.Collect();
  const bool by_hardware = wire_clock == config::WireClock::kHardware;
  // A host begins to stamp what it receives when the first socket asks for it,
  // which may be after the first segments.
  const bool receives = stamps.has_stamped_receives() || !by_hardware;
  if (stamps.has_stamped_sends() && receives) return absl::OkStatus();
  const std::string interface = InterfaceOf(fd);
  const char* const clock = by_hardware ? "hardware" : "software";
  return absl::FailedPreconditionError(absl::StrCat(
      "measure_wire_time: the interface ", interface, " gives no ", clock,
      " time stamps of what it ",
      stamps.has_stamped_sends() ? "receives" : "sends", " (ethtool -T ",
      interface, " says what it can); ",
      by_hardware ? "have it stamp all packets, as ptp4l or hwstamp_ctl does, "
                    "or use clock \"software\""
                  : "use another interface, or remove measure_wire_time"));
}

// ---- WireTimes --------------------------------------------------------------

WireTimes::WireTimes(const config::WireTimeOptions& settings, uint64_t seed,
                     StreamCounters& counters)
    : settings_(settings),
      counters_(counters),
      random_(seed),
      ring_(/*a power of two*/ 64) {}

void WireTimes::OnFlush(absl::Span<ClientCall* const> calls,
                        int64_t queued_bytes) {
  if (calls.empty()) return;
  if (settings_.share < 1 && random_.Fraction() >= settings_.share) {
    return Leave(calls);
  }
  const uint64_t number = Add();
  At(number) = {.end = written_bytes_ + queued_bytes,
                .calls = static_cast<int32_t>(calls.size()),
                .is_shared = calls.size() > 1};
  for (ClientCall* call : calls) call->transport_flush = number;
  calls_in_flight_ += static_cast<int64_t>(calls.size());
}

void WireTimes::Leave(absl::Span<ClientCall* const> calls) {
  for (ClientCall* call : calls) call->transport_flush = 0;
}

void WireTimes::OnWritten(int64_t bytes, uint32_t last_byte) {
  written_bytes_ += bytes;
  while (awaits_write() && At(next_unwritten_).end <= written_bytes_) {
    At(next_unwritten_).last_byte = last_byte;
    ++next_unwritten_;
  }
}

void WireTimes::OnLeft(absl::Span<const SocketStamps::Sent> sent) {
  for (const SocketStamps::Sent& each : sent) {
    while (next_unstamped_ < next_unwritten_ &&
           Covers(each.last_byte, At(next_unstamped_).last_byte)) {
      At(next_unstamped_).left_ns = each.left_ns;
      ++next_unstamped_;
    }
  }
}

void WireTimes::OnReply(ClientCall& call, size_t others,
                        const SocketStamps::Received& received) {
  call.wire_ns = kNotReported;
  const bool read_with_others = last_receive_ == received.count;
  last_receive_ = received.count;
  if (received.clock_steps != clock_steps_) {
    clock_steps_ = received.clock_steps;
    first_of_clock_ = next_;
    ++counters_.wire_clock_steps;
  }
  if (call.transport_flush == 0) return;
  const bool is_of_clock = call.transport_flush >= first_of_clock_;
  const Flush* const flush = Release(call);
  if (flush != nullptr && is_of_clock) {
    call.wire_ns = WireTimeNs(call, *flush, received.came_ns);
    call.wire_shared = flush->is_shared || read_with_others || others > 0;
  }
  ++(call.wire_ns == kNotReported ? counters_.wire_stamps_missing
                                  : counters_.wire_stamps);
}

// An RPC is on the wire between its send and the read of its reply. What is
// not, is a mistake of a clock.
int64_t WireTimes::WireTimeNs(const ClientCall& call, const Flush& flush,
                              int64_t came_ns) const {
  if (flush.left_ns == 0 || came_ns == 0) return kNotReported;
  const int64_t wire_ns = came_ns - flush.left_ns;
  const int64_t service_ns = call.done_ns - call.sent_ns;
  // Clocks of interfaces run at a rate of their own.
  const int64_t error_ns =
      settings_.clock == config::WireClock::kHardware ? service_ns / 1000 : 0;
  if (wire_ns < 0 || wire_ns > service_ns + error_ns) return kNotReported;
  return std::min(wire_ns, service_ns);
}

void WireTimes::Forget(ClientCall& call) {
  if (call.transport_flush != 0) Release(call);
}

void WireTimes::Reset() {
  first_ = next_unstamped_ = next_unwritten_ = next_;
  calls_in_flight_ = 0;
  clock_steps_ = 0;
  last_receive_ = -1;
}

uint64_t WireTimes::Add() {
  if (next_ - first_ == ring_.size()) {
    if (ring_.size() < kMaxFlushes) {
      Grow();
    } else {
      DropFirst();
    }
  }
  return next_++;
}

void WireTimes::Grow() {
  std::vector<Flush> larger(2 * ring_.size());
  for (uint64_t number = first_; number < next_; ++number) {
    larger[number & (larger.size() - 1)] = At(number);
  }
  ring_ = std::move(larger);
}

void WireTimes::DropFirst() {
  calls_in_flight_ -= At(first_).calls;
  ++first_;
  next_unwritten_ = std::max(next_unwritten_, first_);
  next_unstamped_ = std::max(next_unstamped_, first_);
}

// Returns the call's flush, valid until the next OnFlush(), or null if it is
// not remembered.
WireTimes::Flush* WireTimes::Release(ClientCall& call) {
  Flush* const flush = Find(std::exchange(call.transport_flush, 0));
  if (flush == nullptr) return nullptr;
  --calls_in_flight_;
  --flush->calls;
  while (first_ < next_unwritten_ && At(first_).calls == 0) DropFirst();
  return flush;
}

}  // namespace distbench::protocol
