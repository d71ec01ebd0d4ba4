# Saturated strings of 802.11 stations in ns-2: what comes through over several hops.
#   ns strings.tcl SEED SECONDS RTS BYTES PLACES PATHS [SENSE]
# RTS: on or off. PLACES: {x y} of every node. PATHS: {first relay ... last} of sources that always have packets.
# ns-2 has no static routes over wireless links. Here every relay takes the packet and sends one of its own to the next, at once,
# so that only the MAC and its queues are at work. Prints for every path the packets received in the last SECONDS,
# after 10 s to find addresses and to settle.
foreach {seed seconds rts bytes places paths sense} $argv break
ns-random $seed
remove-all-packet-headers
add-packet-header Common IP LL Mac ARP Flags Message
source [file join [file dirname [info script]] radio.tcl]

# Messages would go first in a PriQueue, the last one before the others.
set queue Queue/DropTail
source [file join [file dirname [info script]] stations.tcl]

# What a path's relays and its end have in common: they count, and hand on if there is a next one.
Class Stage -superclass Agent/Message
Stage instproc handle {text} {
    $self instvar count_ next_
    incr count_
    if {$next_ ne ""} { $next_ send x }
}
Stage instproc feed {gap} {
    global ns
    $self send x
    $ns at [expr {[$ns now] + $gap * (0.75 + 0.5 * rand())}] "$self feed $gap"
}
expr {srand($seed)}
proc stage {node next} {
    global ns bytes
    set stage [new Stage]
    $stage set packetSize_ $bytes
    $stage set count_ 0
    $stage set next_ $next
    $ns attach-agent $node $stage
    return $stage
}

set sinks {}
foreach path $paths {
    # From the end to the source.
    set receiver [stage [lindex $nodes [lindex $path end]] ""]
    lappend sinks $receiver
    foreach number [lreverse [lrange $path 0 end-1]] {
        set node [lindex $nodes $number]
        set sender [stage $node ""]
        $ns connect $sender $receiver
        set receiver [stage $node $sender]
    }
    # One packet for the addresses of the path, then more than it can carry.
    $ns at [expr {0.1 + 0.4 * [llength $sinks]}] "$sender send x"
    $ns at 5.0 "$sender feed 0.004"
}
proc warm {} {
    global sinks before
    foreach sink $sinks { set before($sink) [$sink set count_] }
}
proc report {} {
    global sinks before
    foreach sink $sinks { puts "packets [expr {[$sink set count_] - $before($sink)}]" }
    exit 0
}
$ns at 10.0 warm
$ns at [expr {10.0 + $seconds}] report
$ns run
