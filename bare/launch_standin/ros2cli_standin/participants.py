"""How many DDS participants there are, to know when discovery is complete.

A process whose first answer was lost is heard again after 2 to 3 s. Listing what is there after
the usual 0.5 s would miss it, on a busy machine every other time; so the processes of this
machine are counted by their ports. Those of other machines are not.
"""
from __future__ import annotations

from pathlib import Path
from typing import Any

# The ports of RTPS (DDSI-RTPS 9.6.1.1): PB + DG * domain + d1 + PG * participant.
PORT_BASE, DOMAIN_GAIN, UNICAST_OFFSET, PARTICIPANT_GAIN = 7400, 250, 10, 2
MOST_PARTICIPANTS = 120
PREFIX = 12      # bytes of a GID that name the participant
UNKNOWN_NODE = '_NODE_NAME_UNKNOWN_'      # what rmw says until it has heard the name


def local_participants(domain: int, table: Path = Path('/proc/net/udp')) -> int:
    """Participants on this machine, this process among them; 0 if the system does not say."""
    first = PORT_BASE + DOMAIN_GAIN * domain + UNICAST_OFFSET
    wanted = range(first, first + PARTICIPANT_GAIN * MOST_PARTICIPANTS, PARTICIPANT_GAIN)
    try:
        rows = table.read_text().splitlines()[1:]
        ports = {int(row.split()[1].rsplit(':', 1)[1], 16) for row in rows}
    except (OSError, ValueError, IndexError):
        return 0
    return len(ports.intersection(wanted))


def discovered_participants(node: Any) -> tuple[int, bool]:
    """How many of them are known by a publisher (each ROS node has one), and whether the nodes
    of all publishers are known by name."""
    endpoints = [endpoint for topic, _ in node.get_topic_names_and_types()
                 for endpoint in node.get_publishers_info_by_topic(topic)]
    known = {bytes(endpoint.endpoint_gid[:PREFIX]) for endpoint in endpoints}
    return len(known), all(endpoint.node_name != UNKNOWN_NODE for endpoint in endpoints)
