"""What all kernels share: array layout, vector registers, spatial algebra, scratch memory."""
