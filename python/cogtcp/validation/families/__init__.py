"""The families of cases: what a seed draws of each, how it is run here and in its peer, and the band."""

from __future__ import annotations

from cogtcp.validation.families.cells import Fading, NrPeak, RoundRobin
from cogtcp.validation.families.closed_forms import Loss, Queue, Sawtooth
from cogtcp.validation.families.controls import (
    Bbr,
    Bbr3,
    Cubic,
    Ledbat,
    LedbatPlusPlus,
    RandomLoss,
    TfrcEquation,
    Westwood,
)
from cogtcp.validation.families.coupled import Coupled, LiaShares
from cogtcp.validation.families.dumbbell import Cycles, Dumbbell
from cogtcp.validation.families.family import Family, NoEvidenceError
from cogtcp.validation.families.kernel import Kernel
from cogtcp.validation.families.lte import Ns3Lte
from cogtcp.validation.families.lte_users import Ns3LteUsers
from cogtcp.validation.families.movement import Movement
from cogtcp.validation.families.ns3_dumbbell import Ns3Aqm, Ns3Cubic, Ns3Ledbat
from cogtcp.validation.families.peers import why_absent
from cogtcp.validation.families.pi2 import DualPi2
from cogtcp.validation.families.quic_timers import QuicTimers
from cogtcp.validation.families.scalable import Dctcp, Prague, PragueGrowth, PragueMarks
from cogtcp.validation.families.spectrum_users import EnergyDetection, PrimaryUsers
from cogtcp.validation.families.stations import (
    Bianchi,
    Cell,
    Exposed,
    Hidden,
    Ns3Cell,
    Ns3Exposed,
    Ns3Hidden,
    Ns3String,
    String,
)
from cogtcp.validation.families.tfrc import Tfrc
from cogtcp.validation.families.variants import DelayedAck, LinkDown, TwoWay, Vegas

__all__ = ["FAMILIES", "Family", "NoEvidenceError", "why_absent"]

FAMILIES: tuple[Family, ...] = (
    Dumbbell(),
    Cycles(),
    Vegas(),
    DelayedAck(),
    TwoWay(),
    LinkDown(),
    Tfrc(),
    Cell(),
    Hidden(),
    Exposed(),
    String(),
    Movement(),
    Ns3Cell(),
    Ns3Hidden(),
    Ns3Exposed(),
    Ns3String(),
    Ns3Lte(),
    Ns3LteUsers(),
    Ns3Aqm(),
    Ns3Cubic(),
    Ns3Ledbat(),
    Kernel(),
    Queue(),
    Sawtooth(),
    Loss(),
    Bianchi(),
    RandomLoss(),
    Cubic(),
    Westwood(),
    Bbr(),
    Bbr3(),
    Ledbat(),
    LedbatPlusPlus(),
    Dctcp(),
    Prague(),
    PragueMarks(),
    PragueGrowth(),
    DualPi2(),
    TfrcEquation(),
    Coupled(),
    LiaShares(),
    QuicTimers(),
    NrPeak(),
    RoundRobin(),
    Fading(),
    PrimaryUsers(),
    EnergyDetection(),
)
