"""A package of kc with another text in place of one of its images."""
import hashlib, json, struct


def binaries(data):
    """[(head of the entry, strings, image)] of a package."""
    found, at = [], 0
    while at < len(data):
        magic, version, size, entry, _ = struct.unpack_from("<4sIQQQ", data, at)
        kind, offload, flags, strings, count, image, length = struct.unpack_from("<HHIQQQQ", data, at + entry)
        offsets = struct.unpack_from(f"<{2 * count}Q", data, at + strings)
        texts = [data[at + o:data.index(b"\0", at + o)].decode() for o in offsets]
        found.append(((kind, offload, flags), dict(zip(texts[::2], texts[1::2])), data[at + image:at + image + length]))
        at += size
    return found


def binary(head, strings, image):
    texts, text, offsets, table = [s for pair in strings.items() for s in pair], b"", [], 72 + 16 * len(strings)
    for s in texts:
        offsets.append(table + len(text))
        text += s.encode() + b"\0"
    at = (table + len(text) + 7) & ~7
    size = (at + len(image) + 7) & ~7
    out = struct.pack("<4sIQQQ", b"\x10\xff\x10\xad", 1, size, 32, 40) + struct.pack("<HHIQQQQ", *head, 72, len(strings), at, len(image))
    out += struct.pack(f"<{len(offsets)}Q", *offsets) + text
    return (out.ljust(at, b"\0") + image).ljust(size, b"\0")


def texts(data):
    """The PTX images."""
    return [image for _, strings, image in binaries(data) if strings["kc.role"] == "ptx"]


def with_text(data, old, new):
    """The package with image `new` for `old`; the manifest knows its size and digest."""
    out = b""
    for head, strings, image in binaries(data):
        if strings["kc.role"] == "manifest":
            manifest = json.loads(image)
            for row in manifest["images"]:
                if row["sha256"] == hashlib.sha256(old).hexdigest():
                    row["sha256"], row["size"] = hashlib.sha256(new).hexdigest(), len(new)
            image = json.dumps(manifest).encode()
        out += binary(head, strings, new if image == old else image)
    return out
