"""From a Robot to flat arrays: beam fields, the tree of bodies, packing."""
