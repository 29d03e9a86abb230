# The RPCs of the capnp driver.

@0xd95c3c21a8ab2b4d;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("distbench::capnp_schema");

# A whole GenericRequestResponse (proto/data_plane.proto), cut in two so that its
# payload need not be copied.
struct Message {
  head @0 :Data;     # everything before the payload's bytes
  payload @1 :Data;
}

interface Traffic {
  genericRpc @0 Message -> Message;
}
