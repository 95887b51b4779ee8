#!/usr/bin/env python3
"""Reading and printing: our print of some 250 real modules beside the reference's.

usage: text.py [FOLDER OF PROGRAMS]"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
import common

LEAST_PERCENT = {'print': 99.0, 'again': 99.0}  # the same bytes; the same bytes when read again


def main():
    tests = common.Tests()
    script, records = common.shared('oracle', 'check_text.py'), common.shared('corpus', 'reread')
    if not script or not records:
        tests.skip('text', f'no records in {common.SHARED}')
        tests.finish()
    hlo_opt = os.path.join(common.programs(), 'hlo-opt')
    run = subprocess.run([sys.executable, script, hlo_opt, '--set', records, '--json'], capture_output=True, text=True)
    if run.returncode != 0:
        tests.check('text', False, run.stderr[-500:])
        tests.finish()
    figures = json.loads(run.stdout)
    for name, least in LEAST_PERCENT.items():
        tests.check(f'text {name}', figures[name] >= least, f'{figures[name]:.2f} %, expected {least} % at least')
    tests.check('text crashes', figures['crashes'] == 0, f'{figures["crashes"]} crashes')
    tests.finish()


if __name__ == '__main__':
    main()
