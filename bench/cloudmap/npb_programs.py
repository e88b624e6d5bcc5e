# SPDX-License-Identifier: Apache-2.0
"""What is recorded of the NAS Parallel Benchmarks 3.3.1, and what a whole run of each has.

The sources are not part of this project. `record.py` builds them for SimGrid and runs one timed
iteration of each; a whole run repeats that iteration. CG's inner loop of 25 is shortened as well.
"""

from __future__ import annotations

import dataclasses

PROGRAMS = ("bt", "cg", "ep", "ft", "is", "lu", "mg", "sp")
"""Those that CloudMap's section VI-A1 names. NPB for MPI also has dt, of which it has nothing."""

CLASSES = ("B", "C")
SIZES = (64, 256)
CG_INNER, CG_INNER_RECORDED = 25, 3


@dataclasses.dataclass(frozen=True)
class Facts:
    """One benchmark.

    Attributes:
        mop: Its own operation count of a whole run of each class, in millions. Of BT, SP, MG, IS,
            EP and class B of CG, LU and FT as its runs print it, of the others by its formula.
        repeats: Recorded iterations in a whole run.
        core_Mop_per_s: Assumed speed of a core: a Xeon E5 of 2.2 GHz whose other cores are busy.
        edits: Replacements in its sources before it is recorded, by file: one iteration, neither
            warm-up nor what verifies, and no computing where that takes minutes.
    """

    mop: dict[str, float]
    repeats: float
    core_Mop_per_s: float
    edits: tuple[tuple[str, str, str], ...]

    def compute_s(self, npb_class: str, num_ranks: int) -> float:
        """Seconds of computing of each rank in what is recorded."""
        return self.mop[npb_class] / (num_ranks * self.core_Mop_per_s * self.repeats)


FACTS = {
    "bt": Facts(
        {"B": 701_823, "C": 2_866_323},
        200,
        800,
        (
            ("bt.f", "       call adi\n       call initialize", "       call initialize"),
            ("bt.f", "niter = niter_default", "niter = 1"),
            ("bt.f", "       call verify(niter,", "       if (niter.lt.0) call verify(niter,"),
        ),
    ),
    "cg": Facts(
        {"B": 54_710, "C": 143_348},
        75 * (CG_INNER + 1) / (CG_INNER_RECORDED + 1),
        250,
        (
            # Messages do not depend on the matrix, so it is left empty. An iteration is the inner
            # loop's and one more for the residual; the warm-up has no iteration.
            ("cg.f", "call makea(naa", "if (naa.lt.0) call makea(naa"),
            ("cg.f", f"cgitmax / {CG_INNER} /", f"cgitmax / {CG_INNER_RECORDED} /"),
            ("cg.f", "do it = 1, 1\n", "do it = 1, 0\n"),
            ("cg.f", "do it = 1, niter", "do it = 1, 1"),
        ),
    ),
    # Three reductions at the end, whatever the class: that of class S is recorded.
    "ep": Facts({"B": 2_147, "C": 8_590}, 1, 15, ()),
    "ft": Facts(
        {"B": 92_054, "C": 396_163},
        # The transform of the initial state, and one in each of 20 iterations.
        21 / 2,
        500,
        (
            (
                "ft.f",
                "      call fft(1, u1, u0)\n      call timer_stop(T_init)",
                "      call timer_stop(T_init)",
            ),
            ("ft.f", "niter = niter_default", "niter = 1"),
            ("ft.f", "      do l = 1, m, 2\n", "      do l = 1, 0, 2\n"),
        ),
    ),
    "is": Facts(
        {"B": 336, "C": 1_342},
        10,
        40,
        (
            ("is.c", "MAX_ITERATIONS      10", "MAX_ITERATIONS      1"),
            ("is.c", "    rank( 1 );", ""),
        ),
    ),
    "lu": Facts(
        {"B": 498_793, "C": 2_039_830},
        250,
        800,
        (
            ("lu.f", "      call ssor(1)", ""),
            ("read_input.f", "itmax = itmax_default", "itmax = 1"),
            ("lu.f", "      call pintgr()", ""),
        ),
    ),
    "mg": Facts(
        {"B": 19_465, "C": 155_695},
        20,
        500,
        (
            (
                "mg.f",
                "      call mg3P(u,v,r,a,c,n1,n2,n3,k)\n      call resid(u,v,r,n1,n2,n3,a,k)\n"
                "      call setup",
                "      call setup",
            ),
            ("mg.f", "nit = nit_default", "nit = 1"),
            (
                "mg.f",
                "      call timer_start(T_bench)\n\n      call resid(u,v,r,n1,n2,n3,a,k)\n",
                "      call timer_start(T_bench)\n",
            ),
        ),
    ),
    # Not of NPB: examples/stencil, 20,000 steps, at 100 million points a second.
    "stencil": Facts({"256": 20_000 * 256**3 / 1e6}, 20_000, 100, ()),
    "sp": Facts(
        {"B": 354_977, "C": 1_450_240},
        400,
        400,
        (
            ("sp.f", "       call adi\n       call initialize", "       call initialize"),
            ("sp.f", "niter = niter_default", "niter = 1"),
            ("sp.f", "       call verify(niter,", "       if (niter.lt.0) call verify(niter,"),
        ),
    ),
}
