#!/usr/bin/env python3
"""Executes notebooks and writes them with their results: run.py FOLDER NOTEBOOK.py…

A notebook that raises an error ends the run with status 1. Its results so far are written, too.
"""

import sys
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for source in map(Path, sys.argv[2:]):
        book = jupytext.read(source)
        book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        place = {"metadata": {"path": source.resolve().parent}}
        try:
            # A kernel starts within seconds, and takes longer beside other steps of CI.
            client = NotebookClient(book, timeout=300, startup_timeout=300, resources=place)
            client.execute()
        except CellExecutionError as error:
            sys.exit(f"{source}: {error.ename}: {error.evalue}")
        finally:
            nbformat.write(book, folder / source.with_suffix(".ipynb").name)
        print(f"{source.name}: {sum(c.cell_type == 'code' for c in book.cells)} cells", flush=True)


if __name__ == "__main__":
    main()
