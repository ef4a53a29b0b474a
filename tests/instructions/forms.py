"""The forms of PTX instructions: the rows of ptx_forms.def, spelled out, and operands that fit each of them."""
import itertools, os, re

HERE = os.path.dirname(os.path.abspath(__file__))
DEF = os.path.join(HERE, "..", "..", "runtime", "sim", "cuda")
BITS = {m[0]: int(m[1]) for m in re.findall(r'TYPE\(\w+, "(\w+)", (\d+),', open(os.path.join(DEF, "ptx_types.def")).read())}
FAMILY = {1: "p", 8: "h", 16: "h", 32: "r", 64: "d", 128: "q"}  # registers: p pred, h 16 bits, r 32, d 64, q 128, c 8


def read():
    return re.sub(r"/\*.*?\*/", "", open(os.path.join(DEF, "ptx_forms.def")).read(), flags=re.S)


def rows(macro="FORM"):
    """[(where, version, pattern)] of ptx_forms.def."""
    text = read()
    macros = dict(re.findall(r'#define (\w+) "([^"]*)"', text))
    found = []
    for where, version, parts in re.findall(macro + r'\("([^"]*)", (\d+), ([^\n]*)\)\n', text):
        pieces = re.findall(r'"([^"]*)"|(\w+)', parts)
        found.append((where, int(version), "".join(text if text else macros[name] if name else "" for text, name in pieces)))
    return found


def expand(pattern):
    """Every form of a pattern: "add[.ftz].f32" gives add.f32 and add.ftz.f32; /4 stays."""
    parts = re.findall(r"\(([^)]*)\)|\[([^]]*)\]|([^()\[\]]+)", pattern)
    choices = [one.split("|") if one else [""] + maybe.split("|") if maybe else [plain] for one, maybe, plain in parts]
    return ["".join(choice) for choice in itertools.product(*choices)]


WORDS = {w: (a, int(v)) for w, a, v in re.findall(r'WORD\("([^"]*)", "(\d+)", (\d+)\)', read())}


def stricter(row, words):
    """What a form of a row asks for, as words do that ask by themselves."""
    where, version = row[:2]
    for word in words:
        if word in WORDS:
            least, since = WORDS[word]
            version = max(version, since)
            where = where if where[-1] == "a" or int(where) >= int(least) else least
    return where, version


def split(form):
    """(words after the mnemonic's first, its types, the number of operands or None)"""
    text, _, count = form.partition("/")
    words = text.split(".")
    return words, [w for w in words[1:] if w in BITS], int(count) if count else None





def _barrier(words):
    if "red" in words:
        return ["r" if "popc" in words else "p", "1", "p"]
    return {"arrive": ["1", "64"], "cluster": [], "warp": ["r"]}.get(next((w for w in words[1:] if w in ("cluster", "warp", "arrive")), ""), ["1"])


def _fence(words):
    return [] if "tensormap::generic" not in words else ["[d]", "128"] if "acquire" in words else []


UNTYPED = {"bar": _barrier, "barrier": _barrier, "membar": lambda w: [], "fence": _fence, "nanosleep": lambda w: ["r"], "pmevent": lambda w: ["1"],
           "trap": lambda w: [], "brkpt": lambda w: [], "exit": lambda w: [], "griddepcontrol": lambda w: [], "elect": lambda w: ["r|p", "r"],
           "createpolicy": lambda w: ["d", "1.0"]}


def operands(form):
    """The registers of a form, destination first, a letter each (see FAMILY): ["r", "r", "r"] of add.u32. [x] is an address
    in x, x* a vector of as many as the form says, x|p a pair."""
    words, types, count = split(form)
    op, t = words[0], [FAMILY[BITS[x]] for x in types]
    if op in ("ld", "ldu", "st", "atom", "red"):
        return _memory(op, words, t[0])
    if op in ("isspacep", "shfl", "activemask", "vote", "match", "redux"):
        return {"isspacep": "p d", "shfl": "r|p r r r r", "activemask": "r", "vote": f"{t and t[0]} p r",
                "redux": "r r r", "match": f"r{'|p' * ('all' in words)} {t and t[0]} r"}[op].split()
    if op in UNTYPED:
        return UNTYPED[op](words)
    if op in ("prefetch", "prefetchu", "discard", "applypriority"):
        return ["[d]"] + ["128"] * (op[0] in "da")
    if op in ("mul", "mad") and "wide" in words:
        wide = {"h": "r", "r": "d"}[t[0]]
        return [wide, t[0], t[0]] + [wide] * (op == "mad")
    if op in ("shl", "shr"):
        return [t[0], t[0], "r"]
    if op == "bfe":
        return [t[0], t[0], "r", "r"]
    if op == "bfi":
        return [t[0], t[0], t[0], "r", "r"]
    if op in ("bfind", "clz", "popc"):
        return ["r", t[0]]
    if op in ("dp4a", "dp2a", "prmt", "shf"):
        return ["r"] * 4
    if op == "lop3":
        return ["r", *"rrr", "0x6a"] if len(words) == 2 else ["r|p", *"rrr", "0x6a", "p"]
    if op in ("testp", "setp"):
        pair = "p|p" if op == "setp" and types[-1] in ("f16x2", "bf16x2") else "p"
        return [pair, t[0]] + [t[0]] * (op == "setp") + ["p"] * bool({"and", "or", "xor"} & set(words[1:]))
    if op == "set":
        return [t[0], t[1], t[1]] + ["p"] * bool({"and", "or", "xor"} & set(words[1:]))
    if op == "selp":
        return [t[0]] * 3 + ["p"]
    if op == "slct":
        return [t[0]] * 3 + [t[1]]
    if op == "cvt":
        t = ["c" if x == "e2m1x2" else FAMILY[BITS[x]] for x in types]
        return [t[0]] + [t[1]] * ((count or 2) - 1)
    if len(types) == 2 and op in ("add", "sub", "fma"):  # mixed precision
        return [t[0]] + [t[1]] * (2 if op == "fma" else 1) + [t[0]]
    sources = {1: ("abs neg not cnot brev rcp sqrt rsqrt sin cos lg2 ex2 tanh mov cvta".split()),
               3: ("mad madc mad24 fma sad".split())}
    number = count - 1 if count else next((n for n, ops in sources.items() if op in ops), 2)
    return [t[0]] * (number + 1)


def _memory(op, words, t):
    vector = next((w for w in words if w in ("v2", "v4", "v8")), "")
    value = t + vector[1:] if vector else t
    hint = ["d"] * ("L2::cache_hint" in words)
    if op in ("ld", "ldu"):
        return [value, "[d]"] + hint
    if op == "st":
        return ["[d]", value] + hint
    return [value] * (op == "atom") + ["[d]", value] + [value] * ("cas" in words) + hint


def register_text(kind, letter):
    """"r4" as {rc0, rc1, rc2, rc3}, "[d]" as [dc], "r|p" as rc|pc."""
    if kind[0] == "[":
        return f"[{kind[1]}{letter}]"
    if kind[0].isdigit():
        return kind
    if "|" in kind:
        return f"{kind[0]}{letter}|{kind[2]}q"
    if len(kind) > 1:
        return "{" + ", ".join(f"{kind[0]}{letter}{i}" for i in range(int(kind[1:]))) + "}"
    return kind + letter


NO_RESULT = ("st", "red", "fence", "nanosleep", "prefetch", "prefetchu", "discard", "applypriority")


def register_text_of(form, kinds, instead=None):
    """The form with registers named by their kind and place: xd, then xa xb xc xe; `instead` {place: register}."""
    letters = ("" if form.split(".")[0] in NO_RESULT else "d") + ("abc-e" if form.startswith("lop3") else "abcef")
    texts = [register_text(k, l) for k, l in zip(kinds, letters)]
    for place, name in (instead or {}).items():
        texts[place] = name
    return f"{form.partition('/')[0]} {', '.join(texts)};"


def statement(form):
    return register_text_of(form, operands(form))


def declarations(version):
    names = [c + i for c in "dabcefq" for i in ("", *"01234567")]
    kinds = "p pred c b8 h b16 r b32 d b64 q b128".split()
    return "\n".join(f".reg .{t} {', '.join(k + n for n in names)};" for k, t in zip(kinds[::2], kinds[1::2]) if k != "q" or version >= 83)
