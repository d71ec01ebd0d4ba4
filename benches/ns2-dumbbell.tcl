# The benchmark's dumbbell for ns-2: saturated NewReno flows, no trace.
#   ns ns2-dumbbell.tcl FLOWS SECONDS
# Same as dumbbell() in benches/engine.rs: access 100 Mbit/s 5 ms, bottleneck 5 Mbit/s and 50 packets of drop-tail for each
# flow, 40 ms, 1000-byte segments (ns-2 adds 40 bytes of headers), every segment acknowledged, initial window 10, least RTO
# 1 s, starts over one second. The timer is restarted at every partial ACK, as ns-2 does by default (newreno_changes_ 0): RFC
# 6582's Slow-but-Steady variant. What makes ns-2 fast: its default scheduler, packets with the headers in use only, and
# routes set by hand (ns-2's own routing grows with the square of the nodes).
# Prints packet hops: 6 for each acknowledged packet, and the first of each other.
remove-all-packet-headers
add-packet-header Common IP TCP Flags
foreach {flows seconds} $argv break
set ns [new Simulator]
$ns rtproto Manual

# A link whose ends have these queues, in packets.
proc link {a b rate delay queue} {
    global ns
    $ns duplex-link $a $b $rate $delay DropTail
    $ns queue-limit $a $b $queue
    $ns queue-limit $b $a $queue
}
# The route of `node` to its neighbour, or over it to everywhere.
proc route {node args} { eval [$node get-module Manual] add-route-to-adj-node $args }

set r1 [$ns node]
set r2 [$ns node]
link $r1 $r2 [expr {5 * $flows}]Mb 40ms [expr {50 * $flows}]
route $r1 -default $r2
route $r2 -default $r1
set stagger [expr {$flows > 2 ? 1000000 / $flows / 1e6 : 0.0}]
for {set i 0} {$i < $flows} {incr i} {
    set s [$ns node]
    set d [$ns node]
    link $s $r1 100Mb 5ms 1000
    link $r2 $d 100Mb 5ms 1000
    route $s -default $r1
    route $d -default $r2
    route $r1 $s
    route $r2 $d
    set tcp($i) [new Agent/TCP/Newreno]
    $tcp($i) set packetSize_ 1000
    $tcp($i) set window_ 100000
    $tcp($i) set maxcwnd_ 0
    $tcp($i) set windowInit_ 10
    $tcp($i) set minrto_ 1.0
    set sink [new Agent/TCPSink]
    $ns attach-agent $s $tcp($i)
    $ns attach-agent $d $sink
    $ns connect $tcp($i) $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    $ns at [expr {$i * $stagger}] "$ftp start"
}

proc finish {} {
    global tcp flows
    set hops 0
    for {set i 0} {$i < $flows} {incr i} {
        incr hops [expr {5 * [$tcp($i) set nackpack_] + [$tcp($i) set ndatapack_]}]
    }
    puts $hops
    exit 0
}
$ns at $seconds finish
$ns run
