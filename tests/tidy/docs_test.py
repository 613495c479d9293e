#!/usr/bin/env python3
"""Checks that the documents say what the sources say: one function a rule.

Links, full paths, punctuation and spelling are tidy_test.py's; that the daemon's
flags and metrics have their rows, options_test.cc's and metrics_test.cc's; the
defaults of the bridge's flags, flags_test.go's.  Each error is one line,
file:line: what is wrong.

usage: docs_test.py [source directory]
"""

import itertools
import pathlib
import re
import sys

from tidy_test import files, lines_of

README_LINES_MAX = 119


def documents(root):
    return files(root, ("README.md", "docs"), (".md",))


def check_readme_is_short(root):
    count = len((root / "README.md").read_text().splitlines())
    if count > README_LINES_MAX:
        yield f"README.md:{count}: at most {README_LINES_MAX} lines are wanted"


def check_table(root, page, source, row, wanted, heading=None):
    """The rows of `page` that match `row` are what `source` defines.

    With `heading` only those between it and the next heading count.
    """
    told = {}  # What a row is about: its line, and what it says.
    is_in_section = heading is None
    for number, line in lines_of(root / page):
        if heading is not None and line.startswith("#"):
            is_in_section = line == heading
        match = re.match(row, line) if is_in_section else None
        if match:
            told[match[1]] = number, match[2] if match.re.groups > 1 else None
    for name in sorted(wanted.keys() - told.keys()):
        yield f"{page}:1: no row for '{name}' of {source}"
    for name, (number, says) in told.items():
        if name not in wanted:
            yield f"{page}:{number}: '{name}' is not in {source}"
        elif says != wanted[name]:
            yield (f"{page}:{number}: '{name}' is {says}, "
                   f"and {wanted[name]} in {source}")


def check_limits(root):
    source = "src/base/limits.h"
    names = re.findall(r"constexpr \w+ (k\w+) =", (root / source).read_text())
    yield from check_table(root, "docs/operating.md", source,
                           r"\| `(k\w+Max)` \|", dict.fromkeys(names))


def check_bridge_flags(root):
    app = root / "bridge/internal/app"
    page = "docs/kubernetes.md"
    for heading, names in (("## Flags of the bridge", ("options", "command")),
                           ("### Making certificates", ("certificates",))):
        text = "".join((app / f"{name}.go").read_text() for name in names)
        flags = re.findall(r'\.(?:\w+Var\(&[\w.]+, |Bool\()"([\w-]+)",', text)
        yield from check_table(
            root, page, f"bridge/internal/app/{names[0]}.go",
            r"\| `--([\w-]+)` \|", dict.fromkeys(flags), heading)


def check_constraints(root):
    source = "src/constraints/constraints.def"
    page = "docs/constraints.md"
    text = (root / page).read_text()
    for name in re.findall(r"^CONSTRAINT\((\w+),", (root / source).read_text(),
                           re.MULTILINE):
        if f"| `{name}` |" not in text:
            yield f"{page}:1: no row for '{name}' of {source}"


def check_calls(root):
    source = "proto/firmament/firmament_scheduler.proto"
    told = "".join(re.findall(r"^\| `.*? \|", (root / "docs/api.md").read_text(),
                              re.MULTILINE))
    for call in re.findall(r"\brpc (\w+)\(", (root / source).read_text()):
        if f"`{call}`" not in told:
            yield f"docs/api.md:1: no row for '{call}' of {source}"


def check_metrics_exist(root):
    known = (root / "src/observe/metrics.def").read_text()
    # Those of the bridge are put together of a namespace, a part and a name.
    of_bridge = "".join(path.read_text() for path in
                        (root / "bridge/internal").glob("*/metrics.go"))
    for path in documents(root):
        for number, line in lines_of(path):
            for name in re.findall(r"`(sluice_\w+)[`{]", line):
                part = re.sub("^sluice_bridge_(feed_|usage_)?", "", name)
                if part != name and f'Name: "{part}"' in of_bridge:
                    continue
                if f'"{name}"' not in known:
                    yield (f"{path.relative_to(root)}:{number}: "
                           f"there is no metric '{name}'")


def check_short_paths(root):
    """`round/round.{h,cc}` stands for files below src or include/sluice."""
    quoted = re.compile(r"`([a-z_]+/[\w./-]+?)\.(\{[\w,]+\}|[a-z]+)`")
    tops = ("", "src", "include", "include/sluice")
    for path in documents(root):
        name = path.relative_to(root)
        if str(name) == "docs/extending.md":  # Its reader writes the files.
            continue
        for number, line in lines_of(path):
            for stem, endings in quoted.findall(line):
                for ending in endings.strip("{}").split(","):
                    file = f"{stem}.{ending}"
                    if not any((root / top / file).is_file() for top in tops):
                        yield f"{name}:{number}: {file} does not exist"


def check_functions(root):
    """`Class::Name` exists, and `Name` (`path`) is in that file."""
    sources = [path.read_text() for path in
               files(root, ("src", "include"), (".h", ".cc"))]
    named = re.compile(r"`((?:[A-Z]\w*::)?~?[A-Za-z]\w*)`(?:\s*\(`([\w./]+)`)?")
    for path in documents(root):
        text, name = path.read_text(), path.relative_to(root)
        for match in named.finditer(text):
            function, file = match.groups()
            number = text.count("\n", 0, match.start()) + 1
            *owner, last = function.split("::")
            uses = re.compile(rf"\b{last}\b")
            if file and (root / file).is_file():
                if not uses.search((root / file).read_text()):
                    yield f"{name}:{number}: {file} has no '{last}'"
            # Defined outside its class, or declared in it.
            declares = re.compile(rf"\b(class|struct) {'::'.join(owner)}\b")
            if owner and not any(
                    function in source or
                    declares.search(source) and uses.search(source)
                    for source in sources):
                yield f"{name}:{number}: there is no '{function}' in src"


def check_rule_example(root):
    """The rule that docs/extending.md builds is the one in the tree."""
    page = root / "docs/extending.md"
    sources = {"proto": "proto/firmament/task_desc.proto",
               "cpp": "include/sluice/state/placement_rules.h"}
    section = page.read_text().split("\n## A rule of tasks\n")[1].split("\n## ")[0]
    for language, block in re.findall(r"```(\w+)\n(.*?)```", section, re.DOTALL):
        code, source = (re.sub(r"//.*|\s", "", text) for text in
                        (block, (root / sources[language]).read_text()))
        if code not in source:
            yield f"{page.relative_to(root)}:1: {sources[language]} has no:\n{block}"


CHECKS = (check_readme_is_short, check_limits, check_bridge_flags,
          check_constraints, check_calls, check_metrics_exist,
          check_short_paths, check_functions, check_rule_example)


def main():
    here = pathlib.Path(__file__).resolve()
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parents[2]
    errors = list(itertools.chain.from_iterable(
        check(root) for check in CHECKS))
    for error in errors:
        print(error)
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
