// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What both ends of a link (wire.h) have in common.

#ifndef DISTBENCH_PRODUCTS_LIBFABRIC_LINK_H_
#define DISTBENCH_PRODUCTS_LIBFABRIC_LINK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "distbench/base/object_pool.h"
#include "distbench/payload/message_codec.h"
#include "distbench/products/libfabric/endpoint.h"
#include "distbench/products/libfabric/settings.h"
#include "distbench/products/libfabric/wire.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/frame.h"
#include "distbench/protocol/tcp/stream_error.h"

namespace distbench::libfabric {

// The links of one worker by their numbers on the wire. A number consists of a
// position in the table and the number of earlier links there, so that a
// message for a link that has ended is not taken for another's. Not
// thread-safe.
template <typename Link>
class LinkTable {
 public:
  // Returns the link's number, which is not 0 and below 2^56.
  uint64_t Add(Link* link) {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(entries_.size()));
      entries_.emplace_back();
    }
    const uint32_t position = free_.back();
    free_.pop_back();
    entries_[position].link = link;
    return IdOf(position);
  }

  // Returns null if there is no such link, or no more. Any number is allowed.
  Link* Find(uint64_t id) const {
    const auto position = static_cast<uint32_t>(id);
    if (position >= entries_.size() || id != IdOf(position)) return nullptr;
    return entries_[position].link;
  }

  // Requires that there is such a link.
  void Remove(uint64_t id) {
    const auto position = static_cast<uint32_t>(id);
    entries_[position].link = nullptr;
    ++entries_[position].generation;
    free_.push_back(position);
  }

  // Calls function(link) for each link, which may remove links and add some.
  template <typename Function>
  void ForEach(const Function& function) {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].link != nullptr) function(*entries_[i].link);
    }
  }

 private:
  struct Entry {
    Link* link = nullptr;
    uint32_t generation = 1;
  };

  // The generations that a number tells apart; 0 is none of them.
  static constexpr uint32_t kGenerations = (1 << 24) - 1;

  uint64_t IdOf(uint32_t position) const {
    const uint64_t generation = entries_[position].generation % kGenerations;
    return (generation + 1) << 32 | position;
  }

  std::vector<Entry> entries_;
  std::vector<uint32_t> free_;
};

// Thread-safe.
struct LibfabricCounters : protocol::StreamCounters {
  // Messages for links that there are not, or that nobody would send.
  std::atomic<int64_t> stray_messages = 0;

  std::vector<protocol::DriverCounter> List() const;
};

// A frame from the moment it is queued until the last byte was handed over.
struct QueuedFrame {
  std::string head;  // the frame's header and its message's head
  size_t head_sent = 0;
  int64_t payload_left = 0;
  int64_t frame_bytes = 0;
  protocol::ClientCall* call =
      nullptr;           // of a request; its sent_ns is not yet set
  int64_t queue_ns = 0;  // of a timed reply
  int64_t begun_ns = 0;
  QueuedFrame* next = nullptr;
};

class Link;

// State shared by the links of one worker.
struct LinkContext {
  const LibfabricSettings settings;
  const std::string test_nonce;
  // Chooses the worker of a server that has several.
  const size_t worker;
  LibfabricCounters& counters;
  std::unique_ptr<Endpoint> endpoint;
  LinkTable<Link> links = {};
  base::ObjectPool<QueuedFrame> frames = {};
  std::vector<Link*> to_flush = {};
};

// One end of a link: what waits to be sent, and whether the other end is alive.
// Used by its worker's thread.
class Link {
 public:
  // Requests on a link that have no reply yet, at most, so that a peer which
  // does not read cannot fill this side's memory.
  static constexpr int64_t kMaxUnanswered = 1 << 17;

  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  // A message has arrived, possibly before earlier ones. `events` is null if
  // none can be delivered now; then the message is a welcome.
  void Deliver(const MessageHeader& header, absl::string_view content,
               int64_t read_ns, protocol::TransportEvents* events);

  // The provider is done with a message.
  void OnSent(int error);

  // Hands what is queued to the provider, as far as it takes it, and handles an
  // error, if there was one. Call this for the links that were in to_flush.
  void Settle();

  // Call this about once a second: asks a silent peer for a sign of life, and
  // breaks the link if there is none.
  void CheckLife(int64_t now_ns);

 protected:
  explicit Link(LinkContext& context) : context_(context) {}
  virtual ~Link();

  LinkContext& context() { return context_; }

  // Begins a life of the link, with a number of its own.
  void StartLink(fi_addr_t peer);
  // Ends it, and drops what is queued.
  void End();
  bool has_begun() const { return id_ != 0; }
  uint64_t id() const { return id_; }

  // Takes what the peer has said about itself.
  void Know(const Introduction& peer);
  // The peer's first message was its hello, which has begun this link.
  void NoteHello() { received_count_ = 1; }
  // Frames are sent from now on.
  void Open();
  bool is_open() const { return is_open_; }

  // Sends a message without frames, before any frames.
  void SendControl(MessageKind kind, std::string content = {});
  // Tells the peer that the link ends here, before it does. Settle() says it
  // of a link that breaks.
  void SayGoodbye();

  // Queues a frame, and sends it at once if nothing is in its way. The caller
  // fills in the rest of the result and calls Push().
  template <typename Header>
  QueuedFrame* MakeFrame(protocol::FrameKind kind, uint64_t call_id,
                         const Header& header, int64_t target_bytes);
  void Push(QueuedFrame* frame);
  int64_t queued_bytes() const { return queued_bytes_; }

  // Sets the sent_ns of calls that have not been sent.
  void StampUnsent();

  // Notes that the peer is alive, and answers a ping.
  void NoteLife(MessageKind kind, int64_t now_ns);

  // Makes Settle() end the link; nothing is delivered any more. `detail` may be
  // empty.
  void Break(protocol::StreamError error, std::string detail = {});

  // The next message has arrived; arguments as above.
  virtual void OnMessage(MessageKind kind, absl::string_view content,
                         int64_t read_ns,
                         protocol::TransportEvents* events) = 0;
  // Called when the last bytes of a frame were handed over.
  virtual void OnFrameSent() = 0;
  // Whether the end of the link would affect anyone.
  virtual bool IsInUse() const = 0;
  // How long the peer may be silent before it is asked for a sign of life.
  virtual int64_t patience_ns() const = 0;
  // Called when the link has ended because of an error.
  virtual void OnBroken(const std::string& reason) = 0;

 private:
  struct Control {
    MessageKind kind;
    std::string content = {};
  };

  // A message that waits for earlier ones.
  struct Held {
    MessageKind kind;
    std::string content = {};
  };

  bool is_breaking() const { return error_ != protocol::StreamError::kNone; }
  void Hold(const MessageHeader& header, absl::string_view content);
  void MarkDirty();
  void Flush();
  Endpoint::Sent Send(MessageKind kind, absl::string_view head,
                      int64_t payload_bytes);
  bool SendNextControl();
  bool SendSome(QueuedFrame& frame);
  bool Take(const Endpoint::Sent& sent);
  void Stamp(QueuedFrame& frame);
  void DropQueue();

  LinkContext& context_;
  uint64_t id_ = 0;       // 0: none
  uint64_t peer_id_ = 0;  // the peer's number of the link
  fi_addr_t peer_ = FI_ADDR_NOTAVAIL;
  size_t message_bytes_ = kMinReceiveBufferBytes;  // that the peer receives
  bool is_open_ = false;
  bool is_dirty_ = false;
  size_t posted_ = 0;  // messages that the provider has
  uint32_t sent_count_ = 0;
  uint32_t received_count_ = 0;
  absl::flat_hash_map<uint32_t, Held> held_;  // by sequence
  size_t held_bytes_ = 0;

  std::vector<Control> controls_;  // that wait to be sent
  QueuedFrame* first_ = nullptr;
  QueuedFrame* last_ = nullptr;
  int64_t queued_bytes_ = 0;

  int64_t heard_ns_ = 0;
  int64_t pinged_ns_ = 0;  // 0: not since the peer was heard
  protocol::StreamError error_ = protocol::StreamError::kNone;
  std::string detail_;
};

template <typename Header>
QueuedFrame* Link::MakeFrame(protocol::FrameKind kind, uint64_t call_id,
                             const Header& header, int64_t target_bytes) {
  const payload::MessageLayout layout =
      payload::LayOutMessage(header, target_bytes);
  const size_t times_bytes = protocol::TimesBytes(kind);
  const size_t before_bytes = protocol::kFrameHeaderBytes + times_bytes;
  QueuedFrame* const frame = context_.frames.Get();
  frame->head.resize(before_bytes + layout.head_bytes);
  protocol::EncodeFrameHeader(
      {.message_bytes =
           static_cast<uint32_t>(layout.total_bytes() + times_bytes),
       .head_bytes = static_cast<uint32_t>(layout.head_bytes + times_bytes),
       .kind = kind,
       .call_id = call_id},
      frame->head.data());
  payload::WriteHead(header, layout, frame->head.data() + before_bytes);
  frame->head_sent = 0;
  frame->payload_left = layout.payload_bytes;
  frame->frame_bytes =
      static_cast<int64_t>(before_bytes) + layout.total_bytes();
  frame->call = nullptr;
  frame->begun_ns = 0;
  frame->next = nullptr;
  return frame;
}

}  // namespace distbench::libfabric

#endif  // DISTBENCH_PRODUCTS_LIBFABRIC_LINK_H_
