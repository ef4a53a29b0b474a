"""Values worth trying."""
import numpy as np
from elements import decode, encode, least, least_exponent, most, largest, storage, FLOATS

SIZES = [
    0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025
]

SPECIAL = [
    0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 2, -2, 0.5, -0.5, 3, -3, 1.5, 2.5, -2.5
]
# Where functions change their method, overflow, underflow or lose their argument.
PLACES = [
    -1.5, 3.5, 4.5, 0.49999997, -0.7, 88.72283, 88.72284, -87.33655, -103.9, -104, 89, -110, 709.78, 709.79, -745, -746, 127.99999, 128,
    -126, -149, -149.5, -150.1, 1023.9, 1024, -1022.5, -1074.5, -1076, 1e-8, -1e-8, 1e-30, 0.99999994, 1.0000001, 1.0001, 0.5000001,
    2.7182817, 10, 100, 1e10, -1e10, 16777216, 16777217, 8388607.5, 4194303.5, 65504, 65519, 65520, -65536, 1e22, 1e30, 3e38, 1e300,
    -1e-300, 3.1415927, 1.5707964, 4.712389, 6.2831855, 22, 355, 710, 103993, 5e6, 0.1, 0.3, 3.9, 4.1, 5.9, 9.0, 9.1, 20, -4, -9.2, 0.8,
    0.84375, 0.34657359, 0.17328680, 1.0397208, 2.0**31, 2.0**31 - 128, -2.0**31, 2.0**63, -2.0**63, 2.0**62, 127.5, 128.5, 255.5, 256,
    -128.5, -129, 32767.5, 32768, -32769
]


def edges(t):
    """The type's own: least and largest, denormal and normal."""
    low, m = least_exponent(t), FLOATS[t][3]
    tiny, small, big = 2.0 ** (low - m), 2.0**low, largest(t)
    return [tiny, -tiny, small, -small, small - tiny, big, -big, big / 2, np.sqrt(small), np.sqrt(big), 1 + 2.0**-m, 1 - 2.0 ** -(m + 1), 3 * tiny]


def floats(t, count, seed):
    """Storage: special values, the type's edges, places of interest, then random ones of every size and of ordinary sizes."""
    rng = np.random.default_rng([seed, len(t), FLOATS[t][3]])
    low, high = least_exponent(t) - FLOATS[t][3], np.log2(largest(t))
    third = count // 3
    random = np.concatenate([np.exp2(rng.uniform(low, high, third)) * rng.choice([-1, 1], third), rng.standard_normal(third) * 3,
                             rng.uniform(-1, 1, count - 2 * third) * np.exp2(rng.uniform(-3, 7, count - 2 * third))])
    special = np.concatenate([encode(t, np.array(part, np.float64)) for part in (SPECIAL[:9], edges(t), SPECIAL[9:], PLACES)])
    _, first = np.unique(special.view(storage(t).str.replace("f", "u").lstrip("<")), return_index=True)  # by bits: both zeros stay
    return np.concatenate([special[np.sort(first)], encode(t, random)])


def spread(t, count, seed):
    """For activations: mostly ordinary."""
    rng = np.random.default_rng([seed, len(t)])
    x = np.concatenate([SPECIAL, [-20, 20, -87, -88.8, -90, 88.8, -104, 104, -5.5, 5.5, 9, -9, -13, 13, 1e-20, -1e-30, 700, -709, -746, 1e4, -1e4, 1e18, -1e18], np.linspace(-16, 16, count)])
    return encode(t, np.concatenate([x, rng.standard_normal(count // 2)]))


def integers(t, count=120):
    rng = np.random.default_rng([9, len(t), 1 + most(t) % 97])
    low, high = least(t), most(t)
    special = [0, 1, high, low, high - 1, low + 1, 2, 3, high // 2, 7, 10, 16]
    special += [-1, -2, -3, -7, low // 2] if low else [128, 200, 254, 100, 64]
    sizes = rng.integers(0, 63, count)
    random = rng.integers(low, high, count, endpoint=True) >> (sizes % max(1, high.bit_length()))
    return np.array(special + random.tolist(), storage(t))


def pattern(t, shape, seed=0):
    """Distinct neighbours that pack well: for what moves data, where only the places matter."""
    n = int(np.prod(shape, dtype=np.int64))
    i = np.arange(n, dtype=np.int64) + seed
    if t == "bool":
        return ((i * i + i // 3) % 3 == 0).reshape(shape)
    if t in FLOATS:
        table = decode(t, np.arange(1 << FLOATS[t][1], dtype=storage(t))) if FLOATS[t][1] <= 8 else None
        return encode(t, (i % 113 - 56) * 0.5).reshape(shape) if table is None else encode(t, table[i % 7 + 1]).reshape(shape)
    return (i % min(most(t) - least(t) + 1, 30011) + max(least(t), -15000)).astype(storage(t)).reshape(shape)


def small(t, shape, seed, size=4):
    """Whole numbers so small that sums and products of them are exact; regular, so that they pack well."""
    n, low = int(np.prod(shape, dtype=np.int64)), 0 if t == "u8" else -size
    i = np.arange(n, dtype=np.int64)
    x = ((i * 5 + i // 7 * 3 + i // 61 + i // 997 * 2 + seed) % (size - low + 1) + low).reshape(shape)
    return encode(t, x.astype(np.float64)) if t in FLOATS else x.astype(storage(t))
