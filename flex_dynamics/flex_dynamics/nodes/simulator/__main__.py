"""`python3 -m flex_dynamics.nodes.simulator`"""
from flex_dynamics.nodes.simulator import main

main()
