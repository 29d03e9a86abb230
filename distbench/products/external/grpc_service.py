# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""A gRPC service that is no part of distbench, for tests: a cache."""

import collections
import subprocess
import threading
import time
from concurrent import futures

import grpc
from google.protobuf import descriptor_pb2
from google.protobuf import descriptor_pool
from google.protobuf import message_factory

CACHE = """
syntax = "proto3";
package example;
message Query { string key = 1; }
message Value { string text = 1; }
service Cache {
  rpc Get(Query) returns (Value);
  rpc Watch(Query) returns (stream Value);
  rpc Put(stream Query) returns (Value);
  rpc Talk(stream Query) returns (stream Value);
}
"""

# How Talk behaves, as the metadata "behaviour" asks for. Without it, it answers
# each query at once.
FEWER = "fewer"  # every other query
EXTRA = "extra"  # each query twice
EAGER = "eager"  # also before the first query
EARLY = "early"  # the first three, then ends with OK
ERROR = "error"  # the first three, then fails
STALL = "stall"  # the first three, and never more
PAUSE = "pause"  # each, but stands still for PAUSE_S once, after three
PAUSE_S = 0.5
ANSWERED = 3

# The answers to a Watch.
WATCHED = 5

# What gRPC's reflection needs, from the protocol's description.
REFLECTION = """
syntax = "proto3";
package grpc.reflection.v1alpha;
message ServerReflectionRequest {
  string host = 1;
  oneof message_request {
    string file_by_filename = 3;
    string file_containing_symbol = 4;
    string list_services = 7;
  }
}
message ServerReflectionResponse {
  string valid_host = 1;
  ServerReflectionRequest original_request = 2;
  oneof message_response {
    FileDescriptorResponse file_descriptor_response = 4;
    ListServiceResponse list_services_response = 6;
    ErrorResponse error_response = 7;
  }
}
message FileDescriptorResponse { repeated bytes file_descriptor_proto = 1; }
message ListServiceResponse { repeated ServiceResponse service = 1; }
message ServiceResponse { string name = 1; }
message ErrorResponse { int32 error_code = 1; string error_message = 2; }
"""

# The cache has no keys that begin with this.
MISSING = "missing"


def _compile(folder, name, text):
    """Returns a file's serialised FileDescriptorSet."""
    with open(f"{folder}/{name}.proto", "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run(
        [
            "protoc",
            f"--proto_path={folder}",
            f"--descriptor_set_out={folder}/{name}.pb",
            f"{name}.proto",
        ],
        check=True,
    )
    with open(f"{folder}/{name}.pb", "rb") as file:
        return file.read()


def _messages(descriptors):
    """Returns the message classes of a file, by their names."""
    files = descriptor_pb2.FileDescriptorSet.FromString(descriptors)
    pool = descriptor_pool.DescriptorPool()
    factory = message_factory.MessageFactory(pool)
    file = pool.AddSerializedFile(files.file[0].SerializeToString())
    # Older versions return nothing.
    file = file or pool.FindFileByName(files.file[0].name)
    return {
        name: factory.GetPrototype(message)
        for name, message in file.message_types_by_name.items()
    }


def write_descriptors(folder):
    """Writes the descriptor set of example.Cache; returns its path."""
    _compile(folder, "cache", CACHE)
    return f"{folder}/cache.pb"


class CacheServer:
    """Serves example.Cache on loopback, as many calls at once as there are
    threads, and with reflection if that is asked for. Writes cache.pb, the
    descriptor set, into the folder."""

    def __init__(self, folder, has_reflection=True, threads=8):
        self._descriptors = _compile(folder, "cache", CACHE)
        self._cache = _messages(self._descriptors)
        self._lock = threading.Lock()
        self._keys = collections.Counter()
        self._metadata = {}
        self._server = grpc.server(futures.ThreadPoolExecutor(threads))
        self._add(
            "example.Cache",
            Get=grpc.unary_unary_rpc_method_handler(
                self._get,
                self._cache["Query"].FromString,
                self._cache["Value"].SerializeToString,
            ),
            Watch=grpc.unary_stream_rpc_method_handler(
                self._watch,
                self._cache["Query"].FromString,
                self._cache["Value"].SerializeToString,
            ),
            Put=grpc.stream_unary_rpc_method_handler(
                self._put,
                self._cache["Query"].FromString,
                self._cache["Value"].SerializeToString,
            ),
            Talk=grpc.stream_stream_rpc_method_handler(
                self._talk,
                self._cache["Query"].FromString,
                self._cache["Value"].SerializeToString,
            ),
        )
        if has_reflection:
            self._reflection = _messages(
                _compile(folder, "reflection", REFLECTION)
            )
            self._add(
                "grpc.reflection.v1alpha.ServerReflection",
                ServerReflectionInfo=grpc.stream_stream_rpc_method_handler(
                    self._reflect,
                    self._reflection["ServerReflectionRequest"].FromString,
                    self._reflection[
                        "ServerReflectionResponse"
                    ].SerializeToString,
                ),
            )
        port = self._server.add_insecure_port("127.0.0.1:0")
        self.address = f"127.0.0.1:{port}"
        self._server.start()

    def stop(self):
        self._server.stop(None).wait()

    def keys(self):
        """Returns how often each key was asked for."""
        with self._lock:
            return collections.Counter(self._keys)

    def metadata(self):
        """Returns the metadata of the last call."""
        with self._lock:
            return dict(self._metadata)

    def _add(self, service, **methods):
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(service, methods),)
        )

    def _get(self, query, context):
        with self._lock:
            self._keys[query.key] += 1
            self._metadata = dict(context.invocation_metadata())
        if query.key.startswith(MISSING):
            context.abort(grpc.StatusCode.NOT_FOUND, "no such key")
        return self._cache["Value"](text=f"value of {query.key}")

    def _count(self, query, context):
        with self._lock:
            self._keys[query.key] += 1
            self._metadata = dict(context.invocation_metadata())

    def _watch(self, query, context):
        self._count(query, context)
        for number in range(WATCHED):
            yield self._cache["Value"](text=f"{number} of {query.key}")

    def _put(self, queries, context):
        for query in queries:
            self._count(query, context)
        return self._cache["Value"](text="all")

    def _talk(self, queries, context):
        value = self._cache["Value"]
        behaviour = dict(context.invocation_metadata()).get("behaviour")
        if behaviour == EAGER:
            yield value(text="nobody asked")
        for number, query in enumerate(queries):
            self._count(query, context)
            if number == ANSWERED:
                if behaviour == EARLY:
                    return
                if behaviour == ERROR:
                    context.abort(grpc.StatusCode.ABORTED, "half is enough")
                if behaviour == PAUSE:
                    time.sleep(PAUSE_S)
            if behaviour == STALL and number >= ANSWERED:
                continue
            if behaviour == FEWER and number % 2 == 1:
                continue
            yield value(text=query.key)
            if behaviour == EXTRA:
                yield value(text="once more")
        while behaviour == STALL and context.is_active():
            time.sleep(0.01)

    def _reflect(self, requests, _context):
        for request in requests:
            response = self._reflection["ServerReflectionResponse"](
                original_request=request
            )
            asked = request.WhichOneof("message_request")
            symbol = request.file_containing_symbol
            if asked == "list_services":
                response.list_services_response.service.add(
                    name="example.Cache"
                )
            elif (
                asked == "file_containing_symbol"
                and symbol.startswith("example.Cache")
                or request.file_by_filename == "cache.proto"
            ):
                files = descriptor_pb2.FileDescriptorSet.FromString(
                    self._descriptors
                )
                response.file_descriptor_response.file_descriptor_proto.append(
                    files.file[0].SerializeToString()
                )
            else:
                response.error_response.error_code = 5
                response.error_response.error_message = "not here"
            yield response
