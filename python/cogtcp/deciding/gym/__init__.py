"""Gymnasium environments: agents that steer what a run does (extra `gym`; `docs/gym.md`).

Importing this registers `cogtcp/Congestion-v0` and `cogtcp/Sensing-v0`:

>>> import gymnasium
>>> import cogtcp.gym
>>> env = gymnasium.make("cogtcp/Congestion-v0", scenario="sensed-link")
"""

from cogtcp._errors import UsageError

try:
    import gymnasium
except ImportError:
    raise UsageError("the environments need gymnasium: install cogtcp[gym]") from None

from cogtcp.deciding.gym.congestion import Congestion
from cogtcp.deciding.gym.sensing import Sensing

gymnasium.register(id="cogtcp/Congestion-v0", entry_point="cogtcp.deciding.gym.congestion:Congestion")
gymnasium.register(id="cogtcp/Sensing-v0", entry_point="cogtcp.deciding.gym.sensing:Sensing")

__all__ = ["Congestion", "Sensing"]
