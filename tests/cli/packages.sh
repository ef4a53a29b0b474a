#!/bin/sh
# kc inspect, link and verify; packages that are damaged.
. "$(dirname "$0")/common.sh"
PY=/usr/bin/python3
M=$MODELS/several.yaml
"$KC" build "$M" --target cuda:sm_80 --images ptx -o cuda.kcb
"$KC" build "$M" --target hip:gfx942 -o hip.kcb
"$KC" build "$M" --target cuda:sm_80 --target hip:gfx942 --images ptx -o both.kcb

# ---- other tools read it
if command -v llvm-objdump-22 > /dev/null; then
    check llvm_lists_it 0 'sm_80' llvm-objdump-22 --offloading cuda.kcb
    "$KC" build "$M" --target cuda:sm_80 --images ptx --function norm -o norm.kcb
    llvm-offload-binary-22 norm.kcb "--image=file=llvm.ptx,arch=sm_80,kc.role=ptx"
    "$KC" inspect norm.kcb --extract sm_80:ptx=kc.ptx
    tr -d '\000' < llvm.ptx > stripped.ptx
    same llvm_extracts_the_same stripped.ptx kc.ptx
else
    skip llvm_lists_it "no llvm-objdump-22"
fi
check json 0 '' sh -c '"$1" inspect --json --verify both.kcb | "$2" -m json.tool' sh "$KC" $PY
check extract_by_function 0 '' "$KC" inspect both.kcb --extract sm_80:ptx:norm=n.ptx
check extracted 0 'entry norm_v0_k0' cat n.ptx
check extract_is_ambiguous 1 'sm_80:ptx:norm' "$KC" inspect both.kcb --extract sm_80:ptx=n.ptx
check extract_unknown 1 'the file has: sm_80:ptx' "$KC" inspect both.kcb --extract sm_70=n.ptx
check extract_bad 2 'FILE is wanted' "$KC" inspect both.kcb --extract sm_70

# ---- link
check links 0 '' "$KC" link cuda.kcb hip.kcb -o linked.kcb
check linked_agrees 0 'agree' "$KC" inspect --verify linked.kcb
"$KC" inspect both.kcb | sed 1d | grep -v '^ *[0-9]' | sed 's/, images* .*//' | sort > want
"$KC" inspect linked.kcb | sed 1d | grep -v '^ *[0-9]' | sed 's/, images* .*//' | sort > got
same linked_is_as_if_built_together want got
check conflict_names_both 1 'cuda.kcb and both.kcb' "$KC" link cuda.kcb both.kcb -o x.kcb
"$KC" build "$MODELS/saxpy.yaml" --target cuda:sm_80 --images ptx -o saxpy.kcb
check other_module 1 'several.*vectors' "$KC" link cuda.kcb saxpy.kcb -o x.kcb
sed 's/sqrt(sum(x \* x/sqrt(sum(x + x/' "$M" > changed.yaml
"$KC" build changed.yaml --target hip:gfx942 -o changed.kcb
check other_model 1 'computes something else' "$KC" link cuda.kcb changed.kcb -o x.kcb
sed 's/x: "f32\[M, N\]"/x: "f32[N, M]"/' "$M" > turned.yaml
"$KC" build turned.yaml --target hip:gfx942 -o turned.kcb 2> /dev/null && check other_arguments 1 'other arguments' "$KC" link cuda.kcb turned.kcb -o x.kcb
true_that nothing_written test ! -e x.kcb
(echo '# a comment moves every line'; cat "$M") > moved.yaml
"$KC" build moved.yaml --target hip:gfx942 -o moved.kcb
check comments_do_not_matter 0 '' "$KC" link cuda.kcb moved.kcb -o x.kcb

# ---- damage
head -c 1000 cuda.kcb > cut.kcb
check cut 1 'not a usable package' "$KC" inspect cut.kcb
: > empty.kcb
check empty 1 'empty' "$KC" inspect empty.kcb
check not_a_package 1 'not a usable package' "$KC" inspect "$M"
check no_such_package 1 'nothing.kcb' "$KC" inspect nothing.kcb
cat > mutate.py <<'EOF'
import random, subprocess, sys
kc, source = sys.argv[1], open(sys.argv[2], 'rb').read()
random.seed(7)
for i in range(60):
    data = bytearray(source)
    for _ in range(random.randint(1, 4)):
        data[random.randrange(len(data) if i % 2 else 9000)] = random.randrange(256)
    open('mutated.kcb', 'wb').write(data)
    for command in (['inspect'], ['inspect', '--verify'], ['inspect', '--json'], ['link']):
        words = [kc, *command, 'mutated.kcb'] + (['hip.kcb', '-o', 'mutant.kcb'] if command == ['link'] else [])
        r = subprocess.run(words, capture_output=True, timeout=20)
        if r.returncode not in (0, 1):
            sys.exit(f'{command} of mutation {i}: {r.returncode} {r.stderr[-300:]}')
EOF
check mutated_packages_are_survived 0 '' $PY mutate.py "$KC" cuda.kcb
printf 'X' | dd of=both.kcb bs=1 seek=$(($(stat -c %s both.kcb) - 40)) conv=notrunc 2> /dev/null
check hashes_are_checked 1 'SHA-256' "$KC" inspect --verify both.kcb

# ---- verify
if "$KC" doctor --json | grep -q '"cuda-sim", "there": true' && "$KC" doctor --json | grep -q '"reference", "there": true'; then
    check verify_package 0 '0 failed, 0 unverified' "$KC" verify cuda.kcb
    check verify_model 0 'softmax.*passed' "$KC" verify "$MODELS/softmax.yaml"
    check verify_function 0 '^norm ' "$KC" verify cuda.kcb norm
    check verify_unknown_function 1 'scale norm count class' "$KC" verify cuda.kcb nrm
    "$KC" build "$M" --target cuda:sm_80 --images ptx --strip -o stripped.kcb
    check stripped_is_unverified 1 'no IR' "$KC" verify stripped.kcb
    true_that hint_is_last sh -c '"$1" verify stripped.kcb 2>&1 | tail -n 1 | grep -q -e ^"kc verify: .*--allow-unverified"' sh "$KC"
    check unverified_may_be_allowed 0 'unverified' "$KC" verify stripped.kcb --allow-unverified
    check verify_json 0 '' sh -c '"$1" verify cuda.kcb norm --json | "$2" -m json.tool' sh "$KC" $PY
    # kernels of one model with the IR of another: the numbers are wrong, and that must show
    cat > graft.py <<'EOF'
import hashlib, json, struct, sys
def read(path):
    data, at, out = open(path, 'rb').read(), 0, []
    while at < len(data):
        size, entry = struct.unpack_from('<QQ', data, at + 8)
        kinds = data[at + entry:at + entry + 8]
        so, sn, io, isz = struct.unpack_from('<QQQQ', data, at + entry + 8)
        text = lambda o: data[at + o:data.index(b'\0', at + o)]
        pairs = {text(a): text(b) for a, b in (struct.unpack_from('<QQ', data, at + so + 16 * i) for i in range(sn))}
        out.append((kinds, pairs, data[at + io:at + io + isz]))
        at += size
    return out
def write(path, entries):
    with open(path, 'wb') as f:
        for kinds, pairs, image in entries:
            table, offsets = b'\0', []
            for a, b in pairs.items():
                offsets.append((len(table), len(table) + len(a) + 1))
                table += a + b'\0' + b + b'\0'
            base = 72 + 16 * len(pairs)
            at = (base + len(table) + 7) // 8 * 8
            total = (at + len(image) + 7) // 8 * 8
            blob = b'\x10\xff\x10\xad' + struct.pack('<IQQQ', 1, total, 32, 40) + kinds + struct.pack('<QQQQ', 72, len(pairs), at, len(image))
            for a, b in offsets: blob += struct.pack('<QQ', base + a, base + b)
            blob = (blob + table).ljust(at, b'\0') + image
            f.write(blob.ljust(total, b'\0'))
kernels, other = read(sys.argv[1]), read(sys.argv[2])
ir = next(e[2] for e in other if e[1][b'kc.role'] == b'ir')
manifest = json.loads(kernels[0][2])
for i, (kinds, pairs, image) in enumerate(kernels):
    if pairs[b'kc.role'] == b'ir':
        kernels[i] = (kinds, pairs, ir)
        manifest['images'][i - 1].update(sha256=hashlib.sha256(ir).hexdigest(), size=len(ir))
kernels[0] = (kernels[0][0], kernels[0][1], json.dumps(manifest).encode())
write(sys.argv[3], kernels)
EOF
    "$KC" build changed.yaml --target cuda:sm_80 --images ptx -o changed.kcb
    $PY graft.py cuda.kcb changed.kcb grafted.kcb
    check wrong_numbers_are_found 1 'elements wrong' "$KC" verify grafted.kcb norm
    check the_others_still_pass 0 '0 failed' "$KC" verify grafted.kcb scale count
    check run_checks_too 1 '' "$KC" run grafted.kcb norm --device cuda-sim:sm_80 --input x=17x33:normal --check
    check run_passes 0 '' "$KC" run cuda.kcb norm --device cuda-sim:sm_80 --input x=17x33:normal --check
    check verify_hip_without_simulator 1 'unverified' sh -c 'KCRT_HIP_SIM=/nowhere "$1" verify hip.kcb norm' sh "$KC"
else
    skip verify_package "no simulator or no reference beside kc"
fi
check bench_needs_a_gpu 1 'no clock\|measured on a GPU' "$KC" bench cuda.kcb norm --device cuda-sim
