// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/http2/session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/payload/payload_slab.h"
#include "distbench/products/http2/message.h"
#include "distbench/protocol/tcp/turn_work.h"
#include "glog/logging.h"

namespace distbench::http2 {
namespace {

// Payloads up to this size are copied: that is cheaper than another piece for
// the kernel to gather.
constexpr int64_t kMaxCopiedBytes = 512;

}  // namespace

FrameBlock::FrameBlock() : bytes_(new char[kBytes]) {}

void FrameBlock::Append(absl::string_view bytes) {
  if (bytes.empty()) return;
  char* const out = bytes_.get() + size_;
  std::memcpy(out, bytes.data(), bytes.size());
  size_ += bytes.size();
  // Bytes that follow copied bytes extend their piece.
  if (end_ > begin_) {
    iovec& last = pieces_[end_ - 1];
    if (static_cast<char*>(last.iov_base) + last.iov_len == out) {
      last.iov_len += bytes.size();
      return;
    }
  }
  pieces_[end_++] = {.iov_base = out, .iov_len = bytes.size()};
}

void FrameBlock::AppendPayload(int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  const absl::string_view payload = payload::PayloadSlab().substr(0, size);
  if (bytes <= kMaxCopiedBytes) return Append(payload);
  pieces_[end_++] = {.iov_base = const_cast<char*>(payload.data()),
                     .iov_len = size};
}

size_t FrameBlock::bytes_left() const {
  size_t bytes = 0;
  for (int i = begin_; i < end_; ++i) bytes += pieces_[i].iov_len;
  return bytes;
}

protocol::SendQueue::Outcome FrameBlock::Write(protocol::Stream& stream) {
  if (empty()) return protocol::SendQueue::Outcome::kEmpty;
  const ssize_t written = stream.Send(pieces_ + begin_, end_ - begin_);
  if (written < 0) {
    return errno == EAGAIN || errno == EWOULDBLOCK
               ? protocol::SendQueue::Outcome::kNotEmpty
               : protocol::SendQueue::Outcome::kBroken;
  }
  auto left = static_cast<size_t>(written);
  while (left > 0) {
    iovec& piece = pieces_[begin_];
    const size_t part = std::min(left, piece.iov_len);
    piece.iov_base = static_cast<char*>(piece.iov_base) + part;
    piece.iov_len -= part;
    left -= part;
    if (piece.iov_len == 0) ++begin_;
  }
  if (!empty()) return protocol::SendQueue::Outcome::kNotEmpty;
  begin_ = end_ = 0;
  size_ = 0;
  return protocol::SendQueue::Outcome::kEmpty;
}

namespace {

// A client that cancels many calls, as by their deadlines, is not an attacker:
// nghttp2 must not end its connection for it.
constexpr uint64_t kAnyNumberOfResets = uint64_t{1} << 62;

// What a client keeps of a header field: messages of errors are for people.
constexpr size_t kMaxFieldBytes = 1024;

// All strings outlive the session.
nghttp2_nv Field(absl::string_view name, absl::string_view value) {
  return {
      .name = reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
      .value = reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())),
      .namelen = name.size(),
      .valuelen = value.size(),
      .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE,
  };
}

// As Field(), with a value that is copied.
nghttp2_nv CopiedField(absl::string_view name, absl::string_view value) {
  nghttp2_nv field = Field(name, value);
  field.flags = NGHTTP2_NV_FLAG_NO_COPY_NAME;
  return field;
}

const nghttp2_nv kResponseStart[] = {
    Field(":status", "200"),
    Field("content-type", "application/grpc"),
};

Http2Exchange* ExchangeOf(nghttp2_session* session, int32_t stream_id) {
  return static_cast<Http2Exchange*>(
      nghttp2_session_get_stream_user_data(session, stream_id));
}

absl::string_view View(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Where an exchange keeps the value of this field; null: nowhere. Strangers may
// send a server any fields, on many streams.
std::string Http2Exchange::*PlaceOf(bool is_server, absl::string_view name) {
  if (is_server) return name == ":path" ? &Http2Exchange::path : nullptr;
  if (name == ":status") return &Http2Exchange::http_status;
  if (name == "grpc-status") return &Http2Exchange::grpc_status;
  if (name == "grpc-message") return &Http2Exchange::grpc_message;
  return nullptr;
}

}  // namespace

void Http2Exchange::Clear() {
  output.Clear();
  input.Clear();
  has_begun = false;
  counted_bytes = 0;
  is_unkept = false;
  stream_id = 0;
  path.clear();
  http_status.clear();
  grpc_status.clear();
  grpc_message.clear();
}

// What nghttp2 calls. `self` is the session.
struct Http2Session::Callbacks {
  static Http2Session& Of(void* self) {
    return *static_cast<Http2Session*>(self);
  }

  static int OnBeginHeaders(nghttp2_session* session,
                            const nghttp2_frame* frame, void* self) {
    if (frame->hd.type != NGHTTP2_HEADERS ||
        frame->headers.cat != NGHTTP2_HCAT_REQUEST) {
      return 0;
    }
    Http2Exchange& exchange = Of(self).handler_->OnOpened();
    exchange.stream_id = frame->hd.stream_id;
    nghttp2_session_set_stream_user_data(session, frame->hd.stream_id,
                                         &exchange);
    return 0;
  }

  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame,
                      const uint8_t* name_data, size_t name_size,
                      const uint8_t* value_data, size_t value_size, uint8_t,
                      void* self) {
    const bool is_server = Of(self).is_server_;
    std::string Http2Exchange::*const kept =
        PlaceOf(is_server, View(name_data, name_size));
    if (kept == nullptr) return 0;
    // Few fields are kept, and finding the exchange takes time.
    Http2Exchange* exchange = ExchangeOf(session, frame->hd.stream_id);
    if (exchange == nullptr) return 0;
    const size_t max_bytes = is_server ? kMaxPathBytes : kMaxFieldBytes;
    const absl::string_view value =
        View(value_data, std::min(value_size, max_bytes));
    (exchange->*kept).assign(value.data(), value.size());
    return 0;
  }

  static int OnData(nghttp2_session* session, uint8_t, int32_t stream_id,
                    const uint8_t* data, size_t size, void* self) {
    Http2Exchange* exchange = ExchangeOf(session, stream_id);
    if (exchange == nullptr) return 0;
    // An error shows when the stream ends.
    exchange->input.Receive(View(data, size));
    if (Of(self).is_server_) Of(self).CountKept(*exchange);
    return 0;
  }

  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame,
                     void* self) {
    if (frame->hd.type == NGHTTP2_GOAWAY) Of(self).was_ended_by_peer_ = true;
    const bool ends_stream =
        (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM);
    if (!ends_stream) return 0;
    Http2Exchange* exchange = ExchangeOf(session, frame->hd.stream_id);
    if (exchange == nullptr || exchange->is_unkept) return 0;
    Of(self).handler_->OnReceived(*exchange);
    return 0;
  }

  // Also called for requests that could not be sent.
  static int OnStreamClose(nghttp2_session* session, int32_t stream_id,
                           uint32_t error_code, void* self) {
    Http2Session& owner = Of(self);
    const bool is_ours = nghttp2_session_check_server_session(session) == 0;
    if (is_ours) --owner.open_streams_;
    Http2Exchange* exchange = ExchangeOf(session, stream_id);
    if (exchange == nullptr) return 0;
    owner.queued_bytes_ -= exchange->output.bytes_left();
    exchange->output.Clear();
    exchange->stream_id = 0;
    owner.handler_->OnClosed(*exchange, nghttp2_http2_strerror(error_code));
    return 0;
  }

  // Says how much of a message may be sent now.
  static ssize_t ReadOutput(nghttp2_session* session, int32_t stream_id,
                            uint8_t*, size_t size, uint32_t* flags,
                            nghttp2_data_source* source, void*) {
    // The stream may have been reset in the meantime.
    if (ExchangeOf(session, stream_id) != source->ptr) {
      return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    const auto& exchange = *static_cast<Http2Exchange*>(source->ptr);
    const int64_t left = exchange.output.bytes_left();
    const auto taken = std::min(left, static_cast<int64_t>(size));
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (taken < left) return taken;
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (nghttp2_session_check_server_session(session)) {
      static const nghttp2_nv kEnd = Field("grpc-status", "0");
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      if (nghttp2_submit_trailer(session, stream_id, &kEnd, 1) != 0) {
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
      }
    }
    return taken;
  }

  // Sends as much as ReadOutput() has said. One call of nghttp2 may lead to
  // several of these, and to another frame after them.
  static int SendOutput(nghttp2_session* session, nghttp2_frame* frame,
                        const uint8_t* frame_header, size_t size,
                        nghttp2_data_source* source, void* self) {
    Http2Session& owner = Of(self);
    if (!owner.block_.has_room(2)) return NGHTTP2_ERR_WOULDBLOCK;
    if (ExchangeOf(session, frame->hd.stream_id) != source->ptr) {
      return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    auto& exchange = *static_cast<Http2Exchange*>(source->ptr);
    constexpr size_t kFrameHeaderBytes = 9;
    const Http2Output::Piece piece =
        exchange.output.Take(static_cast<int64_t>(size));
    exchange.has_begun = true;
    owner.block_.Append(View(frame_header, kFrameHeaderBytes));
    owner.block_.Append(piece.head);
    owner.block_.AppendPayload(piece.payload_bytes);
    owner.queued_bytes_ -= static_cast<int64_t>(size);
    return 0;
  }

  static nghttp2_session_callbacks* Make() {
    nghttp2_session_callbacks* made = nullptr;
    CHECK_EQ(nghttp2_session_callbacks_new(&made), 0);
    nghttp2_session_callbacks_set_on_begin_headers_callback(made,
                                                            OnBeginHeaders);
    nghttp2_session_callbacks_set_on_header_callback(made, OnHeader);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, OnData);
    nghttp2_session_callbacks_set_on_frame_recv_callback(made, OnFrame);
    nghttp2_session_callbacks_set_on_stream_close_callback(made, OnStreamClose);
    nghttp2_session_callbacks_set_send_data_callback(made, SendOutput);
    return made;
  }

  static nghttp2_data_provider ProviderOf(Http2Exchange& exchange) {
    return {.source = {.ptr = &exchange}, .read_callback = ReadOutput};
  }
};

void Http2Session::Free::operator()(nghttp2_session* session) const {
  nghttp2_session_del(session);
}

Http2Session::Http2Session(Side side, const Http2Limits& limits,
                           std::string authority)
    : is_server_(side == Side::kServer),
      max_kept_bytes_(limits.kept_request_bytes),
      authority_(std::move(authority)) {
  static nghttp2_session_callbacks* const callbacks = Callbacks::Make();
  static nghttp2_option* const options = [] {
    nghttp2_option* made = nullptr;
    CHECK_EQ(nghttp2_option_new(&made), 0);
    nghttp2_option_set_no_closed_streams(made, 1);
    // Each field would be checked for what HTTP allows, which takes a tenth of
    // nghttp2's time. The few fields that matter are checked when they are
    // used. With small messages nghttp2 takes most of it: with these checks,
    // 8300 instructions per RPC on the client and 10 000 on the server, and the
    // driver 2000. The rate was 0.80 to 0.88 of that of bench/bare_http2, and
    // is 1.10.
    nghttp2_option_set_no_http_messaging(made, 1);
    nghttp2_option_set_stream_reset_rate_limit(made, kAnyNumberOfResets,
                                               kAnyNumberOfResets);
    return made;
  }();
  nghttp2_session* made = nullptr;
  CHECK_EQ(!is_server_
               ? nghttp2_session_client_new2(&made, callbacks, this, options)
               : nghttp2_session_server_new2(&made, callbacks, this, options),
           0);
  session_.reset(made);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE,
       static_cast<uint32_t>(limits.stream_window_bytes)},
      !is_server_
          ? nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}
          : nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
                                   static_cast<uint32_t>(
                                       limits.max_concurrent_streams)},
  };
  CHECK_EQ(nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings,
                                   std::size(settings)),
           0);
  CHECK_EQ(nghttp2_session_set_local_window_size(
               made, NGHTTP2_FLAG_NONE, 0,
               static_cast<int32_t>(limits.connection_window_bytes)),
           0);
}

Http2Session::~Http2Session() = default;

void Http2Session::SkipStreamIdsTo(int32_t id) {
  CHECK_EQ(nghttp2_session_set_next_stream_id(session_.get(), id), 0);
}

bool Http2Session::SendRequest(Http2Exchange& exchange, absl::string_view path,
                               int64_t timeout_ns) {
  const bool is_limited = timeout_ns != kNoTimeout;
  const std::string timeout = is_limited ? GrpcTimeout(timeout_ns) : "";
  nghttp2_nv fields[] = {
      Field(":method", "POST"),
      Field(":scheme", "http"),
      Field(":path", path),
      Field(":authority", authority_),
      Field("te", "trailers"),
      Field("content-type", "application/grpc"),
      CopiedField("grpc-timeout", timeout),
  };
  nghttp2_nv& last = fields[std::size(fields) - 1];
  // Other values would leave HPACK's table for it.
  last.flags |= NGHTTP2_NV_FLAG_NO_INDEX;
  const size_t count = std::size(fields) - (is_limited ? 0 : 1);
  const nghttp2_data_provider provider = Callbacks::ProviderOf(exchange);
  const int32_t id = nghttp2_submit_request(session_.get(), nullptr, fields,
                                            count, &provider, &exchange);
  if (id < 0) return false;
  exchange.stream_id = id;
  ++open_streams_;
  queued_bytes_ += exchange.output.bytes_left();
  return true;
}

void Http2Session::SendResponse(Http2Exchange& exchange) {
  const nghttp2_data_provider provider = Callbacks::ProviderOf(exchange);
  queued_bytes_ += exchange.output.bytes_left();
  if (nghttp2_submit_response(session_.get(), exchange.stream_id,
                              kResponseStart, std::size(kResponseStart),
                              &provider) != 0) {
    has_failed_ = true;  // out of memory
  }
}

void Http2Session::SendStatus(Http2Exchange& exchange, int grpc_status,
                              absl::string_view message) {
  const std::string status = absl::StrCat(grpc_status);
  const nghttp2_nv fields[] = {
      kResponseStart[0],
      kResponseStart[1],
      CopiedField("grpc-status", status),
      CopiedField("grpc-message", message),
  };
  if (nghttp2_submit_response(session_.get(), exchange.stream_id, fields,
                              std::size(fields), nullptr) != 0) {
    has_failed_ = true;  // out of memory
  }
}

void Http2Session::Reset(Http2Exchange& exchange) {
  if (exchange.stream_id == 0) return;
  queued_bytes_ -= exchange.output.bytes_left();
  exchange.output.Clear();
  nghttp2_session_set_stream_user_data(session_.get(), exchange.stream_id,
                                       nullptr);
  nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE,
                            exchange.stream_id, NGHTTP2_CANCEL);
  exchange.stream_id = 0;
}

bool Http2Session::CountKept(Http2Exchange& exchange) {
  const int64_t kept = exchange.input.kept_bytes();
  kept_bytes_ += kept - std::exchange(exchange.counted_bytes, kept);
  if (kept_bytes_ <= max_kept_bytes_) return true;
  Release(exchange);
  exchange.input.Refuse();
  exchange.is_unkept = true;
  handler_->OnUnkept();
  nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE,
                            exchange.stream_id, NGHTTP2_ENHANCE_YOUR_CALM);
  return false;
}

void Http2Session::Release(Http2Exchange& exchange) {
  kept_bytes_ -= std::exchange(exchange.counted_bytes, 0);
}

bool Http2Session::Receive(absl::string_view bytes) {
  const ssize_t taken = nghttp2_session_mem_recv(
      session_.get(), reinterpret_cast<const uint8_t*>(bytes.data()),
      bytes.size());
  return taken == static_cast<ssize_t>(bytes.size()) && !has_failed_ &&
         !IsFlooded();
}

// As long as a server has not acknowledged that it may not promise streams, the
// client resets each that it does. The client must not stop reading instead, as
// a server does: each side would wait for the other to read.
bool Http2Session::IsFlooded() const {
  if (is_server_) return false;
  // HEADERS, WINDOW_UPDATE and RST_STREAM.
  constexpr int64_t kFramesOfStream = 3;
  constexpr int64_t kMostOthers = 1 << 16;
  const auto waiting = static_cast<int64_t>(
      nghttp2_session_get_outbound_queue_size(session_.get()));
  return waiting > kFramesOfStream * open_streams_ + kMostOthers;
}

// Fills the block. Returns false if memory has run out.
bool Http2Session::Gather() {
  while (block_.has_room(1)) {
    const uint8_t* bytes = nullptr;
    // Messages go to the block by SendOutput(), and count as no bytes here.
    const ssize_t size = nghttp2_session_mem_send(session_.get(), &bytes);
    if (size < 0) return false;
    if (size == 0) return true;
    block_.Append(View(bytes, static_cast<size_t>(size)));
  }
  return true;
}

protocol::SendQueue::Outcome Http2Session::Write(protocol::Stream& stream) {
  auto written = static_cast<int64_t>(block_.bytes_left());
  protocol::SendQueue::Outcome outcome = block_.Write(stream);
  while (outcome == protocol::SendQueue::Outcome::kEmpty) {
    if (has_failed_ || !Gather()) return protocol::SendQueue::Outcome::kBroken;
    if (block_.empty()) break;
    const bool is_first = written == 0;
    written += static_cast<int64_t>(block_.bytes_left());
    if (!is_first && written > protocol::TurnWork::kSentBytes) {
      return protocol::SendQueue::Outcome::kNotEmpty;
    }
    outcome = block_.Write(stream);
  }
  return outcome;
}

int64_t Http2Session::waiting_frame_bytes() const {
  // With the fields of its header, which few have.
  constexpr int64_t kBytesOfFrame = 256;
  return kBytesOfFrame *
         static_cast<int64_t>(
             nghttp2_session_get_outbound_queue_size(session_.get()));
}

bool Http2Session::is_over() const {
  return block_.empty() && !nghttp2_session_want_read(session_.get()) &&
         !nghttp2_session_want_write(session_.get());
}

Http2Session::Wait Http2Session::wait() const {
  if (queued_bytes_ == 0) return Wait::kNone;
  const uint32_t limit = nghttp2_session_get_remote_settings(
      session_.get(), NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
  return open_streams_ > int64_t{limit} ? Wait::kStreamLimit : Wait::kWindow;
}

}  // namespace distbench::http2
