// What most tests of distbench include: see precompiled_header.bzl.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "third_party/precompiled/messages_and_libraries.h"
