"""Moves the accessors of messages from headers to sources: outline_accessors.py HEADER SOURCE

protoc defines the accessors of each field inline, at the end of NAME.pb.h. gcc reads
their definitions in each file, and instantiates each template that they use, even if
the file uses none of them: a third of a second for those of traffic configs and results.
Accessors of numbers stay where they are: they use hardly a template, and histograms are
merged through them. A header that was made in another way than described here stays as
it is.
"""

import re
import sys

FIRST_LINE = "  #pragma GCC diagnostic push"
LAST_LINE = "  #pragma GCC diagnostic pop"
PLACE_IN_SOURCE = "// @@protoc_insertion_point(namespace_scope)"
INLINE = "inline "
# How an accessor begins that takes or returns a message, a text, or several of them.
OF_OBJECT = re.compile(r"inline (?![^{]*RepeatedField<)[^{]*[&*][^{]*\{")


def split(header):
    """Returns the header without accessors of objects, and these.

    A definition begins with "inline" in the first column and ends with a brace there.
    Templates, such as the setters of texts, have to stay.
    """
    classes, found, rest = header.partition(FIRST_LINE)
    definitions, last_line, end = rest.partition(LAST_LINE)
    remaining, accessors = [], []
    for definition in re.split(r"(?<=^}\n)", definitions, flags=re.MULTILINE):
        begin = re.search(r"^(template|inline )", definition, re.MULTILINE)
        if begin and OF_OBJECT.match(definition, begin.start()):
            accessors.append(definition[begin.start() + len(INLINE) :])
            definition = definition[: begin.start()]
        remaining.append(definition)
    return "".join([classes, found, *remaining, last_line, end]), "".join(accessors)


def main(header_path, source_path):
    with open(header_path, encoding="utf-8") as file:
        header, accessors = split(file.read())
    with open(source_path, encoding="utf-8") as file:
        source = file.read()
    if source.count(PLACE_IN_SOURCE) != 1:
        return
    source = source.replace(PLACE_IN_SOURCE, accessors + PLACE_IN_SOURCE)
    for path, text in ((header_path, header), (source_path, source)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
