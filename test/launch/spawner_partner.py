"""Takes the place of ros2_control's spawner in a launch: leaves the controllers that it is given
to the controller manager's partner, and ends."""
import os
import sys
from pathlib import Path

FOLDER = Path(os.environ['FLEX_PARTNER_FOLDER'])


def main():
    words = sys.argv[1:sys.argv.index('--ros-args')] if '--ros-args' in sys.argv else sys.argv[1:]
    file = words[words.index('--param-file') + 1]
    assert Path(file).is_file(), file
    names = words[:next(at for at, word in enumerate(words) if word.startswith('--'))]
    if '--inactive' in words:
        (FOLDER / 'inactive').write_text(' '.join(names))
        return
    broadcaster, controller = names
    assert broadcaster == 'joint_state_broadcaster'
    (FOLDER / 'new').write_text(controller)
    (FOLDER / 'new').rename(FOLDER / 'active')


if __name__ == '__main__':
    main()
