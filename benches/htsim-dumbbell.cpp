// The benchmark's dumbbell for htsim (github.com/Broadcom/csg-htsim): saturated NewReno flows, no trace.
//   htsim-dumbbell FLOWS SECONDS
// Same as dumbbell() in benches/engine.rs: access 100 Mbit/s 5 ms, bottleneck 5 Mbit/s and 50 packets of drop-tail for each
// flow, 40 ms, segments of 1000 B and 40 B of headers, every segment acknowledged, initial window 10, starts over one second.
// benches/htsim.sh builds it. Prints packet hops: 6 for each packet that arrived, and the first of each other.
//
// htsim's model differs, and its library is used unchanged:
// - Slow start ends at 100 segments at the latest, by default. Without this limit, as in the other simulators, htsim takes up
//   to 1.3 times as long here.
// - Least RTO 0.25 s instead of 1 s. One event looks at the RTO of all flows, every 10 ms.
// - No SACK, no limited transmit, no FIN, no receive window. One packet of 1 B opens a flow; its RTT sample is too long.
// - Windows grow by whole bytes: congestion avoidance rounds growth down, to none above 1,040 segments.
// - Packets carry their route: no node looks up a next hop. Queues count bytes, the packet in transmission included.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <vector>

#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

namespace {

const int PACKET = 1040;

// One direction of a link.
struct Link {
    Queue queue;
    Pipe pipe;
    Link(EventList &events, uint64_t mbits, int packets, int delay_ms)
        : queue(speedFromMbps(mbits), mem_b(packets) * PACKET, events, nullptr), pipe(timeFromMs(delay_ms), events) {}
    void extend(Route &route) {
        route.push_back(&queue);
        route.push_back(&pipe);
    }
};

// A sender, a receiver and their four access directions.
struct Flow {
    TcpSrc source;
    TcpSink sink;
    Link up, down, back_up, back_down;
    Route out, back;
    Flow(EventList &events, Link &bottleneck, Link &reverse, simtime_picosec start)
        : source(nullptr, nullptr, events), up(events, 100, 1000, 5), down(events, 100, 1000, 5),
          back_up(events, 100, 1000, 5), back_down(events, 100, 1000, 5) {
        for (Link *link : {&up, &bottleneck, &down}) link->extend(out);
        for (Link *link : {&back_up, &reverse, &back_down}) link->extend(back);
        out.push_back(&sink);
        back.push_back(&source);
        source.set_cwnd(10 * PACKET);
        source.connect(out, back, sink, start);
    }
};

}  // namespace

int main(int count, char **arguments) {
    const int flows = count == 3 ? std::atoi(arguments[1]) : 0;
    const double seconds = count == 3 ? std::atof(arguments[2]) : 0.0;
    if (flows < 1 || !(seconds > 0.0)) {
        std::fprintf(stderr, "usage: htsim-dumbbell FLOWS SECONDS\n");
        return 2;
    }
    // The library reports each timeout.
    std::cout.rdbuf(nullptr);
    Packet::set_packet_size(PACKET);
    EventList &events = EventList::getTheEventList();
    events.setEndtime(timeFromSec(seconds));
    TcpRtxTimerScanner timer(timeFromMs(10), events);
    Link bottleneck(events, 5 * flows, 50 * flows, 40), reverse(events, 5 * flows, 50 * flows, 40);
    const int stagger_us = flows > 2 ? 1000000 / flows : 0;
    std::vector<std::unique_ptr<Flow>> all;
    for (int flow = 0; flow < flows; ++flow) {
        all.emplace_back(new Flow(events, bottleneck, reverse, timeFromUs(double(flow) * stagger_us)));
        timer.registerTcp(all.back()->source);
    }
    while (events.doNextEvent()) {
    }
    uint64_t hops = 0;
    for (const auto &flow : all) hops += (5 * flow->sink._packets + flow->source._packets_sent) / PACKET;
    std::printf("%llu\n", (unsigned long long)hops);
    return 0;
}
