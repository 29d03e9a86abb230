// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Where the calls and messages of other instances arrive at a worker of the
// loopback driver.

#ifndef DISTBENCH_PROTOCOL_LOOPBACK_LOOPBACK_MAILBOX_H_
#define DISTBENCH_PROTOCOL_LOOPBACK_LOOPBACK_MAILBOX_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "distbench/base/queues.h"
#include "distbench/base/wakeup.h"
#include "distbench/protocol/call_table.h"
#include "distbench/protocol/driver.h"

namespace distbench::protocol {

// The errors of calls whose server is there no more.
inline constexpr char kLoopbackShutDown[] =
    "UNAVAILABLE: the instance has shut down";
inline constexpr char kLoopbackBroken[] =
    "UNAVAILABLE: the server has broken the connection";

// What passes from one worker to another, by pointer.
class LoopbackMail {
 public:
  enum class Kind {
    kRequest,        // a LoopbackCall on its way to the server
    kReply,          // the same on its way back
    kNotice,         // of the server, that it has broken a call
    kStreamRequest,  // of streams (loopback_streams.h)
    kStreamOther,
  };

  // Whether it wants to be answered.
  bool is_request() const {
    return kind == Kind::kRequest || kind == Kind::kStreamRequest;
  }

  // Nobody takes it: answers it if it is a request, else lets go of it. Any
  // thread may call it.
  virtual void Return() = 0;

  Kind kind = Kind::kRequest;
  LoopbackMail* next = nullptr;

 protected:
  ~LoopbackMail() = default;
};

// Senders keep the mailboxes of their receivers alive, so the two ends may be
// destroyed in any order. Any thread may use it, except where noted.
class LoopbackMailbox : public std::enable_shared_from_this<LoopbackMailbox> {
 public:
  explicit LoopbackMailbox(base::Wakeup wakeup) : wakeup_(std::move(wakeup)) {}
  LoopbackMailbox(const LoopbackMailbox&) = delete;
  LoopbackMailbox& operator=(const LoopbackMailbox&) = delete;

  // Takes mail for the worker, or returns it.
  void Accept(LoopbackMail* mail) {
    // Once it is in the inbox, it may be gone at any time.
    const bool is_request = mail->is_request();
    inbox_.Push(mail);
    if (asleep_) wakeup_.Wake();
    if (is_request ? closed_ : detached_) [[unlikely]] {
      ReturnMail();
    }
  }

  // Requests are returned from now on.
  void CloseMailbox() {
    closed_ = true;
    ReturnMail();
  }
  bool is_closed() const { return closed_; }

  // Everything is returned from now on. Requires CloseMailbox().
  void DetachMailbox() {
    detached_ = true;
    ReturnMail();
  }

  // The number of clients' connections to this worker.
  std::atomic<int64_t> connection_count = 0;

 protected:
  ~LoopbackMailbox() = default;

  // Makes the current or the next Sleep() end.
  void WakeWorker() { wakeup_.Wake(); }

  // These are for the worker.

  // Returns all mail that has arrived, in order.
  LoopbackMail* TakeMail() { return inbox_.TakeAll(); }
  bool has_mail() const { return !inbox_.empty(); }

  // Sleeps until there is mail, or for this time.
  void Sleep(int64_t wait_ns) {
    // A push after this line sees that it must wake this thread. The check
    // below sees every earlier push.
    asleep_ = true;
    if (!has_mail()) wakeup_.Sleep(wait_ns);
    asleep_ = false;
  }

 private:
  void ReturnMail();

  base::MpscQueue<LoopbackMail> inbox_;
  base::Wakeup wakeup_;
  std::atomic<bool> asleep_ = false;
  std::atomic<bool> closed_ = false;
  std::atomic<bool> detached_ = false;
};

// A peer of a client's worker: the workers of one or several servers.
class LoopbackPeer : public CallOwner {
 public:
  using Servers = std::vector<std::shared_ptr<LoopbackMailbox>>;

  // `servers` has at least one. With round_robin they take calls in turn,
  // otherwise the first takes all.
  LoopbackPeer(Servers servers, bool round_robin)
      : servers_(std::move(servers)), round_robin_(round_robin) {}

  const Servers& servers() const { return servers_; }

  // Returns the server of the next call. Closed ones are skipped while others
  // are open.
  LoopbackMailbox& Choose();

  // As ClientCalls needs it: the server is not told.
  void Abandon(ClientCall& /*call*/) {}

  int out = 0;  // calls that are not back, also those that were given up

 private:
  Servers servers_;
  bool round_robin_;
  size_t next_ = 0;  // with round robin
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_LOOPBACK_LOOPBACK_MAILBOX_H_
