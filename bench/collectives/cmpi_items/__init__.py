# SPDX-License-Identifier: Apache-2.0
"""What `cmpi_figures.py` reruns of the paper CMPI, a file for each kind of item."""
