# Saturated TFRC connections in ns-2 over one bottleneck: s1, s2 ... - r1 - k1, each sender behind a link of its own.
#   ns tfrc.tcl SEED RATE DELAY QUEUE LOSS UNTIL {START ...}
# LOSS: share of the data packets lost on the bottleneck, after their transmission. START: of each connection.
# Prints the bytes that each connection delivered. The agents keep ns-2's defaults; packets have 1000 bytes of data.
Agent/TFRC set headersize_ 53 ;# as many as ours: IPv4, UDP, TFRC
foreach {seed rate delay queue loss until} $argv break
set starts [lrange $argv 6 end]

set ns [new Simulator]
$defaultRNG seed $seed
foreach node {r1 k1} { set $node [$ns node] }
$ns duplex-link $r1 $k1 ${rate}b ${delay}s DropTail
$ns queue-limit $r1 $k1 $queue
$ns queue-limit $k1 $r1 10000
set model [new ErrorModel]
$model unit pkt
$model set rate_ $loss
$model drop-target [new Agent/Null]
[$ns link $r1 $k1] insert-linkloss $model

set number 0
foreach start $starts {
    incr number
    set node [$ns node]
    $ns duplex-link $node $r1 100Mb 1ms DropTail
    $ns queue-limit $node $r1 10000
    $ns queue-limit $r1 $node 10000
    set tfrc($number) [new Agent/TFRC]
    set sink($number) [new Agent/TFRCSink]
    $ns attach-agent $node $tfrc($number)
    $ns attach-agent $k1 $sink($number)
    $ns connect $tfrc($number) $sink($number)
    $ns at $start "$tfrc($number) start"
}
$ns at $until "finish"
proc finish {} {
    global tfrc sink number
    for {set i 1} {$i <= $number} {incr i} {
        puts "flow [$sink($i) set bytes_] [$tfrc($i) set ndatapack_]"
    }
    exit 0
}
$ns run
