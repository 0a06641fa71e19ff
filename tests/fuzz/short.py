#!/usr/bin/env python3
"""A short run of every fuzz target, as a part of the tests: a fixed number of inputs from a fixed seed, beginning with conversations that make sense.

    tests/fuzz/short.py BUILD      builds the targets with clang in the folder BUILD, and runs them; status 77: there is no clang with libFuzzer
"""
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import targets


def run(name, folder):
    corpus = folder / "corpus" / name
    targets.write_seeds(corpus, name)
    with tempfile.TemporaryDirectory() as found: # so that every run is the same
        return subprocess.run(targets.command(folder, name, f"-runs={targets.RUNS[name]}", "-seed=1", f"-max_len={targets.MOST_BYTES}", "-timeout=200",
                                              f"-artifact_prefix={folder}/{name}-", found, corpus), capture_output=True, text=True, errors="replace")


def main():
    folder = Path(sys.argv[1])
    targets.build(folder)
    with ThreadPoolExecutor(2) as threads:
        results = dict(zip(targets.RUNS, threads.map(lambda name: run(name, folder), targets.RUNS)))
    for name, result in results.items():
        print(f"{name}: {result.stderr.strip().splitlines()[-1]}" if result.returncode == 0 else f"{name} failed\n{result.stderr}")
    sys.exit(any(result.returncode for result in results.values()))


main()
