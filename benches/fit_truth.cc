// A transfer over one bottleneck in ns-3, captured at both ends: a peer by which `cogtcp fit` is judged.
//
//   fit_truth SEED SECONDS CONTROL RATE_BPS DELAY_NS QUEUE_PACKETS CODEL LOSS APPLICATION_BPS BYTES FOLDER
//
// CONTROL is TcpCubic, TcpNewReno or TcpBbr. APPLICATION_BPS of 0 and BYTES of 0: data without end. Writes
// FOLDER/sender.pcap and FOLDER/receiver.pcap and prints the payload received, in bytes.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <string>

using namespace ns3;

int main(int argc, char** argv) {
    if (argc != 12) return 2;
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(std::stoul(argv[1]));
    const double seconds = std::stod(argv[2]);
    const std::string control = argv[3], folder = argv[11];
    const auto rate = DataRate(std::stoull(argv[4]));
    const auto delay = NanoSeconds(std::stoull(argv[5]));
    const std::string queue = argv[6];
    const bool codel = std::stoi(argv[7]) != 0;
    const double loss = std::stod(argv[8]);
    const uint64_t application = std::stoull(argv[9]), bytes = std::stoull(argv[10]);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::" + control));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 << 20));

    NodeContainer nodes;
    nodes.Create(3);
    InternetStackHelper().Install(nodes);
    PointToPointHelper fast, slow;
    fast.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    fast.SetChannelAttribute("Delay", StringValue("10us"));
    slow.SetDeviceAttribute("DataRate", DataRateValue(rate));
    slow.SetChannelAttribute("Delay", TimeValue(delay));
    slow.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));
    auto near = fast.Install(nodes.Get(0), nodes.Get(1));
    auto far = slow.Install(nodes.Get(1), nodes.Get(2));

    TrafficControlHelper control_of_queue;
    control_of_queue.SetRootQueueDisc(codel ? "ns3::CoDelQueueDisc" : "ns3::FifoQueueDisc",
                                      "MaxSize", StringValue(queue + "p"));
    control_of_queue.Install(far.Get(0));
    if (loss > 0) {
        auto errors = CreateObject<RateErrorModel>();
        errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        errors->SetRate(loss);
        far.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
    }
    Ipv4AddressHelper addresses("10.1.1.0", "255.255.255.0");
    addresses.Assign(near);
    addresses.SetBase("10.1.2.0", "255.255.255.0");
    const auto there = addresses.Assign(far);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    const InetSocketAddress peer(there.GetAddress(1), 5001);
    PacketSinkHelper receives("ns3::TcpSocketFactory", peer);
    auto sink = receives.Install(nodes.Get(2));
    ApplicationContainer sends;
    if (application > 0) {
        OnOffHelper helper("ns3::TcpSocketFactory", peer);
        helper.SetConstantRate(DataRate(application), 1448);
        sends = helper.Install(nodes.Get(0));
    } else {
        BulkSendHelper helper("ns3::TcpSocketFactory", peer);
        helper.SetAttribute("MaxBytes", UintegerValue(bytes));
        helper.SetAttribute("SendSize", UintegerValue(1448));
        sends = helper.Install(nodes.Get(0));
    }
    sink.Start(Seconds(0));
    sends.Start(Seconds(0.5));
    sends.Stop(Seconds(0.5 + seconds));

    fast.EnablePcap(folder + "/sender.pcap", near.Get(0), false, true);
    slow.EnablePcap(folder + "/receiver.pcap", far.Get(1), false, true);
    Simulator::Stop(Seconds(seconds + 2.0));
    Simulator::Run();
    std::cout << DynamicCast<PacketSink>(sink.Get(0))->GetTotalRx() << std::endl;
    Simulator::Destroy();
}
