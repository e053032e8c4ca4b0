#!/usr/bin/env python3
"""Print a random sample of the comments of the Go code, each with the code below it.

usage: docs/comment_sample.py [COUNT [SEED]]

A reader who does not know the project marks each as clear at once, clear at the second
reading, or unclear. At least 95 of 100 should be clear at once. Tests and directives do
not count.

The seed, the path and the code below a comment choose it. So a sample keeps its comments when
others are added, moved or rewritten.
"""

import hashlib
import heapq
import subprocess
import sys


def blocks(path):
    """Yield (line, comment, code) for each run of comment lines in a file."""
    comment, start = [], 0
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            if text.startswith("//") and not text.startswith(("//go:", "//nolint")):
                start = start or number
                comment.append(text.removeprefix("//").strip())
            elif comment:
                yield start, " ".join(comment), text
                comment, start = [], 0


def main():
    count, seed = (int(argument) for argument in (sys.argv[1:] + ["100", "20261123"][len(sys.argv) - 1 :]))
    listed = subprocess.run(["git", "ls-files", "*.go"], check=True, capture_output=True, text=True)
    paths = [path for path in listed.stdout.split() if "/testdata/" not in path and not path.endswith("_test.go")]
    comments = [(path, *block) for path in paths for block in blocks(path)]

    def rank(item):
        path, _, _, code = item
        return hashlib.sha256(f"{seed} {path} {code}".encode()).digest()

    for path, line, comment, code in heapq.nsmallest(count, comments, key=rank):
        print(f"{path}:{line}\n  {comment}\n    {code}\n")


if __name__ == "__main__":
    main()
