# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How lit finds and runs the tests. A tool that is missing fails the whole run:
# a test that cannot find FileCheck must not look like one that passed.
import ctypes
import os

import lit.formats

config.name = "Winnow"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.winnow_build_dir, "tests", "lit")


def require(folder, name):
    path = os.path.join(folder, name)
    if not os.access(path, os.X_OK):
        lit_config.fatal("the tests need %s, and it is missing" % path)


for tool in ["FileCheck", "not", "split-file"]:
    require(config.llvm_tools_dir, tool)
for tool in config.winnow_tools:
    require(config.winnow_tools_dir, tool)

config.environment["PATH"] = os.path.pathsep.join(
    [config.winnow_tools_dir, config.llvm_tools_dir, os.environ.get("PATH", "")]
)
# A variable captured in one function never matches in the next by accident.
config.environment["FILECHECK_OPTS"] = "-enable-var-scope -dump-input=fail"

config.substitutions.append(("%python", config.python))
config.substitutions.append(
    ("%examples", os.path.join(config.winnow_source_dir, "dsl", "examples"))
)
config.substitutions.append(("%source", config.winnow_source_dir))

# A build may leave the benchmarks out.
if "winnow-count-bench" in config.winnow_tools:
    config.available_features.add("count-bench")

# NVRTC, where the compile worker looks for it.
def nvrtc():
    places = [os.environ.get(name, "") for name in ["CUDA_PATH", "CUDA_HOME"]]
    places = [os.path.join(place, "lib64", "") for place in places if place]
    for place in places + ["", "/usr/local/cuda/lib64/"]:
        for name in ["libnvrtc.so.13", "libnvrtc.so.12"]:
            try:
                ctypes.CDLL(place + name)
                return True
            except OSError:
                pass
    return False


if nvrtc():
    config.available_features.add("nvrtc")
    for name in ["CUDA_PATH", "CUDA_HOME"]:
        if name in os.environ:
            config.environment[name] = os.environ[name]
else:
    lit_config.note("tests of NVRTC are skipped: CUDA is not installed")

# hipRTC libraries that tools/hiprtc unpacks; without a network there are none.
for version in ["6.4", "5.2"]:
    folder = os.path.join(config.winnow_build_dir, "hiprtc", version)
    if os.path.exists(os.path.join(folder, "ready")):
        config.available_features.add("hiprtc-" + version)
        config.substitutions.append(
            ("%hiprtc-" + version, os.path.join(folder, "root"))
        )
        continue
    reason = "run tools/hiprtc to have it"
    if os.path.exists(os.path.join(folder, "missing")):
        reason = open(os.path.join(folder, "missing")).read().strip()
    lit_config.note("tests of hipRTC %s are skipped: %s" % (version, reason))
