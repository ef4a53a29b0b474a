"""wmma.cu, mma.cu: tensor cores."""
