# SPDX-License-Identifier: Apache-2.0
"""`fairlead jobs`: several programs, placed together."""
