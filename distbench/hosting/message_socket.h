#ifndef DISTBENCH_HOSTING_MESSAGE_SOCKET_H_
#define DISTBENCH_HOSTING_MESSAGE_SOCKET_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/files.h"
#include "google/protobuf/io/zero_copy_stream_impl.h"
#include "google/protobuf/message_lite.h"

namespace distbench::hosting {

// One end of a socket pair over which two processes exchange messages, each
// preceded by its length (protobuf's delimited format).
class MessageSocket {
 public:
  // Makes a socket pair; child programs inherit neither end.
  static absl::StatusOr<std::pair<base::FileDescriptor, base::FileDescriptor>>
  MakePair();

  explicit MessageSocket(base::FileDescriptor socket);

  // Sends a whole message; blocks while the peer does not read. Returns false
  // if the peer is gone. Any thread.
  bool Send(const google::protobuf::MessageLite& message)
      ABSL_LOCKS_EXCLUDED(send_mutex_);

  // Same as Send(), but sends nothing and returns false while another thread
  // sends.
  bool TrySend(const google::protobuf::MessageLite& message)
      ABSL_LOCKS_EXCLUDED(send_mutex_);

  // Blocks until there is a message. Returns false if the peer is gone, or has
  // sent an invalid message. One thread.
  bool Receive(google::protobuf::MessageLite& message);

  // Ends the messages to the peer, after those that were sent.
  void CloseForSending();

 private:
  bool SendBytes(const std::string& bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(send_mutex_);

  const base::FileDescriptor socket_;
  google::protobuf::io::FileInputStream input_;
  absl::Mutex send_mutex_;
};

}  // namespace distbench::hosting

#endif  // DISTBENCH_HOSTING_MESSAGE_SOCKET_H_
