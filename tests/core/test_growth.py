"""What tools/bench --check makes of profiles: which instructions are whose, what a record costs, and whether that is too
much more than before."""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bench/lib"))
import callgrind  # noqa: E402
import growth  # noqa: E402

# Written by hand after the format's description. main executes 2 + 3 of its own and calls split (40 inclusive) once and
# memcpy (30) twice; split has 10 and calls memcpy (30), and 7 of a file included into it; the library's function 5.
PROFILE = """\
# callgrind format
version: 1
positions: line
events: Ir
summary: 117

ob=(1) /home/me/build/tipple
fl=(1) /home/me/src/main.c
fn=(1) main
10 2
cfi=(2) /home/me/src/split.c
cfn=(2) split.constprop.0
calls=1 20
+2 47
cob=(2) /usr/lib/libc.so.6
cfi=(3) memmove.S
cfn=(3) __memcpy_avx
calls=2 0
* 60
-1 3

fl=(2)
fn=(2)
20 10
cob=(2)
cfi=(3)
cfn=(3)
calls=1 0
+1 30
fi=(4) /home/me/src/fast.h
5 7
fe=(2)

ob=(2)
fl=(3)
fn=(3)
0 90

ob=(3) /usr/lib/libbson-1.0.so.0.0.0
fl=(5) ???
fn=(4) 0x0000000000018bb0
0 3
fn=(5) 0x0000000000010ec0
0 2

totals: 117
"""


class Profiles(unittest.TestCase):
    def read(self, text):
        return dict(callgrind.instructions(text.splitlines(keepends=True)))

    def test_instructions_belong_to_the_function_that_executed_them(self):
        self.assertEqual({"main (main.c)": 5, "split (split.c)": 17, "__memcpy_avx": 90, "(in libbson-1.0)": 5},
                         self.read(PROFILE))

    def test_calls_that_are_forgiven_do_not_count(self):
        counts = callgrind.instructions(PROFILE.splitlines(),
                                        lambda caller, called: (caller, called) == ("split (split.c)", "__memcpy_avx"))
        self.assertEqual({"main (main.c)": 5, "split (split.c)": 17, "__memcpy_avx": 60, "(in libbson-1.0)": 5},
                         dict(counts))

    def test_a_profile_that_does_not_add_up_is_refused(self):
        for wrong in (PROFILE.replace("totals: 117", "totals: 118"), PROFILE.replace("totals: 117\n", "")):
            with self.assertRaises(ValueError):
                self.read(wrong)


BEFORE = {"split": 600.0, "encode": 250.0, "memcpy": 100.0, "send": 46.0, "rest": 4.0}  # 1,000 a record


class Growth(unittest.TestCase):
    def judged(self, profile, before=BEFORE):
        complaints, remarks = growth.judge({"load mot": growth.figures(before)}, {"load mot": growth.figures(profile)})
        return ["\n".join(lines) for lines in complaints], remarks

    def test_what_is_done_once_does_not_count(self):
        small = {"start": 5_000_000, "split": 600_000, "first": 10}
        large = {"start": 5_000_000, "split": 3_000_000, "last": 4000}
        self.assertEqual({"start": 0, "split": 600, "first": -10 / 4000, "last": 1},
                         growth.a_record(small, large, 4000))
        with self.assertRaises(ValueError):
            growth.a_record(small, large, 0)

    def test_what_passes(self):
        for encode in 250.0, 270.0, 280.0:  # the same, two percent more, and the limit itself
            self.assertEqual(([], []), self.judged({**BEFORE, "encode": encode}))

    def test_what_fails_and_what_is_named(self):
        renamed = {("divide" if name == "split" else name): count for name, count in BEFORE.items()}
        for profile, *said in (
                ({**BEFORE, "encode": 280.2},),
                ({**BEFORE, "encode": 290.0}, "load mot: 1040.0 instructions a record, 4.0 % more than the 1000.0",
                 r"encode +250\.0 -> 290\.0"),
                ({**BEFORE, "encode": 260.0, "split": 700.0, "memcpy": 130.0}, "(?s)split.*memcpy.*encode"),
                ({**BEFORE, "checksum": 45.0}, r"checksum +at most 5\.0 -> 45\.0"),
                ({**BEFORE, "rest": 44.0}, r"rest +at most 5\.0 -> 44\.0"),  # it was too small to be kept
                ({**renamed, "divide": 650.0}, r"divide +at most 5\.0 -> 650\.0", r"split +600\.0 -> next to nothing"),
                ({**BEFORE, **{"tiny%d" % i: 4.0 for i in range(20)}}, "by many functions")):
            (complaint,), remarks = self.judged(profile)
            self.assertEqual([], remarks)
            for words in said:
                self.assertRegex(complaint, words)
        (complaint,), _ = self.judged({**BEFORE, "encode": 290.0})
        self.assertNotIn("split", complaint)

    def test_much_less_passes_with_a_remark(self):
        complaints, remarks = self.judged({**BEFORE, "split": 500.0})
        self.assertEqual([], complaints)
        self.assertRegex(remarks[0], r"load mot: 10\.0 % less")


if __name__ == "__main__":
    unittest.main()
