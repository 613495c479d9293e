#!/usr/bin/env python3
"""Reads what `go test -json` writes, prints it as `go test` would, and fails if
a test was skipped that ../skips.txt does not list.

usage: go test -json ... | check_skips.py

A run in which no test ended is a mistake, and fails too.
"""

import json
import pathlib
import sys

LIST = pathlib.Path(__file__).resolve().parents[1] / "skips.txt"


def read_list(path):
    """Returns {(package below bridge/, test)}; each has its reason."""
    listed = set()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line and not line.startswith("#"):
            package, test, reason = (line.split(None, 2) + ["", "", ""])[:3]
            if not reason:
                sys.exit(f"{path.name}:{number}: '{package} {test}' needs a reason")
            listed.add((package, test))
    return listed


def check(lines, listed):
    """Prints `lines`; returns errors and the number of tests that ended."""
    outputs = {}  # (package, test): what it printed, until it ends.
    errors, count = [], 0
    for line in lines:
        try:
            event = json.loads(line)
        except json.JSONDecodeError:  # The go command itself speaks.
            print(line, end="", flush=True)
            continue
        action, package = event.get("Action"), event.get("Package", "")
        test, output = event.get("Test"), event.get("Output", "")
        if test is None:
            if action == "fail":  # What a test that never ended printed.
                for key in [key for key in outputs if key[0] == package]:
                    print(*outputs.pop(key), sep="", end="")
            if output != "PASS\n":
                print(output, end="", flush=True)
        elif action == "output":
            outputs.setdefault((package, test), []).append(output)
        elif action in ("pass", "fail", "skip"):
            count += 1
            printed = outputs.pop((package, test), [])
            short = package.partition("/bridge/")[2]
            # A test that is listed is so with its subtests.
            may_skip = (short, test.partition("/")[0]) in listed
            if action == "fail" or action == "skip" and not may_skip:
                print(*printed, sep="", end="", flush=True)
            if action == "skip" and not may_skip:
                errors.append(f"{short} {test} was skipped, and "
                              "bridge/skips.txt does not list it")
    return errors, count


def main():
    errors, count = check(sys.stdin, read_list(LIST))
    if count == 0:
        errors.append("no test ran")
    for error in errors:
        print(f"check_skips: {error}")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
