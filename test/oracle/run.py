#!/usr/bin/env python3
"""Numbers: the programs of the reference corpus, compiled and run, a test for each; run_corpus.py holds the parts.

A program that code generation cannot lower yet counts as skipped when it says so; any other failure is one. Programs with
values too large to be recorded are left to run_corpus.py: under the sanitizers they take long.

usage: run.py [FOLDER OF PROGRAMS]"""
import argparse
import concurrent.futures
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
import common
import run_corpus

LEAST_MATCHES = 20
LIMIT_S = 120


def run(folder):
    """The verdict of run_corpus, or `skipped`, and why."""
    with open(os.path.join(folder, 'io.json')) as f:
        io = json.load(f)
    if not all(value['file'] for value in io['parameters'] + io['outputs']):
        return 'skipped', 'values are too large to be recorded'
    options = argparse.Namespace(bin=common.programs(), platform='cpu', timeout=LIMIT_S)
    return run_corpus.run_program(options, folder, 'module')


def main():
    tests = common.Tests()
    records = common.shared('corpus', 'jax')
    if not records:
        tests.skip('run', f'no records in {common.SHARED}')
        tests.finish()
    names = sorted(n for n in os.listdir(records) if os.path.exists(os.path.join(records, n, 'io.json')))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, (verdict, why) in zip(names, pool.map(run, (os.path.join(records, n) for n in names))):
            if verdict in ('skipped', 'excused', 'UNIMPLEMENTED'):
                tests.skip(f'run {name}', f'{verdict} {why}'[:150])
            else:
                tests.check(f'run {name}', verdict == 'match', f'{verdict} {why}'[:300])
    tests.check('run enough', tests.passed >= LEAST_MATCHES, f'{tests.passed} programs match, expected {LEAST_MATCHES}')
    tests.finish()


if __name__ == '__main__':
    main()
