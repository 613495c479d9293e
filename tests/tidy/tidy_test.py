#!/usr/bin/env python3
"""Checks the house rules that a compiler does not: one function a rule.

Each error is one line, file:line: what is wrong.

usage: tidy_test.py [source directory]
"""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "sim"))

import mutate
LINES_MAX = {".h": 250, ".cc": 800}

# Floors where the order of iteration decides what is scheduled.
ORDERED_MODULES = (
    "state", "flow", "constraints", "packing", "solver", "cost", "network",
    "round", "explain", "clients", "core")


def files(root, tops, suffixes=None):
    """The files of `suffixes` below `tops`, in order of path."""
    for top in tops:
        path = root / top
        found = [path] if path.is_file() else sorted(path.rglob("*"))
        for file in found:
            if file.is_file() and "__pycache__" not in file.parts and (
                    suffixes is None or file.suffix in suffixes):
                yield file


def lines_of(path):
    return enumerate(path.read_text(errors="replace").splitlines(), 1)


def code_of(line):
    """`line` without the insides of its literals and without its comment."""
    line = re.sub(r'"(?:\\.|[^"\\])*"', '""', line)
    return re.sub(r"//.*", "", line)


def is_below(name, tops):
    return any(name == top or name.startswith(top + "/") for top in tops)


def read_bans(path):
    """Returns [(pattern, is_text, folders, exceptions, advice)]."""
    bans = []
    for stanza in path.read_text().split("\n\n"):
        row = {"in": "src include", "except": "", "use": ""}
        for line in stanza.splitlines():
            if line and not line.startswith("#"):
                key, _, value = line.partition(" ")
                row[key] = value
        if "ban" not in row:
            continue
        pattern = row["ban"]
        is_text = pattern.startswith("text ")
        bans.append((re.compile(pattern.removeprefix("text ")), is_text,
                     row["in"].split(), row["except"].split(), row["use"]))
    return bans


def check_banned(root):
    for pattern, is_text, tops, exceptions, advice in read_bans(
            HERE / "banned.txt"):
        suffixes = None if is_text else (".h", ".cc", ".def")
        for path in files(root, tops, suffixes):
            name = str(path.relative_to(root))
            if is_below(name, exceptions):
                continue
            for number, line in lines_of(path):
                # An include is all literal, and is what some rows are about.
                if not is_text and not line.startswith("#include"):
                    line = code_of(line)
                match = pattern.search(line)
                if match:
                    yield f"{name}:{number}: '{match[0]}': use {advice}"


def check_nolint(root):
    """What clang-tidy is to overlook is in the very next line."""
    for path in files(root, ("src", "include", "tests"), LINES_MAX):
        lines = path.read_text().splitlines()
        for number, (line, following) in enumerate(zip(lines, lines[1:]), 1):
            if "// NOLINTNEXTLINE" in line and re.match(r"\s*//", following):
                name = path.relative_to(root)
                yield (f"{name}:{number}: a comment is the next line: put "
                       "NOLINTNEXTLINE last")


def check_sizes(root):
    for path in files(root, ("src", "include", "tests"), LINES_MAX):
        count = len(path.read_text().splitlines())
        limit = LINES_MAX[path.suffix]
        if count > limit:
            name = path.relative_to(root)
            yield f"{name}:{limit}: {count} lines, at most {limit} are wanted"


def check_guards(root):
    for path in files(root, ("src", "include", "tests"), (".h",)):
        name = str(path.relative_to(root))
        stem = re.sub(r"^(src|include/sluice)/", "", name)
        guard = "SLUICE_" + re.sub(r"[/.]", "_", stem).upper() + "_"
        lines = [line for line in path.read_text().splitlines()
                 if line.startswith(("#ifndef", "#define", "#endif"))]
        wanted = [f"#ifndef {guard}", f"#define {guard}"]
        if lines[:2] != wanted or lines[-1] != f"#endif  // {guard}":
            yield f"{name}:1: the include guard should be {guard}"


def check_tests_exist(root):
    """Each source has a unit test, or a line that says why not."""
    excused = {}
    for number, line in lines_of(root / "tests" / "tidy" / "untested.txt"):
        if not line or line.startswith("#"):
            continue
        name, _, reason = line.partition(" ")
        here = f"tests/tidy/untested.txt:{number}:"
        if not (root / name).is_file():
            yield f"{here} {name} does not exist"
        if not reason.strip():
            yield f"{here} {name} needs a reason"
        excused[name] = here
    for path in files(root, ("src",), (".cc",)):
        name = str(path.relative_to(root))
        module, *folders, _ = path.relative_to(root / "src").parts
        test = f"{path.stem}_test.cc"
        homes = (root / "tests" / "unit" / module, *folders), (
            root / "tests" / "unit" / module,)
        is_tested = any(
            pathlib.Path(*home, test).is_file() for home in homes)
        if is_tested and name in excused:
            yield f"{excused[name]} {name} has a test by now"
        if not is_tested and name not in excused:
            yield (f"{name}:1: no tests/unit/{module}/{test}, "
                   "and no line in tests/tidy/untested.txt")


def check_dead_files(root):
    """Sources are built, plug-ins have their row, headers are included."""
    included = set()
    for path in files(root, ("src", "include", "tests"), (".h", ".cc")):
        included.update(
            re.findall(r'#include "(?:sluice/)?([^"]+)"', path.read_text()))
    for path in files(root, ("src", "include"), (".h", ".def")):
        name = path.relative_to(root)
        short = re.sub(r"^(src|include/sluice)/", "", str(name))
        if short not in included:
            yield f"{name}:1: nobody includes it"
    for path in files(root, ("src", "tests"), (".cc",)):
        name = path.relative_to(root)
        lists = []
        for folder in path.parents:
            if folder == root:
                break
            lists += [folder / "CMakeLists.txt", *folder.glob("*.def")]
        # Where tests are built from a list of plug-ins, that names them, too.
        here = path.parent / "CMakeLists.txt"
        if name.parts[:2] == ("tests", "unit") and here.is_file():
            for stem in re.findall(r"(\w+)\.def", here.read_text()):
                lists.append(root / "src" / name.parts[2] / f"{stem}.def")
        text = "\n".join(f.read_text() for f in lists if f.is_file())
        # A row of a .def file starts with the name of its plug-in.
        stem = path.stem.removesuffix("_test")
        named = rf"\b{re.escape(path.name)}\b|\(\s*{stem}\b"
        if not re.search(named, text):
            yield f"{name}:1: no CMakeLists.txt and no .def file names it"


def check_metrics(root):
    """Somebody records each metric that is defined."""
    table = root / "src" / "observe" / "metrics.def"
    code = "\n".join(path.read_text()
                     for path in files(root, ("src",), (".h", ".cc"))
                     if path.parent != table.parent)
    for number, line in lines_of(table) if table.is_file() else ():
        match = re.match(r"METRIC_\w+\((\w+)", line)
        if match and not re.search(rf"metrics_?(\.|->){match[1]}\b", code):
            yield (f"src/observe/metrics.def:{number}: "
                   f"nobody records '{match[1]}'")


def check_iteration(root):
    """Nobody ranges over a hash table where order decides."""
    declared = re.compile(
        r"\b(?:flat_hash|node_hash|unordered)_(?:map|set)<[^;(]*>\s+(\w+)")
    for module in ORDERED_MODULES:
        tops = (f"src/{module}", f"include/sluice/{module}")
        tables = {}  # Header or source without its suffix: names of tables.
        for path in files(root, tops, (".h", ".cc")):
            names = declared.findall(path.read_text())
            tables.setdefault(path.stem, set()).update(names)
        for path in files(root, tops, (".h", ".cc")):
            name = path.relative_to(root)
            for table in sorted(tables[path.stem]):
                ranged = re.compile(
                    rf"for \(.*: \*?{table}\)|\b{table}\.begin\(\)")
                for number, line in lines_of(path):
                    if ranged.search(line):
                        yield (f"{name}:{number}: '{table}' has no order: "
                               "use a btree_map or a sorted vector")


def slug(heading):
    """The anchor that a Markdown heading gets."""
    text = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return text.replace(" ", "-")


def anchors_of(path):
    return {slug(line.lstrip("#")) for _, line in lines_of(path)
            if line.startswith("#")}


def check_links(root):
    """Links and paths in the documents lead somewhere."""
    link = re.compile(r"\]\(([^)\s]+)\)")
    path_in_text = re.compile(
        r"`((?:src|include|tests|scripts|proto|docs|deploy|cmake)/[\w./-]+)`")
    for path in files(root, ("README.md", "docs", "deploy"), (".md",)):
        name = path.relative_to(root)
        for number, line in lines_of(path):
            for target in link.findall(line):
                if re.match(r"[a-z]+:", target):
                    continue
                file, _, anchor = target.partition("#")
                there = (path.parent / file) if file else path
                if not there.exists():
                    yield f"{name}:{number}: {target} does not exist"
                elif (anchor and there.suffix == ".md"
                      and anchor not in anchors_of(there)):
                    yield f"{name}:{number}: {target} has no such heading"
            # That page names files for its reader to write.
            if str(name) == "docs/extending.md":
                continue
            for target in path_in_text.findall(line):
                if not (root / target).exists():
                    yield f"{name}:{number}: {target} does not exist"


def check_binaries(root):
    """What git tracks is text: no objects, archives, programs or pictures."""
    if not (root / ".git").exists():  # An export, in which nothing is tracked.
        return
    tracked = subprocess.run(["git", "-C", root, "ls-files", "-z"],
                             check=True, capture_output=True, text=True)
    for name in tracked.stdout.split("\0"):
        path = root / name
        if not path.is_file() or path.is_symlink():
            continue
        content = path.read_bytes()
        is_program = content.startswith((b"\x7fELF", b"!<arch>"))
        # The corpus is bytes by its nature.
        is_input = is_below(name, ("tests/fuzz/corpus",))
        if is_program or b"\0" in content and not is_input:
            yield f"{name}:1: is a binary file: track what it is made from"


def check_mutations(root):
    """Each fault of tests/sim/mutate.py can still be made."""
    table = root / "tests" / "sim" / "mutations.txt"
    for mutation in mutate.read_mutations(table) if table.is_file() else ():
        path = root / mutation.file
        if path.is_file():
            wrong = mutation.what_is_wrong(path.read_text())
        else:
            wrong = f"{mutation.file} does not exist"
        if wrong:
            yield f"tests/sim/mutations.txt:{mutation.line}: {wrong}"


RULE_FILES_MAX = 5


def check_rules(root):
    """A kind of rules of tasks is named in few files, and in a test."""
    table = root / "include" / "sluice" / "state" / "placement_rules.def"
    for number, line in lines_of(table) if table.is_file() else ():
        match = re.match(r"RULE\((\w+), (\w+)\)", line)
        if not match:
            continue
        here = f"{table.relative_to(root)}:{number}:"
        named = [path for path in
                 files(root, ("proto", "src", "include", "tests/unit"))
                 if re.search(rf"\b({match[1]}|{match[2]})\b", path.read_text())]
        tests = [path for path in named if "tests" in path.parts]
        count = len(named) - len(tests)
        if count > RULE_FILES_MAX:
            yield (f"{here} {count} files name '{match[1]}', "
                   f"at most {RULE_FILES_MAX} are wanted")
        if not tests:
            yield f"{here} no test names '{match[1]}'"


CHECKS = (check_banned, check_nolint, check_sizes, check_guards,
          check_tests_exist, check_dead_files, check_metrics, check_iteration,
          check_links, check_binaries, check_mutations, check_rules)


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parents[1]
    errors = [error for check in CHECKS for error in check(root)]
    for error in errors:
        print(error)
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
