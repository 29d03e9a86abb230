// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/loopback/loopback_mailbox.h"

namespace distbench::protocol {

// Returns what is not taken any more. Several threads may call this at once:
// each takes mail of its own. What it puts back is looked at again by Accept(),
// because the mailbox may have been detached meanwhile, and its worker may have
// fallen asleep.
void LoopbackMailbox::ReturnMail() {
  LoopbackMail* mail = inbox_.TakeAll();
  while (mail != nullptr) {
    LoopbackMail* const next = mail->next;
    if (mail->is_request() || detached_) {
      mail->Return();
    } else {
      Accept(mail);
    }
    mail = next;
  }
}

LoopbackMailbox& LoopbackPeer::Choose() {
  const size_t count = servers_.size();
  if (count == 1) return *servers_[0];
  const size_t first = next_;
  if (round_robin_) next_ = (first + 1) % count;
  for (size_t i = first; i < first + count; ++i) {
    LoopbackMailbox& server = *servers_[i % count];
    if (!server.is_closed()) return server;
  }
  return *servers_[first];
}

}  // namespace distbench::protocol
