# SPDX-License-Identifier: Apache-2.0
"""Recipe for Spack: builds from the sources, with the MPI that is asked for."""

from spack.package import *


class PyFairlead(PythonPackage):
    """Makes MPI applications faster on networks whose topology is hidden."""

    # There is no public archive: spack dev-build py-fairlead@0.1.0 in a checkout.
    version("0.1.0")

    license("Apache-2.0")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-scikit-build-core@0.11:", type="build")
    depends_on("py-nanobind@2.4:", type="build")
    depends_on("asio", type="build")
    depends_on("nlohmann-json", type=("build", "run"))
    depends_on("libsodium")
    depends_on("mpi")
    depends_on("scotch@6.1: ~mpi")
    depends_on("py-numpy@1.26:", type=("build", "run"))
    depends_on("py-scipy@1.11:", type=("build", "run"))
    depends_on("py-pydantic@2.5:", type=("build", "run"))
    depends_on("py-pyyaml@6.0:", type=("build", "run"))
    depends_on("py-typer@0.15:", type=("build", "run"))
    depends_on("py-rich@13.7:", type=("build", "run"))
    depends_on("py-plotly@5.20:", type=("build", "run"))
    depends_on("py-pyroute2@0.9.1:", type=("build", "run"))
    depends_on("py-tomli@2.0:", when="^python@:3.10", type=("build", "run"))

    def config_settings(self, spec, prefix):
        """Only for the MPI of this installation."""
        return {"cmake.define.FAIRLEAD_MPICXX": spec["mpi"].mpicxx}
