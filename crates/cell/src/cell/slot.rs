//! One slot: HARQ first, then new data, user by user.

use super::{Block, Buffers, Cell, DIRECTIONS, Interference, Level, Received, SlotUse};
use crate::feedback;
use crate::frame::Direction;
use crate::rlc::{BLOCK_HEADER, Content};
use crate::scheduler::Candidate;
use cogtcp_units::Time;

/// A slot of a direction while it is filled.
struct Filling {
    number: u64,
    direction: Direction,
    station: usize,
    from: Time,
    until: Time,
    /// Resource blocks that are free.
    free: u32,
    /// Whether blocks are destroyed on reception, once something is sent.
    struck: Option<bool>,
    /// Users that can still be addressed.
    grants: u32,
}

impl Cell {
    /// Plays slot `number`. Returns true if something is left to be sent.
    pub(super) fn play(
        &mut self,
        number: u64,
        buffers: &mut impl Buffers,
        air: &mut impl Interference,
    ) -> bool {
        let place = (number % self.config.frame.slots().len() as u64) as usize;
        let mut is_busy = self.config.load.saturated > 0;
        for direction in DIRECTIONS {
            for user in 0..self.config.users.len() {
                self.streams[2 * user + direction as usize].slot = SlotUse::default();
            }
            if !self.levels[place][direction as usize].is_empty() {
                // Primary users are asked once for a slot and direction, whichever station sends.
                let mut struck = None;
                for station in 0..self.stations.len() {
                    struck = self.fill(number, place, (direction, station), struck, buffers, air);
                }
            }
            let begin = self.config.frame.start_of(number);
            for user in 0..self.config.users.len() {
                let it = &self.streams[2 * user + direction as usize];
                let has_data =
                    it.bearer.unsent() + it.bearer.to_repeat() > 0 || buffers.waiting(user, direction).1 > 0;
                is_busy |= has_data || !it.again.is_empty();
                let is_moving = self.whereabouts[user].away > begin;
                let slot = &mut self.streams[2 * user + direction as usize].slot;
                (slot.waits, slot.is_moving) = (has_data, is_moving);
            }
        }
        is_busy
    }

    /// Fills a slot of a direction of a station. Returns whether what is sent in the slot is destroyed,
    /// `None` if nothing is.
    fn fill(
        &mut self,
        number: u64,
        place: usize,
        (direction, station): (Direction, usize),
        struck: Option<bool>,
        buffers: &mut impl Buffers,
        air: &mut impl Interference,
    ) -> Option<bool> {
        let frame = &self.config.frame;
        let all = self.config.carrier.data_blocks(frame, number, direction);
        let reserved = (f64::from(all) * self.config.load.share) as u32;
        let mut slot = Filling {
            number,
            direction,
            station,
            from: frame.start_of(number),
            until: frame.start_of(number + 1),
            free: all - reserved,
            struck,
            grants: self.config.grants,
        };
        // What is taken in advance is on the air too.
        if reserved > 0 && slot.struck.is_none() {
            slot.struck = Some(air.strikes(direction, slot.from, slot.until));
        }
        for user in 0..self.config.users.len() {
            if self.is_at(user, station, slot.from) {
                self.repeat(user, &mut slot, air);
            }
        }
        self.rate_users(place, f64::from(all), &slot, buffers);
        let in_block = self.config.carrier.elements(self.config.frame.slots()[place], direction);
        let elements = |blocks: u32| u64::from(blocks) * u64::from(in_block);
        while slot.free > 0
            && slot.grants > 0
            && let Some(user) = self.stations[station].schedulers[direction as usize].pick(&self.candidates)
        {
            slot.grants -= 1;
            let per_block = self.candidates[user].bits / f64::from(all);
            // One block a user and slot.
            self.candidates[user].is_waiting = false;
            if user >= self.config.users.len() {
                // One that loads the cell takes what is left.
                self.stations[station].schedulers[direction as usize].give(
                    user,
                    per_block * f64::from(slot.free),
                    elements(slot.free),
                );
                slot.free = 0;
                if slot.struck.is_none() {
                    slot.struck = Some(air.strikes(direction, slot.from, slot.until));
                }
            } else {
                let blocks = self.send(user, per_block, &mut slot, buffers, air);
                self.stations[station].schedulers[direction as usize].give(
                    user,
                    per_block * f64::from(blocks),
                    elements(blocks),
                );
            }
        }
        self.stations[station].schedulers[direction as usize].end_slot();
        for user in 0..self.config.users.len() {
            if !self.is_at(user, station, slot.from) {
                continue;
            }
            let it = &mut self.streams[2 * user + direction as usize].slot;
            (it.all, it.others) = (all, all - slot.free - it.received - it.lost);
        }
        slot.struck
    }

    /// What the users could have in this slot of `all` blocks, and whether they want it.
    fn rate_users(&mut self, place: usize, all: f64, slot: &Filling, buffers: &impl Buffers) {
        let direction = slot.direction as usize;
        let age = self.config.report_age;
        let bits = |levels: &[Level], reported: f64| {
            let usable = levels.partition_point(|level| level.needed <= reported);
            usable.checked_sub(1).map_or(0.0, |best| levels[best].coding.bits) * all
        };
        for user in 0..self.config.users.len() {
            if !self.is_at(user, slot.station, slot.from) {
                self.candidates[user] = Candidate::default();
                continue;
            }
            let is_awake = slot.direction == Direction::Uplink || self.is_awake(user, slot.from);
            if self.config.handover.is_some() {
                self.follow_track(user, slot.direction, slot.from);
            }
            let it = &mut self.streams[2 * user + direction];
            if let Some(fading) = &mut it.fading {
                let (gain, reported) = fading.gains(slot.from, age);
                it.now = (it.sinr * gain, it.sinr * reported);
            }
            // Those whose feedback has come by this slot are free again.
            it.busy.retain(|free| *free > slot.number);
            // A block keeps its HARQ process until its feedback is in, or it is given up.
            let is_free = it.busy.len() + it.again.len() < self.processes[direction];
            let repeats = it.bearer.to_repeat() > 0;
            let is_waiting = match slot.direction {
                Direction::Downlink => {
                    repeats || it.bearer.unsent() > 0 || buffers.waiting(user, slot.direction).1 > 0
                }
                Direction::Uplink => {
                    let uplink = &mut self.uplinks[user];
                    uplink.hear(slot.number);
                    repeats || uplink.grant(slot.number, it.bearer.sent(), self.config.first_grant) > 0
                }
            };
            self.candidates[user] = Candidate {
                bits: bits(&self.levels[place][direction], it.now.1),
                is_waiting: is_waiting && is_free && is_awake,
            };
        }
        for number in 0..self.config.load.saturated as usize {
            let gain = self.stations[slot.station]
                .load_fading
                .get_mut(number)
                .map_or(1.0, |it| it[direction].gains(slot.from, age).1);
            let candidate = Candidate {
                bits: bits(&self.levels[place][direction], self.config.load.sinr.linear() * gain),
                is_waiting: true,
            };
            self.candidates[self.config.users.len() + number] = candidate;
        }
    }

    /// Blocks of a user that HARQ has to send again.
    fn repeat(&mut self, user: usize, slot: &mut Filling, air: &mut impl Interference) {
        let stream = 2 * user + slot.direction as usize;
        let mut place = 0;
        while let Some(block) = self.streams[stream].again.get(place).copied() {
            // The list is not in the order of `ready`: the next may be due.
            if block.ready > slot.number || slot.free == 0 || slot.grants == 0 {
                place += 1;
                continue;
            }
            let blocks = block.blocks.min(slot.free);
            slot.free -= blocks;
            slot.grants -= 1;
            self.streams[stream].again.remove(place);
            // What fails comes back at the end of the list, and is not due.
            self.attempt(stream, blocks, block, slot, air);
        }
    }

    /// Sends a block of new data to or from a user. Returns the resource blocks that it takes.
    fn send(
        &mut self,
        user: usize,
        per_block: f64,
        slot: &mut Filling,
        buffers: &mut impl Buffers,
        air: &mut impl Interference,
    ) -> u32 {
        let stream = 2 * user + slot.direction as usize;
        let it = &self.streams[stream];
        let wanted = it.bearer.to_repeat()
            + match slot.direction {
                Direction::Downlink => {
                    let (bytes, packets) = buffers.waiting(user, slot.direction);
                    it.bearer.unsent() + bytes + packets * crate::rlc::PACKET_HEADER
                }
                Direction::Uplink => {
                    self.uplinks[user].grant(slot.number, it.bearer.sent(), self.config.first_grant)
                }
            };
        let needed = libm::ceil((wanted + BLOCK_HEADER) as f64 * 8.0 / per_block);
        // Compared before the cast: below `free` it loses nothing.
        let blocks = if needed >= f64::from(slot.free) { slot.free } else { needed as u32 };
        let room = (f64::from(blocks) * per_block / 8.0) as u64;
        // Not even a byte beside the header.
        let Some(room) = room.checked_sub(BLOCK_HEADER).filter(|room| *room > 0) else { return 0 };
        let content = self.pack(user, slot, room, buffers);
        if let Some(drx) = &self.config.drx {
            let offset = self.drx_offset(user, drx);
            drx.grant(slot.from, slot.until, &mut self.whereabouts[user].drx, offset);
        }
        if slot.direction == Direction::Uplink {
            self.report(user, slot, buffers);
        }
        slot.free -= blocks;
        let efficiency = {
            let levels = &self.levels[(slot.number % self.levels.len() as u64) as usize];
            let levels = &levels[slot.direction as usize];
            let usable = levels.partition_point(|level| level.needed <= self.streams[stream].now.1);
            // Not zero: without a usable level the user has no bits here, and is not picked.
            levels[usable - 1].coding.efficiency
        };
        let block = Block { content, efficiency, blocks, attempts: 0, energy: 0.0, ready: 0 };
        self.attempt(stream, blocks, block, slot, air);
        blocks
    }

    /// Takes as many packets as there is room for.
    fn pack(&mut self, user: usize, slot: &Filling, room: u64, buffers: &mut impl Buffers) -> Content {
        let bearer = &mut self.streams[2 * user + slot.direction as usize].bearer;
        while bearer.to_repeat() + bearer.unsent() < room
            && let Some(bytes) = buffers.take(slot.from, user, slot.direction)
        {
            bearer.push(bytes);
        }
        bearer.fill(room)
    }

    /// A block of the uplink tells what is left.
    fn report(&mut self, user: usize, slot: &Filling, buffers: &impl Buffers) {
        let arrived = self.arrived(user, buffers);
        let frame = &self.config.frame;
        let heard = frame.next_number(Direction::Downlink, slot.number + feedback::TURNAROUND);
        let ready = frame.next_number(Direction::Uplink, heard + feedback::TURNAROUND);
        self.uplinks[user].report(ready, arrived);
        // A request that came to nothing is repeated.
        self.request(slot.until, user, buffers);
    }

    /// One attempt at a block, which takes so many resource blocks of the slot.
    fn attempt(
        &mut self,
        stream: usize,
        blocks: u32,
        block: Block,
        slot: &mut Filling,
        air: &mut impl Interference,
    ) {
        let is_struck = match slot.struck {
            Some(is_struck) => is_struck,
            None => *slot.struck.insert(air.strikes(slot.direction, slot.from, slot.until)),
        };
        let it = &mut self.streams[stream];
        let attempts = block.attempts + 1;
        // Chase combining: the energies of the attempts add up, but for what is destroyed.
        let energy = if is_struck { block.energy } else { block.energy + it.now.0 };
        // One draw per attempt, struck or not: primary users shift no other block's draw.
        let draw = it.errors.uniform();
        let error_rate = self.config.error_model.block_error_rate(energy, block.efficiency);
        let is_received = !is_struck && draw >= error_rate && !air.garbles(slot.direction);
        let counted = if is_received { &mut it.slot.received } else { &mut it.slot.lost };
        *counted += blocks;
        it.slot.is_struck |= is_struck;
        let again = feedback::retransmission(&self.config.frame, slot.direction, slot.number);
        if !is_received && attempts < self.config.attempts {
            it.again.push(Block { attempts, energy, ready: again, ..block });
            return;
        }
        it.busy.push_back(again);
        self.received.push_back(Received { at: slot.until, stream, content: block.content, is_received });
    }
}
