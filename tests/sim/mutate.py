#!/usr/bin/env python3
"""Makes faults by hand, one after another, and says after how many simulated
lives each is found.

usage: tests/sim/mutate.py [--seeds=N] [--only=REGEX]

Works on a copy of what is committed, under build/mutants.  Fails if a fault is
not found.
"""

import argparse
import dataclasses
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COPY = ROOT / "build" / "mutants"
CHUNK = 10  # Lives in one process.


@dataclasses.dataclass
class Mutation:
    name: str
    line: int  # Of its name.
    file: str = ""
    old: str = ""
    new: str = ""

    def what_is_wrong(self, text):
        """Says why the mutation does not fit `text`, its file, or None."""
        count = text.count(self.old)
        if count != 1:
            return f"its text is in {self.file} {count} times, not once"
        if self.old == self.new:
            return "it changes nothing"
        return None


def read_mutations(path):
    mutations = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("//"):
            continue
        if line.startswith("# "):
            mutations.append(Mutation(line[2:], number))
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


def build(what):
    done = run("cmake", "--build", "out", "--target", "simulate")
    if done.returncode != 0:
        sys.exit(f"{what} does not compile:\n{done.stdout[-3000:]}")


def lives_until_found(seeds):
    """Returns the number of lives and what was wrong, or None."""
    for first in range(1, seeds + 1, CHUNK):
        lives = first + CHUNK - 1
        try:
            done = run("out/bin/simulate", f"--first={first}",
                       f"--seeds={CHUNK}", timeout=300)
        except subprocess.TimeoutExpired:
            return lives, "it does not end"
        if done.returncode != 0:
            lines = done.stdout.splitlines()
            return lives, lines[1].strip() if len(lines) > 1 else "it aborts"
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
    # -m: what an earlier run has left changed is older than what it is now.
    subprocess.run(["tar", "-x", "-m"], cwd=COPY, input=archive, check=True)
    configured = run("cmake", "--preset", "ci", "-B", "out")
    if configured.returncode != 0:
        sys.exit(configured.stderr)
    build("what is committed")
    if lives_until_found(CHUNK) is not None:
        sys.exit("it goes wrong without any fault of ours")
    missed = 0
    for mutation in mutations:
        if not re.search(arguments.only, mutation.name):
            continue
        path = COPY / mutation.file
        sound = path.read_text()
        wrong = mutation.what_is_wrong(sound)
        if wrong:
            sys.exit(f"{mutation.name}: {wrong}")
        path.write_text(sound.replace(mutation.old, mutation.new))
        build(mutation.name)
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
