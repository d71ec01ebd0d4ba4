// Saturated 802.11 stations in ns-3: who gets how much. The arguments are those of the example `saturated` without the profile:
//   stations-ns3 SEED SECONDS RTS BYTES PLACES PATHS [SENSE]
// RTS is on or off; PLACES is `x,y;x,y`; PATHS is `from,relay,...,to;from,to`, where every node hands a packet to the next at once;
// SENSE is the range of carrier sense, 250 or 550 m. Prints for every path the packets received in the last SECONDS, after 10 s.
//
// 802.11b at 1 Mbit/s with ns-2's usual radio: two-ray ground at 914 MHz, 0.28183815 W, 250 m. Everything else is ns-3's default.

#include "ns3/core-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/wifi-module.h"

#include <cmath>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace {

std::vector<std::vector<double>> lists(const std::string& text) {
    std::vector<std::vector<double>> all;
    std::istringstream rows(text);
    for (std::string row; std::getline(rows, row, ';');) {
        std::vector<double> list;
        std::istringstream entries(row);
        for (std::string entry; std::getline(entries, entry, ',');) {
            list.push_back(std::stod(entry));
        }
        all.push_back(list);
    }
    return all;
}

double dbm(double watts) { return 10.0 * std::log10(watts * 1000.0); }

NetDeviceContainer devices;
std::vector<std::vector<double>> paths;
std::vector<uint64_t> received;
uint32_t bytes;
bool counts = false;

// Packets carry the number of their path as the protocol: a hop is the node that has it.
void send(std::size_t path, std::size_t hop) {
    auto device = devices.Get(static_cast<uint32_t>(paths[path][hop]));
    auto next = devices.Get(static_cast<uint32_t>(paths[path][hop + 1]));
    device->Send(Create<Packet>(bytes), next->GetAddress(), static_cast<uint16_t>(0x8000 + path));
}

bool receive(Ptr<NetDevice> device, Ptr<const Packet>, uint16_t protocol, const Address&) {
    const std::size_t path = protocol - 0x8000;
    const auto& nodes = paths[path];
    const auto here = static_cast<double>(device->GetNode()->GetId());
    for (std::size_t hop = 1; hop < nodes.size(); ++hop) {
        if (nodes[hop] == here) {
            if (hop + 1 == nodes.size()) {
                received[path] += counts ? 1 : 0;
            } else {
                send(path, hop);
            }
        }
    }
    return true;
}

// A source always has packets: more of them come than the medium can carry, and the queue refuses the rest.
void feed(std::size_t path) {
    send(path, 0);
    Simulator::Schedule(MilliSeconds(3), &feed, path);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 7) {
        std::cerr << "usage: stations-ns3 SEED SECONDS on|off BYTES PLACES PATHS [SENSE]\n";
        return 2;
    }
    const double seconds = std::stod(argv[2]);
    const bool rts = std::string(argv[3]) == "on";
    bytes = static_cast<uint32_t>(std::stoul(argv[4]));
    const auto places = lists(argv[5]);
    paths = lists(argv[6]);
    const bool short_sense = argc > 7 && std::string(argv[7]) == "250";
    received.assign(paths.size(), 0);
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(std::stoul(argv[1]));

    // 36 bytes around a packet: a threshold below them precedes all by an RTS.
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", StringValue(rts ? "0" : "65535"));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue("50p"));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));

    NodeContainer nodes;
    nodes.Create(static_cast<uint32_t>(places.size()));
    MobilityHelper mobility;
    auto positions = CreateObject<ListPositionAllocator>();
    for (const auto& place : places) {
        positions->Add(Vector(place[0], place[1], 0.0));
    }
    mobility.SetPositionAllocator(positions);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);

    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::TwoRayGroundPropagationLossModel", "Frequency", DoubleValue(914e6),
                               "HeightAboveZ", DoubleValue(1.5));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    const double power = dbm(0.28183815);
    phy.Set("TxPowerStart", DoubleValue(power));
    phy.Set("TxPowerEnd", DoubleValue(power));
    // A signal below RxSensitivity does not exist in ns-3. The range of reception is where a preamble is still detected.
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "MinimumRssi",
                                  DoubleValue(dbm(3.652e-10)));
    // The medium is busy by energy, also where a frame is known to be in the air.
    const double sensed = dbm(short_sense ? 3.652e-10 : 1.559e-11);
    phy.Set("CcaEdThreshold", DoubleValue(sensed));
    phy.Set("CcaSensitivity", DoubleValue(sensed));
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("DsssRate1Mbps"),
                                 "ControlMode", StringValue("DsssRate1Mbps"));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    devices = wifi.Install(phy, mac, nodes);
    wifi.AssignStreams(devices, 1);
    for (uint32_t number = 0; number < devices.GetN(); ++number) {
        devices.Get(number)->SetReceiveCallback(MakeCallback(&receive));
    }
    for (std::size_t path = 0; path < paths.size(); ++path) {
        Simulator::Schedule(MilliSeconds(1 + path), &feed, path);
    }
    Simulator::Schedule(Seconds(10), [] { counts = true; });
    Simulator::Stop(Seconds(10 + seconds));
    Simulator::Run();
    for (const auto count : received) {
        std::cout << "packets " << count << "\n";
    }
    Simulator::Destroy();
    return 0;
}
