#!/usr/bin/env python3
"""Checks that a checkout compiles nothing that another one has compiled, and
that a warm build notices a change of a precompiled header.

Makes two checkouts, with a cache of their own, in folders whose paths differ in
length, and builds the lowest module in both.  Exits with 77 where there is no
ccache.
"""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = "sluice_base"

# Options whose path ccache takes relative to the checkout, either glued to the
# option or as the argument after it.
PATH_OPTIONS = ("-I", "-isystem", "-include", "-o", "-c")


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          **options)
    if done.returncode != 0:
        raise AssertionError(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


class Checkout:
    """A copy of this checkout with a macro in its precompiled header, which the
    module shows."""

    def __init__(self, root, environment):
        self.root = root
        self.environment = environment
        shutil.copytree(
            ROOT, root, symlinks=True, ignore=lambda folder, _:
            ("build", ".git") if folder == str(ROOT) else ())
        with open(root / "src" / "base" / "hash.cc", "a") as file:
            file.write('extern const char kProbe[];\n'
                       'const char kProbe[] = SLUICE_PROBE;\n')
        self.set_macro("probe before")
        self.cmake("--preset", "ci")

    def set_macro(self, value):
        header = self.root / "cmake" / "precompiled" / "code.h"
        text = header.read_text().split("#define SLUICE_PROBE")[0]
        header.write_text(f'{text}#define SLUICE_PROBE "{value}"\n')

    def cmake(self, *arguments):
        run("cmake", *arguments, cwd=self.root, env=self.environment)

    def build(self):
        self.cmake("--build", "--preset", "ci", "--target", TARGET)

    def library(self):
        return (self.root / "build/ci/src/base/libsluice_base.a").read_bytes()

    def compile_commands(self):
        """What compiles each object, with <top> for this checkout where ccache
        makes a path relative."""
        lines = run("ninja", "-C", str(self.root / "build" / "ci"), "-t",
                    "commands").splitlines()
        return [self.normalize(shlex.split(line)) for line in lines
                if " -c " in line and "/ccache " in line]

    def normalize(self, command):
        del command[:[pathlib.Path(word).name for word in command].index("ccache")]
        for i, word in enumerate(command):
            if command[i - 1] in PATH_OPTIONS or word.startswith(PATH_OPTIONS):
                command[i] = word.replace(str(self.root), "<top>")
        return shlex.join(command)


class CheckoutsTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        top = pathlib.Path(cls.folder.name)
        cls.environment = dict(os.environ, CCACHE_DIR=str(top / "cache"))
        for name in ("CCACHE_BASEDIR", "CCACHE_NOHASHDIR", "CCACHE_PCH_EXTSUM",
                     "CCACHE_SLOPPINESS"):
            cls.environment.pop(name, None)
        cls.first = Checkout(top / "first", cls.environment)
        cls.second = Checkout(top / "another" / "second", cls.environment)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def count(self, *names):
        statistics = dict(
            line.split("\t") for line in
            run("ccache", "--print-stats", env=self.environment).splitlines())
        return sum(int(statistics[name]) for name in names)

    def test_commands_are_the_same(self):
        first = self.first.compile_commands()
        self.assertGreater(len(first), 400)
        self.assertEqual(first, self.second.compile_commands())

    def test_what_one_compiled_serves_another(self):
        self.first.build()
        compiled = self.count("cache_miss")
        self.assertGreater(compiled, 5)
        self.assertEqual(self.count("direct_cache_hit"), 0)

        self.second.build()
        self.assertEqual(self.count("cache_miss"), compiled)
        self.assertEqual(self.count("direct_cache_hit"), compiled)

        self.second.set_macro("probe after")
        self.second.build()
        self.assertTrue(b"probe after" in self.second.library())
        self.assertFalse(b"probe before" in self.second.library())
        # What was compiled with the old header is not served for the new, but
        # what the second checkout compiled is.
        compiled = self.count("cache_miss")
        self.first.set_macro("probe after")
        self.first.build()
        self.assertTrue(b"probe after" in self.first.library())
        self.assertEqual(self.count("cache_miss"), compiled)


if __name__ == "__main__":
    if not shutil.which("ccache"):
        print("skipped, no ccache here")
        sys.exit(77)
    unittest.main()
