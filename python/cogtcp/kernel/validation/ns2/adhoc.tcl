# Saturated 802.11 stations in ns-2: who gets how much.
#   ns adhoc.tcl SEED SECONDS RTS BYTES PLACES FLOWS [SENSE]
# RTS: on or off. PLACES: {x y} of every node. FLOWS: {from to} of constant bit rate sources that always have packets.
# Prints for every flow the packets received in the last SECONDS, after 10 s to find addresses and to settle.
foreach {seed seconds rts bytes places flows sense} $argv break
ns-random $seed
remove-all-packet-headers
add-packet-header Common IP LL Mac ARP Flags Message RTP

source [file join [file dirname [info script]] radio.tcl]
Agent/Null set sport_ 0

set queue Queue/DropTail/PriQueue
source [file join [file dirname [info script]] stations.tcl]
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
