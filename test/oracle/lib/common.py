"""What the comparisons with recorded results of the reference share: where the records lie, and how tests are counted.

Each script takes the folder of our programs, prints a line for every test that fails or is skipped, and ends with the
line "N passed, N failed, N skipped". The records are no part of this project: they lie in ../shared beside the
checkout, or where HLO_SHARED says."""
import os
import signal
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
SHARED = os.environ.get('HLO_SHARED') or os.path.join(ROOT, '..', 'shared')


class Tests:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, name, ok, why=''):
        if ok:
            self.passed += 1
        else:
            self.failed += 1
            print(f'failed: {name}: {why}')

    def skip(self, name, why):
        self.skipped += 1
        print(f'skipped: {name}: {why}')

    def finish(self):
        print(f'{self.passed} passed, {self.failed} failed, {self.skipped} skipped')
        sys.exit(1 if self.failed else 0)


def run_within(command, seconds):
    """(status, output, message); no status past the time. All that the command started ends then, as the reference's driver
    is a script."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors='replace',
                               start_new_session=True)
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, '', ''
    return process.returncode, out, err


def shared(*parts):
    """The path of a record, or None where it is absent."""
    path = os.path.join(SHARED, *parts)
    return path if os.path.exists(path) else None


def programs():
    """The folder of our programs, from the command line."""
    return sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, 'build', 'release', 'bin')
