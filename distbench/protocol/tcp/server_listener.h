#ifndef DISTBENCH_PROTOCOL_TCP_SERVER_LISTENER_H_
#define DISTBENCH_PROTOCOL_TCP_SERVER_LISTENER_H_

namespace distbench {

// What is told to the owner of the connections that a server has accepted.
template <typename Connection>
class ServerListener {
 public:
  // The client has said hello, in the way of its protocol, or the connection
  // has closed before.
  virtual void OnHelloOver(Connection& connection) = 0;
  // The connection has closed. Some of its requests may have no reply yet.
  virtual void OnClosed(Connection& connection) = 0;

 protected:
  ~ServerListener() = default;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_SERVER_LISTENER_H_
