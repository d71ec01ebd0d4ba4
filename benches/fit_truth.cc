// A transfer over one bottleneck in ns-3, captured at both ends: a peer by which `cogtcp fit` is judged.
//
//   fit_truth --rate=3000000 --delay=20000000 --queue=30 --folder=/tmp/link
//
// Writes sender.pcap and receiver.pcap into the folder and prints the payload received, in bytes.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;

// A queue of packets that holds them during silences.
class HeldQueue : public QueueDisc {
  public:
    static TypeId GetTypeId() {
        static TypeId id = TypeId("HeldQueue")
                               .SetParent<QueueDisc>()
                               .AddConstructor<HeldQueue>()
                               .AddAttribute("MaxSize", "Packets that it holds.", QueueSizeValue(QueueSize("100p")),
                                             MakeQueueSizeAccessor(&QueueDisc::SetMaxSize, &QueueDisc::GetMaxSize),
                                             MakeQueueSizeChecker());
        return id;
    }
    HeldQueue() : QueueDisc(QueueDiscSizePolicy::SINGLE_INTERNAL_QUEUE) {}
    void Hold(bool held) {
        m_held = held;
        if (!held) Run();
    }

  private:
    bool DoEnqueue(Ptr<QueueDiscItem> item) override {
        if (GetCurrentSize() + item > GetMaxSize()) {
            DropBeforeEnqueue(item, "full");
            return false;
        }
        return GetInternalQueue(0)->Enqueue(item);
    }
    Ptr<QueueDiscItem> DoDequeue() override { return m_held ? nullptr : GetInternalQueue(0)->Dequeue(); }
    bool CheckConfig() override {
        if (GetNInternalQueues() == 0)
            AddInternalQueue(CreateObjectWithAttributes<DropTailQueue<QueueDiscItem>>(
                "MaxSize", QueueSizeValue(GetMaxSize())));
        return true;
    }
    void InitializeParams() override {}
    bool m_held = false;
};
NS_OBJECT_ENSURE_REGISTERED(HeldQueue);

// Loses a share of the packets, and all of them during silences.
class Losses : public ErrorModel {
  public:
    double share = 0;
    bool silent = false;

  private:
    bool DoCorrupt(Ptr<Packet>) override { return silent || (share > 0 && m_chance->GetValue() < share); }
    void DoReset() override {}
    Ptr<UniformRandomVariable> m_chance = CreateObject<UniformRandomVariable>();
};

// Reads "1.5:2,4:4.25" as pairs of numbers.
static std::vector<std::pair<double, double>> Pairs(const std::string& text) {
    std::vector<std::pair<double, double>> found;
    std::stringstream stream(text);
    for (std::string each; std::getline(stream, each, ',');) {
        const auto colon = each.find(':');
        found.emplace_back(std::stod(each.substr(0, colon)), std::stod(each.substr(colon + 1)));
    }
    return found;
}

int main(int argc, char** argv) {
    uint32_t seed = 1, queue = 50, flows = 1, window = 4 << 20;
    double seconds = 10, loss = 0;
    uint64_t rate = 0, delay = 0, application = 0, bytes = 0;
    bool hold = false;
    std::string control = "TcpCubic", discipline, silences, rates, folder;
    CommandLine words;
    words.AddValue("seed", "seed of all randomness", seed);
    words.AddValue("seconds", "length of the transfer, s", seconds);
    words.AddValue("control", "TcpCubic, TcpNewReno or TcpBbr", control);
    words.AddValue("rate", "of the link, bit/s", rate);
    words.AddValue("delay", "one way, ns", delay);
    words.AddValue("queue", "packets", queue);
    words.AddValue("discipline", "CoDel, FqCoDel or Pie; empty for a queue of packets", discipline);
    words.AddValue("loss", "share of the data lost", loss);
    words.AddValue("application", "rate of the application, bit/s; 0: data without end", application);
    words.AddValue("bytes", "to send; 0: data without end", bytes);
    words.AddValue("window", "buffer of the receiver, B", window);
    words.AddValue("flows", "parallel connections", flows);
    words.AddValue("silences", "FROM:TO,... in s", silences);
    words.AddValue("hold", "silences hold packets instead of losing them", hold);
    words.AddValue("rates", "FROM:RATE,... in s and bit/s", rates);
    words.AddValue("folder", "for the captures", folder);
    words.Parse(argc, argv);
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(seed);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::" + control));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));

    NodeContainer nodes;
    nodes.Create(3);
    InternetStackHelper().Install(nodes);
    PointToPointHelper fast, slow;
    fast.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    fast.SetChannelAttribute("Delay", StringValue("10us"));
    slow.SetDeviceAttribute("DataRate", DataRateValue(DataRate(rate)));
    slow.SetChannelAttribute("Delay", TimeValue(NanoSeconds(delay)));
    slow.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));
    auto near = fast.Install(nodes.Get(0), nodes.Get(1));
    auto far = slow.Install(nodes.Get(1), nodes.Get(2));

    const auto size = StringValue(std::to_string(queue) + "p");
    TrafficControlHelper helper;
    helper.SetRootQueueDisc(discipline.empty() ? "HeldQueue" : "ns3::" + discipline + "QueueDisc", "MaxSize", size);
    auto queues = helper.Install(far.Get(0));
    if (discipline.empty()) queues.Add(helper.Install(far.Get(1)));
    Ptr<Losses> losses[2];
    for (int end : {0, 1}) {
        losses[end] = CreateObject<Losses>();
        DynamicCast<PointToPointNetDevice>(far.Get(end))->SetReceiveErrorModel(losses[end]);
    }
    losses[1]->share = loss;
    constexpr double start = 0.5;
    for (const auto& [from, to] : Pairs(silences))
        for (int end : {0, 1})
            for (const bool silent : {true, false})
                Simulator::Schedule(Seconds(start + (silent ? from : to)), [=] {
                    if (hold) DynamicCast<HeldQueue>(queues.Get(end))->Hold(silent);
                    else losses[end]->silent = silent;
                });
    for (const auto& [from, other] : Pairs(rates))
        Simulator::Schedule(Seconds(start + from), [=] {
            DynamicCast<PointToPointNetDevice>(far.Get(0))->SetDataRate(DataRate(uint64_t(other)));
        });
    Ipv4AddressHelper addresses("10.1.1.0", "255.255.255.0");
    addresses.Assign(near);
    addresses.SetBase("10.1.2.0", "255.255.255.0");
    const auto there = addresses.Assign(far);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    const InetSocketAddress peer(there.GetAddress(1), 5001);
    auto sink = PacketSinkHelper("ns3::TcpSocketFactory", peer).Install(nodes.Get(2));
    ApplicationContainer sends;
    for (uint32_t flow = 0; flow < flows; ++flow) {
        if (application > 0) {
            OnOffHelper steady("ns3::TcpSocketFactory", peer);
            steady.SetConstantRate(DataRate(application), 1448);
            sends.Add(steady.Install(nodes.Get(0)));
        } else {
            BulkSendHelper bulk("ns3::TcpSocketFactory", peer);
            bulk.SetAttribute("MaxBytes", UintegerValue(bytes));
            bulk.SetAttribute("SendSize", UintegerValue(1448));
            sends.Add(bulk.Install(nodes.Get(0)));
        }
    }
    sink.Start(Seconds(0));
    sends.Start(Seconds(start));
    sends.Stop(Seconds(start + seconds));

    fast.EnablePcap(folder + "/sender.pcap", near.Get(0), false, true);
    slow.EnablePcap(folder + "/receiver.pcap", far.Get(1), false, true);
    Simulator::Stop(Seconds(start + seconds + 1.5));
    Simulator::Run();
    std::cout << DynamicCast<PacketSink>(sink.Get(0))->GetTotalRx() << std::endl;
    Simulator::Destroy();
}
