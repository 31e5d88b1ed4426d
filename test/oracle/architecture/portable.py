"""Weights that any language can make again: a value is a hash of the tensor's name and the element's index.

value(name, i) = mean + amplitude * (2 * u - 1), u = top 24 bits of splitmix64(fnv1a64(name) + i) / 2^24,
in double precision, rounded once to float. So a golden file holds names, shapes and logits, and no weights.
"""
import numpy as np

MASK = (1 << 64) - 1


def fnv1a64(text):
    h = 0xCBF29CE484222325
    for b in text.encode():
        h = ((h ^ b) * 0x100000001B3) & MASK
    return h


def splitmix64(x):
    x = (x + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def uniform(name, count):
    with np.errstate(over="ignore"):
        x = np.uint64(fnv1a64(name)) + np.arange(count, dtype=np.uint64)
        return (splitmix64(x) >> np.uint64(40)).astype(np.float64) / float(1 << 24)


def values(name, count, mean, amplitude):
    return (mean + amplitude * (2.0 * uniform(name, count) - 1.0)).astype(np.float32)


def tokens(name, count, vocabulary):
    return np.floor(uniform("tokens/" + name, count) * vocabulary).astype(np.int64)


class Recipe:
    """What makes the GGUF again: metadata, and per tensor its GGUF dimensions (ne0 first), mean and amplitude or plain values."""

    def __init__(self, architecture, metadata):
        self.architecture = architecture
        self.metadata = {"general.architecture": ["string", architecture], "tokenizer.ggml.model": ["string", "none"]}
        for key, value in metadata.items():
            self.put(key, value)
        self.tensors = []

    def put(self, key, value):
        if isinstance(value, bool):
            kind = "bool"
        elif isinstance(value, int):
            kind = "u32"
        elif isinstance(value, float):
            kind = "f32"
        elif isinstance(value, str):
            kind = "string"
        elif isinstance(value, list) and value and isinstance(value[0], bool):
            kind = "bool[]"
        elif isinstance(value, list):
            kind = "i32[]"
        else:
            raise TypeError(f"{key}: {value!r}")
        self.metadata[f"{self.architecture}.{key}"] = [kind, value]

    def tensor(self, name, *ne, mean=0.0, amplitude=None):
        """Returns the array in row-major order: shape is `ne` reversed."""
        if amplitude is None:  # uniform with standard deviation 1/sqrt(fan-in)
            amplitude = round(float(np.sqrt(3.0 / ne[0])), 6)
        self.tensors.append({"name": name, "ne": list(ne), "mean": mean, "amplitude": amplitude})
        return values(name, int(np.prod(ne)), mean, amplitude).reshape(tuple(reversed(ne)))

    def norm(self, name, count):
        return self.tensor(name, count, mean=1.0, amplitude=0.3)

    def literal(self, name, array):
        array = np.asarray(array, dtype=np.float32)
        self.tensors.append({"name": name, "ne": list(reversed(array.shape)), "values": [float(v) for v in array.ravel()]})
        return array

    def json(self):
        return {"architecture": self.architecture, "metadata": self.metadata, "tensors": self.tensors}
