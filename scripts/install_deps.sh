#!/usr/bin/env bash
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

# Installs the distribution packages that building and testing need. Installs
# only missing packages, so it can be run again at any time. Also gives
# localhost an address on a minimal system that has none.
#
#   ./scripts/install_deps.sh [--to-build | --with-browser]    installs (as root, or
#                                                              by sudo)
#   ./scripts/install_deps.sh [--to-build | --with-browser] --list
#                                                      only prints the packages
#   ./scripts/install_deps.sh --for=arm64              in a system of its own
#
#   --to-build       leaves out what only tests need
#   --with-browser   also installs Chromium (400 MB), which the tests of the HTML
#                    report need, and Prometheus (100 MB, a service), which those
#                    of monitoring need; without it they are skipped
#   --for=arm64      installs what builds for that architecture, and QEMU's emulator
#                    for the result. PATH=/opt/cross-arm64:$PATH bazel build ... then
#                    does so

set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/cross_tools.sh
source "$(dirname "${BASH_SOURCE[0]}")/cross_tools.sh"

TOOLS=(
  # The build. bazel-bootstrap brings the JDK that it runs on.
  bazel-bootstrap
  bazel-platforms
  bazel-rules-java
  bazel-rules-proto
  bazel-skylib
  g++
  pkg-config
  protobuf-compiler
  protobuf-compiler-grpc
  python3
  thrift-compiler
)

LIBRARIES=(
  # Drivers of RPC stacks that are missing are left out of the build.
  libabsl-dev
  libarchive-dev
  libbenchmark-dev
  libboost-dev
  libboost-math-dev
  libcli11-dev
  libfabric-dev
  libgmock-dev
  libgoogle-glog-dev
  libgrpc++-dev
  libgtest-dev
  libjs-chart.js
  libnghttp2-dev
  libnuma-dev
  libprotobuf-dev
  libsnappy-dev
  libsqlite3-dev
  libssl-dev
  libthrift-dev
  libyaml-cpp-dev
  libzstd-dev
  nlohmann-json3-dev
  prometheus-cpp-dev
  zlib1g-dev
)

# Tests and benchmarks. The fault tests and the audit make network namespaces with
# iproute2, mount and util-linux. Shells complete command lines, and man-db formats
# manual pages.
TEST_PACKAGES=(
  fish
  iproute2
  man-db
  mount
  nghttp2-client
  openssl
  python3-grpcio
  python3-jsonschema
  python3-matplotlib
  python3-pandas
  python3-prometheus-client
  python3-protobuf
  python3-thrift
  python3-yaml
  tcpdump
  util-linux
  zsh
)

missing_packages() {
  local package
  for package in "${PACKAGES[@]}"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
      grep -qx installed || printf '%s\n' "$package"
  done
}

require_root_or_sudo() {
  if ((EUID == 0)); then
    return
  fi
  local remedy="As root: apt-get install $*"
  command -v sudo >/dev/null ||
    die "packages are missing, and installing them needs root or sudo. $remedy"
  # Ask for the password now, while there is a terminal.
  sudo -v || die "sudo was refused. $remedy"
}

install_missing() {
  local missing
  mapfile -t missing < <(missing_packages)
  if ((${#missing[@]} > 0)); then
    require_root_or_sudo "${missing[@]}"
    say "Updating the package lists"
    apt_get_as_root update ||
      say "Some package lists could not be updated; using the old ones."
    say "Installing ${#missing[@]} missing packages: ${missing[*]}"
    apt_get_as_root install --no-install-recommends "${missing[@]}"

    mapfile -t missing < <(missing_packages)
    ((${#missing[@]} == 0)) || die "still not installed: ${missing[*]}"
  fi
  say "All ${#PACKAGES[@]} packages that are needed are installed."
}

# A fresh system from debootstrap has no /etc/hosts.
ensure_localhost() {
  if getent ahosts localhost >/dev/null; then
    return
  fi
  say "localhost has no address here; adding it to /etc/hosts"
  echo "127.0.0.1 localhost" | as_root tee -a /etc/hosts >/dev/null
}

# use_architecture ARCH: PACKAGES for building for it.
use_architecture() {
  local of_tools
  of_tools="g++-$(gnu_name "$1")"
  require_no_libraries "${LIBRARIES[@]}"
  as_root dpkg --add-architecture "$1"
  apt_get_as_root update
  PACKAGES=("${TOOLS[@]}" "$of_tools" qemu-user-static)
  mapfile -t -O "${#PACKAGES[@]}" PACKAGES < <(for_architecture "$1" "${LIBRARIES[@]}")
}

main() {
  local architecture=
  PACKAGES=("${TOOLS[@]}" "${LIBRARIES[@]}")
  case ${1-} in
    --to-build) shift ;;
    --with-browser)
      PACKAGES+=("${TEST_PACKAGES[@]}" chromium fonts-dejavu-core prometheus)
      shift
      ;;
    --for=?*)
      architecture=${1#*=}
      gnu_name "$architecture" >/dev/null
      shift
      ;;
    *) PACKAGES+=("${TEST_PACKAGES[@]}") ;;
  esac
  if [[ ${1-} == --list ]]; then
    printf '%s\n' "${PACKAGES[@]}"
    return
  fi
  (($# == 0)) || die "unknown argument '$1'; see the head of $0"
  local remedy="Elsewhere install what corresponds to: ${PACKAGES[*]}"
  command -v apt-get >/dev/null ||
    die "no apt-get: this requires Debian 12 or 13, or Ubuntu 24.04. $remedy"

  [[ -z $architecture ]] || use_architecture "$architecture"
  install_missing
  [[ -z $architecture ]] || make_cross_tools "$architecture"
  ensure_localhost
}

main "$@"
