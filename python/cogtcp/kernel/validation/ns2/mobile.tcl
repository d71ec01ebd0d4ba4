# Mobile nodes with AODV in ns-2: what TCP flows get over several hops.
#   ns mobile.tcl SEED SECONDS MOVEMENT NODES WIDTH HEIGHT FLOWS [TRACE]
# MOVEMENT: a file of setdest. FLOWS: {from to start} of NewReno flows that always have data, packets of 1000 bytes.
# TRACE: where the router's trace goes, from which route discovery times can be read. Prints for every flow the packets that
# were acknowledged, and its timeouts.
foreach {seed seconds movement count width height flows trace} $argv break
ns-random $seed
remove-all-packet-headers
add-packet-header Common IP LL Mac ARP Flags TCP AODV
set rts on
source [file join [file dirname [info script]] radio.tcl]
Mac/802_11 set dataRate_ 2Mb

Agent/TCP set packetSize_ 1000
Agent/TCP set tcpTick_ 0.01
Agent/TCP set window_ 20

set ns [new Simulator]
set out [open [expr {$trace eq "" ? "/dev/null" : $trace}] w]
$ns trace-all $out
set topo [new Topography]
$topo load_flatgrid $width $height
set god [create-god $count]
$ns node-config -adhocRouting AODV -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $topo -agentTrace OFF \
    -routerTrace [expr {$trace eq "" ? "OFF" : "ON"}] -macTrace OFF -movementTrace OFF
for {set number 0} {$number < $count} {incr number} {
    set node_($number) [$ns node]
    $node_($number) random-motion 0
}
set ns_ $ns
set god_ $god
source $movement
set tcps {}
foreach flow $flows {
    foreach {from to start} $flow break
    set tcp [new Agent/TCP/Newreno]
    set sink [new Agent/TCPSink]
    $ns attach-agent $node_($from) $tcp
    $ns attach-agent $node_($to) $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at $start "$ftp start"
    lappend tcps $tcp
}
proc report {} {
    global tcps ns
    foreach tcp $tcps { puts "flow [expr {[$tcp set ack_] + 1}] [$tcp set nrexmit_]" }
    $ns flush-trace
    exit 0
}
$ns at $seconds report
$ns run
