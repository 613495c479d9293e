#!/usr/bin/env python3
"""Makes faults by hand, one after another, and says after how many simulated
lives each is found.

usage: tests/sim/mutate.py [--seeds=N] [--only=TEXT]

Works on a copy of what is committed, under build/mutants.  Fails where a fault
is not found.
"""

import argparse
import dataclasses
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COPY = ROOT / "build" / "mutants"
CHUNK = 10  # Lives in one process.


@dataclasses.dataclass
class Mutation:
    name: str
    file: str
    old: str = ""
    new: str = ""


def read_mutations(path):
    mutations = []
    for line in path.read_text().splitlines():
        if line.startswith("//"):
            continue
        if line.startswith("# "):
            mutations.append(Mutation(line[2:], ""))
        elif line.startswith("-"):
            mutations[-1].old += line[2:] + "\n"
        elif line.startswith("+"):
            mutations[-1].new += line[2:] + "\n"
        else:
            mutations[-1].file = line
    return mutations


def run(*command, **options):
    return subprocess.run(command, cwd=COPY, capture_output=True, text=True,
                          check=False, **options)


def build():
    done = run("cmake", "--build", "out", "--target", "simulate")
    if done.returncode != 0:
        sys.exit(done.stdout[-3000:] + done.stderr)


def lives_until_found(seeds):
    """Returns the number of lives, or None."""
    for first in range(1, seeds + 1, CHUNK):
        done = run("out/bin/simulate", f"--first={first}", f"--seeds={CHUNK}",
                   timeout=600)
        if done.returncode != 0:
            error = (done.stdout.splitlines() + ["", "it aborts"])[1].strip()
            return first + CHUNK - 1, error or "it aborts"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    mutations = read_mutations(ROOT / "tests" / "sim" / "mutations.txt")
    COPY.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True,
                             capture_output=True).stdout
    subprocess.run(["tar", "-x"], cwd=COPY, input=archive, check=True)
    os.environ["CCACHE_BASEDIR"] = str(COPY)
    configured = run("cmake", "--preset", "ci", "-B", "out")
    if configured.returncode != 0:
        sys.exit(configured.stderr)
    build()
    if lives_until_found(CHUNK) is not None:
        sys.exit("it goes wrong without any fault of ours")
    missed = 0
    for mutation in mutations:
        if arguments.only not in mutation.name:
            continue
        path = COPY / mutation.file
        sound = path.read_text()
        if sound.count(mutation.old) != 1:
            sys.exit(f"{mutation.name}: what it changes is not there once")
        path.write_text(sound.replace(mutation.old, mutation.new))
        build()
        found = lives_until_found(arguments.seeds)
        path.write_text(sound)
        if found is None:
            missed += 1
            print(f"| {mutation.name} | not in {arguments.seeds} | |")
        else:
            print(f"| {mutation.name} | {found[0]} | {found[1]} |")
        sys.stdout.flush()
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
