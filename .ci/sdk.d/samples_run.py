"""Runs the samples in the current folder. A sample may name an object that a new account does not have."""

import contextlib
import io
import pathlib
import runpy

from vayu_sdk import ProblemError

files = sorted(pathlib.Path().glob("read-*.py"))
for file in files:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(str(file))
    except ProblemError as error:
        if error.status != 404:
            raise RuntimeError(file) from error
print(f"python: {len(files)} samples")
