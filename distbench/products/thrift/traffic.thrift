// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The service of driver `thrift`, for Thrift's framed transport and strict
// binary protocol. No code of distbench's programs is generated from it; tests
// and the bare program of the benchmark are.
//
// On the wire, numbers are in network byte order. A frame is
//
//   i32  size of what follows
//   i32  0x80010000 + type: 1 a call, 2 a reply, 3 an exception, 4 oneway
//   i32  size of the method's name, and the name
//   i32  sequence id; a reply has that of its call
//   then a struct of one field, the argument or the result:
//   i8   11, a string of bytes
//   i16  1 in calls, 0 in replies
//   i32  size of the bytes, and the bytes
//   i8   0, the struct's end
//
// A connection may have any number of calls in flight, and replies may come in
// any order.

namespace cpp distbench.thrift

service Traffic {
  // Proves that the server knows the test's nonce. The bytes are a serialised
  // HandshakeRequest and HandshakeResponse (proto/data_plane.proto). Clients of
  // a test call this first on each connection.
  binary Handshake(1: binary request)

  // An RPC of a test. The bytes are serialised GenericRequestResponses, so that
  // sizes mean the same with all drivers.
  binary GenericRpc(1: binary request)
}
