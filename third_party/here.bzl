# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Where this repository is: at the root of its own build, or in that of somebody else."""

_FOLDER = Label("//:BUILD").workspace_root

# The root of this repository's sources, for command lines.
HERE = _FOLDER or "."

# The root of what is generated of them, in attributes that expand $(GENDIR).
GENERATED = "$(GENDIR)/" + _FOLDER if _FOLDER else "$(GENDIR)"
