# SPDX-License-Identifier: Apache-2.0
"""`fairlead compare`, and what repeated runs say."""
