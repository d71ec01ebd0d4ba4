# Saturated 802.11 stations in ns-2: who gets how much.
#   ns adhoc.tcl SEED SECONDS RTS BYTES PLACES FLOWS
# RTS: on or off. PLACES: {x y} of every node. FLOWS: {from to} of constant bit rate sources that always have packets.
# Prints for every flow the packets received in the last SECONDS, after 10 s to find addresses and to settle.
foreach {seed seconds rts bytes places flows} $argv break
ns-random $seed
remove-all-packet-headers
add-packet-header Common IP LL Mac ARP Flags Message RTP

source [file join [file dirname [info script]] radio.tcl]
Agent/Null set sport_ 0

set ns [new Simulator]
# Nodes cannot be made without a trace file.
$ns trace-all [open /dev/null w]
set topo [new Topography]
$topo load_flatgrid 10000 10000
create-god [llength $places]
$ns node-config -adhocRouting DumbAgent -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue -ifqLen 50 \
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
set monitors {}
set number 0
foreach flow $flows {
    set udp [new Agent/UDP]
    set sink [new Agent/LossMonitor]
    $ns attach-agent [lindex $nodes [lindex $flow 0]] $udp
    $ns attach-agent [lindex $nodes [lindex $flow 1]] $sink
    $udp set packetSize_ $bytes
    $ns connect $udp $sink
    set source [new Application/Traffic/CBR]
    $source set packetSize_ $bytes
    $source set rate_ 2Mb
    $source set random_ 1
    $source attach-agent $udp
    # One after the other, so that every one finds its receiver's address undisturbed.
    $ns at [expr {0.1 + 0.2 * $number}] "$source start"
    $ns at [expr {0.1 + 0.2 * $number + 0.05}] "$source stop"
    $ns at 5.0 "$source start"
    lappend monitors $sink
    incr number
}
proc warm {} {
    global monitors before
    foreach sink $monitors { set before($sink) [$sink set npkts_] }
}
proc report {} {
    global monitors before
    foreach sink $monitors { puts "packets [expr {[$sink set npkts_] - $before($sink)}]" }
    exit 0
}
$ns at 10.0 warm
$ns at [expr {10.0 + $seconds}] report
$ns run
