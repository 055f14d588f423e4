"""How much a description may cost to read. What is exceeded is said in the error."""
from __future__ import annotations

import time

DEEPEST = 100               # nested elements, lists or brackets; a URDF needs six
MOST_ELEMENTS = 50_000      # of a document, expanded; a robot of a thousand links has 15 000
MOST_STEPS = 1_000_000      # operations in the expressions of a xacro
MOST_CHARACTERS = 20_000_000    # of text that a xacro evaluates
MOST_SECONDS = 30.0         # of processor time that a xacro may take
MOST_SEGMENTS = 100         # of a beam, and lumped masses: finite elements take their third power
MOST_MODES = 10_000         # elastic coordinates of a robot; a thousand links have 5 000
MOST_SECONDS_OF_MODES = 120.0   # of processor time that the mode shapes of a robot may take


class LimitError(Exception):
    """A description that costs too much; the message says what was expected and found.

    line: where, or None if that is not known.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class Budget:
    """What expanding one xacro has cost so far; LimitError as soon as it is too much."""

    def __init__(self) -> None:
        self.elements = 0
        self.steps = 0
        self.characters = 0
        self.end = time.thread_time() + MOST_SECONDS

    def element(self) -> None:
        self.elements += 1
        if self.elements > MOST_ELEMENTS:
            raise LimitError(f'expected at most {MOST_ELEMENTS} elements after expansion, '
                             'found more; look for macros that call themselves')
        self.watch()

    def step(self, cost: int = 1) -> None:
        self.steps += cost
        if self.steps > MOST_STEPS:
            raise LimitError(f'expected expressions of at most {MOST_STEPS} operations, found '
                             'more')
        if self.steps % 64 < cost:
            self.watch()

    def text(self, length: int) -> None:
        self.characters += length
        if self.characters > MOST_CHARACTERS:
            raise LimitError(f'expected at most {MOST_CHARACTERS} characters of evaluated text, '
                             'found more')

    def watch(self) -> None:
        """Look at the clock."""
        if time.thread_time() > self.end:
            raise LimitError(f'expected a xacro that is expanded within {MOST_SECONDS:g} s, found '
                             'one that takes longer')
