# SPDX-License-Identifier: Apache-2.0
"""`fairlead order`: hosts in an order that suits a pattern, by measurement."""
