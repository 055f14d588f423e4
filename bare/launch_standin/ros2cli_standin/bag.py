"""`ros2 bag info`, read with rosbags."""
from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from rosbags.rosbag2 import Reader

from ros2cli_standin.commands import Verb, absent
from ros2cli_standin.errors import CommandError
from ros2cli_standin.graph import Graph

STORAGE = {'.mcap': 'mcap', '.db3': 'sqlite3'}
SECOND = 1_000_000_000      # ns
INDENT = ' ' * 19           # the width of the titles


def info_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('bag_path', help='Bag to open')
    parser.add_argument('-s', '--storage', default='', choices=sorted(STORAGE.values()),
                        help='Storage implementation of bag. By default attempts to detect '
                             'automatically - use this argument to override.')
    parser.add_argument('-t', '--topic-name', action='store_true',
                        help='Only display topic names.')
    parser.add_argument('-v', '--verbose', action='store_true',
                        help='Display request/response information for services')


def info(args: argparse.Namespace, graph: Graph) -> int:
    path = Path(args.bag_path)
    if args.verbose:
        raise absent(args.words, "option '--verbose' of 'bag info'")
    if not path.exists():
        raise CommandError(f"Bag path '{path}' does not exist!")
    try:
        with Reader(path) as reader:
            files = _files(reader, path)
            storage = STORAGE.get(files[0].suffix, 'unknown') if files else 'unknown'
            if args.storage and args.storage != storage:
                raise CommandError(f"{path}: expected storage '{args.storage}', found "
                                   f"'{storage}'")
            text = '\n'.join(_topic_names(reader) if args.topic_name
                             else _lines(reader, files, storage))
    except CommandError:
        raise
    except Exception as error:      # rosbags raises many types for damaged files
        advice = ''
        if path.is_dir() and not (path / 'metadata.yaml').is_file():
            advice = (f'; a recording that was cut off has no metadata.yaml, real ROS 2 writes it '
                      f'by: ros2 bag reindex {path}')
        raise CommandError(f'{path}: expected a rosbag2 folder or file, found: '
                           f'{error or type(error).__name__}{advice}') from None
    print(text)
    return 0


def _files(reader: Any, path: Path) -> list[Path]:
    """The files with messages."""
    if not path.is_dir():
        return [path]
    import yaml
    content = yaml.safe_load((path / 'metadata.yaml').read_text())
    names = content['rosbag2_bagfile_information']['relative_file_paths']
    return [path / Path(name).name for name in names]


def _is_service(connection: Any) -> bool:
    """Service events are recorded as topics."""
    return ('/srv/' in connection.msgtype and connection.msgtype.endswith('_Event')
            and connection.topic.endswith('/_service_event'))


def _topic_names(reader: Any) -> list[str]:
    return [one.topic for one in reader.connections if not _is_service(one)]


def _lines(reader: Any, files: list[Path], storage: str) -> list[str]:
    topics = [one for one in reader.connections if not _is_service(one)]
    services = [one for one in reader.connections if _is_service(one)]
    empty = reader.message_count == 0
    start = 0 if empty else reader.start_time
    end = 0 if empty else reader.end_time - 1      # rosbags' is one ns after the last message
    events = sum(one.msgcount for one in services)
    distribution = reader.storage.metadata.ros_distro or 'unknown'
    lines = ['', 'Files:             ' + f'\n{INDENT}'.join(one.name for one in files),
             f'Bag size:          {size_text(sum(one.stat().st_size for one in files))}',
             f'Storage id:        {storage}',
             f'ROS Distro:        {distribution}',
             f'Duration:          {seconds_text(end - start)}s',
             f'Start:             {time_text(start)}',
             f'End:               {time_text(end)}',
             f'Messages:          {reader.message_count - events}',
             'Topic information: ' + f'\n{INDENT}'.join(
                 f'Topic: {one.topic} | Type: {one.msgtype} | Count: {one.msgcount} | '
                 f'Serialization Format: {one.ext.serialization_format}' for one in topics),
             f'Service:           {len(services)}',
             'Service information: ' + f'\n{INDENT}  '.join(
                 f'Service: {one.topic.removesuffix("/_service_event")} | '
                 f'Type: {one.msgtype.removesuffix("_Event")} | Event Count: {one.msgcount} | '
                 f'Serialization Format: {one.ext.serialization_format}' for one in services)]
    return [*lines, ''] if services else lines


def size_text(size: float) -> str:
    """Bytes in the largest unit that fits."""
    units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
    while size >= 1024.0 and len(units) > 1:
        size /= 1024.0
        units.pop(0)
    return f'{size:.0f} B' if units[0] == 'B' else f'{size:.1f} {units[0]}'


def seconds_text(nanoseconds: int) -> str:
    return f'{nanoseconds // SECOND}.{nanoseconds % SECOND:09d}'


def time_text(stamp: int) -> str:
    """Local date and time of a stamp in ns, and the stamp in s."""
    local = time.localtime(stamp // SECOND)
    return (f'{time.strftime("%b %e %Y %H:%M:%S", local)}.{stamp % SECOND:09d} '
            f'({seconds_text(stamp)})')


VERBS = {'info': Verb('Print information about a bag to the screen.', info_arguments, info)}
