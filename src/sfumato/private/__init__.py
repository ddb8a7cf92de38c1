# SPDX-License-Identifier: MIT
"""What must stay private: secret files, the secret of a run, unpredictable random bits."""
