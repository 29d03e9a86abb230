// A connection of an HTTP server, and what the server does for it. All of this
// is used by the server's thread for connections only.

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_HTTP_CONNECTION_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_HTTP_CONNECTION_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "distbench/products/dashboard/http/http_message.h"
#include "distbench/products/dashboard/http/http_server.h"

namespace distbench::dashboard {

class Connection {
 public:
  virtual ~Connection() = default;
  virtual void Begin() = 0;

  // Sends an event now, or after the one that is being sent: then it replaces
  // another one of this name that waits.
  virtual void Send(const std::string& name,
                    std::shared_ptr<const std::string> event) = 0;
  virtual void Close() = 0;
};

class ConnectionHost {
 public:
  using Waiting = std::list<Connection*>;

  virtual ~ConnectionHost() = default;
  virtual const HttpLimits& limits() const = 0;

  // The connection has begun to wait for a request, and may be closed in favour
  // of others; or waits no longer.
  virtual Waiting::iterator BeginToWait(Connection* connection) = 0;
  virtual void EndWaiting(Waiting::iterator place) = 0;

  // Called once by each connection.
  virtual void OnConnectionEnd() = 0;

  // Whether there is a place for another connection that follows events.
  virtual bool Follow(const std::shared_ptr<Connection>& connection) = 0;
  virtual void Unfollow(const std::shared_ptr<Connection>& connection) = 0;

  // Whether a response of this size may be sent now; EndResponse() follows.
  virtual bool BeginResponse(int64_t bytes) = 0;
  virtual void EndResponse(int64_t bytes) = 0;

  // Calls on_answer later, unless the server ends before.
  virtual void Answer(HttpRequest request,
                      std::function<void(HttpResponse)> on_answer) = 0;
};

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_HTTP_CONNECTION_H_
