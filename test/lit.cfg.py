# The tests that run programs: test/lit/<stage>, test/e2e, test/error. One suite, so that they share tools and features.
# `lit test/lit/view/fold-movement.mlir` works too: it takes the programs of the folder build/, or of $KILN_BUILD.

import ctypes
import glob
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys

import lit.formats

source = os.path.dirname(os.path.abspath(__file__))
if not hasattr(config, "kiln_bin"):
    build = os.environ.get("KILN_BUILD", os.path.join(source, "..", "build"))
    site = os.path.join(build, "test", "lit.site.cfg.py")
    if not os.path.exists(site):
        lit_config.fatal(f"no {site}: build kiln first, or set KILN_BUILD to its build folder")
    lit_config.load_config(config, site)
    raise SystemExit

config.name = "kiln"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.test_source_root = source
config.test_exec_root = config.kiln_test_output
# With KILN_TEST_CPU in the environment, kiln as on a machine with that CPU.
kiln = os.path.join(config.kiln_bin, "kiln")
if "KILN_TEST_CPU" in os.environ:
    kiln = os.path.join(source, "another-cpu", "kiln")
    config.test_exec_root += "-" + os.environ["KILN_TEST_CPU"]
    config.environment.update(KILN_TEST_BIN=config.kiln_bin, KILN_TEST_CPU=os.environ["KILN_TEST_CPU"])
config.excludes = ["unit", "house", "Inputs"]

# No test sees or leaves anything in the user's own folders; PoCL keeps its compiled kernels there as well.
for variable, folder in (("HOME", "home"), ("XDG_CACHE_HOME", "cache")):
    path = os.path.join(config.test_exec_root, folder)
    os.makedirs(path, exist_ok=True)
    config.environment[variable] = path
config.environment["PATH"] = os.pathsep.join([os.path.dirname(kiln), config.kiln_bin, config.llvm_bin,
                                                 config.environment["PATH"]])

config.substitutions += [
    ("%kiln-opt", os.path.join(config.kiln_bin, "kiln-opt")),
    ("%kiln", kiln),
    ("%runtime", os.path.join(os.path.dirname(config.kiln_bin), "lib", "kiln")),
    ("%samples", os.path.join(os.path.dirname(source), "samples")),
    ("%python", shlex.quote(sys.executable)),
]


# What the machine can run. Asked of the machine and not of kiln, which is what the tests are to judge.
def has_opencl():
    try:
        opencl = ctypes.CDLL("libOpenCL.so.1")
    except OSError:
        return False
    platforms = ctypes.c_uint(0)
    return opencl.clGetPlatformIDs(0, None, ctypes.byref(platforms)) == 0 and platforms.value > 0


def has_cuda():
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    devices = ctypes.c_int(0)
    return cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(devices)) == 0 and devices.value > 0


# The compiler of CUDA's kernels, where tools/setup puts it, or anywhere else.
def has_nvrtc():
    installed = glob.glob(os.path.join(source, "..", ".setup", "cuda", "lib", "*", "site-packages", "nvidia", "*", "lib"))
    for path in [*(os.path.join(folder, "libnvrtc.so.12") for folder in installed), "libnvrtc.so.12", "libnvrtc.so.13"]:
        try:
            return bool(ctypes.CDLL(path))
        except OSError:
            pass
    return False


# What shows the machine code of CUDA's kernels, likewise.
def has_nvdisasm():
    installed = glob.glob(os.path.join(source, "..", ".setup", "cuda", "lib", "*", "site-packages", "nvidia", "*", "bin", "nvdisasm"))
    return bool(installed or shutil.which("nvdisasm") or shutil.which("cuobjdump"))


def has_avx512():
    with open("/proc/cpuinfo") as cpuinfo:
        return " avx512f" in cpuinfo.read()


def has_cross():
    names = [f"{arch}-gcc" for arch in ("aarch64-linux-gnu", "riscv64-linux-gnu", "arm-linux-gnueabihf", "x86_64-linux-musl")]
    names += [f"qemu-{arch}" for arch in ("aarch64", "riscv64", "arm")]
    return all(shutil.which(name) for name in names)


def has_cortex_m():
    return bool(shutil.which("qemu-system-arm")) and os.path.exists("/usr/include/newlib/math.h")


def has_dlpack():
    return os.path.exists("/usr/include/dlpack/dlpack.h")


def has_onnx():
    return os.path.exists(os.path.join(source, "..", ".setup", "onnx"))


# What test/onnx-random compares with; no test of lit needs it.
def has_onnxruntime():
    stored = glob.glob(os.path.join(source, "..", ".setup", "onnx", "lib", "python*", "site-packages", "onnxruntime"))
    return bool(stored or importlib.util.find_spec("onnxruntime"))


def has_glibc():
    return platform.libc_ver()[0] == "glibc"


# Whether this user may see other mounts than the rest of the machine.
def has_namespaces():
    command = ["unshare", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/proc"]
    return bool(shutil.which("unshare")) and subprocess.run(command, capture_output=True).returncode == 0


# Whether the tests' file system has files without names.
def has_nameless_files():
    try:
        os.close(os.open(config.test_exec_root, os.O_TMPFILE | os.O_WRONLY))
    except OSError:
        return False
    return True


config.available_features.add(platform.machine())

probes = {"opencl": has_opencl, "cuda": has_cuda, "nvrtc": has_nvrtc, "nvdisasm": has_nvdisasm, "avx512": has_avx512, "onnx": has_onnx,
          "cross": has_cross, "cortex-m": has_cortex_m, "dlpack": has_dlpack, "glibc": has_glibc, "onnxruntime": has_onnxruntime,
          "namespaces": has_namespaces, "nameless-files": has_nameless_files}
for feature, probe in probes.items():
    if probe():
        config.available_features.add(feature)

# A machine that ought to have a device must not pass by skipping its tests.
for feature in os.environ.get("KILN_TEST_REQUIRE", "").split():
    if feature not in config.available_features:
        lit_config.fatal(f"KILN_TEST_REQUIRE names '{feature}', which this machine lacks")
