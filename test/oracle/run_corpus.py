#!/usr/bin/env python3
"""Runs the programs of the reference corpus with their recorded inputs and compares the recorded outputs.

usage: run_corpus.py [--bin DIR] [--corpus DIR] [--form module|after|both] [PROGRAM ...]

For every program, run_hlo_module compiles module.hlo (through the CPU pipeline) and after.hlo (scheduled already) and
writes its results; they are compared here under the tolerances of io.json. One line per run: match, close (within ten
times the tolerance: rounding that a deep network amplifies), wrong, UNIMPLEMENTED (with the instruction), error, crash
or timeout. Exit status 1 when a result is wrong or a run crashes.
"""

import argparse
import array
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PERIOD = 2003  # of the rule that fills inputs

NUMPY = {'pred': '|b1', 's8': '|i1', 's16': '<i2', 's32': '<i4', 's64': '<i8', 'u8': '|u1', 'u16': '<u2', 'u32': '<u4',
         'u64': '<u8', 'f16': '<f2', 'f32': '<f4', 'f64': '<f8', 'bf16': '<u2', 'c64': '<c8', 'c128': '<c16',
         's4': '|i1', 'u4': '|u1'}
CODES = {'b1': 'B', 'i1': 'b', 'u1': 'B', 'i2': 'h', 'u2': 'H', 'i4': 'i', 'u4': 'I', 'i8': 'q', 'u8': 'Q', 'f4': 'f',
         'f8': 'd', 'c8': 'f', 'c16': 'd'}


# ---- arrays ---------------------------------------------------------------------------------------------

def read_npy(path):
    """The element type word and the raw numbers of a file."""
    data = open(path, 'rb').read()
    size = struct.unpack('<H', data[8:10])[0] if data[6] == 1 else struct.unpack('<I', data[8:12])[0]
    start = 10 if data[6] == 1 else 12
    word = re.search(r"'descr': '[<|=]?(\w+)'", data[start:start + size].decode('latin1')).group(1)
    body = data[start + size:]
    if word == 'f2':
        return word, list(struct.unpack('<%de' % (len(body) // 2), body))
    values = array.array(CODES[word])
    values.frombytes(body)
    return word, values


def narrow_float(bits, exponent, mantissa, bias, has_infinity):
    sign = -1.0 if bits >> (exponent + mantissa) & 1 else 1.0
    e, m = bits >> mantissa & (1 << exponent) - 1, bits & (1 << mantissa) - 1
    if has_infinity and e == (1 << exponent) - 1:
        return math.nan if m else sign * math.inf
    if not has_infinity and e == (1 << exponent) - 1 and m == (1 << mantissa) - 1 and bias == 7:
        return math.nan
    if bias == 11 and bits == 0x80:
        return math.nan
    if e == 0:
        return sign * m * 2.0 ** (1 - bias - mantissa)
    return sign * (1 + m / (1 << mantissa)) * 2.0 ** (e - bias)


def decode(kind, values):
    """Numbers of a stored array as Python floats or ints."""
    if kind == 'bf16':
        return [struct.unpack('<f', struct.pack('<I', v << 16))[0] for v in values]
    if kind == 'f8e5m2':
        return [narrow_float(v, 5, 2, 15, True) for v in values]
    if kind == 'f8e4m3fn':
        return [narrow_float(v, 4, 3, 7, False) for v in values]
    if kind == 'f8e4m3b11fnuz':
        return [narrow_float(v, 4, 3, 11, False) for v in values]
    return values


def fill_npy(path, kind, shape, rule):
    """An input made by rule: element i depends on i modulo PERIOD alone (integers: modulo their range)."""
    count = math.prod(shape)
    low, high, seed = rule['lo'], rule['hi'], rule['seed']
    code = {'f32': 'f', 'f64': 'd', 's32': 'i', 'u32': 'I', 's64': 'q', 'pred': 'B', 's8': 'b', 'u8': 'B'}[kind]
    if kind[0] == 'f':
        steps = [(i * 7919 + seed * 104729) % PERIOD for i in range(min(count, PERIOD))]
        period = [step / 2002.0 * (high - low) + low for step in steps]
    else:
        span = max(int(high) - int(low), 1)
        period = [int(low) + (i * 7919 + seed * 104729) % span for i in range(min(count, span))]
    unit = array.array(code, period).tobytes()
    size = array.array(code).itemsize * count
    body = (unit * (size // max(len(unit), 1) + 1))[:size]
    header = repr({'descr': NUMPY[kind], 'fortran_order': False, 'shape': tuple(shape)}).encode()
    header += b' ' * (-(10 + len(header) + 1) % 64) + b'\n'
    with open(path, 'wb') as out:
        out.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header + body)


# ---- comparing ------------------------------------------------------------------------------------------

# Runs whose results cannot be compared, and why.
EXCUSED = {
    'unrolled_recurrence_5000/module': 'chaotic: evaluations in f32 and f64 differ by 1',
    'unrolled_recurrence_5000/after': 'chaotic: evaluations in f32 and f64 differ by 1',
}


def differs(expected, actual, leaf, slack=1):
    if leaf.get('exact') or isinstance(expected, int):
        return expected != actual
    if math.isnan(expected) or math.isnan(actual):
        return math.isnan(expected) != math.isnan(actual)
    if math.isinf(expected) or math.isinf(actual):
        return expected != actual
    return abs(expected - actual) > slack * (leaf['atol'] + leaf['rtol'] * abs(expected))


def compare_leaf(folder, results, number, leaf):
    """The verdict on a result leaf, and what differs."""
    word, actual = read_npy(os.path.join(results, '%d.npy' % number))
    actual = decode(leaf['type'], actual)
    if leaf['file'] is None:
        # Only a summary was stored.
        largest = max((abs(v) for v in actual if v == v), default=0)
        stored = float(leaf['max_abs'])
        good = abs(largest - stored) <= 10 * (leaf['atol'] + leaf['rtol'] * stored)
        text = 'leaf %d: largest magnitude %g, recorded %g' % (number, largest, stored)
        return ('match', '') if good else ('wrong', text)
    expected_word, expected = read_npy(os.path.join(folder, leaf['file']))
    if word != expected_word or len(actual) != len(expected):
        return 'wrong', 'leaf %d: %d x %s, recorded %d x %s' % (number, len(actual), word, len(expected), expected_word)
    expected = decode(leaf['type'], expected)
    bad = [i for i in range(len(expected)) if differs(expected[i], actual[i], leaf)]
    if not bad:
        return 'match', ''
    kind = 'wrong' if any(differs(expected[i], actual[i], leaf, 10) for i in bad) else 'close'
    worst = max(bad, key=lambda i: abs(expected[i] - actual[i]) if actual[i] == actual[i] else math.inf)
    return kind, 'leaf %d: %d of %d differ, at %d got %r, recorded %r' % (number, len(bad), len(expected), worst,
                                                                         actual[worst], expected[worst])


# ---- running --------------------------------------------------------------------------------------------

def make_inputs(folder, io, target):
    """A folder with one file per parameter."""
    for number, parameter in enumerate(io['parameters']):
        path = os.path.join(target, '%d.npy' % number)
        if parameter['file']:
            os.symlink(os.path.join(folder, parameter['file']), path)
        else:
            fill_npy(path, parameter['type'], parameter['shape'], parameter)


def run_program(options, folder, form):
    io = json.load(open(os.path.join(folder, 'io.json')))
    if io['devices'] > 1 and form == 'after':
        return 'several devices', ''  # what one partition runs; only the whole program's values are recorded
    with tempfile.TemporaryDirectory() as work:
        make_inputs(folder, io, work)
        results = os.path.join(work, 'results')
        command = [os.path.join(options.bin, 'run_hlo_module'), '--platform=' + options.platform, '--inputs-dir=' + work,
                   '--output-dir=' + results, os.path.join(folder, form + '.hlo')]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout)
        except subprocess.TimeoutExpired:
            return 'timeout', ''
        message = done.stderr.strip().split('\n')[-1]
        if done.returncode < 0 or done.returncode > 1:
            return 'crash', 'exit status %d %s' % (done.returncode, message)
        if done.returncode:
            kind = 'UNIMPLEMENTED' if message.startswith('UNIMPLEMENTED') else 'error'
            return kind, re.sub('^UNIMPLEMENTED: ', '', message)
        run = '%s/%s' % (os.path.basename(folder), form)
        if run in EXCUSED:
            return 'excused', EXCUSED[run]
        leaves = [compare_leaf(folder, results, number, leaf) for number, leaf in enumerate(io['outputs'])]
        kinds = {kind for kind, _ in leaves}
        verdict = next((kind for kind in ('wrong', 'close') if kind in kinds), 'match')
        return verdict, '; '.join([text for _, text in leaves if text][:3])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--bin', default=os.path.join(ROOT, 'build', 'release', 'bin'))
    parser.add_argument('--corpus', default=os.path.join(os.path.dirname(ROOT), 'shared', 'corpus', 'jax'))
    parser.add_argument('--form', choices=['module', 'after', 'both'], default='both')
    parser.add_argument('--platform', choices=['cpu', 'interpreter'], default='cpu')
    parser.add_argument('--timeout', type=float, default=120)
    parser.add_argument('programs', nargs='*')
    options = parser.parse_args()
    if not os.path.isdir(options.corpus):
        print('skipped: no corpus at %s' % options.corpus)
        return 0
    names = options.programs or sorted(n for n in os.listdir(options.corpus) if not n.startswith('_'))
    forms = ['module', 'after'] if options.form == 'both' else [options.form]
    totals = {form: {} for form in forms}
    for name in names:
        folder = os.path.join(options.corpus, name)
        for form in forms:
            if not os.path.exists(os.path.join(folder, form + '.hlo')):
                continue
            start = time.time()
            kind, detail = run_program(options, folder, form)
            totals[form][kind] = totals[form].get(kind, 0) + 1
            print('%-45s %-7s %-14s %6.2fs %s' % (name, form, kind, time.time() - start, detail), flush=True)
    for form in forms:
        print(form + ': ' + ', '.join('%d %s' % (n, kind) for kind, n in sorted(totals[form].items())))
    bad = sum(t.get('wrong', 0) + t.get('crash', 0) for t in totals.values())
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
