# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs a command whose exit code is part of what it promises:
#     exits.py CODE COMMAND [ARGUMENT ...]
# `not` only knows zero from the rest. A death by signal has a negative code.
import subprocess
import sys

wanted, command = int(sys.argv[1]), sys.argv[2:]
result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
sys.stdout.buffer.write(result.stdout)
if result.returncode != wanted:
    sys.exit("exit code %d, wanted %d: %s" % (result.returncode, wanted, command))
