r"""What makes a file the same file: the table of that name in docs/inputs.md, a case for each of its lines at least.

    | moved to another folder        how the page's line begins; each block is a case of it
    $ v 5 >a.csv                     a line of sh; v 5 is a file with the records r1 to r5, r 6 7 two records
    > a.csv => 0: 5 5 0 0            a load: its exit status; what was read, loaded, already there, and how many files were skipped
    > b/a.csv => 5: has changed      and what it says; "nothing" if it says nothing. `cd b` in front: from that folder
    = 1-5 6-9 x3                     the documents at the end: r1 to r5, r6 to r9 and x3

Of what has grown the last block is read again; its records are already there.
needs: standalone"""
import re
import subprocess

import live
import livetest

FORMAT = 'format: v\nrecord: {delimiter: [","], header: yes}\nfields: [{name: v}]\n'
SH = "set -e; v() { echo v; r $*; }; r() { seq -f r%g $*; }; zip() { python3 -m zipfile -c $*; }; "
PAGE = (live.ROOT / "docs/inputs.md").read_text().partition("### What makes a file the same file")[2].partition("###")[0]
LOAD = re.compile(r"> (?:cd (\S+) )?(.*?) *=> (\d):(?: (\d+) (\d+) (\d+) (\d+))?(?: (.+))?")
CASES = r"""
| same file, same place
$ v 5 >a.csv
> a.csv => 0: 5 5 0 0
> a.csv => 0: 0 0 0 1 nothing
= 1-5

$ v 5 >a.csv
> --limit 3 a.csv => 0: 3 3 0 0
> a.csv => 0: 5 2 3 0 nothing
= 1-5

| moved to another folder or machine
$ v 5 >a.csv
> a.csv => 0: 5 5 0 0
$ mkdir b; mv a.csv b
> b/a.csv => 0: 0 0 0 1 is the file that was loaded as a.csv
= 1-5

| was known under another path or link before (a note said so), and has that content, or has grown
$ v 5 >a.csv
> a.csv => 0: 5 5 0 0
$ mkdir b; mv a.csv b
> b/a.csv => 0: 0 0 0 1 is the file that was loaded as a.csv
$ v 3 >a.csv
> b/a.csv => 0: 0 0 0 1 is the file that was loaded as a.csv
$ r 6 7 >>b/a.csv
> b/a.csv => 0: 7 2 5 0 is the file that was loaded as a.csv
= 1-7

| moved, and another file has its old name now
$ v 5 >a.csv
> a.csv => 0: 5 5 0 0
$ mkdir b; mv a.csv b; v 3 >a.csv
> a.csv b/a.csv => 0: 3 3 0 1 b/a.csv is the file that was loaded as a.csv
= 1-5 1-3

$ v 5 >a.csv
> a.csv => 0: 5 5 0 0
$ mkdir b; mv a.csv b; v 3 >a.csv
> a.csv => 5: a.csv has changed
> b/a.csv a.csv => 0: 3 3 0 1 b/a.csv is the file that was loaded as a.csv
= 1-5 1-3

| moved to another folder or machine; named by another path
$ v 5 >a.csv; mkdir b
> a.csv => 0: 5 5 0 0
> b/../a.csv => 0: 0 0 0 1 is the file that was loaded as a.csv
= 1-5

| copied to another folder, and the first one is still there
$ v 5 >a.csv; mkdir b; cp a.csv b
> a.csv => 0: 5 5 0 0
> b/a.csv => 0: 5 5 0 0 b/a.csv has the name, size, beginning and end of a.csv
> a.csv b/a.csv => 0: 0 0 0 2 nothing
= 1-5 1-5

| renamed, grown or not; a copy under another name, even of an earlier version; a file that begins with all of another
$ v 5 >a.csv
> a.csv => 0: 5 5 0 0
$ mv a.csv b.csv
> b.csv => 0: 5 5 0 0 another name than a.csv, but the same size, beginning and end
= 1-5 1-5

$ v 5 >a.csv
> a.csv => 0: 5 5 0 0
$ mv a.csv b.csv; r 6 7 >>b.csv
> b.csv => 0: 7 7 0 0 another name than a.csv, and begins with its content
= 1-5 1-7

$ v 3 >a.csv; cp a.csv old.csv
> a.csv => 0: 3 3 0 0
$ r 4 5 >>a.csv
> a.csv => 0: 5 2 3 0 nothing
> old.csv => 0: 3 3 0 0 another name than a.csv, but the same beginning
= 1-5 1-3

$ v 5 >a.csv; head -n 4 a.csv >try.csv
> a.csv => 0: 5 5 0 0
> try.csv => 0: 3 3 0 0 another name than a.csv, but the same beginning
= 1-5 1-3

$ v 5 >a.csv; head -n 4 a.csv >try.csv
> try.csv => 0: 3 3 0 0
> a.csv => 0: 5 5 0 0 another name than try.csv, and begins with its content
= 1-5 1-3

$ v 5 >a.csv; v 3 >b.csv
> a.csv => 0: 5 5 0 0
> b.csv => 0: 3 3 0 0 another name than a.csv, but the same beginning
$ r 4 5 >>b.csv
> b.csv => 0: 5 2 3 0 another name than a.csv, but the same size
= 1-5 1-5

$ v 5 >a.csv; zip z.zip a.csv
> z.zip => 0: 5 5 0 0
$ mv a.csv b.csv; zip z.zip b.csv
> z.zip => 0: 5 5 0 0 z.zip!b.csv has another name than z.zip!a.csv
= 1-5 1-5

$ v 0 >a.csv
> a.csv => 0: 0 0 0 0
$ mv a.csv b.csv
> b.csv => 0: 0 0 0 0 nothing
=

| a copy that was edited, cut anywhere but at its end, or grown while the first one grew otherwise
$ v 5 >a.csv; sed s/r3/x3/ a.csv >b.csv
> a.csv => 0: 5 5 0 0
> b.csv => 0: 5 5 0 0 nothing
= 1-5 1-2 x3 4-5

$ v 5 >a.csv; sed 3d a.csv >b.csv
> a.csv => 0: 5 5 0 0
> b.csv => 0: 4 4 0 0 nothing
= 1-5 1 3-5

$ v 5 >a.csv; cp a.csv b.csv
> a.csv => 0: 5 5 0 0
$ r 6 7 >>a.csv; r 8 9 >>b.csv
> a.csv => 0: 7 2 5 0 nothing
> b.csv => 0: 7 7 0 0 nothing
= 1-7 1-5 8-9

| moved to another folder or machine; named by another path, by a link, or by the file that a loaded link leads to
$ mkdir d; v 5 >d/b.csv
> d => 0: 5 5 0 0
$ ln -s b.csv d/a.csv; ln d/b.csv h.csv
> d => 0: 0 0 0 1
> d/a.csv => 0: 0 0 0 1 d/a.csv is the file that was loaded as d/b.csv
> h.csv => 0: 0 0 0 1 h.csv is the file that was loaded as d/b.csv
$ r 6 7 >>d/b.csv
> d/a.csv => 0: 7 2 5 0 it has grown since
= 1-7

$ v 5 >a.csv; ln -s a.csv l.csv
> l.csv => 0: 5 5 0 0
> a.csv => 0: 0 0 0 1 is the file that was loaded as l.csv
$ r 6 7 >>a.csv
> a.csv => 0: 7 2 5 0 it has grown since
= 1-7

| compressed or unpacked in between (`a.csv`, `a.csv.gz`, `a.csv` in a zip), or there in both ways
$ v 5 >a.csv
> a.csv => 0: 5 5 0 0
$ gzip a.csv
> a.csv.gz => 0: 5 5 0 0 the same name as a.csv, but is packed otherwise
= 1-5 1-5

$ v 5 >a.csv; gzip a.csv
> a.csv.gz => 0: 5 5 0 0
$ gunzip a.csv.gz
> a.csv => 0: 5 5 0 0 the same name as a.csv.gz, but is packed otherwise
= 1-5 1-5

$ v 5 >a.csv; zip z.zip a.csv
> a.csv => 0: 5 5 0 0
> z.zip => 0: 5 5 0 0 the same name as a.csv, but is packed otherwise
= 1-5 1-5

$ v 5 >a.csv
> a.csv => 0: 5 5 0 0
$ mkdir b; gzip a.csv; mv a.csv.gz b
> b/a.csv.gz => 0: 5 5 0 0 the same name as a.csv, but is packed otherwise
= 1-5 1-5

| renamed, a copy, or packed otherwise, with `--existing replace`, and other inputs were loaded since
$ v 5 >a.csv; v 8 9 >b.csv
> --id v --existing replace a.csv b.csv => 0: 7 7 0 0
$ mv a.csv c.csv
> c.csv => 1: c.csv has the content of a.csv, which was loaded before b.csv
$ mv c.csv a.csv; gzip a.csv
> a.csv.gz => 1: may be, packed
= 1-5 8-9

| renamed, a copy, or packed otherwise, with `--existing replace`, and other inputs were loaded since; also without these an earlier version
$ v 3 >a.csv; cp -p a.csv old
> --id v --existing replace a.csv => 0: 3 3 0 0
$ r 4 5 >>a.csv
> a.csv => 0: 5 2 3 0
> old => 1: old is the beginning of a.csv, or an earlier version of it
= 1-5

$ v 5 >a.csv; head -n 4 a.csv >p.csv
> --id v --existing replace a.csv => 0: 5 5 0 0
> p.csv => 1: p.csv is the beginning of a.csv
= 1-5

| same name, and only new bytes after the old ones (it has grown, a download goes on)
$ v 5 >a.csv
> a.csv => 0: 5 5 0 0
$ r 6 9 >>a.csv
> a.csv => 0: 9 4 5 0 nothing
> a.csv => 0: 0 0 0 1 nothing
= 1-9

$ v 5 | gzip >a.csv.gz
> a.csv.gz => 0: 5 5 0 0
$ r 6 9 | gzip >>a.csv.gz
> a.csv.gz => 0: 9 4 5 0 nothing
= 1-9

$ v 5 | gzip >a.csv.gz
> a.csv.gz => 0: 5 5 0 0
$ v 9 | gzip >a.csv.gz
> a.csv.gz => 5: a.csv.gz has changed
= 1-5

$ v 5 >a.csv; v 3 >b.csv; zip z.zip a.csv b.csv
> z.zip => 0: 8 8 0 0
$ r 6 9 >>a.csv; zip z.zip a.csv b.csv
> z.zip => 5: z.zip!a.csv has changed
$ v 5 >a.csv; v 2 >c.csv; zip z.zip c.csv b.csv a.csv
> z.zip => 0: 2 2 0 2
= 1-5 1-3 1-2

| both: it has another folder (or is named by another path), and has grown
$ v 5 >a.csv
> a.csv => 0: 5 5 0 0
$ mkdir b; mv a.csv b; r 6 7 >>b/a.csv
> b/a.csv => 0: 7 2 5 0 it has grown since
= 1-7

$ v 5 >a.csv; mkdir b
> a.csv => 0: 5 5 0 0
$ cp a.csv b; r 6 7 >>b/a.csv
> b/a.csv => 0: 7 7 0 0 b/a.csv has the name of a.csv, and begins with its content
= 1-5 1-7

$ mkdir 1 2 3; v 5 >1/a.csv; cp 1/a.csv 2
> 1 2 => 0: 10 10 0 0
$ rm 2/a.csv; mv 1/a.csv 3; r 6 7 >>3/a.csv
> 3 => 0: 7 7 0 0 begins with the content of 2 files
= 1-5 1-5 1-7

| grown, and its last record was cut off when it was loaded
$ printf 'v\nr1\nr' >a.csv
> a.csv => 0: 2 2 0 0
$ v 3 >a.csv
> a.csv => 0: 3 2 1 0 nothing
= 1-3

| same name, but otherwise another size or other content
$ v 5 >a.csv
> a.csv => 0: 5 5 0 0
$ v 5 | sed s/r3/x3/ >a.csv
> a.csv => 5: it has the same size, but other content
$ v 4 >a.csv
> a.csv => 5: it had 17 bytes, and has 14 now
$ v 2 8 >a.csv
> a.csv => 5: it had 17 bytes, and has 23 now
$ : >a.csv
> a.csv => 5: it had 17 bytes, and has 0 now
$ v 5 >a.csv
> a.csv => 0: 0 0 0 1 nothing
= 1-5

$ mkdir 1 2; v 5 >1/a.csv; v 8 9 >2/a.csv
> cd 1 a.csv => 0: 5 5 0 0
> cd 2 a.csv => 5: a.csv has changed
> 2/a.csv => 0: 2 2 0 0
= 1-5 8-9

| changed in its middle only, size, ends **and** modification time equal
$ v 30000 >a.csv; touch -d 2020-01-01 a.csv
> a.csv => 0: 30000 30000 0 0
$ sed -i s/^r15000$/x15000/ a.csv; touch -d 2020-01-01 a.csv
> a.csv => 0: 0 0 0 1 nothing
= 1-30000

$ v 30000 >a.csv
> a.csv => 0: 30000 30000 0 0
$ touch -d 2020-01-01 a.csv
> a.csv => 0: 0 0 0 1 nothing
$ sed -i s/^r15000$/x15000/ a.csv; touch -d 2020-01-02 a.csv
> a.csv => 5: a.csv has changed since it was loaded: between byte
= 1-30000

| named twice in one command, or with a link to it
$ v 5 >a.csv; ln -s a.csv l.csv; mkdir b
> a.csv b/../a.csv => 0: 5 5 0 0 a.csv
> a.csv l.csv => 0: 0 0 0 1 l.csv
= 1-5

| any, with `--copies N`
$ v 5 >a.csv
> --copies 2 a.csv => 0: 10 10 0 0
> --copies 2 a.csv => 0: 0 0 0 2
> --copies 3 a.csv => 0: 5 5 0 2
= 1-5 1-5 1-5

$ v 5 >a.csv
> --copies 2 a.csv => 0: 10 10 0 0
$ mkdir b c; cp a.csv b
> --copies 2 b/a.csv => 0: 10 10 0 0
$ mv b/a.csv c
> --copies 2 c/a.csv => 0: 0 0 0 2 c/a.csv is the file that was loaded as b/a.csv
$ r 6 7 >>c/a.csv
> --copies 2 c/a.csv => 0: 14 4 10 0
= 1-5 1-5 1-7 1-7

| copied to another folder, and the first one is still there; equal files in two folders
$ mkdir 1 2; v 5 >1/a.csv; cp 1/a.csv 2
> 1 2 => 0: 10 10 0 0 2/a.csv has the name, size, beginning and end of 1/a.csv
> 2 1 => 0: 0 0 0 2 nothing
= 1-5 1-5
"""


class SameFile(livetest.Case):
    format = None

    def documents_of(self, wanted):
        runs = [re.fullmatch(r"(\d+)(?:-(\d+))?", word) or word for word in wanted.split()]
        return sorted(name for run in runs for name in ([run] if isinstance(run, str) else [
            "r%d" % number for number in range(int(run[1]), int(run[2] or run[1]) + 1)]))

    def loads(self, line, collection):
        folder, words, status, *counts, says = LOAD.fullmatch(line).groups()
        base, self.folder = self.folder, self.folder / (folder or ".")
        said = self.load("-f", str(base / "v.yaml"), *words.split(), collection=collection, status=int(status))
        self.folder = base
        if counts[0]:
            self.assertEqual(list(map(int, counts)), [
                said[key] for key in ("read", "loaded", "already_there", "files_skipped")], self.stderr)
        if says == "nothing":
            self.assertEqual("", self.stderr)
        else:
            self.assertIn(says or "", self.stderr)

    def test_table(self):
        """each line of the page's table by two or three loads: what is read, loaded, skipped and said, and what is there then"""
        lines = [line.lstrip("| ").split(" | ")[0] for line in PAGE.splitlines() if line.startswith("| ")][1:]
        base, held = self.folder, set()
        for number, case in enumerate(CASES.strip().split("\n\n")):
            self.folder, collection = base / str(number), "case%d" % number
            self.write("v.yaml", FORMAT)
            with self.subTest(case):
                for step in case.splitlines():
                    if step.startswith("| "):
                        held |= {line for line in lines if line.startswith(step[2:])}
                    elif step.startswith("$ "):
                        subprocess.run(["sh", "-c", SH + step[2:]], cwd=self.folder, check=True)
                    elif step.startswith("> "):
                        self.loads(step, collection)
                    else:
                        self.assertEqual(self.documents_of(step[1:]), sorted(
                            document["v"] for document in self.documents(collection)))
        self.assertEqual([], [line for line in lines if line not in held], "lines of the page that no case names")


if __name__ == "__main__":
    livetest.main()
