#!/usr/bin/env python3
"""Seconds that the interpreter and the reference's evaluator take for the programs of corpus/jax, side by side.

usage: eval_speed.py REFERENCE [--bin DIR] [--corpus DIR] [PROGRAM ...]

Both are given the recorded inputs: ours as .npy files, the reference as text, whose reading is measured with a module
that only returns its parameters and taken off, with the time to start. One line for each program that both evaluate;
at the end the totals and how many times faster ours is."""
import argparse
import json
import os
import re
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import common
import run_corpus


def timed(command, seconds):
    """(seconds, exit status, standard output)"""
    start = time.monotonic()
    status, output, _ = common.run_within(command, seconds)
    return seconds if status is None else time.monotonic() - start, status, output


def echo_module(parameters):
    """A module that returns the first of its parameters."""
    lines = []
    for number, parameter in enumerate(parameters):
        shape = '%s[%s]' % (parameter['type'], ','.join(str(d) for d in parameter['shape']))
        lines.append('%sp%d = %s parameter(%d)' % ('ROOT ' if number == 0 else '', number, shape, number))
    if not lines:
        lines = ['ROOT c = s32[] constant(0)']
    return 'HloModule echo\nENTRY e {\n  ' + '\n  '.join(lines) + '\n}\n'


def measure(options, folder, work):
    """(ours, reference) in seconds, or why not."""
    io = json.load(open(os.path.join(folder, 'io.json')))
    module, ours = os.path.join(folder, 'module.hlo'), os.path.join(options.bin, 'run_hlo_module')
    if io['devices'] > 1:
        return 'several devices'
    run_corpus.make_inputs(folder, io, work)
    echo = os.path.join(work, 'echo.hlo')
    open(echo, 'w').write(echo_module(io['parameters']))
    command = [ours, '--platform=interpreter', '--inputs-dir=' + work]
    _, status, text = timed(command + ['--print_literals', echo], options.timeout)
    if status != 0:
        return 'its inputs cannot be written as text'
    arguments = re.split(r'\n\*\* [^*\n]* \*\*\n', text)[1:len(io['parameters']) + 1]
    files = []
    for number, argument in enumerate(arguments):
        files.append(os.path.join(work, '%d.lit' % number))
        open(files[-1], 'w').write(argument)
    start, status, _ = timed([options.reference, 'eval', echo] + files, options.timeout)
    if status != 0:
        return 'the reference does not read its inputs'
    theirs, status, _ = timed([options.reference, 'eval', module] + files, options.timeout)
    if status is None:
        theirs = options.timeout + start
    elif status != 0:
        return 'the reference does not evaluate it'
    own, status, _ = timed(command + ['--output-dir=' + os.path.join(work, 'out'), module], options.timeout)
    if status != 0:
        return 'ours does not evaluate it'
    return own, max(theirs - start, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('reference')
    parser.add_argument('--bin', default=os.path.join(common.ROOT, 'build', 'release', 'bin'))
    parser.add_argument('--corpus', default=common.shared('corpus', 'jax'))
    parser.add_argument('--timeout', type=float, default=60)
    parser.add_argument('programs', nargs='*')
    options = parser.parse_args()
    if not os.path.exists(options.reference) or not options.corpus:
        print('skipped: no reference, or no corpus')
        return
    names = options.programs or sorted(n for n in os.listdir(options.corpus) if not n.startswith('_'))
    totals = [0.0, 0.0]
    for name in names:
        with tempfile.TemporaryDirectory() as work:
            result = measure(options, os.path.join(options.corpus, name), work)
        if isinstance(result, str):
            print('%-45s skipped: %s' % (name, result), flush=True)
            continue
        totals = [total + part for total, part in zip(totals, result)]
        print('%-45s ours %8.3f  reference %8.3f' % (name, *result), flush=True)
    print('total: ours %.2f s, reference %.2f s, %.1f times faster' % (*totals, totals[1] / max(totals[0], 1e-9)))


if __name__ == '__main__':
    main()
