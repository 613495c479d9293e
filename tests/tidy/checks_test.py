#!/usr/bin/env python3
"""Checks the checks: each rule finds its fault, at its line, and nothing else.

Every case is a small source tree in a temporary folder.
"""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import docs_test
import layers_test
import tidy_test

sys.path.append(str(tidy_test.HERE.parents[1] / "bridge" / "hack"))
import check_skips


class ChecksTest(unittest.TestCase):

    def run_check(self, check, tree):
        """The errors of `check` on a tree given as {path: text}."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in tree.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return list(check(root))

    def expect(self, check, tree, *starts):
        """Expects one error for each of `starts`, which begins so."""
        errors = self.run_check(check, tree)
        self.assertEqual(len(errors), len(starts), errors)
        for error, start in zip(errors, starts):
            self.assertTrue(error.startswith(start), error)

    def test_layers_refuse_what_is_not_below(self):
        for include, is_fine in (
                ("sluice/state/view.h", True), ("base/hash.h", True),
                ("core/round.h", True), ("absl/status/status.h", True),
                ("loop/mailbox.h", False), ("server/options.h", False)):
            tree = {"src/core/x.cc": f'\n#include "{include}"\n'}
            starts = () if is_fine else ("src/core/x.cc:2: 'core' must not",)
            with self.subTest(include):
                self.expect(layers_test.check, tree, *starts)

    def test_layers_refuse_neighbors_in_public_headers_too(self):
        self.expect(
            layers_test.check,
            {"include/sluice/state/x.h": '#include "sluice/flow/problem.h"\n'},
            "include/sluice/state/x.h:1: 'state' must not include 'flow'")

    def test_layers_keep_protos_at_the_edges(self):
        line = '#include "sluice/v1/store.pb.h"\n'
        self.expect(layers_test.check,
                    {"src/core/x.cc": line, "src/rpc/x.cc": line},
                    "src/core/x.cc:1: 'core' must not include generated")

    def test_layers_give_the_client_no_private_door(self):
        line = '#include "core/scheduler.h"\n#include "base/hash.h"\n'
        for folder in ("cli", "cli/base", "cli/client", "cli/solve"):
            with self.subTest(folder):
                self.expect(layers_test.check, {f"src/{folder}/x.cc": line},
                            f"src/{folder}/x.cc:1: '{folder}' may include [")

    def test_layers_keep_the_folders_of_a_module_apart(self):
        for folder, include, is_fine in (
                ("cli/bench", "cli/client/connection.h", True),
                ("cli/client", "cli/client/texts/x.h", True),
                ("cli", "cli/solve/solve.h", True),
                ("constraints/rules", "constraints/constraint.h", True),
                ("round/packing", "round/passes/pass.h", True),
                ("round/passes", "round/packing/participants.h", False),
                ("round/stages", "round/round.h", False),
                ("cli/bench", "cli/replay/csv.h", False),
                ("cli/client", "cli/bench/bench_profiles.h", False),
                ("cli/solve", "cli/client/connection.h", False),
                ("cli/base", "cli/commands.h", False)):
            tree = {f"src/{folder}/x.cc": f'#include "{include}"\n'}
            start = f"src/{folder}/x.cc:1: '{folder}' m"
            with self.subTest(folder + " includes " + include):
                self.expect(layers_test.check, tree,
                            *(() if is_fine else (start,)))

    def test_layers_let_everybody_read_a_list(self):
        line = '#include "sluice/state/rules.def"\n'
        self.expect(layers_test.check, {"src/cli/x.cc": line})

    def test_layers_want_every_module_listed(self):
        self.expect(layers_test.check, {"src/misc/x.cc": ""},
                    "src/misc/x.cc:1: 'misc' is not in floors.txt")

    def test_banned_finds_each_pattern(self):
        for code in ("auto t = std::chrono::steady_clock::now();",
                     "int64_t t = time(nullptr);",
                     "std::this_thread::sleep_for(x);",
                     "std::mt19937 g;", "using namespace std;",
                     'printf("x");', "X* x = new X;", "delete x;",
                     "std::shared_ptr<X> x;", "std::mutex m;",
                     "std::thread t(f);", "#include <gtest/gtest.h>",
                     "if (FLAGS_x) return;", "} catch (...) {", "system(c);",
                     "assert(x);", "// TODO: later", "// do it \u2014 now",
                     "// the behaviour of x"):
            with self.subTest(code):
                self.expect(tidy_test.check_banned,
                            {"src/core/x.cc": f"\n{code}\n"},
                            "src/core/x.cc:2: ")

    def test_banned_lets_good_code_pass(self):
        code = ('X(const X&) = delete;  // a new one is made, not delete d\n'
                'LOG(INFO) << "using namespace, printf( and time(0)";\n'
                'static_assert(sizeof(int) == 4);\n'
                'int64_t s = SolveTime(1) + x.time(2);\n'
                'std::snprintf(b, 4, "x");\n'
                '// TODO(#12): shorter\n')
        self.expect(tidy_test.check_banned, {"src/core/x.cc": code})

    def test_banned_knows_its_exceptions(self):
        tree = {"src/base/clock.cc": "x::now();\n",
                "src/server/logging_flags.cc": "gflags::FlagSaver saver;\n",
                "src/cli/main.cc": "std::cout << 1;\n"}
        self.expect(tidy_test.check_banned, tree)

    def test_nolint_is_next_to_what_it_is_about(self):
        mark = "  // NOLINTNEXTLINE(some-check)"
        for lines, starts in (
                (["// Why.", mark, "int x;"], ()),
                ([mark + ": why, and", "// more.", "int x;"],
                 ("src/core/x.cc:1: a comment is the next line",))):
            tree = {"src/core/x.cc": "\n".join(lines)}
            with self.subTest(lines):
                self.expect(tidy_test.check_nolint, tree, *starts)

    def test_sizes(self):
        self.expect(tidy_test.check_sizes,
                    {"src/core/x.h": "\n" * 251, "src/core/y.h": "\n" * 250,
                     "src/core/x.cc": "\n" * 800},
                    "src/core/x.h:250: 251 lines")

    def test_guards(self):
        def header(guard):
            return f"#ifndef {guard}\n#define {guard}\n#endif  // {guard}\n"
        self.expect(tidy_test.check_guards,
                    {"src/core/a.h": header("SLUICE_CORE_A_H_"),
                     "include/sluice/core/b.h": header("SLUICE_CORE_B_H_"),
                     "src/core/c.h": header("CORE_C_H"),
                     "src/core/d.h": "#pragma once\n"},
                    "src/core/c.h:1: ", "src/core/d.h:1: ")

    def test_every_source_has_a_test_or_an_excuse(self):
        listed = ("# why\nsrc/core/b.cc is tested by the golden runs\n"
                  "src/core/c.cc has a test\nsrc/core/gone.cc was here\n"
                  "src/core/d.cc\n")
        tree = {"tests/tidy/untested.txt": listed,
                "tests/unit/core/c_test.cc": "",
                "tests/unit/core/rules/f_test.cc": "",
                **{f"src/core/{name}.cc": "" for name in "abcd"},
                "src/core/rules/f.cc": ""}
        self.expect(tidy_test.check_tests_exist, tree,
                    "tests/tidy/untested.txt:4: src/core/gone.cc does not",
                    "tests/tidy/untested.txt:5: src/core/d.cc needs a reason",
                    "src/core/a.cc:1: no tests/unit/core/a_test.cc",
                    "tests/tidy/untested.txt:3: src/core/c.cc has a test")

    def test_dead_files(self):
        tree = {"src/cost/CMakeLists.txt": "SOURCES a.cc",
                "src/cost/models.def": 'MODEL(b, "text")\n',
                "src/cost/a.cc": '#include "cost/a.h"\n',
                "src/cost/a.h": "", "src/cost/models/b.cc": "",
                "src/cost/dead.cc": "", "src/cost/dead.h": "",
                "tests/unit/cost/b_test.cc": "",
                "tests/unit/cost/dead_test.cc": ""}
        dead = ("src/cost/dead.h:1: ", "src/cost/models.def:1: ",
                "src/cost/dead.cc:1: ")
        dead_test = "tests/unit/cost/dead_test.cc:1: "
        self.expect(tidy_test.check_dead_files, tree, *dead,
                    "tests/unit/cost/b_test.cc:1: ", dead_test)
        tree["tests/unit/cost/CMakeLists.txt"] = "file(STRINGS models.def b)"
        self.expect(tidy_test.check_dead_files, tree, *dead, dead_test)

    def test_rules_are_named_in_few_files(self):
        tree = {"include/sluice/state/placement_rules.def":
                    "// RULE(field, Element)\nRULE(few, Few)\n"
                    "RULE(many, Many)\nRULE_LIST(old, Old)\n",
                "proto/a.proto": "few many old\n",
                "tests/unit/state/a_test.cc": "few\n",
                **{f"src/state/{name}.cc": f"{kind} old not_few\n"
                   for name, kind in
                   zip("abcd", ("many", "many", "Many", "Many"))}}
        table = "include/sluice/state/placement_rules.def"
        self.expect(tidy_test.check_rules, tree,
                    f"{table}:3: 6 files name 'many', at most 5",
                    f"{table}:3: no test names 'many'")

    def test_metrics(self):
        rows = 'METRIC_COUNTER(used, "u")\nMETRIC_GAUGE(idle, "i")\n'
        self.expect(tidy_test.check_metrics,
                    {"src/observe/metrics.def": rows,
                     "src/loop/x.cc": "metrics_.used.Increment();\n"},
                    "src/observe/metrics.def:2: nobody records 'idle'")

    def test_iteration(self):
        tree = {"src/core/x.h": "absl::flat_hash_map<int, X> seen_;\n",
                "src/core/x.cc": "seen_.find(1);\nfor (auto& [a, b] : seen_)\n",
                "src/rpc/x.cc": "std::unordered_set<int> s;\nfor (int i : s)\n"}
        self.expect(tidy_test.check_iteration, tree, "src/core/x.cc:2: 'seen_'")

    def test_binaries_are_not_tracked(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            corpus = root / "tests" / "fuzz" / "corpus"
            corpus.mkdir(parents=True)
            for path, content in ((root / "a.o", b"\x7fELF and so on"),
                                  (root / "b.a", b"!<arch>\n"),
                                  (root / "c d.png", b"\x89PNG\0"),
                                  (root / "e.md", b"text \xc3\xa9\n"),
                                  (root / "gone.md", b""),
                                  (corpus / "input", b"\0"),
                                  (corpus / "program", b"\x7fELF")):
                path.write_bytes(content)
            self.assertEqual(list(tidy_test.check_binaries(root)), [])
            for command in ("init", "-q"), ("add", "."):
                subprocess.run(["git", "-C", folder, *command], check=True)
            (root / "gone.md").unlink()
            (root / "untracked.o").write_bytes(b"\x7fELF")
            errors = list(tidy_test.check_binaries(root))
            self.assertEqual([error.split(":")[0] for error in errors],
                             ["a.o", "b.a", "c d.png",
                              "tests/fuzz/corpus/program"])

    def test_mutations(self):
        faults = ("// what this is\n"
                  "# fits\nsrc/a.cc\n- once();\n+ Once();\n"
                  "# is gone\nsrc/a.cc\n- nowhere();\n+ x();\n"
                  "# is twice\nsrc/a.cc\n- twice();\n+ x();\n"
                  "# is nothing\nsrc/a.cc\n- once();\n+ once();\n"
                  "# has no file\nsrc/b.cc\n- once();\n+ x();\n")
        self.expect(tidy_test.check_mutations,
                    {"tests/sim/mutations.txt": faults,
                     "src/a.cc": "once();\ntwice();\ntwice();\n"},
                    "tests/sim/mutations.txt:6: its text is in src/a.cc 0",
                    "tests/sim/mutations.txt:10: its text is in src/a.cc 2",
                    "tests/sim/mutations.txt:14: it changes nothing",
                    "tests/sim/mutations.txt:18: src/b.cc does not exist")

    def test_links(self):
        tree = {"README.md": ("[a](docs/a.md#the-a-b) [b](docs/b.md)\n"
                              "[c](docs/a.md#no) `src/core/x.cc` "
                              "`src/<m>/x.cc` [d](https://example.org/)\n"),
                "docs/a.md": "# The a, b\n"}
        self.expect(tidy_test.check_links, tree,
                    "README.md:1: docs/b.md does not exist",
                    "README.md:2: docs/a.md#no has no such heading",
                    "README.md:2: src/core/x.cc does not exist")

    def test_flags_of_the_bridge_have_their_rows(self):
        app = "bridge/internal/app/"
        page = "docs/kubernetes.md"
        tree = {app + "options.go":
                    'flags.StringVar(&o.Feed, "feed", o.Feed,\n\t"Of it.")\n'
                    'flags.IntVar(&o.Burst, "bind-burst", o.Burst, "How")\n',
                app + "command.go":
                    'sets.FlagSet("version").Bool("version", false, "print")\n',
                app + "certificates.go":
                    'flags.DurationVar(&o.wanted.Validity, "validity", v,\n'
                    'flags.StringVar(&o.feed, "feed", o.feed, "Of it.")\n',
                page: "| `--elsewhere` | | |\n"
                      "## Flags of the bridge\n"
                      "| `--feed` | `a` | b |\n| `--version` | | |\n"
                      "| `--gone` | | |\n"
                      "### Libraries\n| `--bind-burst` | | |\n"
                      "### Making certificates\n"
                      "| `--validity` | | |\n| `--label` | | |\n"}
        self.expect(docs_test.check_bridge_flags, tree,
                    f"{page}:1: no row for 'bind-burst' of {app}options.go",
                    f"{page}:5: 'gone' is not in {app}options.go",
                    f"{page}:1: no row for 'feed' of {app}certificates.go",
                    f"{page}:10: 'label' is not in {app}certificates.go")

    def test_skips_of_the_bridge_are_listed(self):
        def event(action, test=None, output=""):
            package = "example.org/bridge/internal/feed"
            return json.dumps({"Action": action, "Package": package,
                               "Test": test, "Output": output}) + "\n"
        lines = [event("output", "TestA", "quiet\n"), event("pass", "TestA"),
                 event("output", "TestB", "b is off\n"), event("skip", "TestB"),
                 event("skip", "TestC/sub"), event("skip", "TestC"),
                 event("output", "TestD", "d fails\n"), event("fail", "TestD"),
                 event("output", "TestE", "e panics\n"),
                 "not of a test\n", event("output", None, "PASS\n"),
                 event("fail")]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            errors, count = check_skips.check(
                lines, {("internal/feed", "TestC")})
        self.assertEqual(errors, ["internal/feed TestB was skipped, and "
                                  "bridge/skips.txt does not list it"])
        self.assertEqual(count, 5)
        self.assertEqual(printed.getvalue(), "b is off\nd fails\n"
                         "not of a test\ne panics\n")


if __name__ == "__main__":
    unittest.main()
