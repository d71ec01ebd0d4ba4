# Saturated TCP connections in ns-2 over one bottleneck: s1, s2 ... - r1 - k1, some from s to k1 and some from k1 to s.
#   ns variants.tcl SEED AGENT SINK RATE DELAY QUEUE WINDOW OPEN DOWN UNTIL FORWARD {START ...}
# OPEN, DOWN: after each OPEN seconds the bottleneck is down for DOWN seconds (`$ns rtmodel-at`); DOWN 0: never.
# FORWARD: so many of the connections, the first ones, send from s to k1. START: of each connection.
# Prints, for each connection, the packets that it delivered. The agents keep ns-2's defaults.
foreach {seed agent sink rate delay queue window open down until forward} $argv break
set starts [lrange $argv 11 end]

set ns [new Simulator]
$defaultRNG seed $seed
foreach node {r1 k1} { set $node [$ns node] }
$ns duplex-link $r1 $k1 ${rate}b ${delay}s DropTail
$ns queue-limit $r1 $k1 $queue
$ns queue-limit $k1 $r1 $queue
if {$down > 0} {
    for {set time $open} {$time < $until} {set time [expr {$time + $open + $down}]} {
        $ns rtmodel-at $time down $r1 $k1
        $ns rtmodel-at [expr {$time + $down}] up $r1 $k1
    }
}

set number 0
foreach start $starts {
    incr number
    set node [$ns node]
    $ns duplex-link $node $r1 100Mb 1ms DropTail
    $ns queue-limit $node $r1 10000
    $ns queue-limit $r1 $node 10000
    if {$number <= $forward} {
        set tcp($number) [$ns create-connection $agent $node $sink $k1 $number]
    } else {
        set tcp($number) [$ns create-connection $agent $k1 $sink $node $number]
    }
    $tcp($number) set window_ $window
    set ftp [$tcp($number) attach-app FTP]
    $ns at $start "$ftp start"
}
$ns at $until "finish"
proc finish {} {
    global tcp number
    for {set i 1} {$i <= $number} {incr i} { puts "flow [$tcp($i) set ack_]" }
    exit 0
}
$ns run
