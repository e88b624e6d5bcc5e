# SPDX-License-Identifier: Apache-2.0
"""A chosen part of all pairs as text, as core/include/fairlead/network/pair_set.hpp reads it."""

from __future__ import annotations

import string

import numpy as np
import numpy.typing as npt

_ALPHABET = np.array(list(string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"))
_WEIGHTS = 2 ** np.arange(6)[::-1]


def pair_set_text(pairs: npt.NDArray[np.bool_]) -> str:
    """One bit per unordered pair, six bits to a letter of base64url (RFC 4648, section 5).

    Args:
        pairs: The chosen pairs, shape (H, H); only what is above the diagonal counts.
    """
    bits = pairs[np.triu_indices(len(pairs), 1)]
    padded = np.pad(bits, (0, -len(bits) % len(_WEIGHTS)))
    return "".join(_ALPHABET[padded.reshape(-1, len(_WEIGHTS)) @ _WEIGHTS])
