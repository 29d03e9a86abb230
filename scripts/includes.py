# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Which files use what a precompiled header has, and do not include it.

A file that includes too little compiles because gcc puts a precompiled header in
front of it (third_party/precompiled_header.bzl), and no longer does with another
compiler. This reads instead of compiling, which would take as long as the build. A
file may rely on headers of the repository that it includes for what they include,
but not on the system's, which differ between releases.

Names of the standard library that no precompiled header has are here because files had
them by other headers of gcc's library, and not by those of clang's.
"""

import re

# All headers of this folder are precompiled.
PRECOMPILED = "third_party/precompiled/"

# Header -> what code takes from it: names behind std:: or absl::, or, where the entry
# begins with a backslash, any text. std::remove and others are functions only in front of
# their arguments.
NAMES = {
    "<algorithm>": (
        r"(?:all_of|any_of|binary_search|clamp|copy|copy_if|copy_n|count|count_if|equal"
        r"|fill|fill_n|find|find_if|for_each|generate|is_sorted|lower_bound|make_heap"
        r"|max|max_element|merge|min|min_element|minmax_element|mismatch|none_of"
        r"|nth_element|partition|pop_heap|push_heap|remove|remove_if|replace|reverse"
        r"|rotate|search|shuffle|sort|stable_sort|transform|unique|upper_bound)[(<]"
    ),
    "<array>": r"(?:array|to_array)",
    "<atomic>": r"(?:atomic|memory_order)\w*",
    "<bit>": (
        r"(?:bit_cast|bit_ceil|bit_floor|bit_width|countl_one|countl_zero|countr_one"
        r"|countr_zero|endian|has_single_bit|popcount|rotl|rotr)"
    ),
    "<charconv>": r"(?:from_chars|to_chars)\w*",
    "<chrono>": r"chrono",
    "<cmath>": (
        r"(?:cbrt|ceil|exp|exp2|expm1|fabs|floor|fmod|frexp|hypot|isfinite|isinf|isnan"
        r"|ldexp|lgamma|llround|log|log10|log1p|log2|lround|modf|nextafter|pow|round"
        r"|signbit|sqrt|tgamma|trunc)[(<]"
    ),
    "<compare>": r"(?:partial_ordering|strong_ordering|weak_ordering)",
    "<cstring>": (
        r"\b(?:memchr|memcmp|memcpy|memmove|memset|strchr|strcmp|strerror|strlen|strncmp"
        r"|strstr)\("
    ),
    "<deque>": r"deque",
    "<filesystem>": r"filesystem",
    "<fstream>": r"[io]?fstream",
    "<functional>": (
        r"(?:bind|cref|equal_to|function|greater|hash|invoke|less|multiplies|not_fn|plus"
        r"|ref|reference_wrapper)"
    ),
    "<initializer_list>": r"initializer_list",
    "<iterator>": (
        r"(?:back_inserter|inserter|istreambuf_iterator|iterator_traits"
        r"|make_move_iterator|reverse_iterator)"
    ),
    "<limits>": r"numeric_limits",
    "<list>": r"list",
    "<map>": r"(?:map|multimap)",
    "<memory>": (
        r"(?:enable_shared_from_this|make_shared|make_unique|shared_ptr|unique_ptr"
        r"|weak_ptr)"
    ),
    "<mutex>": r"(?:call_once|lock_guard|mutex|once_flag|unique_lock)",
    "<numbers>": r"numbers",
    "<numeric>": r"(?:accumulate|gcd|inner_product|iota|lcm|midpoint|partial_sum)",
    "<optional>": r"(?:make_optional|nullopt|optional)",
    "<queue>": r"(?:priority_queue|queue)",
    "<random>": r"(?:mt19937\w*|random_device|seed_seq|\w+_distribution)",
    "<set>": r"(?:multiset|set)",
    "<sstream>": r"[io]?stringstream",
    "<string>": r"(?:getline|stod|stoi|string|to_string)",
    "<thread>": r"(?:this_thread|thread)",
    "<tuple>": r"(?:make_tuple|tie|tuple)",
    "<utility>": r"(?:declval|exchange|forward|make_pair|move|pair|swap)",
    "<variant>": r"(?:get_if|holds_alternative|monostate|variant|visit)",
    "<vector>": r"vector",
    "absl/algorithm/container.h": r"c_\w+",
    "absl/base/thread_annotations.h": (
        r"\bABSL_(?:ACQUIRED_\w+|\w*EXCLUSIVE\w+|\w*GUARDED_BY|\w*LOCKABLE"
        r"|LOCKS_EXCLUDED|LOCK_RETURNED|NO_THREAD_SAFETY\w+|\w*SHARED\w+|UNLOCK\w+)"
    ),
    "absl/status/status.h": r"(?:Is[A-Z]\w+|OkStatus|Status|StatusCode|\w+Error)",
    "absl/status/statusor.h": r"StatusOr",
    "absl/strings/ascii.h": r"(?:ascii_\w+|AsciiStr\w+|\w*AsciiWhitespace)",
    "absl/strings/match.h": r"(?:EndsWith\w*|EqualsIgnoreCase|StartsWith\w*|StrContains)",
    "absl/strings/numbers.h": r"Simple(?:Hex)?Ato\w+",
    "absl/strings/str_cat.h": r"(?:AlphaNum|Dec|Hex|StrAppend|StrCat)",
    "absl/strings/str_format.h": (
        r"(?:FPrintF|FormatSpec|ParsedFormat|PrintF|SNPrintF|StrAppendFormat|StrFormat"
        r"|StreamFormat|UntypedFormatSpec)"
    ),
    "absl/strings/str_join.h": r"(?:AlphaNumFormatter|PairFormatter|StrJoin)",
    "absl/strings/str_split.h": (
        r"(?:AllowEmpty|By(?:AnyChar|Char|Length|String)|MaxSplits|Skip(?:Empty|Whitespace)"
        r"|StrSplit)"
    ),
    "absl/strings/string_view.h": r"string_view",
    "absl/strings/strip.h": r"(?:Consume|Strip)(?:Prefix|Suffix)",
    "absl/synchronization/mutex.h": r"(?:CondVar|Condition|\w*Mutex\w*)",
    "absl/time/time.h": (
        r"(?:AbsDuration|Duration|(?:Format|Parse)(?:Duration|Time)|From(?:Unix|Time)\w+"
        r"|(?:Infinite|Zero)Duration|Infinite(?:Future|Past)|(?:Nano|Micro|Milli)?[sS]econds"
        r"|Minutes|Hours|Time|TimeZone|To(?:Double|Int64|Unix|Time)\w+|UTCTimeZone|UnixEpoch)"
    ),
    "absl/types/span.h": r"(?:Make(?:Const)?Span|Span)",
    "gmock/gmock.h": r"\b(?:ASSERT|EXPECT)_(?:CALL|THAT)\(",
    "gtest/gtest.h": r"\b(?:(?:ASSERT|EXPECT)_(?!CALL|THAT)[A-Z_]+|TEST|TEST_[FP])\(",
}

# Their names are in too many headers of the C library to tell who includes them. Of
# messages, whose headers include each other, Bazel checks the dependencies.
UNCHECKED = ("<cstddef>", "<cstdint>", "proto/results.pb.h", "proto/traffic_config.pb.h")

_INCLUDE = re.compile(r'^#\s*include\s+(?:"([^"]+)"|(<[^>]+>))', re.MULTILINE)
_IMPORT = re.compile(r'^import "([^"]+)\.proto"', re.MULTILINE)
_NOT_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*\"""", re.DOTALL
)


def _pattern(header, names):
    if names.startswith("\\"):
        return re.compile(names)
    space = "std" if header.startswith("<") else "absl"
    end = "" if names.endswith("]") else r"\b"
    return re.compile(rf"\b{space}::{names}{end}")


_PATTERNS = {header: _pattern(header, names) for header, names in NAMES.items()}


def _included_by(path, text):
    if path.endswith(".proto"):
        return [f"{name}.pb.h" for name in _IMPORT.findall(text)]
    return [quoted or angled for quoted, angled in _INCLUDE.findall(text)]


def _reached_from(path, includes):
    reached, left = set(), [path]
    while left:
        for header in includes.get(left.pop(), ()):
            if header not in reached:
                reached.add(header)
                left.append(header)
    return reached


def _unknown_headers(files):
    for path, text in files.items():
        if not path.startswith(PRECOMPILED):
            continue
        for header in _included_by(path, text):
            known = header in NAMES or header in UNCHECKED
            if not known and not header.startswith(PRECOMPILED):
                yield (
                    f"{path}: scripts/includes.py does not know what files use of "
                    f"{header}; add its names to NAMES"
                )


def problems(files):
    """Returns lines, from path -> text of all C++ files and .proto files."""
    includes = {
        path.replace(".proto", ".pb.h"): _included_by(path, text)
        for path, text in files.items()
    }
    found = list(_unknown_headers(files))
    for path, text in sorted(files.items()):
        if path.startswith(PRECOMPILED) or not path.endswith((".h", ".cc")):
            continue
        code = _NOT_CODE.sub('""', text)
        reached = _reached_from(path, includes)
        for header, pattern in _PATTERNS.items():
            use = None if header in reached else pattern.search(code)
            if use:
                name = use.group(0).rstrip("(<")
                shown = header if header.startswith("<") else f'"{header}"'
                found.append(f"{path}: uses {name}; add #include {shown}")
    return found
