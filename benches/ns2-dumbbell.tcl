# The benchmark's dumbbell for ns-2: two saturated NewReno flows, 200 s, no trace.
# Same as benches/engine.rs: access 100 Mb/s 5 ms, bottleneck 10 Mb/s 40 ms, 100 packets of drop-tail, 1000-byte
# segments (ns-2 adds 40 bytes of headers), every segment acknowledged, initial window 10, least RTO 1 s. The timer is
# restarted at every partial ACK, as ns-2 does by default (newreno_changes_ 0): RFC 6582's Slow-but-Steady variant.
set ns [new Simulator]
$ns use-scheduler Heap

set r1 [$ns node]
set r2 [$ns node]
$ns duplex-link $r1 $r2 10Mb 40ms DropTail
$ns queue-limit $r1 $r2 100
$ns queue-limit $r2 $r1 100

for {set i 1} {$i <= 2} {incr i} {
    set s($i) [$ns node]
    set d($i) [$ns node]
    $ns duplex-link $s($i) $r1 100Mb 5ms DropTail
    $ns duplex-link $r2 $d($i) 100Mb 5ms DropTail
    foreach {a b} [list $s($i) $r1 $r1 $s($i) $r2 $d($i) $d($i) $r2] { $ns queue-limit $a $b 1000 }
    set tcp($i) [new Agent/TCP/Newreno]
    $tcp($i) set packetSize_ 1000
    $tcp($i) set window_ 100000
    $tcp($i) set maxcwnd_ 0
    $tcp($i) set windowInit_ 10
    $tcp($i) set minrto_ 1.0
    set sink($i) [new Agent/TCPSink]
    $ns attach-agent $s($i) $tcp($i)
    $ns attach-agent $d($i) $sink($i)
    $ns connect $tcp($i) $sink($i)
    set ftp($i) [new Application/FTP]
    $ftp($i) attach-agent $tcp($i)
    $ns at 0.0 "$ftp($i) start"
}

proc finish {} {
    global tcp
    # Goodput by the highest segment acknowledged, Mbit/s.
    set g1 [expr [$tcp(1) set ack_] * 8000.0 / 200.0 / 1e6]
    set g2 [expr [$tcp(2) set ack_] * 8000.0 / 200.0 / 1e6]
    puts [format "%.3f %.3f" $g1 $g2]
    exit 0
}
$ns at 200.0 "finish"
$ns run
