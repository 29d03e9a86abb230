"""Which parts of generated headers go to sources."""

import pathlib
import tempfile
import unittest

from tests import testing_main
from third_party import outline_accessors

HEADER = """class A {
  inline bool in_class() const { return true; }
};
inline void BeforeAccessors() {
}
#ifdef __GNUC__
  #pragma GCC diagnostic push
  #pragma GCC diagnostic ignored "-Wstrict-aliasing"
#endif  // __GNUC__

// optional int32 number = 1;
inline int A::number() const {
  if (has_number()) {
    return number_;
  }
  return 0;
}
inline const RepeatedField< int >&
A::numbers() const {
  return numbers_;
}

// string text = 2;
inline const std::string& A::text() const {
  if (has_text()) {
    return text_;
  }
  return default_text();
}
template <typename T>
inline PROTOBUF_ALWAYS_INLINE
void A::set_text(T&& text) {
  text_ = text;
}
template <typename T>
inline void A::set_other_text(T&& text) {
  other_text_ = text;
}
inline RepeatedPtrField< B >*
A::mutable_messages() {
  return &messages_;
}
inline void A::clear() {
  Clear(&text_);
}
#ifdef __GNUC__
  #pragma GCC diagnostic pop
#endif  // __GNUC__
inline void BehindAccessors() {
}
"""

HEADER_AFTER = """class A {
  inline bool in_class() const { return true; }
};
inline void BeforeAccessors() {
}
#ifdef __GNUC__
  #pragma GCC diagnostic push
  #pragma GCC diagnostic ignored "-Wstrict-aliasing"
#endif  // __GNUC__

// optional int32 number = 1;
inline int A::number() const {
  if (has_number()) {
    return number_;
  }
  return 0;
}
inline const RepeatedField< int >&
A::numbers() const {
  return numbers_;
}

// string text = 2;
template <typename T>
inline PROTOBUF_ALWAYS_INLINE
void A::set_text(T&& text) {
  text_ = text;
}
template <typename T>
inline void A::set_other_text(T&& text) {
  other_text_ = text;
}
inline void A::clear() {
  Clear(&text_);
}
#ifdef __GNUC__
  #pragma GCC diagnostic pop
#endif  // __GNUC__
inline void BehindAccessors() {
}
"""

ACCESSORS = """const std::string& A::text() const {
  if (has_text()) {
    return text_;
  }
  return default_text();
}
RepeatedPtrField< B >*
A::mutable_messages() {
  return &messages_;
}
"""

SOURCE = """namespace a {
// @@protoc_insertion_point(namespace_scope)
}
"""


def outlined(header, source):
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder, name) for name in ("a.pb.h", "a.pb.cc")]
        for path, text in zip(paths, (header, source)):
            path.write_text(text, encoding="utf-8")
        outline_accessors.main(*paths)
        return [path.read_text(encoding="utf-8") for path in paths]


class OutlineAccessorsTest(unittest.TestCase):
    def test_accessors_of_objects_move_but_for_templates(self):
        header, source = outlined(HEADER, SOURCE)
        self.assertEqual(header, HEADER_AFTER)
        place = "// @@protoc"
        self.assertEqual(source, SOURCE.replace(place, ACCESSORS + place))

    def test_what_another_protoc_made_stays(self):
        for header, source in [
            (HEADER.replace("GCC diagnostic", "clang diagnostic"), SOURCE),
            (HEADER, SOURCE.replace("namespace_scope", "elsewhere")),
        ]:
            self.assertEqual(outlined(header, source), [header, source])


if __name__ == "__main__":
    testing_main.main()
