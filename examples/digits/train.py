#!/usr/bin/env python3
"""Trains the weights of digits.yaml and writes the files beside it. Needs numpy and scikit-learn (for the data only).

Data: Optical Recognition of Handwritten Digits, UCI, 8x8 pixels with values 0 to 16, as scikit-learn ships it (1797
images). The last 360 are the test set, which training never sees. Running it again gives the same files.
"""
import pathlib
import numpy as np
from sklearn.datasets import load_digits

HIDDEN, TEST, EPOCHS, BATCH, RATE = 128, 360, 400, 32, 0.05
here = pathlib.Path(__file__).parent
rng = np.random.default_rng(0)

data = load_digits()
pixels, labels = data.data.astype(np.uint8), data.target.astype(np.int64)
train_x, train_y = pixels[:-TEST].astype(np.float64) / 16, labels[:-TEST]
test_x, test_y = pixels[-TEST:], labels[-TEST:]

w1 = rng.normal(0, np.sqrt(2 / 64), (64, HIDDEN))
b1 = np.zeros(HIDDEN)
w2 = rng.normal(0, np.sqrt(1 / HIDDEN), (HIDDEN, 10))
b2 = np.zeros(10)


def forward(x):
    h = np.maximum(x @ w1 + b1, 0)
    z = h @ w2 + b2
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return h, e / e.sum(axis=1, keepdims=True)


for epoch in range(EPOCHS):
    order = rng.permutation(len(train_x))
    rate = RATE * (1 - epoch / EPOCHS)
    for start in range(0, len(order), BATCH):
        take = order[start:start + BATCH]
        x, y = train_x[take], train_y[take]
        # Shifts by a pixel: the test set was written by other people than the training set.
        dy, dx = rng.integers(-1, 2, 2)
        x = np.roll(x.reshape(-1, 8, 8), (dy, dx), (1, 2)).reshape(-1, 64) if rng.random() < 0.5 else x
        h, p = forward(x)
        p[np.arange(len(y)), y] -= 1
        dz = p / len(y)
        dh = (dz @ w2.T) * (h > 0)
        w2 -= rate * (h.T @ dz + 1e-4 * w2)
        b2 -= rate * dz.sum(axis=0)
        w1 -= rate * (x.T @ dh + 1e-4 * w1)
        b1 -= rate * dh.sum(axis=0)

files = {"images": test_x, "labels": test_y, "w1": w1.astype(np.float16), "b1": b1.astype(np.float32),
         "w2": w2.astype(np.float16), "b2": b2.astype(np.float32)}
for name, array in files.items():
    np.save(here / f"{name}.npy", array)
print(f"test accuracy in double precision: {(forward(test_x / 16)[1].argmax(axis=1) == test_y).mean():.4f}")
