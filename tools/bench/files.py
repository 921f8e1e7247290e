# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The files of the scripts here: figures in, one whole file out or none."""
import json
import os
import sys
import tempfile

MOST = sys.float_info.max


def faults_of(value, place=""):
    """What no bench writes, wherever it stands: a number that is none or that
    no double holds, control characters in a text."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from faults_of(key, place)
            yield from faults_of(part, f"{place}.{key}" if place else key)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from faults_of(part, f"{place}[{index}]")
    elif isinstance(value, str):
        if not value.isprintable():
            yield f"{place!a} is {value!a}, wanted no control characters"
    elif isinstance(value, (int, float)) and not abs(value) <= MOST:
        yield f"{place!a} is no finite number, wanted at most {MOST:g}"


def read_figures(path, *fields):
    """The JSON of a bench, which has `fields`; ends the program where not."""
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise SystemExit(f"error: {path}: {error}") from None
    except RecursionError:
        raise SystemExit(f"error: {path}: nested too deeply for what a bench writes") from None
    for fault in faults_of(content):
        raise SystemExit(f"error: {path}: {fault}")
    for field in fields:
        if not isinstance(content, dict) or field not in content:
            raise SystemExit(f"error: {path}: no '{field}', so not what a bench writes")
    return content


def guarded(path, use, content):
    """use(content), with the file named if something in it is not as written."""
    try:
        return use(content)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise SystemExit(f"error: {path}: not what a bench writes: {type(error).__name__}: {error}") from None


def write_whole(path, text):
    """Replaces `path` by a file with `text`, or leaves it as it is."""
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".bench-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        if temporary and os.path.exists(temporary):
            os.remove(temporary)
        raise SystemExit(f"error: cannot write {path}: {error}") from None
