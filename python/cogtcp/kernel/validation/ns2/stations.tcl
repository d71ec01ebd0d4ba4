# A simulator `ns` and its `nodes`, 802.11 stations that stand at their places. Wants: places ({x y} of every node), queue.
set ns [new Simulator]
# Nodes cannot be made without a trace file.
$ns trace-all [open /dev/null w]
set topo [new Topography]
$topo load_flatgrid 10000 10000
create-god [llength $places]
$ns node-config -adhocRouting DumbAgent -llType LL -macType Mac/802_11 -ifqType $queue -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $topo -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF

set nodes {}
foreach place $places {
    set node [$ns node]
    $node random-motion 0
    $node set X_ [lindex $place 0]
    $node set Y_ [lindex $place 1]
    $node set Z_ 0.0
    lappend nodes $node
}
