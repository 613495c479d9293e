#!/usr/bin/env python3
"""Checks that programs are built as cmake/hardening.cmake says.

usage: hardening_test.py compile_commands.json PROGRAM...
"""

import json
import re
import subprocess
import sys


def read(program, *flags):
    return subprocess.run(["readelf", "--wide", *flags, program], check=True,
                          capture_output=True, text=True).stdout


def problems_of(program):
    header = read(program, "--file-header")
    segments = read(program, "--program-headers")
    dynamic = read(program, "--dynamic")
    symbols = read(program, "--dyn-syms")
    notes = read(program, "--notes")
    if not re.search(r"Type:\s+DYN", header) or "FLAGS_1" not in dynamic \
            or not re.search(r"FLAGS_1.*\bPIE\b", dynamic):
        yield "is no position-independent executable"
    if "GNU_RELRO" not in segments:
        yield "has no segment that is read-only after relocation"
    if not re.search(r"BIND_NOW|FLAGS_1.*\bNOW\b", dynamic):
        yield "binds its symbols lazily"
    stack = re.search(r"GNU_STACK\s.*\s([R ][W ][E ])\s+0x", segments)
    if not stack or "E" in stack[1]:
        yield "has a stack that can be executed"
    if "__stack_chk_fail" not in symbols:
        yield "has no canaries on its stack"
    if re.search(r"Machine:.*X86-64", header) and "SHSTK" not in notes \
            and "IBT" not in notes:
        # The property is in a program only if all objects have it, the
        # libraries' among them; then it is no fault of ours.
        print(f"{program}: note: not marked for control-flow protection")


def unchecked(commands):
    """Sources of ours that are compiled without checks of the C library's calls.

    The programs need not show it: they may hold no call that can be checked.
    """
    for command in json.loads(open(commands).read()):
        if "/src/" in command["file"] and \
                "-D_FORTIFY_SOURCE=2" not in command["command"]:
            yield f"{command['file']} is compiled without _FORTIFY_SOURCE"


def main():
    commands, *programs = sys.argv[1:]
    problems = [f"{program} {problem}" for program in programs
                for problem in problems_of(program)]
    problems += unchecked(commands)
    for problem in problems:
        print(problem)
    return bool(problems) or not programs


if __name__ == "__main__":
    sys.exit(main())
