"""Every message of the frontend stands in a golden: an error that nothing provokes may be wrong or unreadable.

Messages are the string literals in calls that report; %s and the like match anything.
"""
import glob, re, sys

REPORTERS = r"\b(KC_FN_ERROR|KC_CALL_ERROR|kc_report|fail|error|fail_in_bracket|signature_error|report|kc_call_refuse(?:_at)?)\("
LITERAL = r'"((?:[^"\\]|\\.)*)"'
CONVERSION = r"%[-.0-9*]*(?:ll|l|z)?[dusgcX]"
SHORT = 12  # characters: parts of messages
# What no golden can show: limits that take a large file, which test_frontend.c tries, and memory.
ELSEWHERE = ["more than %d dimensions and strides", "the body has %zu bytes", "more than %d functions, instances counted",
             "the file has %d functions", "the file has %zu bytes", "out of memory", "is too large an expression",
             "not enough memory", "is larger than 1 GiB", "have more than 1 GiB", "cannot be read", "a header of more than 16 MiB",
             "has %d constants; at most"]  # tests/cli/constants.sh has the large files


def arguments(text, start):
    """The text of a call's arguments, from after its bracket."""
    depth, at = 1, start
    while depth and at < len(text):
        if text[at] == '"':
            at += len(re.match(LITERAL, text[at:]).group(0)) - 1
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return text[start:at]


def messages(text):
    for call in re.finditer(REPORTERS, text):
        for group in re.finditer(LITERAL + r"(?:\s*" + LITERAL + ")*", arguments(text, call.end())):
            parts = re.findall(LITERAL, group.group(0))
            message = "".join(parts).replace('\\"', '"').replace("\\\\", "\\").replace("%%", "%")
            if len(re.sub(CONVERSION, "", message)) >= SHORT:
                yield text[: call.start()].count("\n") + 1, message


goldens = "\n".join(open(path, errors="replace").read() for path in glob.glob("tests/golden/frontend/**/*.err", recursive=True))
count = failures = 0
for path in sorted(glob.glob("compiler/frontend/*.c")):
    for line, message in messages(open(path).read()):
        count += 1
        pattern = ".*?".join(re.escape(part) for part in re.split(CONVERSION, message))
        if not re.search(pattern, goldens) and not any(known in message for known in ELSEWHERE):
            print(f"not ok frontend message of {path}:{line}: no golden in tests/golden/frontend shows '{message}'")
            failures += 1
if count < 100:
    print(f"not ok frontend messages: only {count} were found")
    failures += 1
if not failures:
    print(f"ok frontend messages: {count}")
sys.exit(failures > 0)
