"""Runs functions in processes of their own, a few at a time: a mutant may crash or never end."""
import json, os, select, signal, time

SECONDS = 20  # a run that takes longer hangs


def begin(work):
    """(pid, file descriptor its answer comes from)"""
    out, into = os.pipe()
    pid = os.fork()
    if pid:
        os.close(into)
        return pid, out
    os.close(out)
    signal.alarm(SECONDS)
    try:
        answer = work()
    except BaseException as e:
        answer = "broken", f"{type(e).__name__}: {e}"
    os.write(into, json.dumps(answer).encode()[:4000])
    os._exit(0)


def end(pid, out):
    text = b""
    while True:
        part = os.read(out, 1 << 16)
        if not part:
            break
        text += part
    os.close(out)
    status = os.waitpid(pid, 0)[1]
    if text:
        return tuple(json.loads(text))
    return ("hang", "") if status == signal.SIGALRM else ("broken", f"the process ended with status {status}")


def run(works, names, jobs):
    """Yields (name, answer) in the order of the list."""
    running, answers, following, told = {}, {}, 0, 0
    while told < len(works):
        while following < len(works) and len(running) < jobs:
            pid, out = begin(works[following])
            running[out] = pid, following
            following += 1
        for out in select.select(list(running), [], [])[0]:
            pid, which = running.pop(out)
            answers[which] = end(pid, out)
        while told in answers:
            yield names[told], answers.pop(told)
            told += 1
