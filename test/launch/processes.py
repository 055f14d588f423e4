"""Ends what a test has launched."""
from __future__ import annotations

import os
import signal
import subprocess


def end(process: subprocess.Popen, patience: float = 20.0) -> int:
    """Interrupt a launch that leads a session of its own, kill all of it after `patience` s;
    returns its exit code."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode
