#ifndef DISTBENCH_PROTOCOL_TCP_CLIENT_LISTENER_H_
#define DISTBENCH_PROTOCOL_TCP_CLIENT_LISTENER_H_

#include <string>

#include "distbench/protocol/driver.h"

namespace distbench::protocol {

// What is told to the owner of a client's connections, which reconnect when
// they break.
template <typename Connection>
class ClientListener {
 public:
  // All calls in flight on the connection have failed.
  virtual void OnDown(Connection& connection, const std::string& error) = 0;
  // A call that has been removed from the table has failed.
  virtual void OnFailed(ClientCall& call, std::string error) = 0;
  // The connection takes no more calls. Those in flight on it go on.
  virtual void OnRetired(Connection& connection) = 0;
  // A call in flight goes over another connection: the server will not answer
  // it here. Only after OnRetired().
  virtual void OnRefused(ClientCall& call) = 0;
  // Work() has something to do from now on.
  virtual void OnDialNeeded(Connection& connection) = 0;

 protected:
  ~ClientListener() = default;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_CLIENT_LISTENER_H_
