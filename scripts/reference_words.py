# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Comments and options of the traffic language in words, as Markdown (reference.py)."""

import re

from google.protobuf import descriptor

_TYPES = {
    descriptor.FieldDescriptor.CPPTYPE_BOOL: "true or false",
    descriptor.FieldDescriptor.CPPTYPE_STRING: "text",
    descriptor.FieldDescriptor.CPPTYPE_ENUM: "a word",
    descriptor.FieldDescriptor.CPPTYPE_FLOAT: "number",
    descriptor.FieldDescriptor.CPPTYPE_DOUBLE: "number",
    "bytes": "bytes",
}

# Unit -> what a text with it is; how a number of it is called; and larger units.
_QUANTITIES = {
    "NANOSECONDS": ("duration", "nanoseconds"),
    "MICROSECONDS": ("duration", "microseconds"),
    "BYTES": ("size", "bytes"),
    "INTERVAL_OF_RATE": ("rate", "nanoseconds"),
}
# FieldRules.host_amount -> what a text with it may be.
_HOST_AMOUNTS = {
    "MEMORY": "a size such as `512MiB`, a share of the host's memory such as `75%`, "
    "or `max`",
    "CPUS": "a number of CPUs such as `1.5`, a share of the host's such as `50%`, "
    "or `max`",
}
_LARGER = {
    "NANOSECONDS": ((10**9, "s"), (10**6, "ms"), (10**3, "us"), (1, "ns")),
    "MICROSECONDS": ((10**6, "s"), (10**3, "ms"), (1, "us")),
    "BYTES": ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B")),
}


def listed(words, conjunction):
    words = list(words)
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"


def names(words, conjunction):
    return listed([f"`{word}`" for word in words], conjunction)


def cell(text):
    return text.replace("\n", " ").replace("|", "\\|")


# ---- Comments ---------------------------------------------------------------------


class Prose:
    """Makes Markdown of comments."""

    def __init__(self, messages):
        # Not those that are ordinary words, such as Action.
        names = [name for name in messages if re.fullmatch("(?:[A-Z][a-z]+){2,}", name)]
        names = "|".join(sorted(names, key=len, reverse=True)) or "(?!)"
        self._marks = re.compile(
            r"(?P<done>`[^`]*`)"
            r'|"(?P<quoted>[^"\s][^"]*)"'
            r"|(?:docs/(?P<page>[\w/]+\.md))"
            r"|(?P<flag>--\w+)"
            rf"|\b(?P<message>{names})\b"
            r"|(?P<snake>\b(?:\w+\.)*[A-Za-z0-9]+_\w+(?:\.\w+)*\b)"
            r"|(?P<special>[*_<|])"
        )

    def markdown(self, comment):
        return self._marks.sub(self._marked, comment)

    @staticmethod
    def code(text):
        return f"`{text}`"

    def _marked(self, match):
        if match["done"]:
            return match["done"]
        if match["page"]:
            return f"[{match['page'].rsplit('/', 1)[-1]}]({match['page']})"
        if match["message"]:
            return f"[{match['message']}](#{match['message'].lower()})"
        if match["special"]:
            return "\\" + match["special"]
        return self.code(match["quoted"] or match["flag"] or match["snake"])


# ---- Options ----------------------------------------------------------------------


def _name_of(rules, option):
    """The name of the value of an enum."""
    values = rules.DESCRIPTOR.fields_by_name[option].enum_type.values_by_number
    return values[getattr(rules, option)].name


def unit_of(rules):
    """The name of the unit."""
    return _name_of(rules, "unit")


def type_name(field):
    unit = unit_of(field.rules)
    if field.kind in _TYPES:
        if _TYPES[field.kind] == "text" and unit in _QUANTITIES:
            return f"{_QUANTITIES[unit][0]}, text"
        if field.rules.text_of:
            return f"{'size' if 'size' in field.name else 'duration'}, text"
        return _TYPES[field.kind]
    if unit in _QUANTITIES:
        return f"integer, {_QUANTITIES[unit][1]}"
    return "integer"


def _amount(value, unit):
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.9f}".rstrip("0")
    factor, suffix = 1, ""
    if value:
        fitting = (each for each in _LARGER.get(unit, ()) if value % each[0] == 0)
        factor, suffix = next(fitting, (1, ""))
    number = int(value) // factor
    digits = f"{number:,}".replace(",", " ") if abs(number) >= 10000 else str(number)
    return f"{digits} {suffix}".rstrip()


def _range(rules):
    """The range in words, without the default ones of units."""
    unit = unit_of(rules)
    if unit == "INTERVAL_OF_RATE":
        if not rules.HasField("max"):
            return ""
        return f"{3600e9 / rules.max:g}/h to {1e3 / rules.min:g}M/s"
    least, most = [], []
    if rules.min == 1 and unit in _LARGER:
        least = ["above", "0"]
    for name, words, bound in (
        ("min", "at least", least),
        ("at_least", "at least", least),
        ("above", "above", least),
        ("max", "at most", most),
        ("at_most", "at most", most),
        ("below", "below", most),
    ):
        if rules.HasField(name) and not bound:
            bound += [words, _amount(getattr(rules, name), unit)]
    if least[:1] == ["at least"] and most[:1] == ["at most"]:
        return f"{least[1]} to {most[1]}"
    return ", ".join(" ".join(bound) for bound in (least, most) if bound)


def _default(field):
    if not field.has_default:
        return ""
    if field.kind == descriptor.FieldDescriptor.CPPTYPE_BOOL:
        return f"default: {str(field.default).lower()}"
    if isinstance(field.default, str):
        return f"default: `{field.default}`" + (
            ", also if empty" if field.rules.empty_is_default else ""
        )
    return f"default: {_amount(field.default, unit_of(field.rules))}"


def _required(rules):
    if not rules.required and not rules.missing:
        return ""
    if not rules.unless:
        return "required"
    return f"required, unless {names(rules.unless, 'or')} is given"


def values(field):
    """What the field may be: a default, a range, words, other fields."""
    rules = field.rules
    limits = _range(rules)
    if limits and field.is_repeated and not field.is_map:
        limits = f"{limits} of them"
    said = [
        _required(rules),
        names(filter(None, rules.words), "or"),
        "codes of gRPC's errors, such as `UNAVAILABLE`" if rules.error_code else "",
        "indices, such as `0-3,8`" if rules.index_list else "",
        _HOST_AMOUNTS.get(_name_of(rules, "host_amount"), ""),
        "letters, digits, `_`, `-` and `.`" if rules.plain and not rules.element else "",
        f"at most {rules.max_length} characters" if rules.max_length else "",
        limits,
        "each once" if rules.distinct else "",
        f"a name in `{rules.refers_to}`" if rules.refers_to else "",
        f"a channel of the service in `{rules.channel_of}`" if rules.channel_of else "",
        f"excludes `{rules.excludes}`" if rules.excludes else "",
        f"not with `{rules.not_with}`" if rules.not_with else "",
        f"needs `{rules.needs}`" if rules.needs else "",
        "names are unique" if rules.element else "",
        "of letters, digits, `_`, `-` and `.`" if rules.plain and rules.element else "",
        _default(field),
    ]
    return cell("; ".join(filter(None, said)))


def history(field):
    """Since when the field is there, and whether it still should be."""
    said = []
    if field.rules.since:
        said.append(f"Since version {field.rules.since}.")
    if field.rules.deprecated:
        said.append(f"Deprecated: {field.rules.deprecated}.")
    return " ".join(said)


def conditions(when):
    """Like `a` or `b` is given, and `c` is `x`; rules.proto has the grammar."""
    valued = {condition.partition("=")[0] for condition in when if "=" in condition}
    # "a" and "a=x": the value is given, and not the default.
    given = {condition for condition in when if condition in valued}
    return ", and ".join(
        _condition(condition, " is given as " if name in given else " is ")
        for condition in when
        if condition not in given
        for name in [condition.partition("=")[0]]
    )


_COMPARISONS = {">": "above", "<": "below"}
_OPERATOR = re.compile(r"([\w.]+)([=<>]?)(.*)")


def _condition(alternatives, equals):
    by_end = {}
    for alternative in alternatives.split("|"):
        negated = alternative.startswith("!")
        name, sign, words = _OPERATOR.match(alternative.removeprefix("!")).groups()
        if sign in _COMPARISONS:
            end = f"{' is not' if negated else ' is'} {_COMPARISONS[sign]} `{words}`"
        elif words:
            end = (" is not " if negated else equals) + names(words.split(","), "or")
        else:
            end = " is not given" if negated else " is given"
        by_end.setdefault(end, []).append(name)
    return " or ".join(names(fields, "or") + end for end, fields in by_end.items())


# ---- Settings of the catalogues ---------------------------------------------------


def setting_values(field):
    rules, setting = field.rules, field.setting
    said = [values(field)]
    if not field.has_default and not rules.required and not setting.absolute_path:
        said.append("default: empty" if _TYPES.get(field.kind) == "text" else "default: 0")
    if setting.multiple_of:
        said.append(f"a multiple of {setting.multiple_of}")
    if setting.absolute_path:
        said.append("an absolute path")
    if setting.at_most:
        said.append(f"at most {names(setting.at_most, 'and')}")
    for product in setting.product:
        factors = " · ".join(f"`{name}`" for name in product.times)
        said.append(
            f"times {factors}, at most {_amount(product.at_most, '')} {product.of}".rstrip()
        )
    if setting.HasField("only_with"):
        said.append(f"only with `{setting.only_with.setting}` `{setting.only_with.value}`")
    if setting.only_if:
        are = "is" if len(setting.only_if) == 1 else "are"
        said.append(f"only if {names(setting.only_if, 'and')} {are} not 0")
    if setting.needs_network:
        said.append("not of Unix sockets")
    return "; ".join(filter(None, said))


def abilities(driver):
    """What a driver can do, beside what its text says."""
    if driver.not_built_in:
        return "Not in this program; listed so that errors can say so."
    said = []
    if driver.alias_of:
        defaults = [f"`{d.setting}` `{d.value}`" for d in driver.default]
        said.append(
            f"It has the settings of [{driver.alias_of}](#{driver.alias_of}), with the "
            f"defaults {listed(defaults, 'and')}."
        )
    if driver.stays_in_process:
        said.append("It stays within one process.")
    values_of_streams = [
        f"`{v.setting}` `{v.value}`"
        for v in [*driver.streaming_client_settings, *driver.streaming_server_settings]
    ]
    if driver.streams or values_of_streams:
        only = f" with {listed(values_of_streams, 'and')}" if values_of_streams else ""
        said.append(f"RPCs can stream{only}.")
    else:
        said.append("RPCs cannot stream.")
    said.append(
        "Calls that are given up are cancelled."
        if driver.cancels_calls
        else "Calls that are given up go on."
    )
    if driver.breaks_connections:
        said.append("It can break connections (`reset_connections`).")
    if driver.decorated_driver_setting:
        said.append(
            f"It decorates the driver that `{driver.decorated_driver_setting}` names."
        )
    return " ".join(said)
