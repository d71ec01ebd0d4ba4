# Saturated TCP connections in ns-2 over one bottleneck: s1, s2 ... - r1 - k1, each sender behind a link of its own.
#   ns drawn.tcl SEED AGENT SINK RATE DELAY QUEUE WINDOW LOSS OPEN SILENT UNTIL {START ...}
# LOSS: share of the data packets lost on the bottleneck, after their transmission. OPEN, SILENT: after each OPEN seconds
# everything on the bottleneck is lost for SILENT seconds, in both directions; SILENT 0: never. START: of each connection.
# Prints, for each connection, the packets that it delivered and its timeouts. The agents keep ns-2's defaults.
foreach {seed agent sink rate delay queue window loss open silent until} $argv break
set starts [lrange $argv 11 end]

set ns [new Simulator]
$defaultRNG seed $seed
foreach node {r1 k1} { set $node [$ns node] }
$ns duplex-link $r1 $k1 ${rate}b ${delay}s DropTail
$ns queue-limit $r1 $k1 $queue
$ns queue-limit $k1 $r1 10000

# Beyond the delay of the link: a packet is lost when it would arrive, so a silence begins and ends a delay later.
proc lossy {from to share} {
    global ns
    set model [new ErrorModel]
    $model unit pkt
    $model set rate_ $share
    $model drop-target [new Agent/Null]
    [$ns link $from $to] insert-linkloss $model
    return $model
}
set forward [lossy $r1 $k1 $loss]
set reverse [lossy $k1 $r1 0]
if {$silent > 0} {
    for {set time $open} {$time < $until} {set time [expr {$time + $open + $silent}]} {
        set begin [expr {$time + $delay}]
        set end [expr {$begin + $silent}]
        $ns at $begin "$forward set rate_ 1.1; $reverse set rate_ 1.1"
        $ns at $end "$forward set rate_ $loss; $reverse set rate_ 0"
    }
}

set number 0
foreach start $starts {
    incr number
    set node [$ns node]
    $ns duplex-link $node $r1 100Mb 1ms DropTail
    $ns queue-limit $node $r1 10000
    $ns queue-limit $r1 $node 10000
    set tcp($number) [$ns create-connection $agent $node $sink $k1 $number]
    $tcp($number) set window_ $window
    set ftp [$tcp($number) attach-app FTP]
    $ns at $start "$ftp start"
}
$ns at $until "finish"
proc finish {} {
    global tcp number
    for {set i 1} {$i <= $number} {incr i} {
        puts "flow [$tcp($i) set ack_] [$tcp($i) set nrexmit_]"
    }
    exit 0
}
$ns run
