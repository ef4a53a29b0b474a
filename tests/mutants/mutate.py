"""Broken copies of PTX: one thing that keeps threads or copies in order is taken away or turned.

A mutant is named KERNEL CLASS N: the N-th place of its class in the kernel, in the order of the text. The classes:

    barrier       bar, barrier, barrier.cluster.arrive and .wait: gone; of .red each thread's own answer stays
    cluster_pair  an arrive and the wait that follows it: both gone
    warp_barrier  bar.warp.sync gone
    wait_group    cp.async.wait_group, cp.async.bulk.wait_group, wgmma.wait_group: one more group may be open
    no_wait       the same, gone; of cp.async.wait_all too
    commit        a group is not closed: cp.async, cp.async.bulk, wgmma
    wait          a wait of an mbarrier succeeds at once
    parity        it waits for the other phase
    arrive        an arrival is not made; cp.async.mbarrier.arrive too
    arrive_twice  it is made twice
    init          an mbarrier expects one arrival more
    expect        it expects 16 bytes more
    fence         fence and membar: gone. The proxy's and the initialisation's too
    wgmma_fence   wgmma.fence: gone
    early_wait    griddepcontrol.wait: gone
    shift         an access to shared memory is one stage further up: the first and the last of each instruction
    wrap          a counter that starts again at 0 goes one further
"""
import copy, re

RULES = []  # (class, how a statement begins, what becomes of it: a function of the match and the kernel)


def rule(name, pattern):
    def keep(change):
        RULES.append((name, re.compile(pattern, re.S), change))
        return change

    return keep


GUARD = r"(?P<guard>@!?[\w%$]+\s+)?"
gone = lambda m: ""
rule("barrier", GUARD + r"bar(?:rier)?(?:\.cta)?\.(?:sync|arrive)\b")(gone)
rule("barrier", GUARD + r"barrier\.cluster\.(?:arrive|wait)\b")(gone)
rule("warp_barrier", GUARD + r"bar\.warp\.sync\b")(gone)
rule("no_wait", GUARD + r"cp\.async\.wait_(?:group|all)\b|" + GUARD.replace("guard", "guard2") +
     r"(?:cp\.async\.bulk|wgmma)\.wait_group\b")(gone)
rule("commit", GUARD + r"(?:cp\.async(?:\.bulk)?|wgmma)\.commit_group\b")(gone)
rule("fence", GUARD + r"(?:fence|membar)\b")(gone)
rule("wgmma_fence", GUARD + r"wgmma\.fence\b")(gone)
rule("early_wait", GUARD + r"griddepcontrol\.wait\b")(gone)
rule("arrive", GUARD + r"cp\.async\.mbarrier\.arrive\b")(gone)


@rule("barrier", GUARD + r"bar(?:rier)?\.red\.(?P<op>\w+)\S*\s+(?P<to>[\w%$]+)\s*,(?:.*,)?\s*(?P<mine>!?[\w%$]+)$")
def own_answer(m):
    if m["op"] != "popc":
        return f"{m['guard'] or ''}{'not' if m['mine'][0] == '!' else 'mov'}.pred {m['to']}, {m['mine'].lstrip('!')}"
    ours = "0, 1" if m["mine"][0] == "!" else "1, 0"
    return f"{m['guard'] or ''}selp.u32 {m['to']}, {ours}, {m['mine'].lstrip('!')}"


@rule("wait_group", GUARD + r"(?P<head>(?:cp\.async(?:\.bulk)?|wgmma)\.wait_group\S*\s+)(?P<n>\d+)")
def one_more_group(m):
    return m.string[:m.start("n")] + str(int(m["n"]) + 1) + m.string[m.end("n"):]


WAIT = GUARD + r"mbarrier\.(?:try|test)_wait(?P<parity>\.parity)?\S*\s+(?P<to>[\w%$]+)\s*,\s*\[[^]]*\]\s*,\s*(?P<phase>[\w%$]+)"


@rule("wait", WAIT)
def no_waiting(m):
    return f"{m['guard'] or ''}setp.eq.u32 {m['to']}, 0, 0"


@rule("parity", WAIT)
def other_phase(m):
    if not m["parity"]:
        return None
    text = m.string[:m.start("phase")] + "kc_mutant" + m.string[m.end("phase"):]
    return f"{{ .reg .b32 kc_mutant; xor.b32 kc_mutant, {m['phase']}, 1; {text}; }}"


ARRIVE = GUARD + r"mbarrier\.arrive(?P<drop>_drop)?(?P<expect>\.expect_tx)?[\w.:]*\s+(?:(?P<to>[\w%$]+)\s*,\s*)?\[(?P<at>[^]]*)\]"


@rule("arrive", ARRIVE)
def no_arrival(m):
    return "" if m["to"] in (None, "_") else None


@rule("arrive_twice", ARRIVE)
def two_arrivals(m):
    return m.string + "; " + m.string


@rule("init", GUARD + r"mbarrier\.init\S*\s+\[[^]]*\]\s*,\s*(?P<n>[\w%$]+)")
def one_arrival_more(m):
    text = m.string[:m.start("n")] + "kc_mutant" + m.string[m.end("n"):]
    return f"{{ .reg .b32 kc_mutant; add.u32 kc_mutant, {m['n']}, 1; {text}; }}"


@rule("expect", GUARD + r"mbarrier\.(?:arrive\.)?expect_tx\S*\s+(?:[\w%$]+\s*,\s*)?\[[^]]*\]\s*,\s*(?P<n>[\w%$]+)")
def more_bytes(m):
    return one_arrival_more(m).replace(", 1; ", ", 16; ", 1)


@rule("wrap", r"selp\.[bsu]32\s+[\w%$]+\s*,\s*(?P<n>0)\s*,\s*(?P<next>[\w%$]+)\s*,|selp\.[bsu]32\s+[\w%$]+\s*,\s*(?P<next2>%[\w$]+)\s*,\s*(?P<n2>0)\s*,")
def one_further(m):
    """Only of a counter: the other operand is the result plus one."""
    n, following = ("n", m["next"]) if m["n"] else ("n2", m["next2"])
    return None if following[0] != "%" else m.string[:m.start(n)] + following + m.string[m.end(n):]


SHARED = re.compile(GUARD + r"(?P<op>(?:ld|st)(?:\.\w+)*\.shared[\w.:]*|ldmatrix[\w.:]*|stmatrix[\w.:]*|cp\.async\.c[ag][\w.:]*|atom\.shared[\w.:]*|"
                    r"red\.shared[\w.:]*|cp\.async\.bulk[\w.:]*\.shared::\w+\.global[\w.:]*)\s[^\[]*\[(?P<at>[^\]]*)\]", re.S)


class Statement:
    """`text` without its semicolon, at `start` of the PTX."""

    def __init__(self, text, start):
        lead = len(text) - len(text.lstrip())
        self.text, self.start = text.strip(), start + lead
        self.end = self.start + len(self.text)


class Mutant:
    def __init__(self, kernel, name, statement, text):
        self.kernel, self.kind, self.statement, self.text = kernel, name, statement, text
        self.number, self.image = 0, None

    def key(self):
        return f"{self.kernel} {self.kind} {self.number}"

    def of(self, ptx):
        return ptx[:self.statement.start] + self.text + ptx[self.statement.end:]

    def trap(self):
        """The same place, where whoever comes there is stopped."""
        stop = copy.copy(self)
        stop.text = (re.match(GUARD, self.statement.text)[0] or "") + "trap"
        return stop


def entries(ptx):
    """{kernel: (start, end) of its body}, functions too."""
    found = {}
    for m in re.finditer(r"\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)\s*\(", ptx):
        opened = re.compile(r"[{;]").search(ptx, ptx.index(")", m.end()))
        if not opened or opened.group() == ";":
            continue
        depth, at = 1, opened.end()
        for brace in re.finditer(r"[{}]", ptx[at:]):
            depth += 1 if brace.group() == "{" else -1
            if depth == 0:
                found[m[1]] = (at, at + brace.start())
                break
    return found


def statements(ptx, start, end):
    """Labels and braces of scopes end a statement too; operands in braces do not."""
    found, at, depth = [], start, 0
    for m in re.finditer(r"[;{}]|[\w$%]+:(?!:)", ptx[start:end]):
        here, mark = start + m.start(), m.group()
        inside = ptx[at:here].strip() != ""
        if mark == "{" and (inside or depth):
            depth += 1
        elif mark == "}" and depth:
            depth -= 1
        elif depth == 0 and not (mark[-1] == ":" and inside):
            if mark == ";" and inside:
                found.append(Statement(ptx[at:here], at))
            at = here + len(mark)
    return found


def cluster_pairs(kernel, list):
    """An arrive and the wait right behind it, as one mutant: the statement reaches from one to the other."""
    for a, b in zip(list, list[1:]):
        if "barrier.cluster.arrive" in a.text and "barrier.cluster.wait" in b.text:
            both = Statement("", a.start)
            both.end, both.text = b.end, a.text + "; " + b.text
            yield Mutant(kernel, "cluster_pair", both, "")


def shifted(kernel, list, stage):
    """The first and the last access of each instruction, `stage` bytes further up."""
    found = {}
    for s in list:
        m = SHARED.match(s.text)
        if m:
            found.setdefault(m["op"], []).append((s, m))
    for these in found.values():
        for s, m in these[:1] + these[1:][-1:]:
            base, plus, offset = m["at"].partition("+")
            if offset and not re.fullmatch(r"-?\d+", offset.strip()):
                continue
            at = f"{base}+{int(offset or 0) + stage}"
            yield Mutant(kernel, "shift", s, s.text[:m.start("at")] + at + s.text[m.end("at"):])


def is_counter(list, s, m):
    """selp x, 0, y: y is x + 1."""
    to = re.match(r"selp\.\w+\s+([\w%$]+)", s.text)[1]
    following = m["next"] or m["next2"]
    return any(re.match(rf"add\.[su]32\s+{re.escape(following)}\s*,\s*{re.escape(to)}\s*,\s*1$", t.text) for t in list)


def mutants(ptx, stage):
    """All of a module's. stage: bytes that `shift` moves by."""
    found, ptx = [], re.sub(r"//[^\n]*", lambda m: " " * len(m[0]), ptx)
    for kernel, (start, end) in entries(ptx).items():
        list = statements(ptx, start, end)
        for s in list:
            for name, pattern, change in RULES:
                m = pattern.match(s.text)
                if not m or (name == "wrap" and not is_counter(list, s, m)):
                    continue
                text = change(m)
                if text is not None:
                    found.append(Mutant(kernel, name, s, text))
        found += cluster_pairs(kernel, list)
        found += shifted(kernel, list, stage)
    numbers = {}
    for mutant in sorted(found, key=lambda m: m.statement.start):
        numbers[mutant.kernel, mutant.kind] = mutant.number = numbers.get((mutant.kernel, mutant.kind), -1) + 1
    return found
