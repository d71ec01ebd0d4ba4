"""The families of cases: what a seed draws of each, how it is run here and in its peer, and the band."""

from __future__ import annotations

from cogtcp.kernel.validation.families.addresses import Arp, ArpUnanswered
from cogtcp.kernel.validation.families.atp import Atp
from cogtcp.kernel.validation.families.cells import Fading, NrPeak, RoundRobin
from cogtcp.kernel.validation.families.closed_forms import Loss, Queue, Sawtooth
from cogtcp.kernel.validation.families.cognitive_tcp import C2, Atcp, Satcp
from cogtcp.kernel.validation.families.cognitive_transports import TfrcCr, TpCrahn
from cogtcp.kernel.validation.families.controls import (
    Bbr,
    Bbr3,
    Compound,
    Copa,
    Cubic,
    Ledbat,
    LedbatPlusPlus,
    RandomLoss,
    TfrcEquation,
    Westwood,
    WestwoodCompound,
)
from cogtcp.kernel.validation.families.coupled import BaliaShares, Coupled, LiaShares, OliaShares
from cogtcp.kernel.validation.families.dumbbell import Cycles, Dumbbell
from cogtcp.kernel.validation.families.family import Family, NoEvidenceError
from cogtcp.kernel.validation.families.freeze import Freeze
from cogtcp.kernel.validation.families.given_users import GivenErrors, RecordedUsers, RedrawnUsers
from cogtcp.kernel.validation.families.grids import Grid, GridTcp, Ns3Grid
from cogtcp.kernel.validation.families.harq import Harq
from cogtcp.kernel.validation.families.kernel import Kernel
from cogtcp.kernel.validation.families.kernel_queues import KernelQueues
from cogtcp.kernel.validation.families.licensed import Cbrs, Dfs, QuietPeriods, Tvws
from cogtcp.kernel.validation.families.links import CrPair, Journey, Leo, LinkTrace
from cogtcp.kernel.validation.families.lte import Ns3Lte
from cogtcp.kernel.validation.families.lte_users import Ns3LteTcp, Ns3LteUplink, Ns3LteUsers
from cogtcp.kernel.validation.families.mobile_users import Drx, Handovers
from cogtcp.kernel.validation.families.movement import Movement
from cogtcp.kernel.validation.families.ns3_dumbbell import Ns3Aqm, Ns3Cubic, Ns3Ledbat
from cogtcp.kernel.validation.families.open_loop import UdpSources
from cogtcp.kernel.validation.families.peers import why_absent
from cogtcp.kernel.validation.families.pi2 import DualPi2
from cogtcp.kernel.validation.families.players import AdaptiveVideo, Nada, Requests, Video
from cogtcp.kernel.validation.families.policies import Policies
from cogtcp.kernel.validation.families.predictors import Itinerary, OutageMap, SignalStrength, Warnings
from cogtcp.kernel.validation.families.quic_timers import QuicOutage, QuicTimers
from cogtcp.kernel.validation.families.released import ReleasedFrames, ReleasedUsers
from cogtcp.kernel.validation.families.routes import Flooding, RingSearch, Routes
from cogtcp.kernel.validation.families.scalable import Dctcp, Prague, PragueGrowth, PragueMarks
from cogtcp.kernel.validation.families.spectrum_users import Cooperation, EnergyDetection, PrimaryUsers
from cogtcp.kernel.validation.families.stations import (
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
from cogtcp.kernel.validation.families.tfrc import Tfrc
from cogtcp.kernel.validation.families.variants import DelayedAck, LinkDown, TwoWay, Vegas
from cogtcp.kernel.validation.families.waypoint import Waypoint

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
    Grid(),
    GridTcp(),
    Movement(),
    Ns3Cell(),
    Ns3Hidden(),
    Ns3Exposed(),
    Ns3String(),
    Ns3Grid(),
    Ns3Lte(),
    Ns3LteUsers(),
    Ns3LteUplink(),
    Ns3LteTcp(),
    Ns3Aqm(),
    Ns3Cubic(),
    Ns3Ledbat(),
    Kernel(),
    KernelQueues(),
    Queue(),
    Sawtooth(),
    Loss(),
    Bianchi(),
    RandomLoss(),
    Cubic(),
    Compound(),
    Westwood(),
    WestwoodCompound(),
    Bbr(),
    Bbr3(),
    Ledbat(),
    LedbatPlusPlus(),
    Copa(),
    Dctcp(),
    Prague(),
    PragueMarks(),
    PragueGrowth(),
    DualPi2(),
    TfrcEquation(),
    Coupled(),
    LiaShares(),
    OliaShares(),
    BaliaShares(),
    QuicTimers(),
    QuicOutage(),
    NrPeak(),
    RoundRobin(),
    Fading(),
    PrimaryUsers(),
    EnergyDetection(),
    Cooperation(),
    Cbrs(),
    Dfs(),
    Tvws(),
    QuietPeriods(),
    CrPair(),
    Journey(),
    Leo(),
    LinkTrace(),
    UdpSources(),
    Nada(),
    Video(),
    AdaptiveVideo(),
    Requests(),
    Waypoint(),
    GivenErrors(),
    RecordedUsers(),
    RedrawnUsers(),
    ReleasedUsers(),
    ReleasedFrames(),
    Harq(),
    Drx(),
    Handovers(),
    Policies(),
    Freeze(),
    Warnings(),
    Itinerary(),
    OutageMap(),
    SignalStrength(),
    Routes(),
    RingSearch(),
    Flooding(),
    Arp(),
    ArpUnanswered(),
    C2(),
    Atcp(),
    Satcp(),
    Atp(),
    TpCrahn(),
    TfrcCr(),
)
