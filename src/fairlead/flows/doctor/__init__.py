# SPDX-License-Identifier: Apache-2.0
"""`fairlead doctor`: what a run needs, checked one by one, each with a remedy."""
