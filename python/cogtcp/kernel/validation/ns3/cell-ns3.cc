// Users of an LTE cell in ns-3, one as a rule, downlink as a rule: rate and delay. Arguments:
//   cell-ns3 SEED SECONDS udp RATE_BPS BYTES um|am [USERS POWER_DBM piro|default down|up [MCS]]
//   cell-ns3 SEED SECONDS tcp WINDOW_BYTES BYTES um|am [USERS POWER_DBM piro|default down|up [MCS]]
// BYTES is the payload of a packet. Prints the payload received per second and the mean delay in seconds, over SECONDS after 2 s:
// of UDP from sender to receiver, of TCP the time mean of a sender's last sample of the round-trip time.
//
// With USERS of them, each with RATE_BPS or a flow of WINDOW_BYTES; POWER_DBM of every transmitter; the model of block errors; the
// direction; MCS is that of every block, in place of the one that ns-3 chooses by the CQI. Also prints the SINR in dB that a user hears
// the base station with, and the rate of the user with least.
//
// 20 MHz FDD, one layer, round robin, 50 m from the base station; a wire of 10 ms and 10 Gbit/s from the server to the core; the buffer
// of RLC holds 600,000 bytes. Control plane without messages on the air. Everything else is ns-3's default.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/lte-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <string>

using namespace ns3;

namespace {

int stated_mcs = -1;

}  // namespace

// The scheduler's call finds this one before the library's, whose name in the library is below.
int LteAmc::GetMcsFromCqi(int cqi) {
    using Own = int (*)(LteAmc*, int);
    static const auto own = reinterpret_cast<Own>(dlsym(RTLD_NEXT, "_ZN3ns36LteAmc13GetMcsFromCqiEi"));
    return stated_mcs >= 0 ? stated_mcs : own(this, cqi);
}

namespace {

constexpr double WARM_UP = 2.0;
constexpr uint16_t PORT = 4000;

uint64_t received = 0;
std::map<uint32_t, uint64_t> by_user;
double level = 0.0;

void heard(uint16_t, uint16_t, double, double sinr, uint8_t) { level = sinr; }

double waited = 0.0;
uint64_t samples = 0;

bool counts() { return Simulator::Now().GetSeconds() >= WARM_UP; }

void emit(Ptr<Socket> socket, uint32_t bytes, Time gap) {
    SeqTsHeader stamp;
    auto packet = Create<Packet>(bytes - stamp.GetSerializedSize());
    packet->AddHeader(stamp);
    socket->Send(packet);
    Simulator::Schedule(gap, &emit, socket, bytes, gap);
}

void datagrams(uint32_t user, Ptr<Socket> socket) {
    while (auto packet = socket->Recv()) {
        const auto bytes = packet->GetSize();
        SeqTsHeader stamp;
        packet->RemoveHeader(stamp);
        if (counts()) {
            received += bytes;
            by_user[user] += bytes;
            waited += (Simulator::Now() - stamp.GetTs()).GetSeconds();
            ++samples;
        }
    }
}

void stream(uint32_t user, Ptr<const Packet> packet, const Address&) {
    const uint64_t bytes = counts() ? packet->GetSize() : 0;
    received += bytes;
    by_user[user] += bytes;
}

double last = 0.0;

void sampled(Time, Time rtt) { last = rtt.GetSeconds(); }

void poll() {
    if (counts()) {
        waited += last;
        ++samples;
    }
    Simulator::Schedule(MilliSeconds(1), &poll);
}

void watch() {
    Config::ConnectWithoutContext("/NodeList/*/$ns3::TcpL4Protocol/SocketList/*/LastRTT", MakeCallback(&sampled));
    poll();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 7) {
        std::cerr << "usage: cell-ns3 SEED SECONDS udp|tcp RATE|WINDOW BYTES um|am\n";
        return 2;
    }
    const double seconds = std::stod(argv[2]);
    const bool is_tcp = std::string(argv[3]) == "tcp";
    const double amount = std::stod(argv[4]);
    const auto bytes = static_cast<uint32_t>(std::stoul(argv[5]));
    const bool is_am = std::string(argv[6]) == "am";
    const uint32_t count = argc > 7 ? std::stoul(argv[7]) : 1;
    if (argc > 8) {
        const DoubleValue power(std::stod(argv[8]));
        Config::SetDefault("ns3::LteEnbPhy::TxPower", power);
        Config::SetDefault("ns3::LteUePhy::TxPower", power);
        Config::SetDefault("ns3::LteUePhy::EnableUplinkPowerControl", BooleanValue(false));
        // A cell's reference signals of sounding have room for as many users.
        Config::SetDefault("ns3::LteEnbRrc::SrsPeriodicity", UintegerValue(20));
    }
    if (argc > 9 && std::string(argv[9]) == "piro") {
        Config::SetDefault("ns3::LteAmc::AmcModel", EnumValue(LteAmc::PiroEW2010));
    }
    stated_mcs = argc > 11 ? std::stoi(argv[11]) : -1;
    const bool is_up = argc > 10 && std::string(argv[10]) == "up";
    RngSeedManager::SetSeed(static_cast<uint32_t>(std::stoul(argv[1])));

    Config::SetDefault("ns3::LteEnbRrc::EpsBearerToRlcMapping",
                       EnumValue(is_am ? LteEnbRrc::RLC_AM_ALWAYS : LteEnbRrc::RLC_UM_ALWAYS));
    Config::SetDefault("ns3::LteRlcUm::MaxTxBufferSize", UintegerValue(600000));
    Config::SetDefault("ns3::LteRlcAm::MaxTxBufferSize", UintegerValue(600000));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(bytes));
    if (is_tcp) {
        Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(static_cast<uint32_t>(amount)));
        Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 * static_cast<uint32_t>(amount)));
    }

    auto helper = CreateObject<LteHelper>();
    auto core = CreateObject<PointToPointEpcHelper>();
    helper->SetEpcHelper(core);
    helper->SetSchedulerType("ns3::RrFfMacScheduler");
    helper->SetEnbDeviceAttribute("DlBandwidth", UintegerValue(100));
    helper->SetEnbDeviceAttribute("UlBandwidth", UintegerValue(100));

    NodeContainer servers, stations, users;
    servers.Create(1);
    stations.Create(1);
    users.Create(count);
    InternetStackHelper internet;
    internet.Install(servers);
    internet.Install(users);

    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", StringValue("10Gbps"));
    wire.SetChannelAttribute("Delay", StringValue("10ms"));
    wire.SetDeviceAttribute("Mtu", UintegerValue(1600));
    auto ends = wire.Install(core->GetPgwNode(), servers.Get(0));
    Ipv4AddressHelper addresses("1.0.0.0", "255.0.0.0");
    addresses.Assign(ends);
    Ipv4StaticRoutingHelper routing;
    routing.GetStaticRouting(servers.Get(0)->GetObject<Ipv4>())
        ->AddNetworkRouteTo(Ipv4Address("7.0.0.0"), Ipv4Mask("255.0.0.0"), 1);

    auto places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0.0, 0.0, 0.0));
    for (uint32_t number = 0; number < count; ++number) {
        places->Add(Vector(50.0, 0.0, 0.0));
    }
    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.SetPositionAllocator(places);
    mobility.Install(stations);
    mobility.Install(users);

    auto base = helper->InstallEnbDevice(stations);
    auto radios = helper->InstallUeDevice(users);
    const auto assigned = core->AssignUeIpv4Address(radios);
    for (uint32_t number = 0; number < count; ++number) {
        routing.GetStaticRouting(users.Get(number)->GetObject<Ipv4>())
            ->SetDefaultRoute(core->GetUeDefaultGatewayAddress(), 1);
        helper->Attach(radios.Get(number), base.Get(0));
    }

    const auto at_server = servers.Get(0)->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
    for (uint32_t number = 0; number < count; ++number) {
        auto receiver = is_up ? servers.Get(0) : users.Get(number);
        auto sender = is_up ? users.Get(number) : servers.Get(0);
        const auto to = InetSocketAddress(is_up ? at_server : assigned.GetAddress(number), static_cast<uint16_t>(PORT + number));
        // One after the other, so that packets of two users do not come at one instant.
        const auto start = MilliSeconds(500) + MicroSeconds(37 * number);
        by_user[number] = 0;
        if (is_tcp) {
            PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), to.GetPort()));
            sink.Install(receiver).Get(0)->TraceConnectWithoutContext("Rx", MakeBoundCallback(&stream, number));
            BulkSendHelper source("ns3::TcpSocketFactory", to);
            source.Install(sender).Start(start);
            continue;
        }
        auto sink = Socket::CreateSocket(receiver, UdpSocketFactory::GetTypeId());
        sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), to.GetPort()));
        sink->SetRecvCallback(MakeBoundCallback(&datagrams, number));
        auto source = Socket::CreateSocket(sender, UdpSocketFactory::GetTypeId());
        source->Connect(to);
        Simulator::Schedule(start, &emit, source, bytes, Seconds(bytes * 8.0 / amount));
    }
    if (is_tcp) {
        Simulator::Schedule(MilliSeconds(501), &watch);
    }
    radios.Get(0)->GetObject<LteUeNetDevice>()->GetPhy()->TraceConnectWithoutContext("ReportCurrentCellRsrpSinr",
                                                                                     MakeCallback(&heard));
    Simulator::Stop(Seconds(WARM_UP + seconds));
    Simulator::Run();
    std::cout << "rate " << received * 8.0 / seconds << "\n";
    std::cout << "delay " << (samples ? waited / samples : 0.0) << "\n";
    uint64_t least = received;
    for (const auto& entry : by_user) {
        least = std::min(least, entry.second);
    }
    std::cout << "sinr " << 10.0 * std::log10(level) << "\n";
    std::cout << "least " << least * 8.0 / seconds << "\n";
    Simulator::Destroy();
    return 0;
}
