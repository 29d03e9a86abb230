# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What protoc knows about the traffic language and about reports: messages and fields
with their comments and options, for the reference of the language (reference.py) and the
schema of reports (reference_report.py)."""

import collections
import glob
import importlib
import os
import re
import subprocess
import sys
import tempfile

from google.protobuf import descriptor_pb2

# The files whose messages the language and its catalogues are made of.
FILES = (
    "proto/catalogs.proto",
    "proto/experiment.proto",
    "proto/joint_distribution.proto",
    "proto/product.proto",
    "proto/rules.proto",
    "proto/traffic_config.proto",
)

# Those that reports are made of, and what these use.
REPORT_FILES = (
    "proto/data_plane.proto",
    "proto/json_options.proto",
    "proto/report.proto",
    "proto/results.proto",
    "proto/simulation.proto",
)

# The drivers and activities of products, and what products add to reports, with the
# product in the path.
_OF_PRODUCTS = (
    "distbench/products/**/catalog.proto",
    "distbench/products/**/report.proto",
)

Field = collections.namedtuple(
    "Field",
    "name kind message enum is_repeated is_map has_default default oneof comment "
    # Whether it is on the line below another field.
    "follows "
    "rules product setting",
)
Message = collections.namedtuple("Message", "name comment fields oneofs conflicts")
# The product is empty if the core has it.
Activity = collections.namedtuple("Activity", "name product comment options settings")
# Sides: "client", "server" and "channel" -> settings, prefix of those passed through.
Driver = collections.namedtuple("Driver", "options product sides")

# Numbers of descriptor.proto, of which paths to comments are made.
_MESSAGE, _FIELD, _NESTED, _ENUM_IN, _VALUE, _ONEOF, _SYNTAX = 4, 2, 3, 4, 2, 8, 12


class Protos:
    def __init__(self, files, modules):
        self._rules = modules["proto/rules.proto"]
        self._product = modules["proto/product.proto"]
        self._catalogs = modules["proto/catalogs.proto"]
        self._comments = {}
        self._spans = {}
        self._paths = {}
        for file in files:
            self._read_comments(file)
            for index, message in enumerate(file.message_type):
                path = (file.name, _MESSAGE, index)
                self._read_paths(f"{file.package}.{message.name}", path, message)
        # Words of the language that belong to a product, and the product.
        options = modules["proto/traffic_config.proto"].DESCRIPTOR.GetOptions()
        words = options.Extensions[self._product.product_word]
        self.product_words = [(word.word, word.product) for word in words]
        # What is above all else in the file of the language.
        self.introduction = self._comments["proto/traffic_config.proto", _SYNTAX]
        self._modules = modules
        self._messages = {}
        for module in modules.values():
            for descriptor in module.DESCRIPTOR.message_types_by_name.values():
                self._messages[descriptor.full_name] = descriptor

    def _read_comments(self, file):
        for location in file.source_code_info.location:
            path = (file.name, *location.path)
            above = location.leading_comments
            if list(location.path) == [_SYNTAX]:
                apart = filter(_is_about_the_file, location.leading_detached_comments)
                above = "\n".join([*apart, above])
            self._comments[path] = _clean(above + "\n" + location.trailing_comments)
            span = location.span
            self._spans[path] = (span[0], span[2] if len(span) == 4 else span[0])

    def _read_paths(self, name, path, message):
        self._paths[name] = path
        for index, enum in enumerate(message.enum_type):
            self._paths[f"{name}.{enum.name}"] = (*path, _ENUM_IN, index)
        for index, nested in enumerate(message.nested_type):
            self._read_paths(f"{name}.{nested.name}", (*path, _NESTED, index), nested)

    def module(self, path):
        """What protoc made of a file."""
        return self._modules[path]

    def report_modules(self):
        """Those of products that add to reports, by their paths."""
        return [
            module
            for path, module in sorted(self._modules.items())
            if path.startswith("distbench/") and path.endswith("/report.proto")
        ]

    def comment_of(self, message):
        """The comment of a message, by its descriptor."""
        return self._comments.get(self._paths[message.full_name], "")

    def comments_of_fields(self, message):
        """Those of the fields of a message, in their order."""
        path = self._paths[message.full_name]
        return [
            self._comments.get((*path, _FIELD, index), "")
            for index in range(len(message.fields))
        ]

    def message(self, name):
        """A message of the language, by its short name."""
        descriptor = self._messages[f"distbench.{name}"]
        path = self._paths[descriptor.full_name]
        oneofs = {
            oneof.name: self._comments.get((*path, _ONEOF, index), "")
            for index, oneof in enumerate(descriptor.oneofs)
        }
        conflicts = descriptor.GetOptions().Extensions[self._rules.conflict]
        return Message(
            descriptor.name,
            self._comments.get(path, ""),
            self._fields(descriptor),
            oneofs,
            list(conflicts),
        )

    @property
    def activities(self):
        return [
            Activity(
                descriptor.name,
                _product_of(descriptor),
                self._comments[self._paths[descriptor.full_name]],
                options,
                self._settings(descriptor),
            )
            for descriptor, options in self._with(self._catalogs.activity)
        ]

    @property
    def drivers(self):
        return [
            Driver(options, _product_of(descriptor), self._sides(descriptor))
            for descriptor, options in self._with(self._catalogs.driver)
        ]

    def _with(self, extension):
        """Messages with the option: those of the core first, else by their files."""
        descriptors = sorted(
            (
                descriptor
                for module in self._modules.values()
                for descriptor in module.DESCRIPTOR.message_types_by_name.values()
                if descriptor.GetOptions().HasExtension(extension)
            ),
            key=lambda d: (_product_of(d), self._paths[d.full_name]),
        )
        for descriptor in descriptors:
            yield descriptor, descriptor.GetOptions().Extensions[extension]

    def _sides(self, descriptor):
        return {
            field.name: (
                self._settings(field.message_type),
                self._passed_through(field.message_type),
            )
            for field in descriptor.fields
        }

    def _passed_through(self, descriptor):
        side = descriptor.GetOptions().Extensions[self._catalogs.side]
        inner = (f.message_type for f in descriptor.fields if f.message_type)
        return side.pass_through_prefix or next(
            filter(None, map(self._passed_through, inner)), ""
        )

    def _settings(self, descriptor):
        """Those of the message, and of the messages in it."""
        settings = []
        for field, parsed in zip(descriptor.fields, self._fields(descriptor)):
            if field.message_type:
                settings += self._settings(field.message_type)
            else:
                settings.append(parsed)
        return settings

    def _fields(self, descriptor):
        path = self._paths[descriptor.full_name]
        fields = []
        end = None
        # In Python, fields have the order of the file.
        for index, field in enumerate(descriptor.fields):
            here = (*path, _FIELD, index)
            start, follows_end = self._spans[here]
            fields.append(self._field(field, here, end is not None and start == end + 1))
            end = follows_end
        return fields

    def _field(self, field, path, follows):
        options = field.GetOptions()
        target = field.message_type
        is_map = bool(target and target.GetOptions().map_entry)
        if is_map:
            target = target.fields_by_name["value"].message_type
        kind = field
        if is_map:
            kind = field.message_type.fields_by_name["value"]
        return Field(
            name=field.name,
            kind=kind.cpp_type if kind.type != kind.TYPE_BYTES else "bytes",
            message=target.name if target else None,
            enum=self._enum(field.enum_type) if field.enum_type else None,
            is_repeated=field.label == field.LABEL_REPEATED,
            is_map=is_map,
            has_default=field.has_default_value,
            default=_default(field),
            oneof=field.containing_oneof.name if field.containing_oneof else None,
            comment=self._comments[path],
            follows=follows,
            rules=options.Extensions[self._rules.rules],
            product=options.Extensions[self._product.product],
            setting=options.Extensions[self._catalogs.setting],
        )

    def _enum(self, enum):
        path = self._paths[enum.full_name]
        return [
            (value.name, self._comments.get((*path, _VALUE, index), ""))
            for index, value in enumerate(enum.values)
        ]


def _product_of(descriptor):
    match = re.match("distbench/products/([^/]+)/", descriptor.file.name)
    return match[1] if match else ""


def _default(field):
    if not field.enum_type:
        return field.default_value
    return field.enum_type.values_by_number[field.default_value].name


def _clean(comment):
    lines = [line[1:] if line.startswith(" ") else line for line in comment.split("\n")]
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def _is_about_the_file(comment):
    """Whether a comment says what is in a file, and not whose it is."""
    return "SPDX-License-Identifier:" not in comment


def read(root):
    """Reads the files below this folder; only once in a process, as the modules that
    protoc makes of them have their names from the files. Products that are not there are
    left out."""
    names = [*FILES, *REPORT_FILES]
    for pattern in _OF_PRODUCTS:
        names += sorted(glob.glob(pattern, root_dir=root, recursive=True))
    with tempfile.TemporaryDirectory() as folder:
        descriptors = os.path.join(folder, "descriptors")
        subprocess.run(
            [
                "protoc",
                f"-I{root}",
                "--include_source_info",
                f"--descriptor_set_out={descriptors}",
                f"--python_out={folder}",
                *names,
            ],
            check=True,
        )
        # Packages, before those of the same names elsewhere.
        for parent, _, _ in os.walk(folder):
            open(os.path.join(parent, "__init__.py"), "w").close()
        with open(descriptors, "rb") as file:
            files = descriptor_pb2.FileDescriptorSet.FromString(file.read()).file
        sys.path.insert(0, folder)
        try:
            modules = {
                name: importlib.import_module(
                    name.replace("/", ".").replace(".proto", "_pb2")
                )
                for name in names
            }
        finally:
            sys.path.remove(folder)
    return Protos(files, modules)
