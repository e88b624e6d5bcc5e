# SPDX-License-Identifier: Apache-2.0
"""`fairlead relay`: routers that stay, and what they have carried."""
