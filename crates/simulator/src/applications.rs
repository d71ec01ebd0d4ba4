//! Applications that ask and are answered, as a part of a run: their streams, events and tables. What they do
//! is in `cogtcp-hosts`.

use crate::options::{ControlFactory, RunError, make_control};
use crate::packet::{Body, Packet, UdpDatagram};
use crate::parts::{Ending, Part, Plan, World, codes};
use crate::plane::Plane;
use cogtcp_hosts::{Asking, applications};
use cogtcp_link::Frame;
use cogtcp_network::{StreamCounters, Tally, impossible};
use cogtcp_records::Table;
use cogtcp_scenario::{FlowSpec, Protocol};
use cogtcp_transport::CongestionControl;
use cogtcp_units::Time;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// All applications of a run, in the order of their flows.
#[derive(Debug, Default)]
pub(crate) struct Applications {
    all: Vec<(Asking, Option<Renewal>)>,
    warm_at: Time,
}

/// How each new connection gets its congestion control, where not all requests share one.
struct Renewal {
    spec: FlowSpec,
    controls: Option<Arc<dyn ControlFactory>>,
}

impl fmt::Debug for Renewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Renewal").field("flow", &self.spec.name).finish_non_exhaustive()
    }
}

impl Renewal {
    fn control(&self) -> Box<dyn CongestionControl> {
        let Protocol::Tcp(tcp) = &self.spec.protocol else {
            unreachable!("other transports open their connection again by themselves")
        };
        make_control(&self.spec.name, &tcp.control, self.controls.as_deref())
            .unwrap_or_else(|error| unreachable!("it was made for the first connection: {error}"))
    }
}

impl Applications {
    /// The applications of the flows that have one.
    pub(crate) fn build(plan: &mut Plan<'_, '_>) -> Result<Option<Box<dyn Part>>, RunError> {
        let mut made = Self::default();
        for (flow, spec) in (0..).zip(&plan.experiment.flows) {
            let what = || format!("requests of {}", spec.name);
            let seed = plan.seed;
            let stream = || plan.add_stream(spec.to, spec.from, "requests", &spec.name, what);
            let Some(asking) = Asking::new(flow, spec, seed, stream)? else { continue };
            let renewal = (spec.opens_anew() && spec.tcp().is_some())
                .then(|| Renewal { spec: spec.clone(), controls: plan.controls.clone() });
            made.all.push((asking, renewal));
        }
        Ok((!made.all.is_empty()).then(|| Box::new(made) as Box<dyn Part>))
    }
}

impl Part for Applications {
    fn events(&self) -> Range<u32> {
        codes::APPLICATIONS
    }

    fn begin(&mut self, world: &mut World<'_>) {
        self.all.iter_mut().for_each(|(asking, _)| asking.arm(world.plane));
    }

    fn handle_event(&mut self, now: Time, index: u32, world: &mut World<'_>) -> Tally {
        let (flow, is_delivery) = codes::of_application(index);
        // The applications stand in the order of their flows.
        let Ok(place) = self.all.binary_search_by_key(&flow, |(it, _)| it.flow()) else {
            impossible("an event of an application that is not there");
            return Tally::Stale;
        };
        let asking = &mut self.all[place].0;
        if is_delivery {
            asking.handle_delivery(now, &mut world.flows[flow as usize], world.plane);
        } else if !asking.handle_timer(now, world.plane) {
            return Tally::Stale;
        }
        Tally::Event
    }

    /// A request has reached the server.
    fn receive(&mut self, now: Time, place: u32, frame: &Frame<Packet>, world: &mut World<'_>) {
        let Body::Udp(UdpDatagram { number, .. }) = frame.packet.body else {
            return impossible("another packet on a stream of requests");
        };
        let (asking, renewal) = &mut self.all[place as usize];
        let control = renewal.as_ref().map(|renewal| || renewal.control());
        let flow = &mut world.flows[asking.flow() as usize];
        asking.handle_request(now, number as usize, control, flow, world.plane);
    }

    fn end_warmup(&mut self, now: Time, _plane: &Plane) {
        self.warm_at = now;
    }

    fn streams(&self) -> Vec<StreamCounters> {
        self.all.iter().map(|(asking, _)| asking.counters()).collect()
    }

    fn report(&self, ending: &Ending<'_>) -> Vec<Table> {
        let name = |flow: u32| &*ending.experiment.flows[flow as usize].name;
        let accounts = self.all.iter().map(|(asking, _)| asking.account(name(asking.flow()), ending.end));
        applications::tables(&accounts.collect::<Vec<_>>(), self.warm_at)
    }
}
