"""elements.py against ml_dtypes: the value of every pattern, and rounding from f32, but for what lies beyond the range."""

import ml_dtypes
import numpy as np
from elements import FLOATS, decode, encode, largest, storage

NAMES = {
    "bf16": "bfloat16",
    "f8e4m3": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2fnuz": "float8_e5m2fnuz",
    "f8e8m0": "float8_e8m0fnu",
    "f4e2m1": "float4_e2m1fn",
}


def same(a, b):
    return (np.isnan(a) & np.isnan(b)) | ((a == b) & (np.signbit(a) == np.signbit(b)))


def check():
    rng = np.random.default_rng(1)
    for t, name in NAMES.items():
        other = getattr(ml_dtypes, name)
        patterns = np.arange(1 << FLOATS[t][1]).astype(storage(t))
        values = decode(t, patterns)
        with np.errstate(all="ignore"):
            assert same(patterns.view(other).astype(np.float64), values).all(), t
            grid = np.sort(values[np.isfinite(values)]).astype(np.float32)
            middle = ((grid[1:].astype(np.float64) + grid[:-1]) / 2).astype(np.float32)
            x = np.concatenate(
                [
                    grid,
                    middle,
                    np.nextafter(middle, np.float32(np.inf)),
                    np.nextafter(middle, np.float32(-np.inf)),
                    (rng.standard_normal(5000) * 4).astype(np.float32),
                    [np.nan],
                ]
            )
            x = x[~(np.abs(x) > largest(t))].astype(np.float32)
            mine, theirs = decode(t, encode(t, x)), decode(t, x.astype(other).view(storage(t)))
        known = np.isnan(x) & (t == "f4e2m1")  # has no NaN: the language takes the largest value
        if t == "f8e8m0":
            known = known | (x == 0) | (x < 2.0**-126)  # no zero; ml_dtypes rounds what is denormal in f32 upwards
        wrong = np.flatnonzero(~same(mine, theirs) & ~known)
        assert not len(wrong), (t, x[wrong[:5]], mine[wrong[:5]], theirs[wrong[:5]])
        print(f"{t}: {len(x)} values agree")
