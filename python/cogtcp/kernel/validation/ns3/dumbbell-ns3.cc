// Saturated TCP flows over one bottleneck with a queue discipline in ns-3. Arguments:
//   dumbbell-ns3 SEED CONTROL QUEUE RATE_BPS DELAY_S LIMIT FLOWS SECONDS [START ...]
// CONTROL: a class of ns-3 (TcpLinuxReno, TcpCubic, TcpLedbat), or TcpHeldReno: TcpLinuxReno over classic recovery, without the growth
// by an ACK that ends it. QUEUE: fifo, red, codel, fq_codel, pie. LIMIT: packets. START: of each
// flow, s. Senders s1, s2 ... - r1 - k1, each sender behind a wire of 1 ms. Prints the payload delivered per second after a third of
// SECONDS, and the mean wait in the discipline.
//
// Segments of 1448 bytes; receivers acknowledge every second one; the devices hold one packet. Everything else is ns-3's default.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <string>

using namespace ns3;

namespace {

// An ACK that ends recovery covers segments that SACKs had reported: ns-3 lets cwnd grow by them once more. Receivers here acknowledge
// two segments at most.
class TcpHeldReno : public TcpLinuxReno {
public:
    static TypeId GetTypeId() {
        static TypeId type = TypeId("ns3::TcpHeldReno").SetParent<TcpLinuxReno>().AddConstructor<TcpHeldReno>();
        return type;
    }

    void IncreaseWindow(Ptr<TcpSocketState> state, uint32_t segments) override {
        if (segments <= 2) {
            TcpLinuxReno::IncreaseWindow(state, segments);
        }
    }

    Ptr<TcpCongestionOps> Fork() override { return CopyObject<TcpHeldReno>(this); }
};

NS_OBJECT_ENSURE_REGISTERED(TcpHeldReno);

double begin = 0.0;
uint64_t received = 0;
double waited = 0.0;
uint64_t packets = 0;

bool counts() { return Simulator::Now().GetSeconds() >= begin; }

void stream(Ptr<const Packet> packet, const Address&) { received += counts() ? packet->GetSize() : 0; }

void sojourn(Time time) {
    if (counts()) {
        waited += time.GetSeconds();
        ++packets;
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 9) {
        std::cerr << "usage: dumbbell-ns3 SEED CONTROL QUEUE RATE_BPS DELAY_S LIMIT FLOWS SECONDS [START ...]\n";
        return 2;
    }
    const std::string control = argv[2];
    const std::string queue = argv[3];
    const std::string limit = argv[6];
    const uint32_t flows = std::stoul(argv[7]);
    const double seconds = std::stod(argv[8]);
    begin = seconds / 3;
    RngSeedManager::SetSeed(static_cast<uint32_t>(std::stoul(argv[1])));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + control)));
    if (control == "TcpHeldReno") {
        // ns-3's rate reduction counts deliveries twice at first, and so reduces late.
        Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName("ns3::TcpClassicRecovery")));
    }
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 25));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 25));

    NodeContainer routers, senders;
    routers.Create(2);
    senders.Create(flows);
    InternetStackHelper internet;
    internet.InstallAll();

    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", DataRateValue(DataRate(std::stoull(argv[4]))));
    bottleneck.SetChannelAttribute("Delay", TimeValue(Seconds(std::stod(argv[5]))));
    bottleneck.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));
    auto ends = bottleneck.Install(routers);

    TrafficControlHelper discipline;
    const std::map<std::string, std::string> classes = {{"fifo", "FifoQueueDisc"},   {"red", "RedQueueDisc"},
                                                        {"codel", "CoDelQueueDisc"}, {"fq_codel", "FqCoDelQueueDisc"},
                                                        {"pie", "PieQueueDisc"}};
    const std::string type = "ns3::" + classes.at(queue);
    if (queue == "red") {
        discipline.SetRootQueueDisc(type, "MaxSize", StringValue(limit + "p"), "MinTh", DoubleValue(5), "MaxTh", DoubleValue(15),
                                    "LInterm", DoubleValue(10), "QW", DoubleValue(0.002), "Gentle", BooleanValue(true), "MeanPktSize",
                                    UintegerValue(1000), "LinkBandwidth", DataRateValue(DataRate(std::stoull(argv[4]))), "LinkDelay",
                                    TimeValue(Seconds(std::stod(argv[5]))));
    } else {
        discipline.SetRootQueueDisc(type, "MaxSize", StringValue(limit + "p"));
    }
    auto disciplines = discipline.Install(ends.Get(0));
    disciplines.Get(0)->TraceConnectWithoutContext("SojournTime", MakeCallback(&sojourn));

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    const auto middle = addresses.Assign(ends);
    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    access.SetChannelAttribute("Delay", StringValue("1ms"));
    for (uint32_t number = 0; number < flows; ++number) {
        addresses.NewNetwork();
        addresses.Assign(access.Install(senders.Get(number), routers.Get(0)));
        const auto port = static_cast<uint16_t>(5000 + number);
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.Install(routers.Get(1)).Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&stream));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(middle.GetAddress(1), port));
        const double start = argc > 9 + static_cast<int>(number) ? std::stod(argv[9 + number]) : 0.1;
        source.Install(senders.Get(number)).Start(Seconds(start));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    std::cout << "rate " << received * 8.0 / (seconds - begin) << "\n";
    std::cout << "wait " << (packets ? waited / packets : 0.0) << "\n";
    Simulator::Destroy();
    return 0;
}
