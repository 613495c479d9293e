#!/usr/bin/env python3
"""Checks that every #include leads down, as floors.txt says.

usage: layers_test.py [source directory]
"""

import pathlib
import re
import sys

# Of a list (.def) each takes the columns that it needs: no code comes with it.
INCLUDE = re.compile(
    r'\s*#\s*include ["<](?:sluice/)?([a-z0-9_/]+)/(?!.*\.def["> ])')
PROTO = re.compile(r'\s*#\s*include ["<].*\.pb\.h[">]')
MODULE = re.compile(r"([a-z/]+)(?:\(([a-z/ ]*)\))?")


def read_floors(path):
    """Returns {module: floor}, {module: all it may include} and the modules
    that may include generated protos."""
    floor_of, only, protos = {}, {}, set()
    floor = 0
    for line in path.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("protos:"):
            protos = set(line.split()[1:])
            continue
        for match in MODULE.finditer(line):
            floor_of[match[1]] = floor
            if match[2] is not None:
                only[match[1]] = set(match[2].split())
        floor += 1
    return floor_of, only, protos


def module_of(folder, floor_of):
    """The module of floors.txt that `folder` is, or is a folder of."""
    while "/" in folder and folder not in floor_of:
        folder = folder.rpartition("/")[0]
    return folder


def check_line(line, here, floors):
    """Returns what is wrong with a line of module `here`, or None."""
    floor_of, only, protos = floors
    if PROTO.match(line):
        if here not in protos:
            return f"'{here}' must not include generated protos"
        return None
    match = INCLUDE.match(line)
    there = match and module_of(match[1], floor_of)
    if there not in floor_of or there == here:
        return None
    if floor_of[there] >= floor_of[here]:
        return f"'{here}' must not include '{there}', which is not below it"
    if here in only and there not in only[here]:
        return f"'{here}' may include {sorted(only[here])} and not '{there}'"
    return None


def check(root):
    floors = read_floors(pathlib.Path(__file__).with_name("floors.txt"))
    errors = []
    for top in (root / "src", root / "include" / "sluice"):
        for path in sorted(top.rglob("*")):
            if path.suffix not in (".h", ".cc", ".def"):
                continue
            here = module_of(str(path.relative_to(top).parent), floors[0])
            name = path.relative_to(root)
            if here not in floors[0]:
                errors.append(f"{name}:1: '{here}' is not in floors.txt")
                continue
            lines = path.read_text().splitlines()
            for number, line in enumerate(lines, 1):
                error = check_line(line, here, floors)
                if error:
                    errors.append(f"{name}:{number}: {error}")
    return errors


def main():
    here = pathlib.Path(__file__).resolve()
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here.parents[2]
    errors = check(root)
    for error in errors:
        print(error)
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
