"""What every suite shares: the profiles of Hypothesis. Fixtures lie in the suite that uses them."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# `ci` finds the same examples on every run, so that a red run is red again at home; `dev` explores a little every
# time; `deep` is for a night. Choose with HYPOTHESIS_PROFILE; without it CI takes `ci` and people take `dev`.
settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    max_examples=100,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("dev", deadline=None, max_examples=50)
settings.register_profile(
    "deep",
    deadline=None,
    max_examples=5_000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))
