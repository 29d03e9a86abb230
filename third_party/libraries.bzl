# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What distbench uses, in one place for WORKSPACE and for MODULE.bazel."""

load("//third_party:system_libraries.bzl", "dpkg_status", "system_libraries")

# Rules and tools of Bazel, where its package has them.
_PARTS_OF_BAZEL = {
    "bazel_features": "tools/features",
    "bazel_skylib": "tools/skylib",
    "rules_java": "rules/java",
    "rules_license": "rules/license",
    "rules_proto": "rules/proto",
    "rules_python": "rules/python",
}

def parts_of_bazel(distbench = "."):
    """Makes the repositories that Bazel itself wants of a WORKSPACE.

    The section "Build" of docs/architecture.md says why each is needed.

    Args:
      distbench: the folder of this repository.
    """
    for name in ["rules_cc", "remote_coverage_tools"]:
        native.local_repository(name = name, path = "%s/third_party/%s" % (distbench, name))
    for name, folder in _PARTS_OF_BAZEL.items():
        native.local_repository(name = name, path = "/usr/share/bazel/" + folder)

def libraries(replacements = {}, generators = {}):
    """Makes the repository `@system` of system_libraries.bzl, and what that watches.

    Args:
      replacements: names of its libraries -> labels of what is linked in place of the
        distribution's.
      generators: GENERATOR_NAMES of system_libraries.bzl -> labels, in the same way.
    """
    dpkg_status(name = "dpkg")
    system_libraries(
        name = "system",
        replacements = replacements,
        generators = generators,
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
        without_module = {"grpcpp_reflection": ["-lgrpc++_reflection"]},
    )
