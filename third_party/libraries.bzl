# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The libraries that distbench uses, for WORKSPACE and for MODULE.bazel."""

load("//third_party:system_libraries.bzl", "dpkg_status", "system_libraries")

def distribution_libraries():
    """Makes the repository `@system` of system_libraries.bzl, and what that watches."""
    dpkg_status(name = "dpkg")
    system_libraries(
        name = "system",
        files = ["/usr/share/javascript/chart.js/chart.min.js"],
        # Bazel target -> a header of a library that is headers only.
        headers = {
            "boost_beast": "/usr/include/boost/beast.hpp",
            "boost_math": "/usr/include/boost/math/distributions.hpp",
        },
        # Bazel target -> the pkg-config modules that it links.
        modules = {
            "absl": [
                "absl_base",
                "absl_cord",
                "absl_flat_hash_map",
                "absl_flat_hash_set",
                "absl_inlined_vector",
                "absl_random_random",
                "absl_random_seed_sequences",
                "absl_span",
                "absl_status",
                "absl_statusor",
                "absl_str_format",
                "absl_strings",
                "absl_synchronization",
                "absl_time",
            ],
            "archive": ["libarchive"],
            "benchmark": ["benchmark"],
            "cli11": ["CLI11"],
            "glog": ["libglog"],
            "gmock": ["gmock"],
            "grpcpp": ["grpc++"],
            "gtest": ["gtest"],
            "gtest_main": ["gtest_main"],
            "nlohmann_json": ["nlohmann_json"],
            "numa": ["numa"],
            "openssl_crypto": ["libcrypto"],
            "openssl_ssl": ["libssl"],
            "prometheus": ["prometheus-cpp-pull"],
            "protobuf": ["protobuf"],
            "snappy": ["snappy"],
            "sqlite3": ["sqlite3"],
            "yaml_cpp": ["yaml-cpp"],
            "zlib": ["zlib"],
            "zstd": ["libzstd"],
        },
        loaded_at_run_time = ["libfabric"],
        # As modules, of RPC stacks whose drivers are left out if they are missing.
        optional_modules = {
            "libfabric": ["libfabric"],
            "nghttp2": ["libnghttp2"],
            "thrift": ["thrift"],
        },
    )
